#include "codegen/compilation.h"

#include "absl/strings/str_cat.h"
#include "codegen/llvm/machine.h"
#include "codegen/target/gpu_ops.h"
#include "ir/clone.h"

namespace tile::codegen {

Compilation::Compilation(const ir::Module& from, const ir::Function& kernel, const CompileOptions& compile_options,
                         const Candidate& way)
    : options(compile_options),
      target(*compile_options.target),
      candidate(way),
      module(ir::CloneModule(from, kernel)),
      function(module->functions[0].get()) {}

Compilation::~Compilation() = default;

Ahead AheadOf(const ir::Function& function) {
  Ahead ahead = Ahead::kNothing;
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (IsGpuOp(op, GpuOpcode::kFetchAhead)) ahead = Ahead::kTma;
    if (IsGpuOp(op, GpuOpcode::kCopyAhead)) ahead = Ahead::kCopies;
  });
  return ahead;
}

void Compilation::Remark(absl::string_view about, absl::string_view what) {
  if (!trace().on_remark) return;
  trace().on_remark(absl::StrCat(module->Where(function->loc, function->pos), ": remark[", about, "]: @",
                                 function->name, ": ", what));
}

}  // namespace tile::codegen
