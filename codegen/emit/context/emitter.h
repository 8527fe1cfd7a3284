// Turns one kernel whose tiles have layouts (codegen/passes/assign_layouts.h) into LLVM IR for one GPU thread.
//
// A tile is, in each thread, a list of registers: register r of lane l of warp w holds the element that the tile's layout
// names. A scalar is a tile with one register that all threads hold alike; control flow follows scalars only, so all
// threads of a block take the same way. Tokens have no value: they say where barriers must stand (codegen/emit/context/order.h).
//
// Each operation has one function, declared from the operation table, so that a forgotten one is a link error:
//
//   * elementwise: from the operands' registers to the result's register; also serves bodies of reduce and scan
//       llvm::Value* EmitAddf(Emitter& e, const ir::Op& op, Operands in) { return e.b().CreateFAdd(in[0], in[1]); }
//   * all others: reads e.regs(value), writes e.Set(value, registers)
//       void LowerIota(Emitter& e, const ir::Op& op);
//
// How elements lie in registers: i1 as i1; i4, f4 and 8-bit floats as i8 (4-bit ones in the low bits, high bits zero);
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
#include "codegen/emit/context/control_stack.h"
#include "codegen/emit/context/order.h"
#include "codegen/emit/context/shared_memory.h"
#include "codegen/layout/layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "llvm/IR/IRBuilder.h"
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

class Emitter {
 public:
  // `function` has been through AssignLayouts; `module` has the target's triple and data layout; `tensor_maps`: how many TMA
  // descriptors the kernel takes.
  Emitter(const Target& target, const Schedule& plan, const ir::Module& source, const ir::Function& function,
          llvm::Module* module, Trace* trace = nullptr, int tensor_maps = 0);

  const Target& target() const { return target_; }
  const Schedule& plan() const { return plan_; }
  const ir::Module& source() const { return source_; }
  llvm::IRBuilder<>& b() { return builder_; }
  llvm::LLVMContext& context() { return module_->getContext(); }
  llvm::Module* module() { return module_; }
  llvm::Function* kernel() { return kernel_; }
  Order& order() { return order_; }

  // --- values ---
  const Registers& regs(const ir::Value* v) const { return regs_.at(v); }
  llvm::Value* scalar(const ir::Value* v) const { return regs_.at(v)[0]; }
  void Set(const ir::Value* v, Registers r);
  void SetScalar(const ir::Value* v, llvm::Value* x) { Set(v, {x}); }
  const ViewValue& view(const ir::Value* v) const { return views_.at(v); }
  void SetView(const ir::Value* v, ViewValue x) { views_[v] = std::move(x); }

  llvm::Type* RegisterType(ir::Element e);
  llvm::Type* RegisterType(ir::Elem e) { return RegisterType(ir::Element::Number(e)); }
  llvm::ConstantInt* I32(int64_t v) { return builder_.getInt32(static_cast<uint32_t>(v)); }
  llvm::ConstantInt* I64(int64_t v) { return builder_.getInt64(static_cast<uint64_t>(v)); }
  // A register that holds these bits (low bits of the element).
  llvm::Constant* Constant(ir::Element e, uint64_t bits);
  // A register as an integer of as many bits as its type, and back.
  llvm::Value* ToBits(llvm::Value* v);
  llvm::Value* FromBits(llvm::Value* bits, llvm::Type* type);

  // --- parameters that every kernel has behind its own (runtime/cuda/kernel_abi.h) ---
  llvm::Value* GridSize(int dim) { return AbiParam(TILE_ABI_PARAM_GRID_X + dim); }  // i32, in tile blocks
  llvm::Value* TrapRecord() { return AbiParam(TILE_ABI_PARAM_TRAP_RECORD); }        // i64, an address
  llvm::Value* Workspace() { return AbiParam(TILE_ABI_PARAM_WORKSPACE); }           // i64, an address

  // --- parameters between those ---
  // Address (i64) of the TMA descriptor of a load or store that has one (Decision::kTensorMap).
  llvm::Value* TensorMap(const ir::Op& access);
  bool stores_by_tma() const { return stores_by_tma_; }

  // --- threads and elements ---
  // Of the tile blocks: those of the hardware in another order, if the plan says so (i32).
  llvm::Value* BlockId(int dim);
  // Where a tile block ends; null: with the kernel. Whether its warps must wait for each other there, because the next one
  // has the same shared memory: rings and scratch memory look after themselves.
  llvm::BasicBlock* next_block() const { return next_block_; }
  bool keeps_shared() const { return keeps_shared_; }
  // Number of the warpgroup (four warps), the same in all lanes for the machine to see.
  llvm::Value* Warpgroup();
  llvm::Value* thread() { return thread_; }  // i32, 0 … 32 · warps - 1
  llvm::Value* lane() { return lane_; }
  llvm::Value* warp() { return warp_; }
  int num_warps() const { return plan_.num_warps; }
  int num_threads() const { return 32 * plan_.num_warps; }
  // Of a hardware block: with the producer, which takes no part in anything that is written here for all threads.
  int hardware_threads() const { return num_threads() + (plan_.producer ? 32 : 0); }
  const Layout& layout(const ir::Value* v) const { return layout(v->type()); }
  // Of a tile with an encoding, or a scalar.
  const Layout& layout(ir::Type t) const;
  // Which element of the tile (row-major) this thread holds in register r: i32. Element(layout, 0) ^ RegisterPart = the
  // rest; where bits do not overlap (all layouts but swizzled ones) ^ is +.
  llvm::Value* ThreadPart(const Layout& layout);
  uint32_t RegisterPart(const Layout& layout, int r) const;
  llvm::Value* Element(const Layout& layout, int r);
  // Coordinate of that element along a dimension: i32.
  llvm::Value* Coordinate(const Layout& layout, int r, int dim);
  // i1: this thread holds the first of several copies of its elements; null: there is one copy. Registers that repeat an
  // earlier register: RegisterRepeats.
  llvm::Value* HoldsFirstCopy(const Layout& layout);
  bool RegisterRepeats(const Layout& layout, int r) const;
  // XOR of bases[i] for the set bits of an i32 value, at the insertion point; value's other bits don't count.
  llvm::Value* LinearOf(llvm::Value* value, absl::Span<const uint64_t> bases);
  // Any linear function of the thread's number: XOR of lane_bases[i] for the set bits of lane, likewise warp.
  llvm::Value* LinearOfThread(absl::Span<const uint64_t> lane_bases, absl::Span<const uint64_t> warp_bases);

  // --- shared memory, clusters and barriers ---
  SharedMemory& shared() { return shared_; }
  const SharedMemory& shared() const { return shared_; }
  // Shared memory to exchange values through, valid until the next call. Begins after a barrier, so that earlier readers are
  // done; between writing and reading the caller needs Barrier().
  llvm::Value* Scratch(uint64_t bytes);
  // Blocks of the cluster: how many there are (1, 2), which this one is (i32).
  llvm::Value* ClusterSize();
  llvm::Value* ClusterRank();
  // bar.sync of the block; all earlier accesses of its threads are visible after it.
  void Barrier();

  // --- the workspace: device memory of the block, and places that may report something ---
  // Address (i64) of so many bytes that belong to this tile block alone.
  llvm::Value* ReserveWorkspace(uint64_t bytes, uint64_t alignment);
  uint64_t workspace_bytes() const { return workspace_bytes_; }  // per block, after EmitKernel
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
  void Lower(const ir::Op& op);

  void Refuse(const ir::Op& op, absl::string_view why);
  bool refused() const { return !status_.ok(); }

  // For people who ask (codegen/trace/trace.h): a line about what the compiler did with the operation; whether an optional
  // step is taken there.
  bool wants_remarks() const { return trace_ != nullptr && trace_->on_remark != nullptr; }
  void Remark(const ir::Op& op, absl::string_view about, absl::string_view what);
  bool TakesStep(absl::string_view step, const ir::Op& op);

  ControlStack& control() { return control_; }
  std::vector<llvm::PHINode*> NewPhis(ir::Type t);  // at the insertion point; one per register
  void AddIncoming(const Phis& phis, absl::Span<ir::Value* const> values);

 private:
  friend class KernelFrame;  // emit/lower/kernel.cc: what stands around the operations

  // Sets block_ids_ for hardware block number `i` (all but the first: ids of the hardware), at the insertion point.
  void SetBlockIds(llvm::Value* i, llvm::Value* z);
  // Number of the first parameter of kernel_abi.h.
  int first_abi_param() const { return function_.num_params() + tensor_maps_; }
  llvm::Value* AbiParam(int i) { return kernel_->getArg(static_cast<unsigned>(first_abi_param() + i)); }

  void (*lower_)(Emitter&, const ir::Op&) = nullptr;  // any operation; set by the frame
  const Target& target_;
  const Schedule& plan_;
  const ir::Module& source_;
  const ir::Function& function_;
  llvm::Module* module_;
  Trace* trace_;
  const int tensor_maps_;
  bool stores_by_tma_ = false;
  llvm::Function* kernel_ = nullptr;
  llvm::IRBuilder<> builder_;
  const Layout scalar_layout_;
  SharedMemory shared_;
  llvm::Value *thread_ = nullptr, *lane_ = nullptr, *warp_ = nullptr;
  llvm::Value* block_ids_[3] = {};
  llvm::BasicBlock* next_block_ = nullptr;
  bool keeps_shared_ = false;
  llvm::Value *cluster_size_ = nullptr, *cluster_rank_ = nullptr;
  llvm::Value* warpgroup_ = nullptr;
  uint64_t workspace_bytes_ = 0;
  llvm::GlobalVariable* workspace_size_ =
      nullptr;  // its address stands for workspace_bytes_ until the end of EmitKernel
  std::vector<ir::ImageSite> sites_;
  absl::flat_hash_map<const ir::Value*, Registers> regs_;
  absl::flat_hash_map<const ir::Value*, ViewValue> views_;
  absl::flat_hash_map<std::string, llvm::Value*> linear_;  // LinearOfThread, by its bases; lives in the entry block
  ControlStack control_;
  Order order_;
  absl::Status status_;
};

#define TILE_OP(number, Name, ...)                            \
  llvm::Value* Emit##Name(Emitter&, const ir::Op&, Operands); \
  void Lower##Name(Emitter&, const ir::Op&);
#include "ir/ops.def"
#define TILE_GPU_OP(number, Name, ...) void Lower##Name(Emitter&, const ir::Op&);
#include "codegen/target/gpu_ops.def"

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_EMITTER_H_
