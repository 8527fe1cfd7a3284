// Loads and stores belong to tile code: the line that ends with a comment `error` is a mistake, and no other line is.
#include "tile.h"

__tile_global__ void kernel(int* p) { ct::store(p, 1); }
__global__ void simt(int* p) { ct::store(p, 1); }  // error: called from SIMT code
