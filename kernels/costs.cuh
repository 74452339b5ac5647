// All costs; -DMAG_COST names the one that a kernel is compiled for.  Each has the state of its Python file in the anchored
// frame: term(i) is what is summed, left(i) and right(j) depend on one end of a group, join(i, j) on both; and, of a whole
// group, center, its representative relative to its smallest value, representative, the same in the data's own terms
// (entries of the data are copied), and loss.  SseInt is Sse but for what it names.
#include "group.cuh"
#include "costs/maxdist.cuh"
#include "costs/rounddown.cuh"
#include "costs/roundup.cuh"
#include "costs/sae.cuh"
#include "costs/sse.cuh"
#include "costs/sse_int.cuh"
typedef MAG_COST Cost;
