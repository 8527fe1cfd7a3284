#include "codegen/passes/program.h"

#include "absl/strings/str_cat.h"
#include "codegen/plan/mma/staged_mma.h"
#include "ir/clone.h"

namespace tile::codegen {

Program::Program(const ir::Module& from, const ir::Function& kernel, const ProgramOptions& options,
                 const Candidate& way)
    : target(*options.target),
      permissions(options.permissions),
      blocks_alone(options.blocks_alone),
      candidate(way),
      module(ir::CloneModule(from, kernel)),
      function(module->functions[0].get()),
      trace_(options.trace != nullptr ? options.trace : &unread_) {}

bool Program::FetchesProducts() const { return candidate.ahead == Ahead::kTma && MultipliesFromTma(target); }

void Program::Remark(absl::string_view about, absl::string_view what) {
  if (!trace().on_remark) return;
  trace().on_remark(absl::StrCat(module->Where(function->loc, function->pos), ": remark[", about, "]: @",
                                 function->name, ": ", what));
}

}  // namespace tile::codegen
