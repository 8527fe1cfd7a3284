#include "codegen/emit/pipeline/staged_operand.h"

#include "codegen/emit/context/convert.h"
#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"

namespace tile::codegen {

void StoreOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  const Registers& registers = e.regs(v);
  const int bytes = MemoryBytes(registers[0]->getType());
  const Layout in_shared = Compose(tile.OperandMap().index, e.layout(v));
  const VectorAccess access = Vectorise(in_shared, 8 * bytes, 0, 16 / bytes);
  for (int i = 0; i < access.instructions(); ++i) {
    Registers values;
    for (int k = 0; k < access.vector; ++k) values.push_back(registers[access.registers[i * access.vector + k]]);
    const uint32_t first = RegisterPart(in_shared, access.registers[i * access.vector]);
    llvm::Value* at = SharedPlace(e, memory, in_shared.bases(In::kLane), in_shared.bases(In::kWarp), first, bytes);
    StoreVector(e, values, at);
  }
}

}  // namespace tile::codegen
