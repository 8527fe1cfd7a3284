// Memory in large pages, for programs that compile one kernel and end: a tenth of LLVM's time goes to pages of 4 KiB that the system
// gives one by one.
//
//   int main() { TakeLargePages(); … }     // before there are threads
#ifndef TILE_CODEGEN_LLVM_LARGE_PAGES_H_
#define TILE_CODEGEN_LLVM_LARGE_PAGES_H_

namespace tile::codegen {

// For what malloc gives from now on, in whatever thread; nothing where malloc is not glibc's.
void TakeLargePages();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_LLVM_LARGE_PAGES_H_
