#include "codegen/emit/pipeline/staged_operand.h"

#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/block_scales.h"
#include "ir/check.h"

namespace tile::codegen {

namespace {

// The accesses of registers of this layout, of `bytes` bytes each. An access has registers that are neighbours in memory, and the place of the first.
template <class Fn>
void ForEachVector(Emitter& e, const Layout& layout, int bytes, const SharedMap& map, llvm::Value* memory, Fn access) {
  const Layout in_shared = Compose(map.index, layout);
  const VectorAccess vectors = Vectorise(in_shared, 8 * bytes, 0, 16 / bytes);
  for (int i = 0; i < vectors.instructions(); ++i) {
    const auto registers = absl::MakeConstSpan(vectors.registers).subspan(i * vectors.vector, vectors.vector);
    llvm::Value* at = SharedPlace(e, memory, in_shared.bases(In::kLane), in_shared.bases(In::kWarp),
                                  RegisterPart(in_shared, registers[0]), bytes);
    access(registers, at);
  }
}

void StoreAll(Emitter& e, const Registers& all, const Layout& layout, const SharedMap& map, llvm::Value* memory) {
  ForEachVector(e, layout, MemoryBytes(all[0]->getType()), map, memory,
                [&](absl::Span<const int> registers, llvm::Value* at) {
                  Registers values;
                  for (int r : registers) values.push_back(all[r]);
                  StoreVector(e, values, at);
                });
}

// An operand of 4 bits: two neighbours of a thread are a byte.
void StorePairs(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  const std::optional<Layout> pairs =
      OfPairs(e.layout(v), Mask{1} << e.layout(v).dim_shift(tile.k_major == tile.lhs ? 1 : 0));
  TILE_CHECK(pairs.has_value(), "a thread has no neighbours of an operand of 4 bits that it stores");
  const Registers& all = e.regs(v);
  Registers bytes;
  for (size_t r = 0; r < all.size(); r += 2) bytes.push_back(e.b().CreateOr(all[r], e.b().CreateShl(all[r + 1], 4)));
  StagedTile of_bytes = tile;
  of_bytes.element_bits = 8;
  (tile.k_major ? of_bytes.k : of_bytes.mn) /= 2;
  StoreAll(e, bytes, *pairs, of_bytes.OperandMap(), memory);
}

}  // namespace

void StoreOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  if (ir::IsSubByte(v->type().elem())) return StorePairs(e, v, tile, memory);
  StoreAll(e, e.regs(v), e.layout(v), tile.OperandMap(), memory);
}

void StoreScales(Emitter& e, const ir::Value* v, llvm::Value* memory) {
  const auto shape = v->type().shape();
  StoreAll(e, e.regs(v), e.layout(v), ScalesInShared(shape[0], shape[1]), memory);
}

Registers LoadOperand(Emitter& e, const ir::Value* v, const StagedTile& tile, llvm::Value* memory) {
  llvm::Type* type = e.RegisterType(v->type().element());
  const Layout& layout = e.layout(v);
  Registers all(layout.registers());
  ForEachVector(e, layout, MemoryBytes(type), tile.OperandMap(), memory,
                [&](absl::Span<const int> registers, llvm::Value* at) {
                  const Registers values = LoadVector(e, type, static_cast<int>(registers.size()), at);
                  for (size_t i = 0; i < registers.size(); ++i) all[registers[i]] = values[i];
                });
  return Copies(layout).Repeat(std::move(all));
}

}  // namespace tile::codegen
