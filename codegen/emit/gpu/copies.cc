// Copies to shared memory that threads do themselves (cp.async), and what reads tiles there.
#include "codegen/analysis/product_chain.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/ptx_access.h"
#include "codegen/emit/pipeline/slot_copies.h"
#include "codegen/emit/pipeline/staged_operand.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/decisions.h"

namespace tile::codegen {
namespace {

// Remarks name the copies of the loop with the products, not those in front of it.
bool TellsOf(const ir::Op& copy) {
  const ir::Op* loop = copy.parent();
  while (loop != nullptr && !ir::ForOp::Is(loop)) loop = loop->parent();
  bool has_products = false;
  for (const ir::Op* op : *(loop == nullptr ? copy.block() : loop->region(0)))
    has_products = has_products || IsProduct(*op);
  return has_products;
}

// Where a stage_tile begins.
llvm::Value* PlaceOf(Emitter& e, const ir::Op& stage_tile) {
  return e.b().CreateIntToPtr(e.scalar(gpu::StageTileOp(stage_tile).address()), e.b().getPtrTy(3));
}

}  // namespace

void LowerCopyAsync(Emitter& e, const ir::Op& op) {
  llvm::Value* when = e.scalar(gpu::CopyAsyncOp(op).condition());
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(when);
  if (known != nullptr && known->isOne()) when = nullptr;
  const StagedTile tile = TileOfCopy(op);
  llvm::Value* slot = PlaceOf(e, *op.region(0)->back()->operand(1)->def());
  if (ir::LoadPtrOp::Is(tile.load)) return CopyThroughPointers(e, tile, slot, when, TellsOf(op));
  SlotPart part{.part = PartOfCopy(op), .fences = DecisionOf<Decision::kProxyFence>(op), .tells = TellsOf(op)};
  const int64_t begin = part.part.number * tile.Part(part.part.of).bytes();
  if (begin > 0) slot = e.b().CreateGEP(e.b().getInt8Ty(), slot, e.I32(-begin));
  e.When(when, [&] { CopyView(e, tile, slot, part); });
}

// The product behind it does (emit/lower/lower_mma.cc).
void LowerPiece(Emitter&, const ir::Op&) {}

void LowerCommitCopies(Emitter& e, const ir::Op&) { EndCopies(e); }

void LowerWaitCopies(Emitter& e, const ir::Op& op) {
  AwaitCopies(e, static_cast<int>(gpu::WaitCopiesOp(op).pending()));
}

void LowerConvertLayout(Emitter& e, const ir::Op& op) {
  const ir::Value *from = op.operand(0), *to = op.result(0);
  const ir::Op* tile = StageTileOf(from);
  e.Set(to, tile == nullptr ? ConvertRegisters(e, e.layout(from), e.layout(to), e.regs(from))
                            : LoadOperand(e, to, codegen::StoredTile(*tile, true), PlaceOf(e, *tile)));
}

void LowerConvertCopied(Emitter& e, const ir::Op& op) {
  const ir::Op &conversion = *op.operand(0)->def(), &place = *op.operand(1)->def();
  StagedTile tile = StoredTile(place, true);
  tile.loaded_bits = ir::MemoryBits(conversion.operand(0)->type().elem());
  tile.rounded = &conversion;
  if (tile.rows() == 1) tile.other = -1;  // as the threads copied
  ConvertCopied(e, tile, PlaceOf(e, place));
}

}  // namespace tile::codegen
