#include "codegen/emit/emitter.h"
namespace tile::codegen {
#define TILE_OP(number, Name, ...)                        \
  __attribute__((weak)) llvm::Value* Emit##Name(Emitter& e, const ir::Op& op, Operands) { e.Refuse(op, "pending"); return e.I32(0); } \
  __attribute__((weak)) void Lower##Name(Emitter& e, const ir::Op& op) { e.Refuse(op, "pending"); }
#include "ir/ops.def"
#define TILE_GPU_OP(number, Name, ...) __attribute__((weak)) void Lower##Name(Emitter& e, const ir::Op& op) { e.Refuse(op, "pending"); }
#include "codegen/gpu_ops.def"
}
