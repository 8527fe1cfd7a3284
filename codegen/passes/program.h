// What passes over tile code hand on to each other: a copy of the kernel, which carries all decisions about it, and what they need to
// know besides. Every such pass is a function of the name that its row in codegen/passes.def gives:
//
//   absl::Status Simplify(Program& p);
//
// An error ends the compilation, unless `fit` says that it is about this candidate only.
#ifndef TILE_CODEGEN_PASSES_PROGRAM_H_
#define TILE_CODEGEN_PASSES_PROGRAM_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "codegen/plan/resources/candidate.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/permissions.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// What the user decides, for all candidates.
struct ProgramOptions {
  const Target* target = nullptr;
  Permissions permissions;
  int blocks_alone = 0;  // CompileOptions::blocks_alone
  Trace* trace = nullptr;
};

struct Program {
  Program(const ir::Module& from, const ir::Function& kernel, const ProgramOptions& options,
          const Candidate& candidate);

  const Target& target;
  const Permissions permissions;
  const int blocks_alone;
  const Candidate candidate;
  const std::unique_ptr<ir::Module> module;  // with this one kernel
  ir::Function* const function;
  Fit fit = Fit::kFits;  // else what the error is about
  // False: the pass for which the permissions are found nothing to change, so that there is no such image. No pass runs after that.
  bool applies = true;
  LayoutTable layouts;  // of the tiles' types

  // The candidate's loads come by TMA, and the target has instructions that multiply them where they are.
  bool FetchesProducts() const;
  // That of the options, or one that nobody reads.
  Trace& trace() { return *trace_; }
  // Says something about the kernel as a whole.
  void Remark(absl::string_view about, absl::string_view what);

 private:
  Trace unread_;
  Trace* const trace_;
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_PROGRAM_H_
