// Turns one kernel whose tiles have layouts (codegen/passes/layouts/assign_layouts.h) into LLVM IR for one GPU thread.
//
// A tile is, in each thread, a list of registers: register r of lane l of warp w holds the element that the tile's layout
// names. A scalar is a tile with one register that all threads hold alike; control flow follows scalars only, so all
// threads of a block take the same way. Tokens have no value: they say where barriers are needed (codegen/emit/context/order.h).
//
// Each operation has one function, declared from the operation table, so that a forgotten one is a link error:
//
//   * elementwise: from the operands' registers to the result's register; also serves bodies of reduce and scan
//       llvm::Value* EmitAddf(Emitter& e, const ir::Op& op, Operands in) { return e.b().CreateFAdd(in[0], in[1]); }
//   * all others: reads e.regs(value), writes e.Set(value, registers)
//       void LowerIota(Emitter& e, const ir::Op& op);
//
// How registers hold elements: i1 as i1; i4, f4 and 8-bit floats as i8 (4-bit ones in the low bits, high bits zero);
// f16 half, bf16 bfloat, tf32 float with its low 13 bits zero; pointers as i64.
//
// What a function can't do on this target it refuses: e.Refuse(op, "what, and what would work"); the first refusal ends
// the compilation with an error at the op's source line. Not thread-safe.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_EMITTER_H_
#define TILE_CODEGEN_EMIT_CONTEXT_EMITTER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "codegen/analysis/facts.h"
#include "codegen/emit/context/blocks.h"
#include "codegen/emit/context/control_stack.h"
#include "codegen/emit/context/order.h"
#include "codegen/emit/context/shared_memory.h"
#include "codegen/emit/context/threads.h"
#include "codegen/emit/context/workspace.h"
#include "codegen/layout/layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "runtime/cuda/kernel_abi.h"

namespace tile::codegen {

class Emitter;
using Registers = std::vector<llvm::Value*>;
using Operands = absl::Span<llvm::Value* const>;

// What a tensor_view or a view over one is at run time. The same in all threads.
struct ViewValue {
  llvm::Value* base = nullptr;        // i64 address; of a shared array: i32 offset in shared memory
  std::vector<llvm::Value*> sizes;    // i64, per tensor dimension, constants where static
  std::vector<llvm::Value*> strides;  // i64, in elements
};

// A register that holds one element.
llvm::Type* RegisterTypeOf(llvm::LLVMContext& context, ir::Element e);

// What is emitted, and what for. All of it outlives the emitter.
struct EmitterInput {
  const Target& target;
  const Schedule& plan;
  const ir::Module& source;
  const ir::Function& function;                      // it has been through AssignLayouts
  const SharedAccount& shared;                       // of it
  Trace* trace = nullptr;                            // may be null
  void (*lower)(Emitter&, const ir::Op&) = nullptr;  // any operation
};

class Emitter {
 public:
  // `kernel`: empty, with the parameters of `function`, so many TMA descriptors, and those of kernel_abi.h (emit/lower/kernel.cc).
  Emitter(const EmitterInput& input, llvm::Function* kernel, int tensor_maps);

  const Target& target() const { return target_; }
  const Schedule& plan() const { return plan_; }
  const ir::Module& source() const { return source_; }
  llvm::IRBuilder<>& b() { return builder_; }
  llvm::LLVMContext& context() { return kernel_->getContext(); }
  llvm::Module* module() { return kernel_->getParent(); }
  llvm::Function* kernel() { return kernel_; }
  Order& order() { return order_; }

  const ir::Function& function() const { return function_; }
  Facts& facts() { return facts_; }

  // --- values ---
  const Registers& regs(const ir::Value* v) const { return regs_.at(v); }
  llvm::Value* scalar(const ir::Value* v) const { return regs_.at(v)[0]; }
  void Set(const ir::Value* v, Registers r);
  void SetScalar(const ir::Value* v, llvm::Value* x) { Set(v, {x}); }
  const ViewValue& view(const ir::Value* v) const { return views_.at(v); }
  void SetView(const ir::Value* v, ViewValue x) { views_[v] = std::move(x); }

  llvm::Type* RegisterType(ir::Element e) { return RegisterTypeOf(context(), e); }
  llvm::Type* RegisterType(ir::Elem e) { return RegisterType(ir::Element::Number(e)); }
  llvm::ConstantInt* I32(int64_t v) { return builder_.getInt32(static_cast<uint32_t>(v)); }
  llvm::ConstantInt* I64(int64_t v) { return builder_.getInt64(static_cast<uint64_t>(v)); }
  // A register that holds these bits (low bits of the element).
  llvm::Constant* Constant(ir::Element e, uint64_t bits);
  // A register as an integer of as many bits as its type, and back.
  llvm::Value* ToBits(llvm::Value* v);
  llvm::Value* FromBits(llvm::Value* bits, llvm::Type* type);

  // --- parameters that every kernel has after its own (runtime/cuda/kernel_abi.h) ---
  llvm::Value* GridSize(int dim) { return AbiParam(TILE_ABI_PARAM_GRID_X + dim); }  // i32, in tile blocks
  llvm::Value* TrapRecord() { return AbiParam(TILE_ABI_PARAM_TRAP_RECORD); }        // i64, an address
  llvm::Value* WorkspaceParam() { return AbiParam(TILE_ABI_PARAM_WORKSPACE); }      // i64, an address

  // --- parameters between those ---
  // Address (i64) of the TMA descriptor of a load or store that has one (Decision::kTensorMap).
  llvm::Value* TensorMap(const ir::Op& access);
  // Of one that the kernel made itself (Decision::kDeviceTensorMap), once it is there: the address, and whether the tensor is empty (i1; null: it is not).
  struct DeviceTensorMapValue {
    llvm::Value *address = nullptr, *empty = nullptr;
  };
  void SetDeviceTensorMap(const ir::Op& load, DeviceTensorMapValue map) { made_maps_[&load] = map; }
  const DeviceTensorMapValue* DeviceTensorMapOf(const ir::Op& load) const {
    const auto it = made_maps_.find(&load);
    return it == made_maps_.end() ? nullptr : &it->second;
  }
  bool stores_by_tma() const { return stores_by_tma_; }

  // --- blocks, threads, elements ---
  Blocks& blocks() { return blocks_; }
  Threads& threads() { return threads_; }
  int num_warps() const { return plan_.num_warps; }
  int num_threads() const { return plan_.threads(); }
  const Layout& layout(const ir::Value* v) const { return layout(v->type()); }
  // Of a tile with an encoding, or a scalar.
  const Layout& layout(ir::Type t) const;

  // --- memory of the block, barriers ---
  SharedMemory& shared() { return shared_; }
  const SharedMemory& shared() const { return shared_; }
  // Shared memory to exchange values through, valid until the next call. Begins after a barrier, so that earlier readers are
  // done; between writing and reading the caller needs Barrier().
  llvm::Value* Scratch(uint64_t bytes);
  // The most that an exchange may take at a time (plan/resources/shared_use.h); larger ones go in parts (codegen/emit/context/exchange_part.h).
  uint64_t most_exchange() const { return most_exchange_; }
  // The same for an operation that exchanges a few bytes once; without a barrier in front where it has memory of its own.
  llvm::Value* ScratchOnce(const ir::Op& op, uint64_t bytes);
  // bar.sync of the block; all earlier accesses of its threads are visible after it.
  void Barrier();
  Workspace& workspace() { return workspace_; }
  const Workspace& workspace() const { return workspace_; }

  // --- places that may report something ---
  // Position of the site in the image's table.
  int AddSite(ir::ImageSite site);
  const std::vector<ir::ImageSite>& sites() const { return sites_; }

  // --- the entry block ---
  // Runs `emit` where values live that can be used everywhere.
  template <class Fn>
  void AtEntry(Fn&& emit) {
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(kernel_->getEntryBlock().getTerminator());
    emit();
  }
  // A variable that becomes a register; `start` may be null.
  llvm::AllocaInst* Variable(llvm::Type* type, llvm::Value* start);

  // --- inline PTX ---
  // `text` with $0, $1 … and LLVM's constraint string; volatile with memory clobber if `effect`,
  // else a function of its operands only, which may be removed, repeated and moved.
  llvm::Value* Ptx(llvm::Type* result, absl::string_view text, absl::string_view constraints, Operands in, bool effect);

  // --- control flow ---
  void LowerBlock(const ir::Block& block);
  // Body of a reduce or scan: operands of its yield for these arguments (scalars).
  Registers InlineBody(const ir::Block& body, Operands args);
  llvm::BasicBlock* NewBlock(absl::string_view name);
  // What `emit` emits is done where the condition (i1; null: always) holds. `rarely`: it mostly does not.
  template <class Fn>
  void When(llvm::Value* condition, Fn&& emit, bool rarely = false) {
    if (condition == nullptr) return emit();
    llvm::BasicBlock *then = NewBlock("when"), *after = NewBlock("endwhen");
    llvm::MDNode* weights = rarely ? llvm::MDBuilder(context()).createUnlikelyBranchWeights() : nullptr;
    builder_.CreateCondBr(condition, then, after, weights);
    builder_.SetInsertPoint(then);
    emit();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }
  void Lower(const ir::Op& op);

  void Refuse(const ir::Op& op, absl::string_view why);
  bool refused() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Remarks (codegen/trace/trace.h) say what the compiler did with the operation. TakesStep: whether an optional
  // step is taken there.
  bool wants_remarks() const { return trace_ != nullptr && trace_->on_remark != nullptr; }
  void Remark(const ir::Op& op, absl::string_view about, absl::string_view what);
  bool TakesStep(absl::string_view step, const ir::Op& op);

  ControlStack& control() { return control_; }

 private:
  // Number of the first parameter of kernel_abi.h.
  int first_abi_param() const { return function_.num_params() + tensor_maps_; }
  llvm::Value* AbiParam(int i) { return kernel_->getArg(static_cast<unsigned>(first_abi_param() + i)); }

  void (*const lower_)(Emitter&, const ir::Op&);
  const Target& target_;
  const Schedule& plan_;
  const ir::Module& source_;
  const ir::Function& function_;
  Trace* const trace_;
  llvm::Function* const kernel_;
  const int tensor_maps_;
  const uint64_t most_exchange_;
  bool stores_by_tma_ = false;
  llvm::IRBuilder<> builder_;
  const Layout scalar_layout_;
  Blocks blocks_;
  Threads threads_;
  SharedMemory shared_;
  Workspace workspace_;
  std::vector<ir::ImageSite> sites_;
  absl::flat_hash_map<const ir::Value*, Registers> regs_;
  absl::flat_hash_map<const ir::Value*, ViewValue> views_;
  absl::flat_hash_map<const ir::Op*, DeviceTensorMapValue> made_maps_;
  ControlStack control_;
  Order order_;
  Facts facts_;
  absl::Status status_;
};

#define TILE_OP(number, Name, ...)                            \
  llvm::Value* Emit##Name(Emitter&, const ir::Op&, Operands); \
  void Lower##Name(Emitter&, const ir::Op&);
#include "ir/ops.def"
#define TILE_GPU_OP(number, Name, ...) void Lower##Name(Emitter&, const ir::Op&);
#include "codegen/gpu/ops.def"

// An elementwise operation whose registers are better computed by twos; all of them. `branches`: the rare case of all of them may have a
// basic block of its own.
bool TakesPairs(const Emitter& e, const ir::Op& op);
Registers EmitPairs(Emitter& e, const ir::Op& op, Operands in, bool branches = false);
// Of 8-bit floats to f16, with elements side by side in words (i32): two words for each.
bool TakesWords(const Emitter& e, const ir::Op& op);
Registers EmitWords(Emitter& e, const ir::Op& op, Operands in);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_EMITTER_H_
