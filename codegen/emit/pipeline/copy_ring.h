// The ring of shared-memory stages behind a copy_ahead (codegen/gpu/ops.def). All threads of the block fill it, by
// cp.async, and read it.
//
//   CopyRing ring(e, loop, copy, runs);   // before the loop: the copies of stages - 1 iterations are started
//   …   ring.Advance();                   // in the body, where copy_ahead stands: this iteration's stage is full,
//                                         // and another iteration's copies began, or begin while products run
//   …   ring.Slot(0)                      // the operand's address
//
// There is one barrier in an iteration: after it the copies of all threads for this iteration have arrived, and nobody reads the
// stage of the iteration before, which is filled next. A product that nobody waits for within its iteration still reads that
// stage then: it runs until the next one has begun, so that the tensor cores always have one. So the stage is filled behind that,
// behind a second barrier. Where several products run so (plan/mma/overlapped_products.h), the stage is kept for another iteration instead, of which
// there is one less on its way then. The copies of an iteration are one group of cp.async, empty after the last
// one, so that the number of groups to wait for is always the same. A conversion that the product needs (StagedTile::rounded) is done
// by mma.sync's reads if elements have 32 bits; else each thread converts in place what it copied itself, before that barrier. Vectors
// of 16 bytes are copied where the tensor is aligned so, which is tested once for all of them. Otherwise elements of four bytes and
// more are copied one by one, and smaller ones go through registers. Elements outside of the tensor become zero.
//
// A product sees what cp.async has brought once that has been waited for and a barrier follows, as the kernels of CUTLASS and Triton
// take it, too. Only what threads stored themselves needs a fence before. ptxas makes MEMBAR.ALL.CTA of that fence, which seems to
// wait for the copies of later iterations, too.
//
// In a ring of pieces (plan/mma/copy_pieces.h) products advance, piece by piece, as an iteration does in another ring: a barrier, behind which the
// piece has arrived and nobody reads the one before, whose place is filled next.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_COPY_RING_H_
#define TILE_CODEGEN_EMIT_PIPELINE_COPY_RING_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

class CopyRing {
 public:
  // At the insertion point before the loop; `runs` (i1): it has an iteration.
  CopyRing(Emitter& e, const ir::Op& loop, const ir::Op& copy, llvm::Value* runs);

  void Advance();
  // Of a ring of pieces, in their order: the next piece is full.
  void AdvancePiece();
  // What read it has ended.
  void ReleasePiece();
  // What asynchronous products call when they have begun: starting copies takes many instructions, beside which they run.
  void FetchMeanwhile();
  // The product may still run when its iteration ends: that of the next one waits for it (Decision::kAsync).
  bool IsAsync(const ir::Op& mma) const;
  const StagedTile& tile(int i) const { return stage_.tiles[static_cast<size_t>(i)]; }
  // Pieces of result i, which come one after another; 0: the ring's unit is the stage.
  int pieces(int i) const { return stage_.piece_bytes > 0 ? stage_.pieces(static_cast<size_t>(i)) : 0; }
  bool in_pieces() const { return stage_.piece_bytes > 0; }
  // Result i has the type that the product wants where it lies in shared memory.
  bool ConvertsInPlace(int i) const;
  // Where result i of the copy_ahead begins in this iteration's stage (a pointer to shared memory); of pieces the one that was advanced to.
  llvm::Value* Slot(int i) const;
  // Where the left operand of a product lies (i32) that is the same in all iterations and that it reads there; null: it is not
  // there.
  llvm::Value* StagedLhsOf(const ir::Op& mma) const;
  // Behind the last iteration, with what the loop carries: waits for the product that still runs.
  void Drain(std::vector<Registers>* carried);

 private:
  void StageInvariants();
  void BeginCopies();
  void Arrive();
  // The next iteration's copies, if there is one; a group in any case. `frees_stage`: the stage is read until FreeStage.
  void Fetch(bool frees_stage);
  void FreeStage();
  // The copies of a piece, by its number among those of an iteration; behind the last one comes the next iteration.
  void FetchPiece(int piece);
  void NextToFetch(llvm::Value* iv);
  // What is done for an iteration's copies can be done where there is no such iteration, too: copies under a predicate take the place of a
  // branch, and the assembler moves instructions that compute addresses to where threads would wait.
  bool OnlyComputes() const;
  // Addresses and masks of an iteration's copies; the copies.
  void Compute(llvm::Value* iv);
  void Bring(llvm::Value* at);
  // All of it, or one of so many pieces (`slot` is where the first would lie).
  void FillSlot(const ir::Op& load, const StagedTile& tile, llvm::Value* slot, int piece = 0, int pieces = 1);
  void FillThroughPointers(const ir::Op& load, const StagedTile& tile, llvm::Value* slot);
  // What this thread copied there, in the operand's type.
  void ConvertSlot(const StagedTile& tile, llvm::Value* slot);
  llvm::Value* Now(llvm::AllocaInst* variable) const;
  // To the next place of the ring.
  void Step(llvm::AllocaInst* position);

  Emitter& e_;
  const ir::Op& loop_;
  const ir::Op& copy_;
  const StageLayout stage_;
  const int stages_;
  const bool keeps_;    // a product of the iteration before reads its stage until this one waits for products
  const bool all_end_;  // every iteration comes to its products
  llvm::Value* memory_;
  // Variables, which become registers. Stages (i32, their first bytes): of this iteration, of the next, to be filled next; the induction
  // variable of what is fetched next, and whether there is such an iteration.
  llvm::AllocaInst *current_, *read_, *write_, *ahead_, *more_;
  absl::flat_hash_set<const ir::Op*> told_;  // there was a remark
  std::vector<const ir::Op*> async_;         // products that are not waited for in their iteration
  int piece_ = 0;                            // of this iteration, so far advanced to
  size_t begun_ = 0;                         // of this iteration's products, so far
  llvm::Value* if_ = nullptr;                // copies only where this holds; null: always
  bool only_computes_ = false;
  bool computes_in_workspace_ = false;  // and so writes to memory
  bool reads_stages_ = false;
  bool stored_ = false;         // stages get something by stores of threads
  bool fetches_later_ = false;  // this iteration's copies have not begun
  absl::flat_hash_map<const ir::Op*, llvm::Value*> staged_lhs_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_COPY_RING_H_
