#include "codegen/emit/pipeline/staged_operand.h"

#include <utility>

#include "absl/types/span.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"

namespace tile::codegen {

namespace {

// The accesses of a value's registers, of so many bytes each: which registers, neighbours in memory, and where the first one lies.
template <class Fn>
void ForEachVector(Emitter& e, const ir::Value* v, int bytes, const StagedTile& tile, llvm::Value* memory, Fn access) {
  const Layout in_shared = Compose(tile.OperandMap().index, e.layout(v));
  const VectorAccess vectors = Vectorise(in_shared, 8 * bytes, 0, 16 / bytes);
  for (int i = 0; i < vectors.instructions(); ++i) {
    const auto registers = absl::MakeConstSpan(vectors.registers).subspan(i * vectors.vector, vectors.vector);
    llvm::Value* at = SharedPlace(e, memory, in_shared.bases(In::kLane), in_shared.bases(In::kWarp),
                                  RegisterPart(in_shared, registers[0]), bytes);
    access(registers, at);
  }
}

}  // namespace

void StoreOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  const Registers& all = e.regs(v);
  ForEachVector(e, v, MemoryBytes(all[0]->getType()), tile, memory,
                [&](absl::Span<const int> registers, llvm::Value* at) {
                  Registers values;
                  for (int r : registers) values.push_back(all[r]);
                  StoreVector(e, values, at);
                });
}

Registers LoadOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  llvm::Type* type = e.RegisterType(v->type().element());
  const Layout& layout = e.layout(v);
  Registers all(layout.registers());
  ForEachVector(e, v, MemoryBytes(type), tile, memory, [&](absl::Span<const int> registers, llvm::Value* at) {
    const Registers values = LoadVector(e, type, static_cast<int>(registers.size()), at);
    for (size_t i = 0; i < registers.size(); ++i) all[registers[i]] = values[i];
  });
  return Copies(layout).Repeat(std::move(all));
}

}  // namespace tile::codegen
