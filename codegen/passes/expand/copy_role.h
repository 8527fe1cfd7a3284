// The program of the warps, where some loops copy ahead: they run all of it. Loops whose threads copy are in
// thread_copies.cc. For TMA, one thread of the first warp starts the copies, so no iteration has a barrier of all
// warps. Such a loop before the pass:
//
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero) {
//     %x, %y = copy_ahead … { … }
//     %n = mmaf %x, %y, %acc
//     continue %n
//   }
//
// And after it:
//
//   claim_stages %memory                                  // earlier users of the memory are done
//   %mine = first_warp
//   %f:4 = for … to 3 …  { <the copies of an iteration, as below> }
//   %s = for %i in (%a to %b, step %c) iter_values(%acc = %zero, %stage = 0, %p = 0, %to = %f#0, …, %ahead = %f#2, %more = %f#3) {
//     barrier_wait %full[%stage], %p
//     %x = stage_tile …
//     %begun = mmaf %x, %y, %acc {async}
//     %next_to, … = if %more {                            // copies for a later iteration, while the product runs
//       barrier_wait %free[%to], …
//       elect { barrier_expect %full[%to] …; tma_load … }
//       yield <the next stage and phase>, <the next %ahead>, <whether there is one>
//     } else { yield … }
//     %n = mma_wait %begun pending = 0
//     sync_warp
//     barrier_arrive %free[%stage], true
//     continue %n, <the next stage and phase>, %next_to, …
//   }
//
// For a product that waits for its parts itself, the copies are in a meanwhile before it. Products that overlap
// (plan/mma/overlapped_products.h) are waited for where their results are read. Deferred products
// (plan/mma/cross_iteration_mma.h) are moved to the next iteration. The loop carries their left operands, and the last
// one runs after the loop. copy_products.cc has both.
#ifndef TILE_CODEGEN_PASSES_EXPAND_COPY_ROLE_H_
#define TILE_CODEGEN_PASSES_EXPAND_COPY_ROLE_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/expand/column_memory.h"
#include "codegen/passes/expand/role_copy.h"
#include "codegen/plan/tile_layout.h"

namespace tile::codegen {

// How all threads copy the operands of an iteration.
struct ThreadCopies {
  bool only_computes = false;  // addresses may be computed for iterations that do not exist
  bool writes = false;         // tiles pass through memory first
  bool reads_stages = false;   // some product reads the tiles in shared memory
  bool beside = false;         // copies begin while products run
  int running = 0;             // products that run on when their iteration ends
};
ThreadCopies ThreadCopiesOf(const ir::Op& copy);

// A ring that is filled for the warps that multiply: properties that FetchRing lacks.
struct CopyStages {
  std::optional<ThreadCopies> by_threads = std::nullopt;  // else by TMA
  bool pieces = false;                                    // its unit is the operand of one product, not a stage
  bool late = false;                                      // a deferred product reads the stage of the iteration before
  bool apart = false;                                     // its operands have barriers of their own
  bool keeps = false;  // a product of the iteration before reads its stage until this one waits for products
  ir::Value *late_full = nullptr, *late_free = nullptr;
  // The number of the ring to which threads widen tiles, or -1. Deferred products read some of these tiles
  // (wide_for_late), or no other products read any (wide_beside).
  int wide = -1;
  bool wide_for_late = false, wide_beside = false;
  // The number of the ring of one stage whose barrier signals the end of a product in tensor memory, or -1.
  int ends = -1;

  // After the loop some products are finished, and stages released.
  bool drains() const { return !by_threads && (late || keeps); }
};

// Allocates the barrier that signals the end of products into tensor memory, as a ring without memory.
FetchRing AllocateEnds(ir::Builder& b, const ir::Op& copy);
// The same for one product with block scales.
FetchRing AllocateEndOfScaled(ir::Builder& b, const ir::Op& mma);

// Allocates the rings of these copy_ahead. Each is followed by the ring of its widened tiles, and by the ring of the
// ends of products.
void AllocateCopies(ir::Builder& b, const Schedule& schedule, const std::vector<const ir::Op*>& copies,
                    std::vector<FetchRing>* rings, std::vector<CopyStages>* stages);

class CopyRole : public RoleCopy {
 public:
  CopyRole(const std::vector<FetchRing>& rings, const std::vector<CopyStages>& stages, const ColumnMemory& columns,
           const Schedule& schedule, LayoutTable* layouts, const ir::Function& function)
      : RoleCopy(rings, function, layouts), stages_(stages), columns_(columns), schedule_(schedule) {}

 protected:
  bool Runs(const ir::Op& op) const override { return !IsGpuOp(&op, GpuOpcode::kKernel); }
  bool Has(const ir::Value*) const override { return true; }
  void CopyFetchLoop(ir::Builder& b, const ir::ForOp& loop, size_t ring) override;
  void CopyFetch(ir::Builder& b, const ir::Op& fetch, size_t ring) override;
  ir::ops::Values EndIteration(ir::Builder& b, const ir::Op& loop, size_t ring) override;
  void Before(ir::Builder& b, const ir::Op& op) override;
  void CopyOther(ir::Builder& b, const ir::Op& op) override;

 private:
  // The stage that is filled next, the induction variable's value for it, and whether it exists and this warp fills it.
  struct Filling {
    ir::Value *stage, *phase, *index, *more;
  };
  struct Deferred {
    const ir::Op* mma;
    const ir::Op* user;         // the first of its sums
    const ir::Value* sums;      // that the loop carries
    int carried;                // its number
    ir::Value* held = nullptr;  // words of its left operand, from the previous iteration
    ir::Value* kept = nullptr;  // those of this iteration
  };
  // A left operand in shared memory that mostly stays there for the loop. Some of its words may be in registers, too.
  struct Invariant {
    ir::Value *address, *words;
  };
  // The loop of a ring that is being copied. Carried values are those from before the loop, in the iteration, or after
  // the loop.
  struct Frame {
    const ir::Op* loop;
    size_t ring;
    RingPosition next = {};  // carried: what is read next
    Filling filling = {};    // carried
    RingPosition wide_next = {},
                 wide_before = {};   // carried: where is widened to next, and was in the iteration before
    ir::Value* end_phase = nullptr;  // carried: of the barrier of ends
    ir::Value *before = nullptr,
              *any = nullptr;            // carried: the stage of the iteration before, and whether there was one
    RingPosition at = {}, wide_at = {};  // of this iteration, or of this piece
    ir::Value* yes = nullptr;            // true
    absl::flat_hash_map<const ir::Op*, Invariant> invariants = {};
    std::vector<const ir::Op*> leaders = {};
    std::vector<Deferred> deferred = {};
    std::vector<const ir::Op*> overlapping = {};                    // all products are
    absl::flat_hash_map<const ir::Value*, ir::Value*> stored = {};  // where right operands are that the loop makes
    // In this iteration:
    std::vector<const ir::Op*> begun = {}, running = {};
    int piece = 0;                // the number of pieces that were read
    ir::ops::Values widens = {};  // for each tile, the words that were loaded to be widened
    bool filled = false;          // copies have begun
    int running_begun = 0;        // the number of products in it that run on (ThreadCopies)
    bool waited = false;          // the previous iteration's products have been waited for
    bool keeps_others = false;    // tiles that other products than deferred ones read are kept
    bool fills_wide = false;      // the widened tiles need a fence
  };
  // A value that the loop carries: its name, the variable that holds it, and the next iteration's value.
  struct Carried {
    const char* name;
    ir::Value **now, *next;
  };

  const CopyStages& stages() const { return stages_[frame_->ring]; }
  const FetchRing& of_frame() const { return ring(frame_->ring); }
  bool turns() const;
  const FetchRing& wide() const { return ring(static_cast<size_t>(stages().wide)); }
  const FetchRing& ends() const { return ring(static_cast<size_t>(stages().ends)); }

  // The ring (copy_role.cc).
  void ClaimStages(ir::Builder& b);
  ir::Value* IsWarp(ir::Builder& b, int warp);
  void BeginCopies(ir::Builder& b, ir::Value* runs);
  void BeginPieces(ir::Builder& b, ir::Value* runs);
  // As the results of an operation, and back. Threads that copy have no phase.
  static ir::ops::Values Flat(const Filling& at);
  static Filling Filled(const ir::Op& when);
  Filling Fill(ir::Builder& b, const Filling& at);
  Filling FillPiece(ir::Builder& b, const Filling& at, int piece, ir::Value* mine);
  ir::Value* HasMore(ir::Builder& b, ir::Value* index);
  void FillMeanwhile(ir::Builder& b);
  // Before a product that waits for each of its parts itself.
  void FillBesideParts(ir::Builder& b);
  void FillLate(ir::Builder& b);
  void StartCopies(ir::Builder& b, ir::Value* index, ir::Value* stage, ir::Value* full,
                   const std::function<bool(size_t)>& brings);
  void AdvancePiece(ir::Builder& b);
  void Release(ir::Builder& b, ir::Value* barriers, ir::Value* stage, ir::Value* if_true);
  RingPosition Step(ir::Builder& b, const FetchRing& ring, const RingPosition& at);
  std::vector<Carried> CarriedValues();
  void CopyLoop(ir::Builder& b, ir::ops::Values* results);
  void CopyGuarded(ir::Builder& b, ir::Value* runs);
  bool PiecesTurnTogether() const;
  ir::Value* AsLoaded(ir::Builder& b, size_t i);
  ir::Value* WidenLoad(ir::Builder& b, size_t i);
  void LoadToWiden(ir::Builder& b);
  void StoreWidened(ir::Builder& b);
  void FillWide(ir::Builder& b);

  // Loops whose threads copy (thread_copies.cc).
  void CopyThreadLoop(ir::Builder& b, const ir::ForOp& loop);
  void ClaimForThreads(ir::Builder& b);
  void WaitForCopies(ir::Builder& b, int64_t groups);
  ir::Value* StepBytes(ir::Builder& b, ir::Value* at);
  void ComputeAddresses(ir::Builder& b, ir::Value* index);
  ir::Value* LoadedTile(ir::Builder& b, const ir::Value* v);
  ir::Value* PlaceOf(ir::Builder& b, size_t i, ir::Value* at);
  ir::Value* StoredForProduct(ir::Builder& b, size_t i, ir::Value* at);
  void CopyTile(ir::Builder& b, size_t i, int piece, ir::Value* at, ir::Value* when);
  void CopyTiles(ir::Builder& b, ir::Value* at, ir::Value* when);
  Filling AfterFilling(ir::Builder& b, const Filling& at, ir::Value* more);
  Filling IfMore(ir::Builder& b, const Filling& at, const std::function<Filling()>& fill);
  Filling FillByThreads(ir::Builder& b, const Filling& at, bool awaits);
  Filling FillPieceByThreads(ir::Builder& b, const Filling& at, int piece);
  void BeginByThreads(ir::Builder& b);
  void ConvertTile(ir::Builder& b, size_t i);
  void ArriveByThreads(ir::Builder& b);
  void AdvanceByThreads(ir::Builder& b);
  void AdvancePieceByThreads(ir::Builder& b);
  void FillBeside(ir::Builder& b);
  ir::Value* TakePieces(ir::Builder& b, const ir::Value* operand);
  void MultiplyByThreads(ir::Builder& b, const ir::Op& mma);
  void AwaitCarried(ir::Builder& b, ir::ops::Values* results);

  // Products (copy_products.cc).
  void StageInvariants(ir::Builder& b);
  ir::Value* InStage(ir::Builder& b, const ir::Value* operand, ir::Value* stage, const RingPosition& widened);
  bool ReadsWide(const ir::Op& mma) const;
  ir::Value* Operand(ir::Builder& b, const ir::Op& mma, int i);
  // `words`: of left operands that these products read from registers.
  ir::ops::Values AwaitProducts(ir::Builder& b, int64_t pending, const ir::ops::Values& sums,
                                const ir::ops::Values& words = {});
  // The sums of a product that has ended, as a branch passes them on.
  ir::Value* Ended(ir::Builder& b, const ir::Op& mma, ir::Value* sums);
  void Multiply(ir::Builder& b, const ir::Op& mma);
  ir::Value* BeginBeside(ir::Builder& b, ir::Value* sums);
  ir::Value* BeginDeferred(ir::Builder& b, const Deferred& d, ir::Value* sums);
  void KeepWords(ir::Builder& b, const ir::Op& mma);
  // Before the loop there are no words of a previous iteration.
  void SetHeld(ir::Builder& b);
  void AwaitDeferred(ir::Builder& b, const ir::Op* user);
  ir::ops::Values MadeBefore(const ir::Op* user) const;
  bool ReadsBehind(const ir::Op* user) const;
  void AwaitOverlapping(ir::Builder& b, const ir::Op& op);
  bool Reads(const ir::Op& op, const ir::Op& mma) const;
  ir::ops::Values WaitOverlapping(ir::Builder& b, int64_t pending, const ir::ops::Values& sums);
  void ReleaseLate(ir::Builder& b, ir::Value* if_true);
  void Drain(ir::Builder& b, ir::ops::Values* results);

  // Right operands that the loop makes (stored_operands.cc).
  ir::Value* StoreRhs(ir::Builder& b, const ir::Op& mma);

  // Products into tensor memory (column_products.cc).
  ir::Value* StoreLhs(ir::Builder& b, const ir::Op& mma);
  void BeginInColumns(ir::Builder& b, const ir::Op& mma);
  void MultiplyThroughColumns(ir::Builder& b, const ir::Op& mma);
  // Products with block scales (scaled_products.cc).
  ir::Value* StoreScaled(ir::Builder& b, const ir::Op& mma, int i);
  void MultiplyScaled(ir::Builder& b, const ir::Op& mma);
  size_t RingOfScaled(const ir::Op& mma) const;
  // The positions in other rings than the loop's, before and after the loop.
  void TakeOtherPositions();
  void GiveOtherPositions();

  // The turn of one warpgroup, or of each warpgroup.
  void Turn(ir::Builder& b, GpuOpcode code, int group);
  void Turn(ir::Builder& b, GpuOpcode code);
  ir::Type WordsType(ir::Builder& b, int64_t words) const;

  const std::vector<CopyStages>& stages_;
  const ColumnMemory& columns_;
  const Schedule& schedule_;
  Frame* frame_ = nullptr;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_EXPAND_COPY_ROLE_H_
