#include "codegen/plan/mma/mma_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

struct Instruction {
  ir::Elem element;
  Feature feature;
  int m, n, k, words_a, words_b, registers_c;
  const char *shape, *types;
};

constexpr Instruction kInstructions[] = {
#define TILE_MMA(Element, feature, ...) {ir::Elem::k##Element, feature, __VA_ARGS__},
#include "codegen/target/mma_instructions.def"
};

// Warps along m and n such that a warp's piece is as square as can be: it loads m·k + k·n elements for m·n products.
void ShareTile(int num_warps, const Instruction& i, const MmaShape& s, int* warps_m, int* warps_n) {
  int64_t best = 0;
  for (int wm = 1; wm <= num_warps; wm *= 2) {
    const int wn = num_warps / wm;
    const int64_t m = std::max<int64_t>(s.m / wm, i.m), n = std::max<int64_t>(s.n / wn, i.n);
    // Pieces smaller than an instruction are work done twice.
    const int64_t cost = (m * wm * n * wn) * 1024 + m + n;
    if (best == 0 || cost < best) {
      best = cost;
      *warps_m = wm;
      *warps_n = wn;
    }
  }
}

// Null: the product is multiplied out with fma.
const Instruction* FindInstruction(const Target& target, const ir::Op& op) {
  const MmaShape s = ShapeOfMma(op);
  if (s.batch != 0 || !op.info()->has(ir::kProduct)) return nullptr;
  const ir::Elem element = ir::MmaOp(op).lhs()->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && target.has(i.feature) && s.k >= i.k) return &i;
  }
  return nullptr;
}

// An operand that comes piece by piece along M or N: so does the result.
int PiecesOfResult(const ir::Op& op, int operand) {
  const ir::Op* copy = CopyOf(op, operand);
  if (copy == nullptr || !DecisionOf<Decision::kPieceBytes>(*copy)) return 1;
  const StageLayout stage = StageOf(*copy);
  const auto i = static_cast<size_t>(op.operand(operand)->index());
  return stage.tiles[i].k_major ? 1 : stage.pieces(i);
}

MmaPlan PlanOf(const Instruction& i, const ir::Op& op, int warps_m, int warps_n) {
  const MmaShape s = ShapeOfMma(op);
  MmaPlan p;
  p.tile = {{i.m, i.n, i.k, ir::ElemInfoOf(i.element).storage * 8}, s.m, s.n, s.k, warps_m, warps_n};
  p.tile.pieces_m = PiecesOfResult(op, 0);
  p.tile.pieces_n = PiecesOfResult(op, 1);
  p.instruction = absl::StrCat("mma.sync.aligned.", i.shape, ".", WithSigns(op, i.types, false));
  p.words_a = i.words_a;
  p.words_b = i.words_b;
  p.registers_c = i.registers_c;
  return p;
}

}  // namespace

std::string WithSigns(const ir::Op& op, const char* types, bool swapped) {
  std::string out;
  int operand = swapped ? 1 : 0;
  for (const char* c = types; *c != 0; ++c) {
    if (*c != '%') {
      out += *c;
      continue;
    }
    const ir::MmaIOp product(op);
    const ir::Signedness sign = operand == 0 ? product.signedness_lhs() : product.signedness_rhs();
    operand = 1 - operand;
    out += sign == ir::Signedness::kSigned ? 's' : 'u';
  }
  return out;
}

MmaShape ShapeOfMma(const ir::Op& op) {
  const auto a = ir::MmaOp(op).lhs()->type().shape(), b = ir::MmaOp(op).rhs()->type().shape();
  const size_t first = a.size() - 2;
  return {first == 1 ? a[0] : 0, a[first], b[first + 1], a[first + 1]};
}

bool HasMma(const Target& target, const ir::Op& op) { return FindInstruction(target, op) != nullptr; }

std::optional<MmaPlan> PlanMma(const Target& target, int num_warps, const ir::Op& op) {
  const Instruction* i = FindInstruction(target, op);
  if (i == nullptr) return std::nullopt;
  MmaShape s = ShapeOfMma(op);
  s.m /= PiecesOfResult(op, 0);
  s.n /= PiecesOfResult(op, 1);
  int warps_m = 1, warps_n = 1;
  if (s.m >= static_cast<int64_t>(i->m) * num_warps && WorksOnRows(op)) {
    warps_m = num_warps;
  } else {
    ShareTile(num_warps, *i, s, &warps_m, &warps_n);
  }
  return PlanOf(*i, op, warps_m, warps_n);
}

absl::string_view InstructionOf(const ir::Op& mma) {
  const std::optional<absl::string_view> instruction = DecisionOf<Decision::kInstruction>(mma);
  TILE_CHECK(instruction.has_value(), "nobody decided how the product is done");
  return *instruction;
}

void Decide(ir::Module* module, ir::Op* mma, const MmaPlan& plan) {
  const auto& [m, n, k, bits] = plan.tile.instruction;
  Decide<Decision::kInstruction>(module, mma, kByMmaSync);
  Decide<Decision::kShape>(module, mma, {m, n, k});
  Decide<Decision::kWarps>(module, mma, {plan.tile.warps_m, plan.tile.warps_n});
}

std::optional<MmaPlan> MmaPlanOf(const ir::Op& mma) {
  if (InstructionOf(mma) != kByMmaSync) return std::nullopt;
  const auto shape = DecisionOf<Decision::kShape>(mma).value(), warps = DecisionOf<Decision::kWarps>(mma).value();
  const ir::Elem element = ir::MmaOp(mma).lhs()->type().elem();
  for (const Instruction& i : kInstructions) {
    if (i.element == element && shape == absl::Span<const int64_t>({i.m, i.n, i.k}))
      return PlanOf(i, mma, static_cast<int>(warps[0]), static_cast<int>(warps[1]));
  }
  TILE_CHECK(false, "a product has an instruction that does not exist");
  return std::nullopt;
}

namespace {

// Every other lane has another row: lanes that are next to each other read the same of the right operand, lanes behind those the same of the
// left one. 16 bytes for each lane come from shared memory in two cycles then, not in four.
Layout WithRowsInPairs(const Layout& layout) {
  const auto masks = [&](In in) { return Masks(layout.bases(in).begin(), layout.bases(in).end()); };
  Masks lanes = masks(In::kLane);
  const Mask rows = layout.DimMask(layout.rank() - 2);
  const auto row = std::find_if(lanes.begin(), lanes.end(), [&](Mask m) { return (m & rows) != 0; });
  if (row != lanes.end()) std::rotate(lanes.begin(), row, row + 1);
  return Layout::FromBases(Shape(layout.shape().begin(), layout.shape().end()), masks(In::kRegister), std::move(lanes),
                           masks(In::kWarp));
}

}  // namespace

Layout MmaResultLayout(int num_warps, const ir::Op& op) {
  if (const auto p = WgmmaPlanOf(op)) return p->ResultLayout();
  if (const auto p = MmaPlanOf(op)) return MmaLayout(p->tile, Operand::kC);
  // For fma: a square of results in each thread, so that what it reads serves several.
  const auto shape = op.result(0)->type().shape();
  const int rank = static_cast<int>(shape.size());
  const int64_t each = std::max<int64_t>(1, op.result(0)->type().num_elements() / (32 * num_warps));
  const int64_t columns = std::min<int64_t>({shape[rank - 1], each, 4});
  const int64_t rows = std::min<int64_t>({shape[rank - 2], each / columns, 4});
  absl::InlinedVector<int64_t, 4> elements(rank, 1), lanes(rank, 1), warps(rank, 1);
  absl::InlinedVector<int, 4> order;
  for (int d = rank - 1; d >= 0; --d) order.push_back(d);
  elements[rank - 1] = columns;
  elements[rank - 2] = rows;
  int64_t left = 32;
  for (int d = rank - 1; d >= 0; --d) {
    lanes[d] = d == 0 ? left
                      : std::min<int64_t>(
                            left, std::max<int64_t>(1, d == rank - 1 ? std::min<int64_t>(8, shape[d] / elements[d])
                                                                     : shape[d] / elements[d]));
    left /= lanes[d];
  }
  // Warps such that what a thread reads of one k, rows and columns, is least.
  auto each_thread = [&](int d, int64_t w) { return std::max<int64_t>(elements[d], shape[d] / (lanes[d] * w)); };
  int64_t best = 0;
  for (int64_t w = 1; w <= num_warps; w *= 2) {
    const int64_t m = each_thread(rank - 2, w), n = each_thread(rank - 1, num_warps / w);
    const int64_t cost = m * n * 1024 + m + n;  // results held twice are work done twice
    if (best != 0 && cost >= best) continue;
    best = cost;
    warps[rank - 2] = w;
    warps[rank - 1] = num_warps / w;
  }
  if (rank == 3) {
    // What is left over goes along the batch.
    for (int d = rank - 1; d > 0; --d) {
      while (warps[d] > 1 && shape[d] / (elements[d] * lanes[d]) < warps[d]) warps[d] /= 2, warps[0] *= 2;
    }
  }
  return WithRowsInPairs(Layout::Blocked(shape, elements, lanes, warps, order));
}

}  // namespace tile::codegen
