// Constants, indices, block numbers, promises: values that come from nowhere.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/emitter.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

uint64_t BitsAt(const ir::Dense& d, size_t i) {
  const size_t bytes = ir::StorageBytes(d.elem);
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data() + i * bytes, bytes);
  return bits;
}

}  // namespace

void LowerConstant(Emitter& e, const ir::Op& op) {
  const ir::Dense& d = ir::ConstantOp(op).value();
  const ir::Type type = op.result(0)->type();
  const Layout& layout = e.layout(type);
  Registers out;
  if (d.splat || type.num_elements() == 1) {
    out.assign(layout.registers(), e.Constant(type.element(), BitsAt(d, 0)));
    return e.Set(op.result(0), std::move(out));
  }
  // A table in constant memory of the device, one entry per element.
  auto& b = e.b();
  const int bytes = ir::StorageBytes(d.elem);
  llvm::Type* entry = b.getIntNTy(8 * bytes);
  std::vector<llvm::Constant*> entries;
  for (int64_t i = 0; i < type.num_elements(); ++i) entries.push_back(llvm::ConstantInt::get(entry, BitsAt(d, i)));
  auto* table_type = llvm::ArrayType::get(entry, entries.size());
  auto* table = new llvm::GlobalVariable(*e.module(), table_type, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantArray::get(table_type, entries), "constant$", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 1);
  table->setAlignment(llvm::Align(16));
  for (int r = 0; r < layout.registers(); ++r) {
    llvm::Value* at = b.CreateGEP(entry, table, e.threads().Element(layout, r));
    llvm::Value* bits = b.CreateAlignedLoad(entry, at, llvm::Align(bytes));
    llvm::Type* reg = e.RegisterType(type.element());
    if (reg->getPrimitiveSizeInBits() < entry->getPrimitiveSizeInBits())
      bits = b.CreateTrunc(bits, b.getIntNTy(reg->getPrimitiveSizeInBits()));
    out.push_back(e.FromBits(bits, reg));
  }
  e.Set(op.result(0), std::move(out));
}

void LowerIota(Emitter& e, const ir::Op& op) {
  const Layout& layout = e.layout(op.result(0));
  llvm::Type* type = e.RegisterType(op.result(0)->type().element());
  Registers out;
  for (int r = 0; r < layout.registers(); ++r) {
    llvm::Value* i = e.threads().Element(layout, r);
    const ir::Elem elem = op.result(0)->type().elem();
    out.push_back(elem == ir::Elem::kI4 ? e.b().CreateAnd(e.b().CreateTrunc(i, type), 15)
                                        : e.b().CreateZExtOrTrunc(i, type));
  }
  e.Set(op.result(0), std::move(out));
}

void LowerAssume(Emitter& e, const ir::Op& op) {
  const ir::Value* v = op.operand(0);
  if (v->type().is_tile()) {
    e.Set(op.result(0), e.regs(v));
  } else {
    e.SetView(op.result(0), e.view(v));
  }
}

void LowerGetTileBlockId(Emitter& e, const ir::Op& op) {
  for (int i = 0; i < 3; ++i) e.SetScalar(op.result(i), e.blocks().Id(i));
}

void LowerGetNumTileBlocks(Emitter& e, const ir::Op& op) {
  for (int i = 0; i < 3; ++i) e.SetScalar(op.result(i), e.GridSize(i));
}

void LowerMakeToken(Emitter&, const ir::Op&) {}
void LowerJoinTokens(Emitter&, const ir::Op&) {}

}  // namespace tile::codegen
