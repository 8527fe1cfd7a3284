#include "codegen/emit/context/emitter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/target/decisions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

int Log2(uint64_t n) { return 63 - __builtin_clzll(n); }

}  // namespace

Emitter::Emitter(const Target& target, const Schedule& plan, const ir::Module& source, const ir::Function& function,
                 llvm::Module* module, Trace* trace, int tensor_maps)
    : target_(target),
      plan_(plan),
      source_(source),
      function_(function),
      module_(module),
      trace_(trace),
      tensor_maps_(tensor_maps),
      builder_(module->getContext()),
      scalar_layout_(Layout::Replicated({}, plan.num_warps)),
      shared_(target, plan.persistent, builder_) {}

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
    const int64_t param = function_.num_params() + DecisionOf<Decision::kTensorMap>(access).value();
    address = builder_.CreatePtrToInt(kernel_->getArg(static_cast<unsigned>(param)), builder_.getInt64Ty());
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
  constexpr llvm::Intrinsic::ID kIds[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  if (block_ids_[dim] != nullptr) return block_ids_[dim];
  AtEntry([&] {
    for (int d = 0; d < 3; ++d) block_ids_[d] = builder_.CreateIntrinsic(kIds[d], {});
    if (plan_.square > 0) SetBlockIds(block_ids_[0], block_ids_[2]);
  });
  return block_ids_[dim];
}

llvm::Value* Emitter::ClusterSize() {
  if (cluster_size_ == nullptr) {
    AtEntry(
        [&] { cluster_size_ = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, {}); });
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
  return (AllBits(layout) & part) == 0 ? builder_.CreateNUWAdd(thread, I32(part))
                                       : builder_.CreateXor(thread, I32(part));
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

llvm::Value* Emitter::ReserveWorkspace(uint64_t bytes, uint64_t alignment) {
  workspace_bytes_ = (workspace_bytes_ + alignment - 1) / alignment * alignment;
  const uint64_t at = workspace_bytes_;
  workspace_bytes_ += bytes;
  // Every block has a part of the same size, which is known at the end only.
  if (workspace_size_ == nullptr) {
    workspace_size_ = new llvm::GlobalVariable(*module_, builder_.getInt8Ty(), false,
                                               llvm::GlobalValue::ExternalLinkage, nullptr, "workspace_size$");
  }
  auto id = [&](llvm::Intrinsic::ID i) {
    return builder_.CreateZExt(builder_.CreateIntrinsic(i, {}), builder_.getInt64Ty());
  };
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
  const ir::Op* outer = shared_.account().ServeFor(&op);
  if (op.info()->is_access() && order_.NeedsBarrier(op)) Barrier();
  lower_(*this, op);
  shared_.account().ServeFor(outer);
}

void Emitter::LowerBlock(const ir::Block& block) {
  for (const ir::Op* op : block) {
    Lower(*op);
    shared_.account().Passed(op);
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

void Emitter::AddIncoming(const Phis& phis, absl::Span<ir::Value* const> values) {
  for (size_t i = 0; i < phis.size(); ++i) {
    for (size_t r = 0; r < phis[i].size(); ++r) {
      phis[i][r]->addIncoming(regs(values[i])[r], builder_.GetInsertBlock());
    }
  }
}

}  // namespace tile::codegen
