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
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

// What the user decides, for all candidates.
struct ProgramOptions {
  const Target* target = nullptr;
  bool aligned = false;       // arrays may be taken for aligned (assume_aligned.h)
  bool joins_blocks = false;  // blocks may do the work of several neighbours (coarsen_blocks.h)
  int blocks_alone = 0;       // that a multiprocessor holds of others; 0: not known
  bool parts_blocks = false;  // several blocks may do the parts of one (split_products.h)
  bool spreads = false;       // blocks that walk may become one for each tile (unpersist_grid.h)
  bool widens_k = false;      // an iteration may do the work of several along K (resize_k.h)
  Trace* trace = nullptr;
};

struct Program {
  Program(const ir::Module& from, const ir::Function& kernel, const ProgramOptions& options,
          const Candidate& candidate);

  const Target& target;
  const bool aligned;
  const bool joins_blocks, parts_blocks, spreads, widens_k;
  const int blocks_alone;
  const Candidate candidate;
  const std::unique_ptr<ir::Module> module;  // with this one kernel
  ir::Function* const function;
  Fit fit = Fit::kFits;  // else what the error is about
  LayoutTable layouts;   // of the tiles' types

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
