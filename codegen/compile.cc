#include "codegen/compile.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/compilation.h"
#include "codegen/pipeline.h"
#include "codegen/plan/schedule.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

Candidate FirstOf(Ahead ahead) {
  return {ahead, ahead == Ahead::kTma ? tuning::kMostStages : ahead == Ahead::kCopies ? tuning::kMostCopyStages : 0};
}

// The way to try behind one that did not fit: fewer stages than it had, while there are two, or less fetched ahead.
std::optional<Candidate> NextOf(const Compilation& c) {
  const Ahead ahead = AheadOf(*c.function);
  if (c.fit == Fit::kFits || ahead == Ahead::kNothing) return std::nullopt;
  const std::optional<Schedule> schedule = ScheduleOf(*c.function);
  const int fewer = std::min(c.candidate.most_stages, schedule ? schedule->stages : 0) - 1;
  if (c.fit == Fit::kTooMuchShared && fewer >= 2) return Candidate{c.candidate.ahead, fewer};
  return FirstOf(ahead == Ahead::kTma ? Ahead::kCopies : Ahead::kNothing);
}

}  // namespace

// Ways to compile are tried from the fastest on, until shared memory and registers hold what one needs. The passes over the program
// find that out, the last of them (`memory`) for the whole block: only a way that fits becomes LLVM IR.
absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function,
                                 const CompileOptions& options) {
  std::optional<Candidate> candidate = FirstOf(options.descriptors ? Ahead::kTma : Ahead::kCopies);
  while (true) {
    Compilation c(module, function, options, *candidate);
    const absl::Status s = RunPasses(c);
    if (s.ok()) {
      if (options.on_compiled) options.on_compiled(*c.function, *ScheduleOf(*c.function));
      return std::move(c.result);
    }
    candidate = NextOf(c);
    if (!candidate) return s;
  }
}

}  // namespace tile::codegen
