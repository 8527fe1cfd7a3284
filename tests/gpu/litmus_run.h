// The command `gpu_check litmus` (litmus_run.cc says how it is called): arguments from its name on; gives the exit code.
#ifndef TILE_TESTS_GPU_LITMUS_RUN_H_
#define TILE_TESTS_GPU_LITMUS_RUN_H_

namespace tile::ops {

int RunLitmus(int argc, char** argv);

}  // namespace tile::ops

#endif  // TILE_TESTS_GPU_LITMUS_RUN_H_
