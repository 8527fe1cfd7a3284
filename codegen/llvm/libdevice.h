// CUDA's library of math functions, as LLVM bitcode.
//
//   absl::Status s = LinkLibdevice(FindLibdevice(), &module);   // what the module calls of it
//   CallManyMathFunctions(&module);
#ifndef TILE_CODEGEN_LLVM_LIBDEVICE_H_
#define TILE_CODEGEN_LLVM_LIBDEVICE_H_

#include <string>

#include "absl/status/status.h"

namespace llvm {
class Module;
}

namespace tile::codegen {

// `path` may be empty if the module calls none of its functions.
absl::Status LinkLibdevice(const std::string& path, llvm::Module* module);
// Functions whose copies at each call would make most of very much code are called instead.
void CallManyMathFunctions(llvm::Module* module);

// Code that takes LLVM and ptxas long.
inline constexpr int kManyInstructions = 20000;

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_LIBDEVICE_H_
