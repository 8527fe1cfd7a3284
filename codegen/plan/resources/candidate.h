// Ways to compile a kernel that overlap its loads with its products, and the search for the cheapest one that fits.
//
//   Candidates candidates(target, function, /*descriptors=*/true);
//   while (std::optional<Candidate> c = candidates.Next(best_cycles)) {      // none is cheaper than what was found: nullopt
//     … the passes over tile code, with *c …
//     cycles = candidates.Became(*program.function, program.fit);
//   }
//
// The cost of a candidate is estimated (cost.h) from the products of the kernel's loops, before any pass runs.
// Only the passes find out how many stages it gets, and whether it fits: shared memory by the account of the pass
// `account-memory` (plan/resources/shared_use.h), registers by what lives at once. So candidates are tried in the order
// of their estimates, mostly TMA, copies by all threads, nothing; more stages before fewer. Then costs are those of
// what came out. Once a candidate fits, slower ones are not tried even if they allow more stages; no case was found
// where that helps.
#ifndef TILE_CODEGEN_PLAN_RESOURCES_CANDIDATE_H_
#define TILE_CODEGEN_PLAN_RESOURCES_CANDIDATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/resources/cost.h"
#include "codegen/target/target.h"
#include "ir/module.h"

namespace tile::codegen {

// Which way a program takes, after the pass `fetch`.
Ahead AheadOf(const ir::Function& function);

// One way to compile a kernel: the most that it may load ahead, and the warps of a block.
struct Candidate {
  Ahead ahead = Ahead::kNothing;
  int most_stages = 0;
  int num_warps = 0;  // 0: the fewest that hold the tiles which the passes leave (plan/resources/warps.h)
  // Tiles that are too large for shared memory go through it in parts. That takes time, so other ways come first.
  bool in_parts = false;
};

// Whether a candidate can be compiled, or of which resource it needs too much: another candidate may need less.
enum class Fit : uint8_t { kFits, kTooMuchShared, kTooManyRegisters };

class Candidates {
 public:
  // `descriptors`: the kernel may take TMA descriptors. `num_warps`: of all candidates, as the user says, or 0.
  Candidates(const Target& target, const ir::Function& function, bool descriptors, int num_warps = 0);

  // The cheapest by the estimate of those that are left, if it costs less than `cycles`.
  std::optional<Candidate> Next(double cycles);
  // The program that the last one became. Candidates that would become the same are left out from now on, and if it fits, those of
  // slower ways. Returns its cost.
  double Became(const ir::Function& program, Fit fit);

 private:
  const CostModel cost_;
  const std::vector<ProductLoop> loops_;
  std::vector<Candidate> left_;  // the cheapest first
  Candidate last_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_CANDIDATE_H_
