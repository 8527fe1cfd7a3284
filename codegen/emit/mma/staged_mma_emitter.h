// Products whose instructions read operands from shared memory: one interface, and an emitter for each kind of codegen/plan/mma/mma_kinds.def that
// does so.
//
//   const StagedMmaEmitter& emitter = EmitterOf(plan);
//   Registers sums = emitter.Multiply(e, mma, plan, first, second, acc, {.async = true});   // begins it
//   sums = WaitForProducts(e, 0, sums);                                                      // codegen/emit/pipeline/async_products.h
//
// Internal to codegen/emit.
#ifndef TILE_CODEGEN_EMIT_MMA_STAGED_MMA_EMITTER_H_
#define TILE_CODEGEN_EMIT_MMA_STAGED_MMA_EMITTER_H_

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// An operand in shared memory, written by TMA or by threads that have fenced it for the asynchronous proxy.
struct StagedAt {
  StagedTile tile;
  llvm::Value* at;  // i32
};

struct MmaUse {
  bool async = false;               // the result is not waited for
  std::function<void()> meanwhile;  // emits what is done while the instructions run, if they are waited for
  // The first operand is computed: each step along K begins as soon as its words are there.
  bool in_steps = false;
  // The first operand is in shared memory. These words of its fragments, by their number, are in registers, too, for whole instructions.
  absl::flat_hash_map<int, llvm::Value*> words = {};
};

class StagedMmaEmitter {
 public:
  virtual ~StagedMmaEmitter() = default;

  // The product of the instruction's first operand, from shared memory or as fragments (StagedMmaPlan::FirstLayout), and its second. acc and
  // the result are those of the thread (StagedMmaPlan::ResultLayout).
  virtual Registers Multiply(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& first,
                             const StagedAt& second, Registers acc, const MmaUse& use) const = 0;
  virtual Registers Multiply(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, FragmentSource& first,
                             const StagedAt& second, Registers acc, const MmaUse& use) const = 0;
};

const StagedMmaEmitter& EmitterOf(const StagedMmaPlan& plan);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_STAGED_MMA_EMITTER_H_
