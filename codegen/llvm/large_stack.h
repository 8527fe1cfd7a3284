// A stack for recursion that follows a program: along a chain of 100,000 operations, passes of LLVM and ours need more than the usual 8 MiB.
//
//   int main() { TakeLargeStack(); … }
#ifndef TILE_CODEGEN_LLVM_LARGE_STACK_H_
#define TILE_CODEGEN_LLVM_LARGE_STACK_H_

#include <cstddef>

namespace tile::codegen {

// Of a thread that compiles; memory is taken as it is used.
inline constexpr size_t kStackBytes = size_t{512} << 20;

// The first thread's stack may grow to kStackBytes, as far as the system leaves room below it (128 MiB on Linux) and the hard limit allows.
void TakeLargeStack();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_LARGE_STACK_H_
