#include "codegen/emit/ring.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/tensor_map.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

void Execute(Emitter& e, absl::string_view text, absl::string_view constraints, Operands in) {
  llvm::cast<llvm::CallInst>(e.Ptx(e.b().getVoidTy(), text, constraints, in, true))->setConvergent();
}

}  // namespace

Ring::Ring(Emitter& e, const ir::Op& loop, const ir::Op& fetch)
    : e_(e), loop_(loop), fetch_(fetch), stage_(LayoutStage(fetch)), stages_(e.plan().stages) {
  auto& b = e.b();
  for (const ir::Op* op : *loop.region(0)) {
    if ((op->opcode() == ir::Opcode::kMmaF || op->opcode() == ir::Opcode::kMmaI) && IsAsync(*op)) ++async_;
  }
  const auto address = [&](llvm::Value* pointer) {
    return b.CreateTrunc(b.CreatePtrToInt(pointer, b.getInt64Ty()), b.getInt32Ty());
  };
  const bool reused = e.RingMayBeInUse();
  memory_ = address(e.RingMemory(static_cast<uint64_t>(stage_.bytes * stages_)));
  barriers_ = address(e.SharedAddress(e.I32(e.ReserveShared(static_cast<uint64_t>(8 * stages_), 8))));
  read_ = e.Variable(b.getInt32Ty(), e.I32(0));
  phase_ = e.Variable(b.getInt32Ty(), e.I32(0));
  fill_ = e.Variable(b.getInt32Ty(), e.I32(stages_ - 1));
  ahead_ = e.Variable(e.RegisterType(fetch.operand(0)->type().element()), nullptr);
  more_ = e.Variable(b.getInt1Ty(), nullptr);
  e.AtEntry([&] {
    llvm::Value* first = b.CreateICmpEQ(e.thread(), e.I32(0));
    for (int s = 0; s < stages_; ++s) {
      Execute(e, "@$1 mbarrier.init.shared::cta.b64 [$0], 1;", "r,b", {Barrier(e.I32(s)), first});
    }
    Execute(e, "fence.mbarrier_init.release.cluster;", "", {});
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {e.I32(0)});
  });
  // What ordinary accesses left there comes before what TMA writes.
  if (reused) {
    Execute(e, "fence.proxy.async.shared::cta;", "", {});
    e.Barrier();
  }
}

bool Ring::IsAsync(const ir::Op& mma) const {
  if (FetchOf(mma) != &fetch_) return false;
  const ir::Value *acc = mma.operand("acc"), *result = mma.result(0);
  const ir::Op* end = loop_.region(0)->back();
  const auto once = [](const ir::Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; };
  return acc->def() == nullptr && acc->block() == loop_.region(0) && once(acc) && once(result) &&
         end->opcode() == ir::Opcode::kContinue && end->operand(acc->index() - 1) == result;
}

llvm::Value* Ring::StageAddress(llvm::Value* stage, int64_t offset) {
  auto& b = e_.b();
  return b.CreateAdd(b.CreateAdd(memory_, e_.I32(offset)), b.CreateMul(stage, e_.I32(stage_.bytes)));
}

llvm::Value* Ring::Barrier(llvm::Value* stage) {
  auto& b = e_.b();
  return b.CreateAdd(barriers_, b.CreateShl(stage, 3));
}

llvm::Value* Ring::Next(llvm::Value* stage) {
  auto& b = e_.b();
  llvm::Value* next = b.CreateAdd(stage, e_.I32(1));
  return b.CreateSelect(b.CreateICmpEQ(next, e_.I32(stages_)), e_.I32(0), next);
}

llvm::Value* Ring::Slot(int i) {
  return StageAddress(e_.b().CreateLoad(e_.b().getInt32Ty(), read_), stage_.offsets[static_cast<size_t>(i)]);
}

void Ring::Begin(llvm::Value* lower, llvm::Value* upper, llvm::Value* step, llvm::Value* runs) {
  auto& b = e_.b();
  upper_ = upper;
  step_ = step;
  b.CreateStore(lower, ahead_);
  b.CreateStore(runs, more_);
  llvm::Value* stage = b.CreateLoad(b.getInt32Ty(), read_);
  for (int s = 0; s + 1 < stages_; ++s) {
    Fetch(b.CreateLoad(ahead_->getAllocatedType(), ahead_), stage, b.CreateLoad(b.getInt1Ty(), more_));
    Advance();
    stage = Next(stage);
  }
}

// Another step stays below the bound: compared as a distance, since the sum may overflow.
void Ring::Advance() {
  auto& b = e_.b();
  llvm::Value* iv = b.CreateLoad(ahead_->getAllocatedType(), ahead_);
  llvm::Value* more = b.CreateLoad(b.getInt1Ty(), more_);
  b.CreateStore(b.CreateAnd(more, b.CreateICmpULT(step_, b.CreateSub(upper_, iv))), more_);
  b.CreateStore(b.CreateAdd(iv, step_), ahead_);
}

void Ring::Await() {
  auto& b = e_.b();
  llvm::Value* stage = b.CreateLoad(b.getInt32Ty(), read_);
  Execute(e_,
          "{ .reg .pred full; again: mbarrier.try_wait.parity.shared::cta.b64 full, [$0], $1; @full bra ready; bra again; "
          "ready: }",
          "r,r", {Barrier(stage), b.CreateLoad(b.getInt32Ty(), phase_)});
}

void Ring::Refill() {
  auto& b = e_.b();
  if (async_ > 0) WaitForProducts(e_, async_, {});
  e_.Barrier();
  Fetch(b.CreateLoad(ahead_->getAllocatedType(), ahead_), b.CreateLoad(b.getInt32Ty(), fill_),
        b.CreateLoad(b.getInt1Ty(), more_));
  Advance();
  llvm::Value* read = b.CreateLoad(b.getInt32Ty(), read_);
  llvm::Value* next = Next(read);
  llvm::Value* phase = b.CreateLoad(b.getInt32Ty(), phase_);
  b.CreateStore(b.CreateXor(phase, b.CreateZExt(b.CreateICmpEQ(next, e_.I32(0)), b.getInt32Ty())), phase_);
  b.CreateStore(read, fill_);
  b.CreateStore(next, read_);
}

void Ring::End() {
  std::vector<const ir::Value*> unfinished;
  Registers all;
  for (const ir::Op* op : *loop_.region(0)) {
    if ((op->opcode() != ir::Opcode::kMmaF && op->opcode() != ir::Opcode::kMmaI) || !IsAsync(*op)) continue;
    const ir::Value* result = loop_.result(op->operand("acc")->index() - 1);
    const Registers& r = e_.regs(result);
    unfinished.push_back(result);
    all.insert(all.end(), r.begin(), r.end());
  }
  if (unfinished.empty()) return;
  const Registers done = WaitForProducts(e_, 0, std::move(all));
  size_t at = 0;
  for (const ir::Value* v : unfinished) {
    const size_t n = e_.regs(v).size();
    e_.Set(v, Registers(done.begin() + static_cast<int64_t>(at), done.begin() + static_cast<int64_t>(at + n)));
    at += n;
  }
}

void Ring::Fetch(llvm::Value* iv, llvm::Value* stage, llvm::Value* runs) {
  auto& b = e_.b();
  const ir::Block& region = *fetch_.region(0);
  e_.SetScalar(region.arg(0), iv);
  llvm::Value* mine = b.CreateAnd(runs, b.CreateICmpEQ(e_.thread(), e_.I32(0)));
  llvm::Value* barrier = Barrier(stage);
  Execute(e_, "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b", {barrier, e_.I32(stage_.bytes), mine});
  for (const ir::Op* op : region) {
    if (op->opcode() != ir::Opcode::kLoadView) {
      // Permutations and reshapes of what is loaded are in how the products read it.
      const bool scalar = op->num_results() > 0 && (!op->result(0)->type().is_tile() || op->result(0)->type().is_scalar());
      if (scalar) e_.Lower(*op);
      continue;
    }
    for (size_t i = 0; i < stage_.tiles.size(); ++i) {
      if (stage_.tiles[i].load == op) Copy(*op, stage_.tiles[i], StageAddress(stage, stage_.offsets[i]), barrier, mine);
    }
  }
}

void Ring::Copy(const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier, llvm::Value* mine) {
  auto& b = e_.b();
  const ir::Type view = load.operand("view")->type();
  const std::vector<ir::Value*> index = load.group("index");
  const std::vector<int> order = MapOrder(load);
  // Where the tile begins, and which of these move with chunks and rows.
  Registers origin(order.size(), nullptr);
  size_t inner = 0, outer = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t k = 0; k < static_cast<size_t>(view.rank()); ++k) {
      if ((view->dim_map.empty() ? static_cast<int>(k) : static_cast<int>(view->dim_map[k])) != order[i]) continue;
      origin[i] = b.CreateMul(b.CreateZExtOrTrunc(e_.scalar(index[k]), b.getInt32Ty()), e_.I32(view.shape()[k]));
      if (static_cast<int>(k) == tile.contiguous) inner = i;
      if (static_cast<int>(k) == tile.other) outer = i;
    }
  }
  const int rank = static_cast<int>(order.size());
  std::string text = absl::StrCat("@$", rank + 3, " cp.async.bulk.tensor.", rank,
                                  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {");
  std::string constraints = "r,l";
  for (int i = 0; i < rank; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "$", i + 2);
    absl::StrAppend(&constraints, ",r");
  }
  absl::StrAppend(&text, "}], [$", rank + 2, "];");
  absl::StrAppend(&constraints, ",r,b");
  llvm::Value* map = e_.TensorMap(load);
  const int64_t rows = BoxRows(tile);
  for (int64_t c = 0; c < tile.chunks(); ++c) {
    for (int64_t row = 0; row < tile.rows(); row += rows) {
      Registers in = {b.CreateAdd(to, e_.I32(c * tile.chunk_bytes() + row * tile.swizzle)), map};
      for (size_t i = 0; i < order.size(); ++i) {
        llvm::Value* at = origin[i];
        if (i == inner) at = b.CreateAdd(at, e_.I32(c * tile.chunk_elements()));
        if (i == outer) at = b.CreateAdd(at, e_.I32(row));
        in.push_back(at);
      }
      in.push_back(barrier);
      in.push_back(mine);
      Execute(e_, text, constraints, in);
    }
  }
}

void LowerFetchAhead(Emitter& e, const ir::Op&) { e.rings().back()->Await(); }

}  // namespace tile::codegen
