#include "codegen/passes/layouts/copied_read.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/access.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/conversion.h"
#include "codegen/layout/fragments.h"
#include "codegen/layout/shared.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kWordBits = 32, kVectorBits = 128;
constexpr int kDepth = 8;  // operations through which values are followed back

// What a warp issues, in instructions of arithmetic: a wavefront of shared memory, or a shuffle, takes the time of this many, and a barrier of
// the block.
constexpr int64_t kOfWavefront = 2, kOfBarrier = 16;

// Where something that is made of the tile has to be in a layout of a product.
struct End {
  Layout layout;  // in the coordinates of the tile that is read
  int bits = 0;   // of an element
};

// What becomes of the tile.
struct Uses {
  std::vector<End> ends;
  int made = 0;  // tiles that are computed on the way
};

// Where a value is asked for in another layout, it is one that was read, or it is computed in that layout from the start.
bool LiesAnywhere(const Value* v, int depth = kDepth) {
  const Op* def = v->def();
  if (v->type().is_scalar()) return true;
  if (def == nullptr || depth == 0) return false;
  if (ReadsCopy(*def) || RuleOf(*def).registers == RegisterRule::kRepeat) return true;
  if (def->info()->family == ir::Family::kConstant && !ir::AssumeOp::Is(def)) return true;
  if (!def->info()->has(ir::kElementwise) && RuleOf(*def).registers != RegisterRule::kSource) return false;
  for (int i = 0; i < def->num_operands(); ++i) {
    if (!LiesAnywhere(def->operand(i), depth - 1)) return false;
  }
  return true;
}

// As threads exchange it; 0: they can't, or several elements are in a byte.
int BitsOf(const Value* v) {
  const ir::Type type = v->type();
  return type.element().is_pointer() || ir::IsSubByte(type.elem()) ? 0 : ir::MemoryBits(type.elem());
}

// Of a tile behind a permutation or reshape, and before it.
Layout Behind(const Op& op, const Layout& before) {
  if (!ir::PermuteOp::Is(&op)) return before.Reshape(op.result(0)->type().shape());
  const auto permutation = ir::PermuteOp(op).permutation();
  return before.Permute(absl::InlinedVector<int, 8>(permutation.begin(), permutation.end()));
}
Layout Before(const Op& op, const Layout& behind) {
  if (!ir::PermuteOp::Is(&op)) return behind.Reshape(op.operand(0)->type().shape());
  const auto permutation = ir::PermuteOp(op).permutation();
  return behind.PermuteBack(absl::InlinedVector<int, 8>(permutation.begin(), permutation.end()));
}

// Finds what becomes of a tile.
class Follower {
 public:
  Follower(int num_warps, Uses* uses) : num_warps_(num_warps), uses_(*uses) {}

  // False if something is made of the value that has no layout of a product.
  bool Follow(const Value* v) {
    std::vector<const Op*> seen;
    for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
      if (std::find(seen.begin(), seen.end(), use->owner) != seen.end()) continue;
      seen.push_back(use->owner);
      if (BitsOf(v) == 0 || !FollowUse(*use->owner, v)) return false;
    }
    return true;
  }

 private:
  bool FollowUse(const Op& op, const Value* v) {
    if (IsProduct(op)) return FollowProduct(op, v);
    const bool moves = Moves(op);
    if (!moves && !IsElementwise(op)) return false;
    std::optional<Layout> beside;
    for (int i = 0; i < op.num_operands(); ++i) {
      if (op.operand(i) == v || LiesAnywhere(op.operand(i))) continue;
      beside = OfResult(op.operand(i), kDepth);
      if (!beside) return false;
    }
    if (beside) {
      uses_.ends.push_back({*beside, BitsOf(v)});
      return true;
    }
    if (RuleOf(op).registers == RegisterRule::kOwn) ++uses_.made;
    const size_t first = uses_.ends.size();
    if (!IsTile(op.result(0)) || !Follow(op.result(0))) return false;
    for (size_t i = first; moves && i < uses_.ends.size(); ++i) uses_.ends[i].layout = Before(op, uses_.ends[i].layout);
    return true;
  }

  bool FollowProduct(const Op& mma, const Value* v) {
    for (int i = 0; i < mma.num_operands(); ++i) {
      if (mma.operand(i) != v) continue;
      const std::optional<Layout> fragments = i < 2 ? KindOf(mma).FragmentLayout(mma, i) : std::nullopt;
      if (!fragments) return false;
      uses_.ends.push_back({*fragments, BitsOf(v)});
    }
    return true;
  }

  // Of what is made of a product's result; nullopt: it is not made of one.
  std::optional<Layout> OfResult(const Value* v, int depth) const {
    const Op* def = v->def();
    if (def == nullptr || depth == 0 || !IsTile(v)) return std::nullopt;
    if (IsProduct(*def)) return KindOf(*def).ResultLayout(num_warps_, *def);
    if (!Moves(*def) && !IsElementwise(*def)) return std::nullopt;
    for (int i = 0; i < def->num_operands(); ++i) {
      const std::optional<Layout> operand = OfResult(def->operand(i), depth - 1);
      if (operand) return Moves(*def) ? Behind(*def, *operand) : *operand;
    }
    return std::nullopt;
  }

  static bool Moves(const Op& op) { return ir::PermuteOp::Is(&op) || ir::ReshapeOp::Is(&op); }
  static bool IsElementwise(const Op& op) {
    return op.info()->has(ir::kElementwise) && op.num_results() == 1 && RuleOf(op).layout == LayoutRule::kSame;
  }

  const int num_warps_;
  Uses& uses_;
};

int64_t WordsOf(const Layout& l, int bits) {
  return std::max<int64_t>(1, int64_t{l.RemoveZeroRegisters().registers()} * bits / kWordBits);
}

// Of an access of all warps.
int64_t CostOf(const Layout& in_shared, const VectorAccess& access, int bits) {
  return access.instructions() + kOfWavefront * QuickWavefronts(in_shared, access, bits) / in_shared.warps();
}

// Of values that go from one layout to another, in a warp.
int64_t CostOfConversion(const Layout& from, const Layout& to, int bits) {
  const Conversion c = Convert(from, to, bits);
  switch (c.kind) {
    case ConversionKind::kNone: return 0;
    case ConversionKind::kRegisters: return bits < kWordBits ? WordsOf(to, bits) : 0;
    case ConversionKind::kSelect:
    case ConversionKind::kShuffle: return c.selects + (1 + kOfWavefront) * c.shuffles;
    case ConversionKind::kShared: break;
  }
  const SharedExchange x = ChooseShared(from, to, bits);
  return kOfBarrier + CostOf(Compose(x.map.index, from), x.write, bits) +
         CostOf(Compose(x.map.index, to), x.read, bits);
}

// Reading the tile in this layout, computing with it, and what moves behind that.
int64_t CostOfLayout(const Layout& l, const SharedMap& map, const Uses& uses) {
  int64_t cost = 0;
  bool in_words = true;  // neighbours that one word will hold come together
  if (const std::optional<LdMatrix> matrices = FitLdMatrix(map, l)) {
    cost = matrices->instructions() + kOfWavefront * LdMatrixWavefronts(*matrices, map.element_bits) / l.warps();
  } else {
    const Layout in_shared = Compose(map.index, l);
    const VectorAccess access = Vectorise(in_shared, map.element_bits, 0, kVectorBits / map.element_bits);
    cost = CostOf(in_shared, access, map.element_bits);
    in_words = access.vector > 1;
  }
  cost += uses.made * WordsOf(l, kWordBits);
  for (const End& end : uses.ends) {
    cost += CostOfConversion(l, end.layout, end.bits);
    if (!in_words && end.bits < kWordBits) cost += WordsOf(l, end.bits);
  }
  return cost;
}

}  // namespace

std::optional<Layout> ProductLayoutOfRead(const Op& read, const Layout& rows) {
  Uses uses;
  if (!Follower(rows.warps(), &uses).Follow(read.result(0))) return std::nullopt;
  const SharedMap map = StagedOperandOf(read, 0)->OperandMap();
  const Layout* best = &rows;
  int64_t least = CostOfLayout(rows, map, uses);
  for (const End& end : uses.ends) {
    const int64_t cost = CostOfLayout(end.layout, map, uses);
    if (cost < least) best = &end.layout, least = cost;
  }
  return best == &rows ? std::nullopt : std::optional(*best);
}

}  // namespace tile::codegen
