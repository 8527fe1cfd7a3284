#include "codegen/compile.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
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
  bool applies = true;                // Program::applies
  bool failed = false;                // why_not is about every candidate
};

// Candidates are tried until none that is left can be cheaper than what fits (plan/resources/candidate.h). That takes the passes over the
// program only, mostly of one candidate: LLVM gets the cheapest, and nothing else.
Search FindCheapest(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                    bool in_parts) {
  const bool by_tma = options.permissions.may(May::kTakeDescriptors);
  Candidates candidates(*options.target, function, by_tma, options.num_warps);
  Search search;
  double cycles = std::numeric_limits<double>::infinity();
  while (std::optional<Candidate> candidate = candidates.Next(cycles)) {
    candidate->in_parts = in_parts;
    auto c = std::make_unique<Compilation>(module, function, options, *candidate);
    absl::Status s = RunProgramPasses(*c);
    if (s.ok() && !c->applies) {
      search.applies = false;
      break;
    }
    if (!s.ok()) {
      search.why_not = std::move(s);
      search.for_shared = search.for_shared || c->fit == Fit::kTooMuchShared;
      search.failed = c->fit == Fit::kFits;
      if (search.failed) break;
      // A program that loads ahead already is one of the candidates, whatever the options say.
      if (AheadOf(function) != Ahead::kNothing) break;
      candidates.Became(*c->function, c->fit);
    } else if (const double became = candidates.Became(*c->function, c->fit); became < cycles) {
      cycles = became;
      search.best = std::move(c);
    }
  }
  if (search.failed || !search.applies) search.best = nullptr;
  return search;
}

// The images that another one replaces are to be faster than it.
bool IsBesideOthers(const CompileOptions& options) {
  const Permissions& p = options.permissions;
  return p.may(May::kCoarsen) || p.may(May::kSplit) || p.may(May::kUnpersist);
}

}  // namespace

absl::StatusOr<Attempt> TryCompile(const ir::Module& module, const ir::Function& function,
                                   const CompileOptions& options) {
  Search search = FindCheapest(module, function, options, false);
  const bool in_parts = search.best == nullptr && search.for_shared && !search.failed && !IsBesideOthers(options);
  if (in_parts) search = FindCheapest(module, function, options, true);
  if (search.failed) return search.why_not;
  Attempt attempt;
  if (!search.applies || search.best == nullptr) {
    attempt.outcome = search.applies ? Attempt::Outcome::kDoesNotFit : Attempt::Outcome::kUnchanged;
    attempt.why_not = search.why_not;
    return attempt;
  }
  const std::unique_ptr<Compilation> best = std::move(search.best);
  if (options.permissions.may(May::kTakeDescriptors) && ParameterBytes(*best->function) > kMostParameterBytes) {
    // Loads without descriptors may be slower, but their kernel can be launched.
    CompileOptions fewer = options;
    fewer.permissions.Allow(May::kTakeDescriptors, false);
    return TryCompile(module, function, fewer);
  }
  if (options.on_program) options.on_program();
  if (options.on_tile_code) options.on_tile_code(*best->function, *ScheduleOf(*best->function));
  if (absl::Status s = RunMachinePasses(*best); !s.ok()) return s;
  attempt.compiled = std::move(best->result);
  return attempt;
}

absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function,
                                 const CompileOptions& options) {
  absl::StatusOr<Attempt> attempt = TryCompile(module, function, options);
  if (!attempt.ok()) return attempt.status();
  switch (attempt->outcome) {
    case Attempt::Outcome::kCompiled: return std::move(attempt->compiled);
    case Attempt::Outcome::kDoesNotFit: return attempt->why_not;
    case Attempt::Outcome::kUnchanged: break;
  }
  return absl::FailedPreconditionError(absl::StrCat(module.Where(function.loc, function.pos),
                                                    ": error[codegen.variant]: kernel @", function.name,
                                                    " has nothing that the permissions allow to change"));
}

}  // namespace tile::codegen
