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

// Candidates are tried until none that is left can be cheaper than what fits (plan/resources/candidate.h). That takes the passes over the
// program only, mostly of one candidate: LLVM gets the cheapest, and nothing else.
absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function,
                                 const CompileOptions& options) {
  Candidates candidates(*options.target, function, options.descriptors, options.num_warps);
  std::unique_ptr<Compilation> best;
  double cycles = std::numeric_limits<double>::infinity();
  absl::Status why_not;
  while (const std::optional<Candidate> candidate = candidates.Next(cycles)) {
    auto c = std::make_unique<Compilation>(module, function, options, *candidate);
    if (absl::Status s = RunProgramPasses(*c); !s.ok()) {
      // A program that loads ahead already is one of the candidates, whatever the options say.
      if (c->fit == Fit::kFits || AheadOf(function) != Ahead::kNothing) return s;
      candidates.Became(*c->function, c->fit);
      why_not = std::move(s);
    } else if (const double became = candidates.Became(*c->function, c->fit); became < cycles) {
      cycles = became;
      best = std::move(c);
    }
  }
  if (best == nullptr) return why_not;
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
