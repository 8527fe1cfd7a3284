#include "codegen/emit/context/emitter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

llvm::Type* RegisterTypeOf(llvm::LLVMContext& context, ir::Element e) {
  switch (e.kind) {
    case ir::Elem::kPtr: return llvm::Type::getInt64Ty(context);
    case ir::Elem::kF16: return llvm::Type::getHalfTy(context);
    case ir::Elem::kBF16: return llvm::Type::getBFloatTy(context);
    case ir::Elem::kF32:
    case ir::Elem::kTF32: return llvm::Type::getFloatTy(context);
    case ir::Elem::kF64: return llvm::Type::getDoubleTy(context);
    default: {
      const int bits = ir::ElemInfoOf(e.kind).bits;
      return llvm::Type::getIntNTy(context, static_cast<unsigned>(bits == 4 ? 8 : bits));
    }
  }
}

Emitter::Emitter(const EmitterInput& input, llvm::Function* kernel, int tensor_maps)
    : lower_(input.lower),
      target_(input.target),
      plan_(input.plan),
      source_(input.source),
      function_(input.function),
      trace_(input.trace),
      kernel_(kernel),
      tensor_maps_(tensor_maps),
      most_exchange_(MostExchange(input.function)),
      builder_(kernel->getContext()),
      scalar_layout_(Layout::Replicated({}, input.plan.num_warps)),
      blocks_(*this),
      threads_(*this),
      shared_(input.shared, builder_),
      workspace_(*this) {
  ir::Walk(function_.body(), [&](const ir::Op* op) {
    stores_by_tma_ = stores_by_tma_ || (ir::StoreViewOp::Is(op) && DecisionOf<Decision::kTensorMap>(*op));
  });
}

void Emitter::Refuse(const ir::Op& op, absl::string_view why) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(absl::StrCat(source_.Where(op.loc, op.pos), ": error[codegen.unsupported]: ",
                                                  op.info()->mnemonic, " for ", target_.arch, ": ", why));
}

void Emitter::Remark(const ir::Op& op, absl::string_view about, absl::string_view what) {
  if (!wants_remarks()) return;
  trace_->on_remark(
      absl::StrCat(source_.Where(op.loc, op.pos), ": remark[", about, "]: ", op.info()->mnemonic, ": ", what));
}

bool Emitter::TakesStep(absl::string_view step, const ir::Op& op) {
  return trace_ == nullptr ||
         trace_->TakesStep(step, absl::StrCat(op.info()->mnemonic, " at ", source_.Where(op.loc, op.pos)));
}

// --- values ---------------------------------------------------------------------------------------------------------

void Emitter::Set(const ir::Value* v, Registers r) { regs_[v] = std::move(r); }

llvm::Constant* Emitter::Constant(ir::Element e, uint64_t bits) {
  llvm::Type* type = RegisterType(e);
  const int n = static_cast<int>(type->getPrimitiveSizeInBits());
  if (e.kind == ir::Elem::kI4) bits &= 15;
  llvm::Constant* c = llvm::ConstantInt::get(context(), llvm::APInt(64, bits).trunc(n));
  return type->isIntegerTy() ? c : llvm::ConstantExpr::getBitCast(c, type);
}

llvm::Value* Emitter::ToBits(llvm::Value* v) {
  llvm::Type* t = v->getType();
  return t->isIntegerTy() ? v : builder_.CreateBitCast(v, builder_.getIntNTy(t->getPrimitiveSizeInBits()));
}

llvm::Value* Emitter::FromBits(llvm::Value* bits, llvm::Type* type) {
  return bits->getType() == type ? bits : builder_.CreateBitCast(bits, type);
}

llvm::Value* Emitter::TensorMap(const ir::Op& access) {
  if (const DeviceTensorMapValue* made = DeviceTensorMapOf(access)) return made->address;
  llvm::Value* address = nullptr;
  AtEntry([&] {
    const int64_t param = function_.num_params() + DecisionOf<Decision::kTensorMap>(access).value();
    address = builder_.CreatePtrToInt(kernel_->getArg(static_cast<unsigned>(param)), builder_.getInt64Ty());
  });
  return address;
}

// --- threads and elements -------------------------------------------------------------------------------------------

const Layout& Emitter::layout(ir::Type t) const {
  const auto* encoding = static_cast<const Layout*>(t->encoding);
  return encoding != nullptr ? *encoding : scalar_layout_;
}

// --- memory ---------------------------------------------------------------------------------------------------------

llvm::AllocaInst* Emitter::Variable(llvm::Type* type, llvm::Value* start) {
  llvm::AllocaInst* variable = nullptr;
  AtEntry([&] {
    variable = builder_.CreateAlloca(type);
    if (start != nullptr) builder_.CreateStore(start, variable);
  });
  return variable;
}

llvm::Value* Emitter::Scratch(uint64_t bytes) {
  llvm::Value* memory = shared_.Scratch(bytes);
  Barrier();
  return memory;
}

llvm::Value* Emitter::ScratchOnce(const ir::Op& op, uint64_t bytes) {
  if (shared_.account().PlaceOf(op) == nullptr) return Scratch(bytes);
  return shared_.Address(I32(shared_.PlaceOf(op, bytes)));
}

int Emitter::AddSite(ir::ImageSite site) {
  sites_.push_back(std::move(site));
  return static_cast<int>(sites_.size()) - 1;
}

void Emitter::Barrier() {
  if (plan_.producer) {  // without the producer
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count, {I32(1), I32(num_threads())});
  } else {
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {I32(0)});
  }
  order_.Synchronized();
}

llvm::Value* Emitter::Ptx(llvm::Type* result, absl::string_view text, absl::string_view constraints, Operands in,
                          bool effect) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : in) types.push_back(v->getType());
  std::string all(constraints);
  if (effect) absl::StrAppend(&all, all.empty() ? "" : ",", "~{memory}");
  auto* fn = llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), std::string(text), all, effect);
  llvm::CallInst* call = builder_.CreateCall(fn, llvm::ArrayRef<llvm::Value*>(in.data(), in.size()));
  if (!effect) {  // else LLVM takes it for a write to memory
    call->setDoesNotAccessMemory();
    call->addFnAttr(llvm::Attribute::WillReturn);
  }
  call->setDoesNotThrow();
  return call;
}

// --- control flow ---------------------------------------------------------------------------------------------------

void Emitter::Lower(const ir::Op& op) {
  if (refused()) return;
  if (op.info()->is_access() && order_.NeedsBarrier(op)) Barrier();
  lower_(*this, op);
}

void Emitter::LowerBlock(const ir::Block& block) {
  for (const ir::Op* op : block) Lower(*op);
}

Registers Emitter::InlineBody(const ir::Block& body, Operands args) {
  for (int i = 0; i < body.num_args(); ++i) SetScalar(body.arg(i), args[i]);
  Registers out;
  for (const ir::Op* op : body) {
    if (refused()) break;
    if (op->opcode() == ir::Opcode::kYield) {
      for (int i = 0; i < op->num_operands(); ++i) out.push_back(scalar(op->operand(i)));
      break;
    }
    Lower(*op);
  }
  if (refused()) out.resize(body.num_args() / 2, llvm::PoisonValue::get(builder_.getInt32Ty()));
  return out;
}

llvm::BasicBlock* Emitter::NewBlock(absl::string_view name) {
  return llvm::BasicBlock::Create(context(), std::string(name), kernel_);
}

}  // namespace tile::codegen
