#include "codegen/emit/lower/kernel.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/emit/context/symbol.h"
#include "codegen/emit/elementwise/byte_floats.h"
#include "codegen/emit/elementwise/exponentials.h"
#include "codegen/emit/elementwise/pairs.h"
#include "codegen/emit/elementwise/quotients.h"
#include "codegen/emit/lower/lazy_rescale.h"
#include "codegen/emit/lower/word_converts.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/dependent_launch.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/plan/staging/shared_account.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "ir/check.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using LowerFn = void (*)(Emitter&, const ir::Op&);

// In groups of how many registers a thread's elements are equal, as facts have it. Of predicates only: integers that are equal LLVM finds
// itself, but not that a row ends between two vectors.
size_t EqualRegisters(Emitter& e, const ir::Value* v) {
  if (v->type().elem() != ir::Elem::kI1) return 1;
  for (int d = 0; d < v->type().rank(); ++d) {
    const auto n = static_cast<uint64_t>(NeighbouringRegisters(e.layout(v), d));
    if (n > 1) return std::min(n, e.facts().LineOf(v, d).equal);
  }
  return 1;
}

// Elements side by side in words stay so; none: they don't lie so, or it is a conversion that takes them apart.
Registers ConvertInWords(Emitter& e, const ir::Op& op, EmitFn fn) {
  const Registers in = OperandAgain(e, op);
  if (Registers floats = FloatsOfBytes(e, op, in); !floats.empty()) return floats;
  if (Registers rounded = RoundedInPairs(e, op, in); !rounded.empty()) return rounded;
  if (in == e.regs(op.operand(0))) return {};
  if (TakesPairs(e, op)) return EmitPairs(e, op, in, IsInCopyingLoop(op));
  Registers out;
  for (llvm::Value* v : in) out.push_back(fn(e, op, {&v, 1}));
  return out;
}

// One register after the other: the operands of an elementwise operation have one layout.
void LowerElementwise(Emitter& e, const ir::Op& op, EmitFn fn) {
  if (op.num_operands() == 1 && StageTileOf(op.operand(0)) != nullptr) return;  // converted by whoever reads it there
  if (DecisionOf<Decision::kLazyRescale>(op)) return RescaleLazily(e, op, fn);
  const size_t n = e.layout(op.result(0)).registers();
  Registers out(n);
  std::vector<llvm::Value*> in(op.num_operands());
  if (op.info()->family == ir::Family::kConvert && IsTile(op.result(0))) {
    if (Registers words = ConvertInWords(e, op, fn); !words.empty()) return e.Set(op.result(0), std::move(words));
  }
  if (TakesPairs(e, op)) return e.Set(op.result(0), EmitPairs(e, op, e.regs(op.operand(0)), IsInCopyingLoop(op)));
  if (DividesTogether(e, op)) {
    return e.Set(op.result(0), EmitQuotients(e, op, e.regs(op.operand(0)), e.regs(op.operand(1))));
  }
  if (RaisesTogether(e, op) && !StandsBesideProducts(op)) {
    return e.Set(op.result(0), EmitExponentials(e, op, e.regs(op.operand(0))));
  }
  if (Registers narrow = NarrowQuotients(e, op); !narrow.empty()) return e.Set(op.result(0), std::move(narrow));
  if (Registers pairs = EmitOnPairs(e, op, fn); !pairs.empty()) return e.Set(op.result(0), std::move(pairs));
  const size_t equal = EqualRegisters(e, op.result(0));
  for (size_t r = 0; r < n && !e.refused(); ++r) {
    if (r % equal != 0) {
      out[r] = out[r - 1];
      continue;
    }
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
#include "codegen/gpu/ops.def"
};

void LowerOp(Emitter& e, const ir::Op& op) { (IsGpuOp(*op.info()) ? kLowerGpu : kLower)[op.info()->index](e, op); }

// The function, with its own parameters, descriptors, and those of runtime/cuda/kernel_abi.h.
llvm::Function* MakeKernel(const ir::Function& function, const Schedule& plan, int tensor_maps, llvm::Module* module) {
  llvm::LLVMContext& context = module->getContext();
  std::vector<llvm::Type*> params;
  for (int i = 0; i < function.num_params(); ++i) {
    const ir::Element e = function.param(i)->type().element();
    params.push_back(e.kind == ir::Elem::kI1 ? llvm::Type::getInt8Ty(context) : RegisterTypeOf(context, e));
  }
  params.insert(params.end(), static_cast<size_t>(tensor_maps), llvm::PointerType::get(context, 0));
  const size_t first_abi_param = params.size();
  params.resize(first_abi_param + TILE_ABI_EXTRA_PARAMS, llvm::Type::getInt64Ty(context));
  for (int i : {TILE_ABI_PARAM_GRID_X, TILE_ABI_PARAM_GRID_Y, TILE_ABI_PARAM_GRID_Z}) {
    params[first_abi_param + static_cast<size_t>(i)] = llvm::Type::getInt32Ty(context);
  }
  llvm::Function* kernel =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false),
                             llvm::GlobalValue::ExternalLinkage, KernelSymbol(function.name), module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel->addFnAttr("nvvm.reqntid", std::to_string(plan.hardware_threads()));
  kernel->addFnAttr(llvm::Attribute::NoUnwind);
  // Registers move only in code that is made for a known number of them.
  if (plan.blocks > 1 || plan.tells_blocks || plan.moves_registers())
    kernel->addFnAttr("nvvm.minctasm", std::to_string(plan.blocks));
  for (int i = 0; i < tensor_maps; ++i) {
    // 128 bytes by value, read where they are.
    llvm::AttrBuilder map(context);
    map.addByValAttr(llvm::ArrayType::get(llvm::Type::getInt8Ty(context), 128));
    map.addAlignmentAttr(llvm::Align(64));
    map.addAttribute("nvvm.grid_constant");
    kernel->addParamAttrs(static_cast<unsigned>(function.num_params() + i), map);
  }
  return kernel;
}

class KernelFrame {
 public:
  KernelFrame(const EmitterInput& input, llvm::Module* module)
      : function_(input.function),
        plan_(input.plan),
        tensor_maps_(NumTensorMaps(input.function)),
        e_(input, MakeKernel(input.function, input.plan, tensor_maps_, module), tensor_maps_),
        b_(e_.b()) {}

  absl::StatusOr<EmittedKernel> Run() {
    e_.shared().Begin(e_.module());
    llvm::BasicBlock* body = MakeEntry();
    b_.SetInsertPoint(body);
    const ir::Op* role = LowerEntry();
    if (HasDependentLaunch(e_.target(), function_)) AwaitGridBefore();
    for (const ir::Op* op = role; op != nullptr; op = op->next()) e_.Lower(*op);
    if (e_.refused()) return e_.status();
    e_.workspace().Place();
    if (absl::Status s = e_.shared().fault(); !s.ok()) return s;
    return EmittedKernel{e_.shared().account().bytes(), e_.workspace().bytes(), e_.sites()};
  }

 private:
  // The entry block, whose values can be used everywhere. Returns the block after it.
  llvm::BasicBlock* MakeEntry() {
    llvm::BasicBlock* entry = e_.NewBlock("entry");
    llvm::BasicBlock* body = e_.NewBlock("body");
    b_.SetInsertPoint(entry);
    llvm::Instruction* end = b_.CreateBr(body);
    b_.SetInsertPoint(end);
    e_.threads().Begin(plan_.hardware_threads());
    for (int i = 0; i < function_.num_params(); ++i) {
      llvm::Value* arg = e_.kernel()->getArg(static_cast<unsigned>(i));
      if (function_.param(i)->type().elem() == ir::Elem::kI1) arg = b_.CreateIsNotNull(arg);
      e_.SetScalar(function_.param(i), arg);
    }
    return body;
  }

  // All threads wait, as each may access memory. Blocks of a grid that leaves multiprocessors free call the kernel behind.
  void AwaitGridBefore() {
    e_.Ptx(b_.getVoidTy(), "griddepcontrol.wait;", "", {}, true);
    llvm::Value* blocks = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
    for (const auto of : {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z})
      blocks = b_.CreateMul(blocks, b_.CreateIntrinsic(of, {}));
    llvm::Value* few = b_.CreateICmpULE(blocks, e_.I32(kMostBlocksThatCall));
    e_.Ptx(b_.getVoidTy(), "@$0 griddepcontrol.launch_dependents;", "b", {few}, true);
  }

  // Emits the operations before the roles of the GPU level at the entry, before the kernel waits for the one before it. Returns the next operation.
  const ir::Op* LowerEntry() {
    if (!IsExpanded(function_)) return function_.body()->front();
    const ir::Op* op = function_.body()->front();
    e_.AtEntry([&] {
      for (; !IsGpuOp(op, GpuOpcode::kProducer) && !IsGpuOp(op, GpuOpcode::kWorkers); op = op->next()) e_.Lower(*op);
    });
    return op;
  }

  const ir::Function& function_;
  const Schedule& plan_;
  const int tensor_maps_;
  Emitter e_;
  llvm::IRBuilder<>& b_;
};

}  // namespace

// Its annotations are read where they are needed.
void LowerKernel(Emitter&, const ir::Op&) {}

void LowerFetchAhead(Emitter&, const ir::Op&) { TILE_CHECK(false, "the pass expand-fetches leaves no fetch_ahead"); }
void LowerCopyAhead(Emitter&, const ir::Op&) { TILE_CHECK(false, "the pass expand-copies leaves no copy_ahead"); }

absl::StatusOr<EmittedKernel> EmitKernel(const Target& target, const Schedule& plan, const ir::Module& source,
                                         const ir::Function& function, llvm::Module* module, Trace* trace) {
  const SharedAccount shared = AccountOf(target, plan, function);
  if (absl::Status s = shared.Check(function); !s.ok()) return s;
  return KernelFrame({target, plan, source, function, shared, trace, LowerOp}, module).Run();
}

}  // namespace tile::codegen
