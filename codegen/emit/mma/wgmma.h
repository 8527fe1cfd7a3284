// Matrix products by wgmma, asynchronous instructions of a warpgroup over operands in shared memory. Chosen and laid out by
// codegen/plan/mma/wgmma_plan.h.
#ifndef TILE_CODEGEN_EMIT_MMA_WGMMA_H_
#define TILE_CODEGEN_EMIT_MMA_WGMMA_H_

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/fragment_source.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/plan/staging/staging.h"

namespace tile::codegen {

// An operand in shared memory, written by TMA or by threads that have fenced it for the asynchronous proxy.
struct StagedAt {
  StagedTile tile;
  llvm::Value* at;  // i32
};

struct WgmmaUse {
  bool async = false;               // the result is not waited for
  std::function<void()> meanwhile;  // emits what is done while the instructions run, if they are waited for
  // Of a first operand that is computed: each step along K begins as soon as its words are there.
  bool in_steps = false;
  // Of a first operand in shared memory: words of its fragments, by their number, that are in registers, too, for whole instructions.
  absl::flat_hash_map<int, llvm::Value*> words = {};
};

// wgmma of the instruction's first operand, from shared memory or as fragments (WgmmaPlan::FirstLayout), and its second. acc and the
// result are those of the thread (WgmmaPlan::ResultLayout).
Registers MultiplyByWgmma(Emitter& e, const WgmmaPlan& plan, const StagedAt& first, const StagedAt& second,
                          Registers acc, const WgmmaUse& use);
Registers MultiplyByWgmma(Emitter& e, const WgmmaPlan& plan, FragmentSource& first, const StagedAt& second,
                          Registers acc, const WgmmaUse& use);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MMA_WGMMA_H_
