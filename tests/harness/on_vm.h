// The VM as an engine for test files of operations (op_file.h).
//
//   EXPECT_EQ(RunCall(*module, call, false, OnVm(vm::CheckLevel::kBounds, /*threads=*/2)), "");
#ifndef TILE_TESTS_HARNESS_ON_VM_H_
#define TILE_TESTS_HARNESS_ON_VM_H_

#include "tests/harness/op_file.h"
#include "vm/vm.h"

namespace tile::ops {

// Prepares and runs the kernel with these settings; gives up after 2^20 rounds of waiting blocks.
Engine OnVm(vm::CheckLevel level, int threads);

}  // namespace tile::ops

#endif  // TILE_TESTS_HARNESS_ON_VM_H_
