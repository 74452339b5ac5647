"""The public functions of `mag.distributed`: one a file, of every engine."""
