// All costs; -DMAG_COST names the one that a kernel is compiled for.  Each has the state of its Python file in the anchored
// frame: term(i) is what is summed, left(i) and right(j) depend on one end of a group, join(i, j) on both; and, of a whole
// group, center, its representative relative to its smallest value, representative, the same in the data's own terms
// (entries of the data are copied), and loss.  Every
// file of the folder is included, in alphabetical order (mag/_backends/cuda/sources.py); a cost that is derived from
// another one includes its file.
#include "group.cuh"
#include "costs/*.cuh"
typedef MAG_COST Cost;
