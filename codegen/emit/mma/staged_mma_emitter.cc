#include "codegen/emit/mma/staged_mma_emitter.h"

#include "ir/check.h"

namespace tile::codegen {

#define TILE_MMA_KIND(Name)
#define TILE_FRAGMENT_MMA_KIND(Name)
#define TILE_COLUMN_MMA_KIND(Name)
#define TILE_STAGED_MMA_KIND(Name)   \
  const StagedMmaKind& Name##Kind(); \
  const StagedMmaEmitter& Name##Emitter();
#include "codegen/plan/mma/mma_kinds.def"

const StagedMmaEmitter& EmitterOf(const StagedMmaPlan& plan) {
  static const struct {
    const StagedMmaKind* kind;
    const StagedMmaEmitter* emitter;
  } emitters[] = {
#define TILE_MMA_KIND(Name)
#define TILE_FRAGMENT_MMA_KIND(Name)
#define TILE_COLUMN_MMA_KIND(Name)
#define TILE_STAGED_MMA_KIND(Name) {&Name##Kind(), &Name##Emitter()},
#include "codegen/plan/mma/mma_kinds.def"
  };
  for (const auto& row : emitters) {
    if (row.kind == plan.kind) return *row.emitter;
  }
  TILE_CHECK(false, "a kind of instructions that reads stages has no emitter");
  return *emitters[0].emitter;
}

}  // namespace tile::codegen
