// Right operands that the loop makes, of products that read them in shared memory. Before and after, in a loop whose threads copy the left one:
//
//   %w = load_ptr_tko weak …                       wait_copies …, worker_barrier
//   %y = itof %w                                   %y = itof %w
//   %n = mmaf %x, %y, %acc                         %at = stage_operand %y
//                                                  fence_proxy_async, worker_barrier
//                                                  %n = mmaf <stage_tile>, <stage_tile %at>, %acc
//
// A product is awaited within its iteration. The next iteration begins with a barrier, so its store comes behind the product. Iterations have no such
// barrier where TMA copies: there one precedes the store. All products of an iteration that take the operand read one place.
#include <algorithm>
#include <vector>

#include "codegen/passes/expand/copy_role.h"
#include "codegen/plan/mma/staged_mma.h"

namespace tile::codegen {

using ir::Attr;
using ir::Builder;
using ir::Op;
using ir::Value;

namespace {

constexpr int64_t kMostRowBytes = 128;  // of a swizzled tile

// A thread holds neighbours along dimension 0, so it stores vectors in rows that go along it.
bool GoesDown(const Layout& layout) {
  return layout.registers() > 1 && layout.bases(In::kRegister)[0] == uint64_t{1} << layout.dim_shift(0);
}

}  // namespace

Value* CopyRole::StoreRhs(Builder& b, const Op& mma) {
  Value* rhs = Of(mma.operand(1));
  const ir::Type type = rhs->type();
  StagedTile tile = StoredRhs(type);
  tile.k_major = GoesDown(*LayoutOf(type));
  tile.swizzle = static_cast<int>(std::min(kMostRowBytes, (tile.k_major ? tile.k : tile.mn) * tile.element_bits / 8));
  Value*& address = frame_->stored[rhs];
  if (address == nullptr) {
    if (!stages().by_threads) Plain(b, GpuOpcode::kWorkerBarrier);
    Value* rows = tile.k_major ? Turned(b, rhs) : rhs;
    address = Named("rhs", b.Create(GetGpuOp(GpuOpcode::kStageOperand), {{rows}}, {I32(b)})->result(0));
    Plain(b, GpuOpcode::kFenceProxyAsync);
    Plain(b, GpuOpcode::kWorkerBarrier);
  }
  return StoredAs(b, address, type, tile);
}

// Its dimensions in the other order; no element moves.
Value* CopyRole::Turned(Builder& b, Value* v) {
  const absl::Span<const int64_t> shape = v->type().shape();
  const ir::Type type = WithLayout(b, v->type().elem(), {shape[1], shape[0]}, LayoutOf(v->type())->Permute({1, 0}));
  const std::vector<int64_t> order = {1, 0};
  const Attr permutation = Attr::Ints(b.module()->arena().Copy(absl::MakeConstSpan(order)));
  return b.Create(ir::Opcode::kPermute, {{v}}, {type}, {{"permutation", permutation}})->result(0);
}

}  // namespace tile::codegen
