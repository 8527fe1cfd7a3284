// Which LLVM this was built with, for those who do not have it inside.
#ifndef TILE_CODEGEN_LLVM_LLVM_VERSION_H_
#define TILE_CODEGEN_LLVM_LLVM_VERSION_H_

namespace tile::codegen {

// "LLVM 22.1.8", for people and for keys of caches.
const char* LlvmVersion();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_LLVM_VERSION_H_
