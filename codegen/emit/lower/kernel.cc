#include "codegen/emit/lower/kernel.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit/context/symbol.h"
#include "codegen/emit/pipeline/producer.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using LowerFn = void (*)(Emitter&, const ir::Op&);

// One register after the other: the operands of an elementwise operation have one layout.
void LowerElementwise(Emitter& e, const ir::Op& op, llvm::Value* (*fn)(Emitter&, const ir::Op&, Operands)) {
  const size_t n = e.layout(op.result(0)).registers();
  Registers out(n);
  std::vector<llvm::Value*> in(op.num_operands());
  for (size_t r = 0; r < n && !e.refused(); ++r) {
    for (int i = 0; i < op.num_operands(); ++i) in[i] = e.regs(op.operand(i))[r];
    out[r] = fn(e, op, in);
  }
  if (!e.refused()) e.Set(op.result(0), std::move(out));
}

constexpr LowerFn kLower[] = {
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) \
  [](Emitter& e, const ir::Op& op) {                                                \
    using namespace ir;                                                             \
    if constexpr (((traits)&kElementwise) == kElementwise) {                        \
      LowerElementwise(e, op, Emit##Name);                                          \
    } else {                                                                        \
      Lower##Name(e, op);                                                           \
    }                                                                               \
  },
#include "ir/ops.def"
};

constexpr LowerFn kLowerGpu[] = {
#define TILE_GPU_OP(number, Name, ...) Lower##Name,
#include "codegen/target/gpu_ops.def"
};

void LowerOp(Emitter& e, const ir::Op& op) { (IsGpuOp(*op.info()) ? kLowerGpu : kLower)[op.info()->index](e, op); }

}  // namespace

class KernelFrame {
 public:
  explicit KernelFrame(Emitter& e) : function_(e.function_), e_(e), b_(e.builder_) { e_.lower_ = LowerOp; }

  absl::Status Run() {
    MakeKernel();
    llvm::BasicBlock* body = MakeEntry();
    b_.SetInsertPoint(body);
    if (e_.plan_.producer) MakeProducer();
    ir::Walk(function_.body(), [&](ir::Op* op) {
      if (ir::AllocSharedOp::Is(op) || ir::AllocaOp::Is(op)) e_.blocks().set_keeps_shared();
      e_.stores_by_tma_ = e_.stores_by_tma_ || (ir::StoreViewOp::Is(op) && DecisionOf<Decision::kTensorMap>(*op));
    });
    if (e_.plan_.persistent) {
      ForEachBlock([&] { e_.LowerBlock(*function_.body()); },
                   [&] {
                     if (e_.stores_by_tma_) AwaitTmaStores(e_);
                     Leave();
                   });
    } else {
      e_.LowerBlock(*function_.body());
    }
    if (e_.refused()) return e_.status_;
    PlaceMemory();
    return e_.shared_.account().Check(function_);
  }

 private:
  // The function, with its own parameters, descriptors, and those of runtime/cuda/kernel_abi.h; the names of shared memory.
  void MakeKernel() {
    std::vector<llvm::Type*> params;
    for (int i = 0; i < function_.num_params(); ++i) {
      const ir::Element e = function_.param(i)->type().element();
      params.push_back(e.kind == ir::Elem::kI1 ? b_.getInt8Ty() : e_.RegisterType(e));
    }
    params.insert(params.end(), static_cast<size_t>(e_.tensor_maps_), llvm::PointerType::get(e_.context(), 0));
    params.resize(static_cast<size_t>(e_.first_abi_param()) + TILE_ABI_EXTRA_PARAMS, b_.getInt64Ty());
    for (int i : {TILE_ABI_PARAM_GRID_X, TILE_ABI_PARAM_GRID_Y, TILE_ABI_PARAM_GRID_Z}) {
      params[static_cast<size_t>(e_.first_abi_param() + i)] = b_.getInt32Ty();
    }
    llvm::Function* kernel =
        llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), params, false),
                               llvm::GlobalValue::ExternalLinkage, KernelSymbol(function_.name), e_.module_);
    e_.kernel_ = kernel;
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
    kernel->addFnAttr("nvvm.reqntid", std::to_string(e_.hardware_threads()));
    kernel->addFnAttr(llvm::Attribute::NoUnwind);
    if (e_.plan_.blocks > 1) kernel->addFnAttr("nvvm.minctasm", std::to_string(e_.plan_.blocks));
    for (int i = 0; i < e_.tensor_maps_; ++i) {
      // 128 bytes by value, read where they are.
      llvm::AttrBuilder map(e_.context());
      map.addByValAttr(llvm::ArrayType::get(b_.getInt8Ty(), 128));
      map.addAlignmentAttr(llvm::Align(64));
      map.addAttribute("nvvm.grid_constant");
      kernel->addParamAttrs(static_cast<unsigned>(function_.num_params() + i), map);
    }
    e_.shared_.Begin(function_, e_.module_);
  }

  // Where values live that can be used everywhere. The block behind it.
  llvm::BasicBlock* MakeEntry() {
    llvm::BasicBlock* entry = e_.NewBlock("entry");
    llvm::BasicBlock* body = e_.NewBlock("body");
    b_.SetInsertPoint(entry);
    llvm::Instruction* end = b_.CreateBr(body);
    b_.SetInsertPoint(end);
    e_.threads().Begin(e_.hardware_threads());
    for (int i = 0; i < function_.num_params(); ++i) {
      llvm::Value* arg = e_.kernel_->getArg(i);
      if (function_.param(i)->type().elem() == ir::Elem::kI1) arg = b_.CreateIsNotNull(arg);
      e_.SetScalar(function_.param(i), arg);
    }
    return body;
  }

  // One warp becomes the producer; the others go on at the insertion point.
  void MakeProducer() {
    llvm::BasicBlock *producer = e_.NewBlock("producer"), *workers = e_.NewBlock("workers");
    b_.CreateCondBr(b_.CreateICmpUGE(e_.threads().number(), e_.I32(e_.num_threads())), producer, workers);
    b_.SetInsertPoint(producer);
    if (e_.plan_.persistent) {
      ForEachBlock(
          [&] {
            EmitProducer(e_, function_);
            b_.CreateBr(e_.blocks().next());
          },
          [&] { Leave(); });
    } else {
      EmitProducer(e_, function_);
      Leave();
    }
    b_.SetInsertPoint(workers);
  }

  // The end of the hardware block.
  void Leave() {
    if (e_.plan_.cluster) {
      ArriveInCluster(e_);
      AwaitCluster(e_);
    }
    b_.CreateRetVoid();
  }

  // emit() for each tile block that this hardware block does, which goes to blocks().next() at its end; behind them leave().
  void ForEachBlock(const std::function<void()>& emit, const std::function<void()>& leave) {
    auto& b = b_;
    llvm::BasicBlock *before = b.GetInsertBlock(), *head = e_.NewBlock("block"), *next = e_.NewBlock("nextblock"),
                     *exit = e_.NewBlock("leave");
    llvm::Value* first = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {});
    llvm::Value* step = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
    llvm::Value* all = b.CreateMul(b.CreateMul(e_.blocks().Count(0), e_.blocks().Count(1)), e_.blocks().Count(2));
    b.CreateBr(head);  // there are no more hardware blocks than tile blocks
    b.SetInsertPoint(head);
    llvm::PHINode* i = b.CreatePHI(b.getInt32Ty(), 2);
    i->addIncoming(first, before);
    e_.blocks().SetIds(i, nullptr);
    e_.blocks().set_next(next);
    emit();
    e_.blocks().set_next(nullptr);
    b.SetInsertPoint(next);
    llvm::Value* following = b.CreateAdd(i, step);
    i->addIncoming(following, next);
    b.CreateCondBr(b.CreateICmpULT(following, all), head, exit);
    b.SetInsertPoint(exit);
    leave();
  }

  void PlaceMemory() {
    e_.shared_.Place();
    e_.workspace().Place();
  }

  const ir::Function& function_;
  Emitter& e_;
  llvm::IRBuilder<>& b_;
};

// What stands beside it is read where it is needed.
void LowerKernel(Emitter&, const ir::Op&) {}

absl::Status EmitKernel(Emitter* emitter) { return KernelFrame(*emitter).Run(); }

}  // namespace tile::codegen
