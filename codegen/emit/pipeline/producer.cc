#include "codegen/emit/pipeline/producer.h"

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/device_tensor_maps.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/plan/staging/producer_slice.h"
#include "codegen/plan/tma/tensor_map.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

void LoadByTma(Emitter& e, const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier,
               llvm::Value* mine) {
  auto& b = e.b();
  const TensorPlace place = PlaceInTensor(e, load, tile);
  const int rank = static_cast<int>(place.origin.size());
  const int parts = static_cast<int>(DecisionOf<Decision::kMulticast>(load).value_or(1));
  const bool shared = parts > 1;
  std::string text = absl::StrCat("@$", rank + 3, " cp.async.bulk.tensor.", rank,
                                  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                                  shared ? ".multicast::cluster" : "", " [$0], [$1, {");
  std::string constraints = "r,l";
  for (int i = 0; i < rank; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "$", i + 2);
    absl::StrAppend(&constraints, ",r");
  }
  absl::StrAppend(&text, "}], [$", rank + 2, "]", shared ? absl::StrCat(", $", rank + 4) : "", ";");
  absl::StrAppend(&constraints, ",r,b", shared ? ",h" : "");
  llvm::Value* map = e.TensorMap(load);
  const int64_t rows = BoxRows(tile, parts);
  // Every block brings every second copy, to all blocks.
  llvm::Value *last = nullptr, *all = nullptr, *mine_of[kClusterBlocks] = {mine, mine};
  if (shared) {
    last = b.CreateSub(e.blocks().ClusterSize(), e.I32(1));
    all = b.CreateTrunc(b.CreateSub(b.CreateShl(e.I32(1), e.blocks().ClusterSize()), e.I32(1)), b.getInt16Ty());
    for (int p = 0; p < kClusterBlocks; ++p) {
      mine_of[p] = b.CreateAnd(mine, b.CreateICmpEQ(b.CreateAnd(e.I32(p), last), e.blocks().ClusterRank()));
    }
  }
  int copies = 0;
  for (int64_t c = 0; c < tile.chunks(); ++c) {
    for (int64_t row = 0; row < tile.rows(); row += rows) {
      Registers in = {b.CreateAdd(to, e.I32(c * tile.chunk_bytes() + row * tile.swizzle)), map};
      for (llvm::Value* at : place.At(e, e.I32(c * tile.chunk_elements()), e.I32(row))) in.push_back(at);
      in.push_back(barrier);
      in.push_back(mine_of[copies++ % kClusterBlocks]);
      if (shared) in.push_back(all);
      ExecuteTogether(e, text, constraints, in);
    }
  }
}

namespace {

// Fills the stage with the tiles for this value of the induction variable; one thread does.
void Fill(Emitter& e, const ir::Op& fetch, const RingPlace& place, llvm::Value* iv, llvm::Value* stage) {
  const ir::Block& region = *fetch.region(0);
  e.SetScalar(region.arg(0), iv);
  llvm::Value* mine = e.threads().IsElected();
  llvm::Value* full = place.Full(stage);
  ExecuteTogether(e, "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,b",
                  {full, e.I32(place.stage().bytes), mine});
  for (const ir::Op* op : region) {
    if (ir::LoadViewOp::Is(op)) {
      const auto& tiles = place.stage().tiles;
      for (size_t i = 0; i < tiles.size(); ++i) {
        if (tiles[i].load == op) LoadByTma(e, *op, tiles[i], place.Slot(stage, static_cast<int>(i)), full, mine);
      }
    } else if (op->num_results() > 0 && (!op->result(0)->type().is_tile() || op->result(0)->type().is_scalar())) {
      e.Lower(*op);  // permutations and reshapes of what is loaded are in how the products read it
    }
  }
}

}  // namespace

llvm::Value* Producer::FilledRing::AwaitFree(Emitter& e) const {
  llvm::Value* s = e.b().CreateLoad(e.b().getInt32Ty(), stage);
  AwaitPhase(e, place.Free(s), e.b().CreateLoad(e.b().getInt32Ty(), phase));
  return s;
}

void Producer::FilledRing::Move(Emitter& e) const {
  auto& b = e.b();
  llvm::Value* next = place.Next(b.CreateLoad(b.getInt32Ty(), stage));
  b.CreateStore(place.NextPhase(b.CreateLoad(b.getInt32Ty(), phase), next), phase);
  b.CreateStore(next, stage);
}

// Of a stage that was filled in this turn of the ring the last copies are of this phase, of the others of the one before.
void Producer::FilledRing::AwaitFull(Emitter& e) const {
  auto& b = e.b();
  llvm::Value *next = b.CreateLoad(b.getInt32Ty(), stage), *before = b.CreateLoad(b.getInt32Ty(), phase);
  for (int s = 0; s < place.stages(); ++s) {
    llvm::Value* now = b.CreateZExt(b.CreateICmpULT(e.I32(s), next), b.getInt32Ty());
    AwaitPhase(e, place.Full(e.I32(s)), b.CreateXor(before, now));
  }
}

void Producer::EmitBlock(const ir::Block& block) {
  for (const ir::Op* op : block) {
    const bool branches = ir::YieldOp::Is(op) || ir::ContinueOp::Is(op) || ir::BreakOp::Is(op);
    if (!branches && !DecisionOf<Decision::kByProducer>(*op)) continue;
    if (ir::ForOp::Is(op) && FetchIn(*op) != nullptr) {
      EmitFetches(*op);
    } else if (ir::IsLoop(op)) {
      EmitLoop(*op);
    } else if (ir::IfOp::Is(op)) {
      EmitIf(*op);
    } else {
      e_.Lower(*op);
    }
  }
}

void Producer::EmitFetches(const ir::Op& op) {
  auto& b = e_.b();
  const ir::ForOp loop(op);
  const ir::Op& fetch = *FetchIn(op);
  constexpr int kPhase = 1;  // of a stage that nobody has had before
  filled_.push_back(
      {RingPlace(e_, fetch), e_.Variable(b.getInt32Ty(), e_.I32(0)), e_.Variable(b.getInt32Ty(), e_.I32(kPhase))});
  const FilledRing ring = filled_.back();
  DeviceTensorMaps(e_, fetch).Make([&] { ring.AwaitFull(e_); });
  llvm::BasicBlock *body = e_.NewBlock("produce"), *after = e_.NewBlock("produced");
  llvm::Value* runs = Begins(loop);
  llvm::BasicBlock* before = b.GetInsertBlock();
  b.CreateCondBr(runs, body, after);
  b.SetInsertPoint(body);
  llvm::PHINode* iv = b.CreatePHI(e_.scalar(loop.lower_bound())->getType(), 2);
  iv->addIncoming(e_.scalar(loop.lower_bound()), before);
  Fill(e_, fetch, ring.place, iv, ring.AwaitFree(e_));
  ring.Move(e_);
  const auto [next, more] = StepOf(loop, iv);
  iv->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(more, body, after);
  b.SetInsertPoint(after);
}

llvm::Value* Producer::Begins(const ir::ForOp& loop) {
  const auto less = loop.unsigned_cmp() ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT;
  return e_.b().CreateICmp(less, e_.scalar(loop.lower_bound()), e_.scalar(loop.upper_bound()));
}

// Compared as a distance, since the sum may overflow.
std::pair<llvm::Value*, llvm::Value*> Producer::StepOf(const ir::ForOp& loop, llvm::Value* iv) {
  auto& b = e_.b();
  llvm::Value *upper = e_.scalar(loop.upper_bound()), *step = e_.scalar(loop.step());
  return {b.CreateAdd(iv, step), b.CreateICmpULT(step, b.CreateSub(upper, iv))};
}

Phis Producer::PhisFor(absl::Span<ir::Value* const> values) {
  Phis phis;
  for (const ir::Value* v : values) {
    phis.emplace_back();
    if (!v->type().is_tile() || !IsSliceable(v)) continue;
    phis.back() = e_.NewPhis(v->type());
    e_.Set(v, Registers(phis.back().begin(), phis.back().end()));
  }
  return phis;
}

void Producer::AddIncoming(const Phis& phis, absl::Span<ir::Value* const> values, llvm::BasicBlock* from) {
  for (size_t i = 0; i < phis.size(); ++i) {
    for (size_t r = 0; r < phis[i].size(); ++r) phis[i][r]->addIncoming(e_.regs(values[i])[r], from);
  }
}

namespace {

std::vector<ir::Value*> ResultsOf(const ir::Op& op) {
  std::vector<ir::Value*> results;
  for (int i = 0; i < op.num_results(); ++i) results.push_back(op.result(i));
  return results;
}

}  // namespace

// A for or a loop around others that fetch.
void Producer::EmitLoop(const ir::Op& op) {
  auto& b = e_.b();
  const ir::CarryingLoop loop(op);
  std::vector<ir::Value*> inits, args;
  for (int i = 0; i < loop.num_carried(); ++i) {
    inits.push_back(loop.init(i));
    args.push_back(loop.arg(i));
  }
  llvm::BasicBlock* head = e_.NewBlock("around");
  ControlStack::Loop around = {e_.NewBlock("next"), e_.NewBlock("endaround"), {}, {}};
  llvm::Value* runs = loop.counts() ? Begins(ir::ForOp(op)) : b.getTrue();
  llvm::BasicBlock* before = b.GetInsertBlock();
  loop.counts() ? b.CreateCondBr(runs, head, around.exit) : b.CreateBr(head);
  b.SetInsertPoint(around.exit);
  around.results = PhisFor(ResultsOf(op));
  if (loop.counts()) AddIncoming(around.results, inits, before);
  b.SetInsertPoint(head);
  llvm::PHINode* iv = nullptr;
  if (loop.counts()) {
    iv = b.CreatePHI(e_.scalar(ir::ForOp(op).lower_bound())->getType(), 2);
    iv->addIncoming(e_.scalar(ir::ForOp(op).lower_bound()), before);
    e_.SetScalar(loop.index(), iv);
  }
  const Phis entered = PhisFor(args);
  AddIncoming(entered, inits, before);
  b.SetInsertPoint(around.next);
  for (size_t i = 0; i < entered.size(); ++i) {
    around.carried.emplace_back();
    for (llvm::PHINode* phi : entered[i]) {
      around.carried.back().push_back(b.CreatePHI(phi->getType(), 2));
      phi->addIncoming(around.carried.back().back(), around.next);
    }
  }
  e_.control().loops.push_back(around);
  b.SetInsertPoint(head);
  EmitBlock(*loop.body());
  e_.control().loops.pop_back();
  b.SetInsertPoint(around.next);
  if (loop.counts()) {
    const auto [next, more] = StepOf(ir::ForOp(op), iv);
    iv->addIncoming(next, around.next);
    b.CreateCondBr(more, head, around.exit);
    for (size_t i = 0; i < around.results.size(); ++i) {
      for (size_t r = 0; r < around.results[i].size(); ++r)
        around.results[i][r]->addIncoming(around.carried[i][r], around.next);
    }
  } else {
    b.CreateBr(head);
  }
  b.SetInsertPoint(around.exit);
}

void Producer::EmitIf(const ir::Op& op) {
  auto& b = e_.b();
  llvm::BasicBlock* sides[] = {e_.NewBlock("then"), e_.NewBlock("else")};
  ControlStack::Merge merge = {e_.NewBlock("endif"), {}, {}};
  b.CreateCondBr(e_.scalar(op.operand(0)), sides[0], sides[1]);
  b.SetInsertPoint(merge.after);
  merge.results = PhisFor(ResultsOf(op));
  e_.control().merges.push_back(merge);
  for (int i = 0; i < 2; ++i) {
    b.SetInsertPoint(sides[i]);
    if (op.region(i) != nullptr) EmitBlock(*op.region(i));
    if (b.GetInsertBlock()->getTerminator() == nullptr) b.CreateBr(merge.after);
  }
  e_.control().merges.pop_back();
  b.SetInsertPoint(merge.after);
}

void Producer::AwaitReleases() {
  for (const FilledRing& ring : filled_) {
    for (int i = 0; i < ring.place.stages(); ++i) {
      ring.AwaitFree(e_);
      ring.Move(e_);
    }
  }
}

}  // namespace tile::codegen
