#include "codegen/gpu/schedule/terms.h"

#include <optional>

#include "ir/op_views.h"
#include "ir/passes/fold.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen::schedule {
namespace {

constexpr uint64_t kUnits[] = {1, 16, 64, 128};
constexpr uint64_t kMostUnits = 9;
constexpr uint64_t kMostTiles =
    20;  // of a tensor, along a dimension: more than a ring has stages, so few that loops end
constexpr uint64_t kMostBlocks = 4;  // of a grid, along a dimension
constexpr uint64_t kMostTurns = 3;

bool IsInteger(ir::Type type) { return type.is_scalar() && ir::IsInt(type.elem()); }

bool Widens(const ir::Op& ftof) {
  return ir::MemoryBits(ftof.operand(0)->type().elem()) == 8 && ir::MemoryBits(ftof.result(0)->type().elem()) == 16;
}

uint64_t OfText(absl::string_view text) {
  uint64_t h = text.size();
  for (const char c : text) h = Mix(h, static_cast<unsigned char>(c));
  return h;
}

// Hints and promises change no value.
uint64_t OfAttr(const ir::Attr& a) {
  if (!a.present()) return 1;
  uint64_t h = 2;
  switch (a.kind()) {
    case ir::AttrKind::kFlag:
    case ir::AttrKind::kBool:
    case ir::AttrKind::kInt:
    case ir::AttrKind::kEnum: return Mix(h, static_cast<uint64_t>(a.as_int()));
    case ir::AttrKind::kString:
    case ir::AttrKind::kSymbol: return OfText(a.as_string());
    case ir::AttrKind::kDense:
      for (const uint8_t byte : a.dense().bytes) h = Mix(h, byte);
      return h;
    case ir::AttrKind::kInts:
      for (const int64_t i : a.ints()) h = Mix(h, static_cast<uint64_t>(i));
      return h;
    case ir::AttrKind::kBools:
      for (const uint8_t b : a.bools()) h = Mix(h, b);
      return h;
    case ir::AttrKind::kScalars:
      for (const ir::Scalar& s : a.scalars()) h = Mix(h, s.bits);
      return h;
    case ir::AttrKind::kPredicate:
    case ir::AttrKind::kHints: return h;
  }
  return h;
}

}  // namespace

Terms::Terms(uint64_t seed)
    : seed_(Mix(seed, 1)),
      unit_(kUnits[seed % std::size(kUnits)]),
      turns_(1 + static_cast<int>(Mix(seed, 4) % kMostTurns)) {}

uint64_t Terms::Choose(uint64_t name, ir::Type type) const {
  const uint64_t h = Mix(seed_, name);
  if (!IsInteger(type)) return h;
  if (type.elem() == ir::Elem::kI1) return h & 1;
  const uint64_t rest = (h >> 32) % 4 == 0 ? (h >> 40) % unit_ : 0;
  return ir::LowBits(h % kMostUnits * unit_ + rest, ir::ElemInfoOf(type.elem()).bits);
}

uint64_t Terms::OfParam(const ir::Value& param) const {
  return Choose(Mix(OfText("parameter"), static_cast<uint64_t>(param.index())), param.type());
}

uint64_t Terms::OfTile(uint64_t view, absl::Span<const uint64_t> index) const {
  uint64_t h = Mix(Mix(seed_, OfText("tile")), view);
  for (const uint64_t i : index) h = Mix(h, i);
  return h;
}

uint64_t Terms::Name(const ir::Op& op, absl::Span<const uint64_t> operands) const {
  uint64_t& kind = kinds_[&op];
  if (kind == 0) {
    kind = OfText(op.info()->mnemonic);
    for (size_t i = 0; i < op.info()->format->attrs.size(); ++i) kind = Mix(kind, OfAttr(op.attr(static_cast<int>(i))));
    for (int i = 0; i < op.num_results(); ++i) kind = Mix(kind, OfText(op.result(i)->type().ToString()));
    for (int r = 0; r < op.num_regions(); ++r) {
      ir::Walk(op.region(r), [&](const ir::Op* inside) { kind = Mix(kind, OfText(inside->info()->mnemonic)); });
    }
  }
  uint64_t h = kind;
  for (const uint64_t operand : operands) h = Mix(h, operand);
  return h;
}

uint64_t Terms::OfBlockId(int dim, const BlockPlace& block) const {
  const uint64_t name = Mix(Mix(OfText("block"), static_cast<uint64_t>(dim)), static_cast<uint64_t>(block.turn));
  const uint64_t first = Mix(seed_, name) % kMostBlocks;
  if (dim != block.dim) return first;
  return first * static_cast<uint64_t>(block.blocks) + static_cast<uint64_t>(block.rank);
}

uint64_t Terms::Of(const ir::Op& op, int i, absl::Span<const uint64_t> operands, const BlockPlace& block) const {
  const ir::Type type = op.result(i)->type();
  if (ir::GetTileBlockIdOp::Is(&op)) return OfBlockId(i, block);
  if (ir::GetNumTileBlocksOp::Is(&op)) return 1 + Mix(seed_, static_cast<uint64_t>(i)) % kMostBlocks;
  if (ir::GetIndexSpaceShapeOp::Is(&op))
    return Mix(seed_, Mix(Name(op, operands), static_cast<uint64_t>(i))) % kMostTiles;
  // Threads that copy a tile may also widen it, which is exact.
  const bool rounds = ir::FToFOp::Is(&op) && (type.elem() == ir::Elem::kTF32 || Widens(op));
  const bool moves = (op.info()->traits & ir::kMoves) != 0 && op.num_operands() == 1;
  if ((moves || rounds) && IsInteger(type) == IsInteger(op.operand(0)->type())) return operands[0];
  if (IsInteger(type) && op.info()->has(ir::kPure)) {
    if (const auto constant = ir::SplatOf(op.result(i))) return *constant;
    if (ir::SelectOp::Is(&op)) return operands[0] != 0 ? operands[1] : operands[2];
    const bool of_integers = op.num_operands() > 0 && IsInteger(op.operand(0)->type());
    if (op.info()->has(ir::kElementwise) && of_integers) {
      if (const std::optional<uint64_t> bits = ir::FoldInteger(op, operands)) return *bits;
    }
  }
  if (ir::LoadViewOp::Is(&op) && type.is_tile()) {
    const uint64_t tile = OfTile(operands[0], operands.subspan(1));
    return type.is_scalar() ? Choose(tile, type) : tile;
  }
  return Choose(Mix(Name(op, operands), static_cast<uint64_t>(i)), type);
}

}  // namespace tile::codegen::schedule
