// The products of a loop that are done an iteration late (codegen/plan/mma/cross_iteration_mma.h).
//
//   CrossIterationMma late(e, loop);              // behind the loop's CopyRing
//   from = late.Begin(runs, head, exit);     // ends the block before the loop: from there the body is entered
//   late.Enter(from);                        // in the body, behind its first phis
//   late.LowerBody();                        // the body: what waits for late products does so
//     late.BeginBeside(scores)               //   behind the leader has begun: those of the iteration before begin, the leader ends
//     late.Keep(mma)                         //   where a late product stands: what it will be done with
//   late.EndIteration();                         // where the body ends
//   late.GoAround(from);                     // from this block, the last one of the body, the next iteration begins
//   late.Drain(&values);                     // after the last iteration: those of it are done, what the loop carries is final
#ifndef TILE_CODEGEN_EMIT_LOWER_CROSS_ITERATION_MMA_H_
#define TILE_CODEGEN_EMIT_LOWER_CROSS_ITERATION_MMA_H_

#include <vector>

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

class CrossIterationMma {
 public:
  CrossIterationMma(Emitter& e, const ir::Op& loop);

  bool any() const { return !products_.empty(); }
  bool IsLeader(const ir::Op& mma) const { return any() && &mma == leader_; }
  // The leader goes on with its sums; the first of those that take a turn together.
  bool LeadsOn(const ir::Op& mma) const { return !IsLeader(mma) && IsOneOfLeaders(mma); }
  bool IsFirst(const ir::Op& mma) const { return any() && &mma == leaders_.front(); }
  llvm::BasicBlock* Begin(llvm::Value* runs, llvm::BasicBlock* head, llvm::BasicBlock* exit);
  void Enter(llvm::BasicBlock* from);
  void LowerBody();
  Registers BeginBeside(Registers sums);
  void TakeTurn();
  void Keep(const ir::Op& mma);
  void EndIteration();
  void GoAround(llvm::BasicBlock* from);
  void Drain(std::vector<Registers>* values);

 private:
  struct Product {
    const ir::Op* mma;
    const ir::Value* sums;             // that the loop carries
    int carried;                       // its number
    const ir::Op* user;                // the first
    std::vector<llvm::PHINode*> held;  // words of the left operand, of the iteration before
    Registers kept;                    // of this one
  };

  bool IsOneOfLeaders(const ir::Op& mma) const;
  // An operation from this one on reads of the iteration's stage what no late product reads.
  bool ReadsBehind(const ir::Op* user) const;
  llvm::Value* HasNext();
  void PassTurn();
  void WidenBeside();
  void FillWide();
  // PTX of barriers, of which $0 is: the first warpgroup.
  void AtTurn(absl::string_view text);
  // Waits for those of the iteration before, whose stage is free then. `user`: what is lowered next, null behind the body.
  void Await(const ir::Op* user);
  // Registers that the body has made before this operation, for it or those behind it.
  Registers MadeBefore(const ir::Op* user) const;

  Emitter& e_;
  const ir::Op& loop_;
  bool turns_ = false;  // two warpgroups begin products one after the other
  std::vector<const ir::Op*> leaders_;
  const ir::Op* leader_ = nullptr;  // the last one
  CopyRing* ring_ = nullptr;
  std::vector<Product> products_;
  llvm::PHINode* has_before_ = nullptr;  // this iteration is not the first
  bool awaited_ = false;
  bool fills_ = false;        // what was widened in this iteration is still to be fenced
  bool others_kept_ = false;  // until the iteration ends
};

// Of an asynchronous product with the left operand in registers (lower_mma.cc): that operand's words, and the product, which is not waited for,
// of those words, these sums, and the stage of this iteration or the one before.
Registers WordsOfLhs(Emitter& e, const ir::Op& mma);
int NumWordsOfLhs(const ir::Op& mma);
Registers BeginProduct(Emitter& e, const ir::Op& mma, Registers words, Registers sums, bool before);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_CROSS_ITERATION_MMA_H_
