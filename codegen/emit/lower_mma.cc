// Matrix products: by mma.sync where the target has an instruction for the types, else multiplied out with fma over
// operands in shared memory, in ascending k for each element of the result, as the VM does it.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/convert.h"
#include "codegen/emit/copies.h"
#include "codegen/emit/emitter.h"
#include "codegen/emit/float_codes.h"
#include "codegen/emit/mma_sync.h"

namespace tile::codegen {
namespace {

// The type in which products are added up, and back from it.
llvm::Value* Widen(Emitter& e, ir::Elem from, llvm::Value* v, bool is_signed) {
  if (from == ir::Elem::kF64 || from == ir::Elem::kI32) return v;
  if (from == ir::Elem::kI8) return is_signed ? e.b().CreateSExt(v, e.b().getInt32Ty()) : e.b().CreateZExt(v, e.b().getInt32Ty());
  return ToFloat(e, from, v);
}

llvm::Value* Narrow(Emitter& e, ir::Elem to, llvm::Value* v) {
  if (to == ir::Elem::kF64 || to == ir::Elem::kI32 || to == ir::Elem::kF32) return v;
  return FromFloat(e, to, v, ir::Rounding::kNearestEven, OutOfRange::kInfinity);
}

// A tile in shared memory, row-major, widened.
struct Table {
  llvm::Value* base = nullptr;
  llvm::Type* type = nullptr;
  uint64_t bytes = 0;

  llvm::Value* At(Emitter& e, llvm::Value* position) const {
    const int size = MemoryBytes(type);
    return LoadVector(e, type, 1, e.b().CreateGEP(e.b().getInt8Ty(), base, e.b().CreateMul(position, e.I32(size))))[0];
  }
};

llvm::Type* WideType(Emitter& e, ir::Elem elem) {
  return elem == ir::Elem::kF64 ? e.b().getDoubleTy() : elem == ir::Elem::kI8 ? static_cast<llvm::Type*>(e.b().getInt32Ty()) : e.b().getFloatTy();
}

Table Reserve(Emitter& e, const ir::Value* v, uint64_t* total) {
  Table t;
  t.type = WideType(e, v->type().elem());
  t.bytes = *total;
  *total += (static_cast<uint64_t>(v->type().num_elements()) * MemoryBytes(t.type) + 15) / 16 * 16;
  return t;
}

void Fill(Emitter& e, const ir::Value* v, bool is_signed, llvm::Value* base, Table* t) {
  auto& b = e.b();
  t->base = b.CreateGEP(b.getInt8Ty(), base, e.I32(static_cast<int64_t>(t->bytes)));
  const Layout& layout = e.layout(v);
  const Copies copies(layout);
  for (int r : copies.firsts()) {
    llvm::Value* at = b.CreateMul(e.Element(layout, r), e.I32(MemoryBytes(t->type)));
    StoreVector(e, {Widen(e, v->type().elem(), e.regs(v)[r], is_signed)}, b.CreateGEP(b.getInt8Ty(), t->base, at));
  }
}

Registers MultiplyOut(Emitter& e, const ir::Op& op, Registers acc) {
  auto& b = e.b();
  const MmaShape s = ShapeOfMma(op);
  const ir::Value *lhs = op.operand("lhs"), *rhs = op.operand("rhs");
  const bool scaled = op.opcode() == ir::Opcode::kMmaScaled;
  auto is_signed = [&](const char* name) {
    return op.info()->format->attr_index(name) >= 0 && op.attr(name).as_enum<ir::Signedness>() == ir::Signedness::kSigned;
  };
  uint64_t total = 0;
  Table a = Reserve(e, lhs, &total), w = Reserve(e, rhs, &total), sa, sw;
  if (scaled) {
    sa = Reserve(e, op.operand("lhs_scale"), &total);
    sw = Reserve(e, op.operand("rhs_scale"), &total);
  }
  llvm::Value* base = e.Scratch(total);
  Fill(e, lhs, is_signed("signedness_lhs"), base, &a);
  Fill(e, rhs, is_signed("signedness_rhs"), base, &w);
  if (scaled) {
    Fill(e, op.operand("lhs_scale"), false, base, &sa);
    Fill(e, op.operand("rhs_scale"), false, base, &sw);
  }
  e.Barrier();
  const int64_t groups = scaled ? op.operand("lhs_scale")->type().shape().back() : 1;

  // One round for each k.
  llvm::BasicBlock *before = b.GetInsertBlock(), *round = e.NewBlock("product"), *after = e.NewBlock("endproduct");
  b.CreateBr(round);
  b.SetInsertPoint(round);
  llvm::PHINode* k = b.CreatePHI(b.getInt32Ty(), 2, "k");
  k->addIncoming(e.I32(0), before);
  std::vector<llvm::PHINode*> sums;
  for (llvm::Value* v : acc) {
    sums.push_back(b.CreatePHI(v->getType(), 2));
    sums.back()->addIncoming(v, before);
  }
  const Layout& layout = e.layout(op.result(0));
  const int rank = layout.rank();
  const Mask row_bits = ~layout.DimMask(rank - 1), column_bits = ~layout.DimMask(rank - 2);
  absl::flat_hash_map<uint64_t, llvm::Value*> rows, columns;  // what several results share
  auto coordinate = [&](int r, int dim) { return e.Coordinate(layout, r, dim); };
  auto times = [&](llvm::Value* x, int64_t n, llvm::Value* y) { return b.CreateAdd(b.CreateMul(x, e.I32(n)), y); };
  llvm::Value* group = b.CreateUDiv(k, e.I32(s.k / groups));
  auto fold = [&](llvm::Value* x, llvm::Value* scale) { return b.CreateFMul(x, scale); };
  for (size_t r = 0; r < acc.size(); ++r) {
    const int reg = static_cast<int>(r);
    const uint32_t part = e.RegisterPart(layout, reg);
    llvm::Value* batch = rank == 3 ? coordinate(reg, 0) : e.I32(0);
    llvm::Value*& x = rows[part & row_bits];
    if (x == nullptr) {
      llvm::Value* row = times(batch, s.m, coordinate(reg, rank - 2));
      x = a.At(e, times(row, s.k, k));
      if (scaled) x = fold(x, sa.At(e, times(row, groups, group)));
    }
    llvm::Value*& y = columns[part & column_bits];
    if (y == nullptr) {
      llvm::Value* column = coordinate(reg, rank - 1);
      y = w.At(e, times(times(batch, s.k, k), s.n, column));
      if (scaled) y = fold(y, sw.At(e, times(times(batch, groups, group), s.n, column)));
    }
    llvm::Value* sum = sums[r];
    sum = x->getType()->isIntegerTy() ? b.CreateAdd(sum, b.CreateMul(x, y))
                                      : b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, sum});
    sums[r]->addIncoming(sum, round);
    acc[r] = sum;
  }
  llvm::Value* next = b.CreateAdd(k, e.I32(1));
  k->addIncoming(next, round);
  b.CreateCondBr(b.CreateICmpULT(next, e.I32(s.k)), round, after);
  b.SetInsertPoint(after);
  return acc;
}

void LowerProduct(Emitter& e, const ir::Op& op) {
  const ir::Elem elem = op.result(0)->type().elem();
  Registers acc;
  for (llvm::Value* v : e.regs(op.operand("acc"))) acc.push_back(Widen(e, elem, v, true));
  if (const auto plan = PlanMma(e.target(), e.plan(), op)) {
    acc = MultiplyBySync(e, *plan, op.operand("lhs"), op.operand("rhs"), std::move(acc));
  } else {
    acc = MultiplyOut(e, op, std::move(acc));
  }
  for (llvm::Value*& v : acc) v = Narrow(e, elem, v);
  e.Set(op.result(0), std::move(acc));
}

}  // namespace

void LowerMmaF(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaI(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }
void LowerMmaScaled(Emitter& e, const ir::Op& op) { LowerProduct(e, op); }

}  // namespace tile::codegen
