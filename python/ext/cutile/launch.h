/* Launches of cuTile: addresses, shapes and strides are among the words, so that they say everything about the memory, but for lists on
 * the cpu, whose tables hold other arrays each time. */
#ifndef TILE_PYTHON_EXT_CUTILE_LAUNCH_H_
#define TILE_PYTHON_EXT_CUTILE_LAUNCH_H_

#include "python/ext/cutile/image.h"

typedef struct LaunchConfig { /* CUlaunchConfig */
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  unsigned num_attributes;
} LaunchConfig;
/* `graph`: the launch is added to it (tilevm_launch_add_to_graph) instead of run; NULL: it runs. */
int launch_kernel(const LaunchConfig* config, Kernel* kernel, void** parameters, void* graph);

#endif /* TILE_PYTHON_EXT_CUTILE_LAUNCH_H_ */
