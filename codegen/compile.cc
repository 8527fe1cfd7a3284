#include "codegen/compile.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "codegen/compilation.h"
#include "codegen/pipeline.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/tma/parameters.h"

namespace tile::codegen {

namespace {

// What became of the candidates.
struct Search {
  std::unique_ptr<Compilation> best;  // the cheapest that fits; null: none does
  absl::Status why_not;               // of the last that does not
  bool for_shared = false;            // one of them takes too much shared memory
};

// Candidates are tried until none that is left can be cheaper than what fits (plan/resources/candidate.h). That takes the passes over the
// program only, mostly of one candidate: LLVM gets the cheapest, and nothing else.
Search FindCheapest(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                    bool in_parts) {
  Candidates candidates(*options.target, function, options.descriptors, options.num_warps);
  Search search;
  double cycles = std::numeric_limits<double>::infinity();
  while (std::optional<Candidate> candidate = candidates.Next(cycles)) {
    candidate->in_parts = in_parts;
    auto c = std::make_unique<Compilation>(module, function, options, *candidate);
    if (absl::Status s = RunProgramPasses(*c); !s.ok()) {
      search.why_not = std::move(s);
      search.for_shared = search.for_shared || c->fit == Fit::kTooMuchShared;
      if (c->fit == Fit::kFits) return {nullptr, search.why_not, false};
      // A program that loads ahead already is one of the candidates, whatever the options say.
      if (AheadOf(function) != Ahead::kNothing) break;
      candidates.Became(*c->function, c->fit);
    } else if (const double became = candidates.Became(*c->function, c->fit); became < cycles) {
      cycles = became;
      search.best = std::move(c);
    }
  }
  return search;
}

}  // namespace

absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function,
                                 const CompileOptions& options) {
  Search search = FindCheapest(module, function, options, false);
  // An image beside others that take the same arguments is to be faster than they are.
  const bool only_image = !options.joins_blocks && !options.parts_blocks && !options.spreads;
  if (search.best == nullptr && search.for_shared && only_image) search = FindCheapest(module, function, options, true);
  if (search.best == nullptr) return search.why_not;
  const std::unique_ptr<Compilation> best = std::move(search.best);
  if (options.descriptors && ParameterBytes(*best->function) > kMostParameterBytes) {
    // Loads without descriptors may be slower, but their kernel can be launched.
    CompileOptions fewer = options;
    fewer.descriptors = false;
    return Compile(module, function, fewer);
  }
  if (options.on_program) options.on_program();
  if (absl::Status s = RunMachinePasses(*best); !s.ok()) return s;
  if (options.on_compiled) options.on_compiled(*best->function, *ScheduleOf(*best->function));
  return std::move(best->result);
}

}  // namespace tile::codegen
