#include "codegen/llvm/llvm_version.h"

#include "llvm/Config/llvm-config.h"

namespace tile::codegen {

const char* LlvmVersion() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace tile::codegen
