// Loads and stores belong to tile code: the line that ends with a comment `error` is a mistake, and no other line is.
#include "tile.h"

__tile__ int tile(int* p) { return ct::load(p); }
__tile_global__ void kernel(int* p, int* out) { ct::store(out, tile(p)); }
void host(int* p) { ct::load(p); }  // error: called from host code
