// Views, and the tiles that they load and store. Registers that are neighbours in memory move together, up to 16 bytes:
// if nothing proves that they are aligned, a test that is the same in all threads chooses between whole vectors and
// single elements. Elements outside of the tensor are not touched.
#include <algorithm>

#include "codegen/analysis/loop_around.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/lower/prefetched_load.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/target/decisions.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

// Half a byte of memory.
llvm::Value* LoadNibble(Emitter& e, const MemoryAccess& how, TileBox& box, int r, llvm::Value* inside,
                        llvm::Value* otherwise) {
  auto& b = e.b();
  llvm::Value* shift;
  const Address at = box.ByteAt(r, &shift);
  llvm::Value* byte = Load(e, how, at, ir::Elem::kI8, 1, inside, {})[0];
  llvm::Value* v = b.CreateAnd(b.CreateLShr(byte, b.CreateTrunc(shift, b.getInt8Ty())), 15);
  return inside == nullptr || otherwise == nullptr ? v : b.CreateSelect(inside, v, otherwise);
}

// The other half may be another thread's or block's at the same time: two updates of the word that leave it alone.
void StoreNibble(Emitter& e, const MemoryAccess& how, TileBox& box, int r, llvm::Value* value, llvm::Value* predicate) {
  auto& b = e.b();
  llvm::Value* shift;
  const Address byte = box.ByteAt(r, &shift);
  llvm::Type* type = byte.base->getType();
  llvm::Value* in_word = b.CreateZExtOrTrunc(b.CreateAnd(byte.base, llvm::ConstantInt::get(type, 3)), b.getInt32Ty());
  shift = b.CreateAdd(shift, b.CreateShl(in_word, 3));
  const Address word{b.CreateAnd(byte.base, llvm::ConstantInt::getSigned(type, -4)), 0};
  llvm::Value* keep = b.CreateNot(b.CreateShl(e.I32(15), shift));
  llvm::Value* set = b.CreateShl(b.CreateZExt(value, b.getInt32Ty()), shift);
  const std::string relaxed = absl::StrCat(".relaxed.", how.strong() ? how.scope : how.shared ? "cta" : "gpu");
  auto update = [&](const std::string& qualifiers, const char* op, llvm::Value* x) {
    std::string text = absl::StrCat("red", qualifiers, how.space(), op, " [$0], $1;");
    std::string constraints = absl::StrCat(AddressConstraint(word), ",r");
    Registers in = {word.base, x};
    if (predicate != nullptr) {
      text = absl::StrCat("@$2 ", text);
      absl::StrAppend(&constraints, ",b");
      in.push_back(predicate);
    }
    e.Ptx(b.getVoidTy(), text, constraints, in, true);
  };
  update(relaxed, ".and.b32", keep);
  update(how.strong() ? how.qualifiers() : relaxed, ".or.b32", set);
  if (how.op != nullptr) e.order().Did(*how.op);
}

void LimitWidth(Emitter& e, const ir::Op& op, const MemoryAccess& how, TileBox* box) {
  const int most = MaxVector(how, box->elem());
  box->LimitVector(box->vector() > 1 && !e.TakesStep("vector", op) ? 1 : most);
  if (e.wants_remarks()) e.Remark(op, "vector", box->Width(most));
}

Registers LoadBox(Emitter& e, const MemoryAccess& how, TileBox& box, const Layout& layout, const Copies& copies,
                  llvm::Value* first, llvm::Value* padding) {
  return InEitherWidth(e, box.vector(), box.Aligned(), [&](int vector) {
    box.Forget();
    Registers out(static_cast<size_t>(layout.registers()), nullptr);
    for (int r : copies.firsts()) {
      if (r % vector != 0) continue;
      llvm::Value* inside = And(e, first, box.Inside(r));
      if (vector == 1 && ir::IsSubByte(box.elem())) {
        out[static_cast<size_t>(r)] = LoadNibble(e, how, box, r, inside, padding);
        continue;
      }
      Registers otherwise;
      if (padding != nullptr) otherwise.assign(static_cast<size_t>(vector), padding);
      const Registers got = Load(e, how, box.At(r), box.elem(), vector, inside, otherwise);
      std::copy(got.begin(), got.end(), out.begin() + r);
    }
    return out;
  });
}

void StoreBox(Emitter& e, const MemoryAccess& how, TileBox& box, const Layout& layout, const Registers& values) {
  const Copies copies(layout);
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  InEitherWidth(e, box.vector(), box.Aligned(), [&](int vector) {
    box.Forget();
    for (int r : copies.firsts()) {
      if (r % vector != 0) continue;
      llvm::Value* predicate = And(e, first, box.Inside(r));
      if (vector == 1 && ir::IsSubByte(box.elem())) {
        StoreNibble(e, how, box, r, values[static_cast<size_t>(r)], predicate);
      } else {
        Store(e, how, box.At(r), box.elem(),
              Operands(values).subspan(static_cast<size_t>(r), static_cast<size_t>(vector)), predicate);
      }
    }
    return Registers();
  });
}

llvm::Value* ShapeOperand(Emitter& e, const ir::Value* v) { return e.b().CreateZExt(e.scalar(v), e.b().getInt64Ty()); }

void SameView(Emitter& e, const ir::Op& op) { e.SetView(op.result(0), e.view(op.operand(0))); }

}  // namespace

void LowerMakeTensorView(Emitter& e, const ir::Op& op) {
  const ir::Type type = op.result(0)->type();
  const ir::MakeTensorViewOp make(op);
  ViewValue view;
  view.base = e.scalar(make.base());
  auto fill = [&](const std::vector<int64_t>& fixed, ir::OperandRange open, std::vector<llvm::Value*>* out) {
    size_t next = 0;
    for (int64_t n : fixed) out->push_back(n == ir::kDynamic ? ShapeOperand(e, open[next++]) : e.I64(n));
  };
  fill(type->shape, make.dynamic_shape(), &view.sizes);
  fill(type->strides, make.dynamic_strides(), &view.strides);
  e.SetView(op.result(0), std::move(view));
}

// All that they add is in the type.
void LowerMakePartitionView(Emitter& e, const ir::Op& op) { SameView(e, op); }
void LowerMakeStridedView(Emitter& e, const ir::Op& op) { SameView(e, op); }
void LowerMakeGatherScatterView(Emitter& e, const ir::Op& op) { SameView(e, op); }

void LowerAllocShared(Emitter& e, const ir::Op& op) {
  // Every iteration of a loop gets the same memory, so it begins when no thread uses it any more.
  if (LoopAround(op) != nullptr && !e.order().pending().empty()) e.Barrier();
  const ir::Type type = op.result(0)->type();
  ViewValue view;
  for (int d = 0; d < type.rank(); ++d) {
    view.sizes.push_back(e.I64(type->shape[static_cast<size_t>(d)]));
    view.strides.push_back(e.I64(type->strides[static_cast<size_t>(d)]));
  }
  // Nobody sees the address, so the alignment serves vectors only.
  view.base = e.I32(e.shared().PlaceOf(op, SharedArrayBytes(type)));
  e.SetView(op.result(0), std::move(view));
}

void LowerGetTensorShape(Emitter& e, const ir::Op& op) {
  const ViewValue& view = e.view(op.operand(0));
  for (int k = 0; k < op.num_results(); ++k) {
    e.SetScalar(op.result(k), e.b().CreateZExtOrTrunc(view.sizes[static_cast<size_t>(k)],
                                                      e.RegisterType(op.result(k)->type().element())));
  }
}

void LowerGetIndexSpaceShape(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Type type = op.operand(0)->type();
  const ViewValue& view = e.view(op.operand(0));
  for (int k = 0; k < op.num_results(); ++k) {
    const int64_t step = GridStep(type, k);
    llvm::Value* size = view.sizes[TensorDim(type, k)];
    llvm::Value* tiles = b.CreateUDiv(b.CreateAdd(size, e.I64(step - 1)), e.I64(step));
    e.SetScalar(op.result(k), b.CreateZExtOrTrunc(tiles, e.RegisterType(op.result(k)->type().element())));
  }
}

void LowerLoadView(Emitter& e, const ir::Op& op) {
  const ir::Value* tile = ir::LoadViewOp(op).tile();
  const ir::Type view = ir::LoadViewOp(op).view()->type();
  const Layout& layout = e.layout(tile);
  const Copies copies(layout);
  TileBox box = TileBox::OfView(e, op, layout);
  if (e.refused()) return;
  const MemoryAccess how = AccessOf(e, op, box.shared());
  llvm::Value* padding =
      view->padding ? e.Constant(view.element(), ir::PaddingBits(view.elem(), *view->padding)) : nullptr;
  // Strong reads of one element may see different values: one thread reads for all.
  const bool share = how.strong() && copies.across_threads();
  LimitWidth(e, op, how, &box);
  if (DecisionOf<Decision::kPrefetchSlot>(op)) {
    if (std::optional<Registers> copied = LoadPrefetched(e, op, box, layout, copies, padding))
      return e.Set(tile, copies.Repeat(*std::move(copied)));
  }
  Registers out = LoadBox(e, how, box, layout, copies, share ? e.threads().HoldsFirstCopy(layout) : nullptr, padding);
  e.Set(tile, share ? copies.Share(e, std::move(out)) : copies.Repeat(std::move(out)));
}

void LowerStoreView(Emitter& e, const ir::Op& op) {
  if (DecisionOf<Decision::kTensorMap>(op)) return StoreByTma(e, op);
  const ir::Value* tile = ir::StoreViewOp(op).tile();
  TileBox box = TileBox::OfView(e, op, e.layout(tile));
  if (e.refused()) return;
  const MemoryAccess how = AccessOf(e, op, box.shared());
  LimitWidth(e, op, how, &box);
  StoreBox(e, how, box, e.layout(tile), e.regs(tile));
}

void LowerStoreScatterView(Emitter& e, const ir::Op& op) {
  const ir::Value* values = ir::StoreScatterViewOp(op).values();
  TileBox box = TileBox::OfScatter(e, op, e.layout(values));
  // Equal indices may store at the same time: relaxed, so that each element is written as a whole.
  const MemoryAccess how{box.shared(), ir::MemoryOrdering::kRelaxed, box.shared() ? "cta" : "gpu", &op};
  LimitWidth(e, op, how, &box);
  StoreBox(e, how, box, e.layout(values), e.regs(values));
}

}  // namespace tile::codegen
