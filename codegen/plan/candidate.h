// Ways to compile a kernel that overlap its loads with its products.
//
//   Candidate candidate = {Ahead::kTma, tuning::kMostStages};
#ifndef TILE_CODEGEN_PLAN_CANDIDATE_H_
#define TILE_CODEGEN_PLAN_CANDIDATE_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::codegen {

// How loops over products may be compiled.
enum class Ahead : uint8_t { kNothing, kCopies, kTma };
// How they are, behind the pass `fetch`.
Ahead AheadOf(const ir::Function& function);

// One way to compile a kernel: the most that it may fetch ahead.
struct Candidate {
  Ahead ahead = Ahead::kNothing;
  int most_stages = 0;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_CANDIDATE_H_
