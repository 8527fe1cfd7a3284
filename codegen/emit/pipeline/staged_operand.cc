#include "codegen/emit/pipeline/staged_operand.h"

#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "codegen/emit/context/bytes.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/block_scales.h"
#include "codegen/layout/fragments.h"
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

// Bytes that were not read four at a time, as those of words: conversions take words (bytes.h).
Registers InWords(Emitter& e, Registers all) {
  const bool of_bytes = all[0]->getType()->isIntegerTy(8) && all.size() % kBytesOfWord == 0;
  if (!of_bytes || !WordsOfBytes(all).empty()) return all;
  for (size_t r = 0; r < all.size(); r += kBytesOfWord) {
    llvm::Value* word = PackWord(e, Operands(all).subspan(r, kBytesOfWord));
    for (int i = 0; i < kBytesOfWord; ++i) all[r + static_cast<size_t>(i)] = ByteOfWord(e, word, i);
  }
  return all;
}

// Fragments that are read by ldmatrix, element by element.
Registers LoadMatrices(FragmentSource& words, Emitter& e, const Layout& layout, llvm::Type* type) {
  const int per_word = 4 / MemoryBytes(type);
  Registers all;
  for (int w = 0; w < layout.registers() / per_word; ++w) {
    for (llvm::Value* x : UnpackWord(e, words.Word(w), static_cast<size_t>(per_word), type)) all.push_back(x);
  }
  return all;
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
  const SharedMap map = tile.OperandMap();
  if (FitLdMatrix(map, layout))
    return LoadMatrices(*FragmentsInShared(e, v->type().elem(), map, memory, layout), e, layout, type);
  Registers all(layout.registers());
  ForEachVector(e, layout, MemoryBytes(type), map, memory, [&](absl::Span<const int> registers, llvm::Value* at) {
    const Registers values = LoadVector(e, type, static_cast<int>(registers.size()), at);
    for (size_t i = 0; i < registers.size(); ++i) all[registers[i]] = values[i];
  });
  return InWords(e, Copies(layout).Repeat(std::move(all)));
}

}  // namespace tile::codegen
