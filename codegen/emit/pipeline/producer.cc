#include "codegen/emit/pipeline/producer.h"

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/emit/pipeline/tma.h"
#include "codegen/plan/tensor_map.h"
#include "codegen/target/decisions.h"
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

void Producer::EmitBlock(const ir::Block& block) {
  for (const ir::Op* op : block) {
    if (!DecisionOf<Decision::kByProducer>(*op)) continue;
    if (ir::ForOp::Is(op)) {
      EmitLoop(*op);
    } else {
      e_.Lower(*op);
    }
  }
}

void Producer::EmitLoop(const ir::Op& op) {
  auto& b = e_.b();
  const ir::ForOp loop(op);
  llvm::Value *lower = e_.scalar(loop.lower_bound()), *upper = e_.scalar(loop.upper_bound()),
              *step = e_.scalar(loop.step());
  const auto less = loop.unsigned_cmp() ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_SLT;
  const ir::Op* fetch = FetchIn(op);
  if (fetch != nullptr) {
    constexpr int kPhase = 1;  // of a stage that nobody has had before
    filled_.push_back(
        {RingPlace(e_, *fetch), e_.Variable(b.getInt32Ty(), e_.I32(0)), e_.Variable(b.getInt32Ty(), e_.I32(kPhase))});
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *round = e_.NewBlock("produce"), *after = e_.NewBlock("produced");
  b.CreateCondBr(b.CreateICmp(less, lower, upper), round, after);
  b.SetInsertPoint(round);
  llvm::PHINode* iv = b.CreatePHI(lower->getType(), 2);
  iv->addIncoming(lower, before);
  if (fetch != nullptr) {
    Fill(e_, *fetch, filled_.back().place, iv, filled_.back().AwaitFree(e_));
    filled_.back().Move(e_);
  } else {
    e_.SetScalar(op.region(0)->arg(0), iv);
    EmitBlock(*op.region(0));
  }
  // Compared as a distance, since the sum may overflow.
  iv->addIncoming(b.CreateAdd(iv, step), b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(step, b.CreateSub(upper, iv)), round, after);
  b.SetInsertPoint(after);
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
