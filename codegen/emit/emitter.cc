#include "codegen/emit/emitter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/ring.h"
#include "codegen/emit/tma.h"
#include "codegen/gpu_ops.h"
#include "codegen/symbol.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
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
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints)    \
  [](Emitter& e, const ir::Op& op) {                                                   \
    using namespace ir;                                                                \
    if constexpr (((traits) & kElementwise) == kElementwise) {                         \
      LowerElementwise(e, op, Emit##Name);                                             \
    } else {                                                                           \
      Lower##Name(e, op);                                                              \
    }                                                                                  \
  },
#include "ir/ops.def"
};

constexpr LowerFn kLowerGpu[] = {
#define TILE_GPU_OP(number, Name, ...) Lower##Name,
#include "codegen/gpu_ops.def"
};

int Log2(uint64_t n) { return 63 - __builtin_clzll(n); }

}  // namespace

Emitter::Emitter(const Target& target, const Plan& plan, const ir::Module& source, const ir::Function& function,
                 llvm::Module* module, Trace* trace, TmaAccesses tma)
    : target_(target), plan_(plan), source_(source), function_(function), module_(module), trace_(trace), tma_(std::move(tma)),
      builder_(module->getContext()), scalar_layout_(Layout::Replicated({}, plan.num_warps)) {}

absl::Status Emitter::Run() {
  std::vector<llvm::Type*> params;
  for (int i = 0; i < function_.num_params(); ++i) {
    const ir::Element e = function_.param(i)->type().element();
    params.push_back(e.kind == ir::Elem::kI1 ? builder_.getInt8Ty() : RegisterType(e));
  }
  params.insert(params.end(), static_cast<size_t>(tma_.count), llvm::PointerType::get(context(), 0));
  // kernel_abi.h: grid, trap record, workspace.
  params.insert(params.end(), 3, builder_.getInt32Ty());
  params.insert(params.end(), 2, builder_.getInt64Ty());
  kernel_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), params, false),
                                   llvm::GlobalValue::ExternalLinkage, KernelSymbol(function_.name), module_);
  kernel_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel_->addFnAttr("nvvm.reqntid", std::to_string(hardware_threads()));
  kernel_->addFnAttr(llvm::Attribute::NoUnwind);
  if (plan_.blocks > 1) kernel_->addFnAttr("nvvm.minctasm", std::to_string(plan_.blocks));
  for (int i = 0; i < tma_.count; ++i) {
    // 128 bytes by value, read where they are.
    llvm::AttrBuilder map(context());
    map.addByValAttr(llvm::ArrayType::get(builder_.getInt8Ty(), 128));
    map.addAlignmentAttr(llvm::Align(64));
    map.addAttribute("nvvm.grid_constant");
    kernel_->addParamAttrs(static_cast<unsigned>(function_.num_params() + i), map);
  }

  shared_ = new llvm::GlobalVariable(*module_, llvm::ArrayType::get(builder_.getInt8Ty(), 0), false,
                                     llvm::GlobalValue::ExternalLinkage, nullptr, "shared$", nullptr,
                                     llvm::GlobalValue::NotThreadLocal, 3);
  shared_->setAlignment(llvm::Align(128));
  ring_ = new llvm::GlobalVariable(*module_, builder_.getInt8Ty(), false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                   "ring$", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
  scratch_ = new llvm::GlobalVariable(*module_, builder_.getInt8Ty(), false, llvm::GlobalValue::ExternalLinkage,
                                      nullptr, "scratch$", nullptr, llvm::GlobalValue::NotThreadLocal, 3);

  llvm::BasicBlock* entry = NewBlock("entry");
  llvm::BasicBlock* body = NewBlock("body");
  builder_.SetInsertPoint(entry);
  llvm::Instruction* end = builder_.CreateBr(body);
  builder_.SetInsertPoint(end);
  auto* tid = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  tid->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, hardware_threads())));
  thread_ = tid;
  lane_ = builder_.CreateAnd(thread_, I32(31), "lane");
  warp_ = builder_.CreateLShr(thread_, I32(5), "warp");
  for (int i = 0; i < function_.num_params(); ++i) {
    llvm::Value* arg = kernel_->getArg(i);
    if (function_.param(i)->type().elem() == ir::Elem::kI1) arg = builder_.CreateIsNotNull(arg);
    SetScalar(function_.param(i), arg);
  }

  builder_.SetInsertPoint(body);
  const auto leave = [&] {
    if (plan_.cluster) {
      ArriveInCluster(*this);
      AwaitCluster(*this);
    }
    builder_.CreateRetVoid();
  };
  if (plan_.producer) {
    llvm::BasicBlock *producer = NewBlock("producer"), *workers = NewBlock("workers");
    builder_.CreateCondBr(builder_.CreateICmpUGE(thread_, I32(num_threads())), producer, workers);
    builder_.SetInsertPoint(producer);
    if (plan_.persistent) {
      ForEachBlock(
          [&] {
            EmitProducer(*this, function_);
            builder_.CreateBr(next_block_);
          },
          leave);
    } else {
      EmitProducer(*this, function_);
      leave();
    }
    builder_.SetInsertPoint(workers);
  }
  ir::Walk(function_.body(), [&](ir::Op* op) {
    keeps_shared_ = keeps_shared_ || op->opcode() == ir::Opcode::kAllocShared || op->opcode() == ir::Opcode::kAlloca;
    if (!IsFetch(op)) return;
    last_ring_ = op;
    while (last_ring_->parent() != nullptr) last_ring_ = last_ring_->parent();
  });
  if (plan_.persistent) {
    ForEachBlock([&] { LowerBlock(*function_.body()); },
                 [&] {
                   if (StoresByTma()) AwaitTmaStores(*this);
                   leave();
                 });
  } else {
    LowerBlock(*function_.body());
  }
  if (refused()) return status_;

  // Only now is it known where the exchange area may begin.
  const uint64_t alignment = ring_bytes_ > 0 ? 1024 : 128;
  reserved_bytes_ = (reserved_bytes_ + alignment - 1) / alignment * alignment;
  shared_->setAlignment(llvm::Align(alignment));
  const auto put = [&](llvm::GlobalVariable* what, uint64_t at) {
    what->replaceAllUsesWith(llvm::ConstantExpr::getGetElementPtr(builder_.getInt8Ty(), shared_,
                                                                  llvm::ArrayRef<llvm::Constant*>{I32(at)}));
    what->eraseFromParent();
  };
  put(ring_, reserved_bytes_);
  put(scratch_, reserved_bytes_ + (scratch_beside_rings_ ? ring_bytes_ : 0));
  if (workspace_size_ != nullptr) {
    workspace_bytes_ = (workspace_bytes_ + 255) / 256 * 256;
    workspace_size_->replaceAllUsesWith(
        llvm::ConstantExpr::getIntToPtr(I64(workspace_bytes_), workspace_size_->getType()));
    workspace_size_->eraseFromParent();
  }
  if (shared_bytes() > target_.shared_bytes) return TooMuchShared();
  return absl::OkStatus();
}

absl::Status Emitter::TooMuchShared() const {
  std::vector<SharedUser> users = shared_users_;
  if (scratch_user_.op != nullptr) users.push_back(scratch_user_);
  if (ring_user_.op != nullptr) users.push_back(ring_user_);
  // The largest first; of equal ones the first in the text.
  std::stable_sort(users.begin(), users.end(), [](const SharedUser& a, const SharedUser& b) { return a.bytes > b.bytes; });
  std::string where = source_.Where(function_.loc, function_.pos), who;
  uint64_t most = 0;
  constexpr size_t kNamed = 3;
  for (size_t i = 0; i < users.size() && i < kNamed; ++i) {
    const SharedUser& u = users[i];
    if (i == 0) {
      where = source_.Where(u.op->loc, u.op->pos);
      most = u.bytes;
      absl::StrAppend(&who, ": ", u.op->info()->mnemonic, " needs ", u.bytes, " ", u.what);
    } else if (u.bytes > 0) {
      absl::StrAppend(&who, i == 1 ? ", besides " : ", ", u.op->info()->mnemonic, " at ", source_.Where(u.op->loc, u.op->pos), " ", u.bytes);
    }
  }
  // What the greatest would have to come down to.
  const uint64_t others = shared_bytes() - std::min(most, shared_bytes());
  std::string fix = "Use smaller tiles or smaller shared arrays";
  if (others < target_.shared_bytes && most > 0) {
    uint64_t parts = 2;
    while (most / parts > target_.shared_bytes - others) parts *= 2;
    absl::StrAppend(&fix, ": with 1/", parts, " of the elements there it fits");
  }
  return absl::InvalidArgumentError(absl::StrCat(where, ": error[codegen.shared]: kernel @", function_.name, " needs ", shared_bytes(),
                                                 " bytes of shared memory; ", target_.arch, " offers ", target_.shared_bytes,
                                                 " to a block", who, ". ", fix, "."));
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

llvm::Type* Emitter::RegisterType(ir::Element e) {
  switch (e.kind) {
    case ir::Elem::kPtr: return builder_.getInt64Ty();
    case ir::Elem::kF16: return builder_.getHalfTy();
    case ir::Elem::kBF16: return builder_.getBFloatTy();
    case ir::Elem::kF32:
    case ir::Elem::kTF32: return builder_.getFloatTy();
    case ir::Elem::kF64: return builder_.getDoubleTy();
    default: {
      const int bits = ir::ElemInfoOf(e.kind).bits;
      return builder_.getIntNTy(bits == 4 ? 8 : bits);
    }
  }
}

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
  llvm::Value* address = nullptr;
  AtEntry([&] {
    address = builder_.CreatePtrToInt(kernel_->getArg(static_cast<unsigned>(function_.num_params() + tma_.map_of.at(&access))),
                                      builder_.getInt64Ty());
  });
  return address;
}

llvm::Value* Emitter::Warpgroup() {
  if (warpgroup_ == nullptr) {
    AtEntry([&] {
      warpgroup_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                                            {I32(-1), builder_.CreateLShr(thread_, 7), I32(0), I32(31)});
    });
  }
  return warpgroup_;
}

// Blocks that run at the same time should share tiles: instead of whole rows of the grid, `square` of its rows (or columns)
// are walked through column by column (row by row), so that what runs at once is about a square, and blocks that share
// loads are neighbours.
void Emitter::SetBlockIds(llvm::Value* i, llvm::Value* z) {
  auto& b = builder_;
  llvm::Value *along = GridSize(plan_.along), *across = GridSize(1 - plan_.along);
  if (z == nullptr) {
    llvm::Value* layer = b.CreateMul(along, across);
    z = b.CreateUDiv(i, layer);
    i = b.CreateURem(i, layer);
  }
  llvm::Value* strip = b.CreateMul(across, I32(plan_.square));  // blocks; an image's requirement keeps it small
  llvm::Value* first = b.CreateMul(b.CreateUDiv(i, strip), I32(plan_.square));
  llvm::Value* wide = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(along, first), I32(plan_.square));
  i = b.CreateURem(i, strip);
  block_ids_[plan_.along] = b.CreateAdd(first, b.CreateURem(i, wide));
  block_ids_[1 - plan_.along] = b.CreateUDiv(i, wide);
  block_ids_[2] = z;
}

llvm::Value* Emitter::BlockId(int dim) {
  constexpr llvm::Intrinsic::ID kIds[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  if (block_ids_[dim] != nullptr) return block_ids_[dim];
  AtEntry([&] {
    for (int d = 0; d < 3; ++d) block_ids_[d] = builder_.CreateIntrinsic(kIds[d], {});
    if (plan_.square > 0) SetBlockIds(block_ids_[0], block_ids_[2]);
  });
  return block_ids_[dim];
}

void Emitter::ForEachBlock(const std::function<void()>& emit, const std::function<void()>& leave) {
  auto& b = builder_;
  llvm::BasicBlock *before = b.GetInsertBlock(), *head = NewBlock("block"), *next = NewBlock("nextblock"), *exit = NewBlock("leave");
  llvm::Value* first = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {});
  llvm::Value* step = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
  llvm::Value* all = b.CreateMul(b.CreateMul(GridSize(0), GridSize(1)), GridSize(2));
  b.CreateBr(head);  // there are no more hardware blocks than tile blocks
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt32Ty(), 2);
  i->addIncoming(first, before);
  SetBlockIds(i, nullptr);
  next_block_ = next;
  emit();
  next_block_ = nullptr;
  b.SetInsertPoint(next);
  llvm::Value* following = b.CreateAdd(i, step);
  i->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, all), head, exit);
  b.SetInsertPoint(exit);
  leave();
}

llvm::Value* Emitter::ClusterSize() {
  if (cluster_size_ == nullptr) {
    AtEntry([&] { cluster_size_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, {}); });
  }
  return cluster_size_;
}

llvm::Value* Emitter::ClusterRank() {
  if (cluster_rank_ == nullptr) {
    AtEntry([&] { cluster_rank_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {}); });
  }
  return cluster_rank_;
}

// --- threads and elements -------------------------------------------------------------------------------------------

const Layout& Emitter::layout(ir::Type t) const {
  const auto* encoding = static_cast<const Layout*>(t->encoding);
  return encoding != nullptr ? *encoding : scalar_layout_;
}

llvm::Value* Emitter::LinearOf(llvm::Value* value, absl::Span<const uint64_t> bases) {
  llvm::Value* sum = I32(0);
  for (size_t i = 0; i < bases.size();) {
    if (bases[i] == 0) {
      ++i;
      continue;
    }
    // As many bits as stay neighbours.
    size_t n = 1;
    const bool one_bit = (bases[i] & (bases[i] - 1)) == 0;
    while (one_bit && i + n < bases.size() && bases[i + n] == bases[i] << n) ++n;
    llvm::Value* x = builder_.CreateAnd(builder_.CreateLShr(value, I32(i)), I32((1 << n) - 1));
    x = one_bit ? builder_.CreateShl(x, I32(Log2(bases[i]))) : builder_.CreateMul(x, I32(bases[i]));
    sum = builder_.CreateXor(sum, x);
    i += n;
  }
  return sum;
}

llvm::Value* Emitter::LinearOfThread(absl::Span<const uint64_t> lane_bases, absl::Span<const uint64_t> warp_bases) {
  std::vector<uint64_t> bases(lane_bases.begin(), lane_bases.end());
  bases.resize(5, 0);
  bases.insert(bases.end(), warp_bases.begin(), warp_bases.end());
  std::string key(reinterpret_cast<const char*>(bases.data()), bases.size() * sizeof(uint64_t));
  llvm::Value*& value = linear_[key];
  if (value != nullptr) return value;

  // In the entry block, so that it can be used everywhere.
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(kernel_->getEntryBlock().getTerminator());
  return value = LinearOf(thread_, bases);
}

llvm::Value* Emitter::ThreadPart(const Layout& layout) {
  return LinearOfThread(layout.bases(In::kLane), layout.bases(In::kWarp));
}

uint32_t Emitter::RegisterPart(const Layout& layout, int r) const {
  return static_cast<uint32_t>(layout.Apply(r, 0, 0));
}

namespace {

uint64_t AllBits(const Layout& layout) {
  uint64_t bits = 0;
  for (uint64_t x : layout.bases(In::kLane)) bits |= x;
  for (uint64_t x : layout.bases(In::kWarp)) bits |= x;
  return bits;
}

}  // namespace

llvm::Value* Emitter::Element(const Layout& layout, int r) {
  const uint32_t part = RegisterPart(layout, r);
  llvm::Value* thread = ThreadPart(layout);
  if (part == 0) return thread;
  return (AllBits(layout) & part) == 0 ? builder_.CreateNUWAdd(thread, I32(part)) : builder_.CreateXor(thread, I32(part));
}

llvm::Value* Emitter::Coordinate(const Layout& layout, int r, int dim) {
  const int shift = layout.dim_shift(dim);
  const uint64_t mask = layout.DimMask(dim);
  std::vector<uint64_t> lane, warp;
  uint64_t used = 0;
  for (uint64_t x : layout.bases(In::kLane)) lane.push_back((x & mask) >> shift);
  for (uint64_t x : layout.bases(In::kWarp)) warp.push_back((x & mask) >> shift);
  for (uint64_t x : lane) used |= x;
  for (uint64_t x : warp) used |= x;
  llvm::Value* thread = LinearOfThread(lane, warp);
  const uint32_t part = static_cast<uint32_t>((RegisterPart(layout, r) & mask) >> shift);
  if (part == 0) return thread;
  return (used & part) == 0 ? builder_.CreateNUWAdd(thread, I32(part)) : builder_.CreateXor(thread, I32(part));
}

llvm::Value* Emitter::HoldsFirstCopy(const Layout& layout) {
  const uint64_t mask = layout.FreeMask(In::kLane) | layout.FreeMask(In::kWarp) << 5;
  return mask == 0 ? nullptr : builder_.CreateIsNull(builder_.CreateAnd(thread_, I32(mask)));
}

bool Emitter::RegisterRepeats(const Layout& layout, int r) const {
  return (layout.FreeMask(In::kRegister) & static_cast<uint32_t>(r)) != 0;
}

// --- shared memory --------------------------------------------------------------------------------------------------

uint32_t Emitter::ReserveShared(uint64_t bytes, uint64_t alignment) {
  reserved_bytes_ = (reserved_bytes_ + alignment - 1) / alignment * alignment;
  const uint64_t at = reserved_bytes_;
  reserved_bytes_ += bytes;
  if (current_ != nullptr) {
    shared_users_.push_back({current_, bytes, current_->opcode() == ir::Opcode::kAllocShared ? "for the array" : "for itself"});
  }
  return static_cast<uint32_t>(std::min<uint64_t>(at, UINT32_MAX));
}

Emitter::RingMemory Emitter::ReserveRing(const ir::Op& fetch, uint64_t bytes, uint64_t barrier_bytes) {
  RingMemory& memory = ring_of_[&fetch];
  if (memory.stages != nullptr) {
    memory.is_new = false;
    return memory;
  }
  memory.stages = llvm::ConstantExpr::getGetElementPtr(builder_.getInt8Ty(), ring_, llvm::ArrayRef<llvm::Constant*>{I32(ring_bytes_)});
  memory.barriers = ReserveShared(barrier_bytes, 8);
  memory.is_new = true;
  ring_bytes_ += bytes;
  if (bytes > ring_user_.bytes) ring_user_ = {&fetch, bytes, "for what is fetched ahead"};
  return memory;
}

llvm::Value* Emitter::CopyMemory(uint64_t bytes, bool* used) {
  *used = ring_bytes_ > 0;
  ring_bytes_ = std::max(ring_bytes_, bytes);
  if (bytes > ring_user_.bytes && current_ != nullptr) ring_user_ = {current_, bytes, "for what is copied ahead"};
  return ring_;
}

llvm::AllocaInst* Emitter::Variable(llvm::Type* type, llvm::Value* start) {
  llvm::AllocaInst* variable = nullptr;
  AtEntry([&] {
    variable = builder_.CreateAlloca(type);
    if (start != nullptr) builder_.CreateStore(start, variable);
  });
  return variable;
}

llvm::Value* Emitter::Scratch(uint64_t bytes) {
  scratch_beside_rings_ = scratch_beside_rings_ || last_ring_ != nullptr || plan_.persistent;
  scratch_bytes_ = std::max(scratch_bytes_, bytes);
  if (bytes > scratch_user_.bytes && current_ != nullptr) scratch_user_ = {current_, bytes, "in which threads exchange elements"};
  Barrier();
  return scratch_;
}

llvm::Value* Emitter::SharedAddress(llvm::Value* byte_offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), shared_, byte_offset);
}

uint64_t Emitter::shared_bytes() const {
  return reserved_bytes_ + (scratch_beside_rings_ ? ring_bytes_ + scratch_bytes_ : std::max(ring_bytes_, scratch_bytes_));
}

uint64_t Emitter::SharedLeft() const {
  const bool beside = scratch_beside_rings_ || last_ring_ != nullptr || plan_.persistent;
  const uint64_t used = reserved_bytes_ + 1024 + (beside ? ring_bytes_ : 0);  // and what begins at a round place
  return target_.shared_bytes > used ? target_.shared_bytes - used : 0;
}

llvm::Value* Emitter::ReserveWorkspace(uint64_t bytes, uint64_t alignment) {
  workspace_bytes_ = (workspace_bytes_ + alignment - 1) / alignment * alignment;
  const uint64_t at = workspace_bytes_;
  workspace_bytes_ += bytes;
  // Every block has a part of the same size, which is known at the end only.
  if (workspace_size_ == nullptr) {
    workspace_size_ = new llvm::GlobalVariable(*module_, builder_.getInt8Ty(), false,
                                               llvm::GlobalValue::ExternalLinkage, nullptr, "workspace_size$");
  }
  auto id = [&](llvm::Intrinsic::ID i) { return builder_.CreateZExt(builder_.CreateIntrinsic(i, {}), builder_.getInt64Ty()); };
  auto size = [&](int d) { return builder_.CreateZExt(GridSize(d), builder_.getInt64Ty()); };
  llvm::Value* block = id(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z);
  block = builder_.CreateAdd(builder_.CreateMul(block, size(1)), id(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y));
  block = builder_.CreateAdd(builder_.CreateMul(block, size(0)), id(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x));
  llvm::Value* stride = builder_.CreatePtrToInt(workspace_size_, builder_.getInt64Ty());
  return builder_.CreateAdd(builder_.CreateAdd(Workspace(), builder_.CreateMul(block, stride)), I64(at));
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
  const ir::Op* outer = std::exchange(current_, &op);
  (IsGpuOp(*op.info()) ? kLowerGpu : kLower)[op.info()->index](*this, op);
  current_ = outer;
}

void Emitter::LowerBlock(const ir::Block& block) {
  for (const ir::Op* op : block) {
    Lower(*op);
    if (op == last_ring_) last_ring_ = nullptr;
  }
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

std::vector<llvm::PHINode*> Emitter::NewPhis(ir::Type t) {
  std::vector<llvm::PHINode*> phis;
  if (!t.is_tile()) return phis;
  for (int r = 0; r < static_cast<int>(layout(t).registers()); ++r) {
    phis.push_back(builder_.CreatePHI(RegisterType(t.element()), 2));
  }
  return phis;
}

void Emitter::AddIncoming(const std::vector<std::vector<llvm::PHINode*>>& phis, absl::Span<ir::Value* const> values) {
  for (size_t i = 0; i < phis.size(); ++i) {
    for (size_t r = 0; r < phis[i].size(); ++r) {
      phis[i][r]->addIncoming(regs(values[i])[r], builder_.GetInsertBlock());
    }
  }
}

}  // namespace tile::codegen
