// For tests: a few lines of tile code to PTX.
//
//   CompiledText c = CompileText("entry @k(…) { … }", 90);
//   c.error, c.ptx, c.llvm; AssemblerErrors(c, 90) == "";
#ifndef TILE_CODEGEN_EMIT_PTX_TESTING_H_
#define TILE_CODEGEN_EMIT_PTX_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/compile.h"
#include "codegen/ptxas.h"
#include "ir/text/parser.h"
#include "ir/verify.h"

namespace tile::codegen {

struct CompiledText {
  std::string error;                 // empty: all kernels compiled
  std::string ptx;                   // of all kernels, one after another
  std::string llvm;                  // as emitted
  std::vector<std::string> kernels;  // PTX of each
};

// All kernels of the text, or the one of this name. `descriptors`: as in CompileOptions.
inline CompiledText CompileText(const std::string& text, int sm, const std::string& kernel = "", bool descriptors = false) {
  CompiledText out;
  ir::Diagnostics diags;
  std::unique_ptr<ir::Module> m = ir::Parse(text, "test.tile", &diags);
  if (m != nullptr) ir::Verify(*m, &diags);
  if (m == nullptr || !diags.ok()) {
    out.error = absl::StrCat("bad text: ", diags.ToString());
    return out;
  }
  for (const auto& f : m->functions) {
    if (!kernel.empty() && absl::string_view(kernel) != f->name) continue;
    CompileOptions options;
    options.target = FindTarget(sm);
    options.descriptors = descriptors;
    Trace trace;
    trace.wants_text = [](absl::string_view pass) { return pass == "llvm"; };
    trace.on_text = [&](absl::string_view, absl::string_view printed) { absl::StrAppend(&out.llvm, printed); };
    options.trace = &trace;
    absl::StatusOr<Compiled> c = Compile(*m, *f, options);
    if (!c.ok()) {
      absl::StrAppend(&out.error, c.status().message(), "\n");
      continue;
    }
    absl::StrAppend(&out.ptx, c->ptx);
    out.kernels.push_back(c->ptx);
  }
  return out;
}

// What ptxas has against the kernels; nothing if there is no ptxas.
inline std::string AssemblerErrors(const CompiledText& c, int sm) {
  std::string errors;
  if (FindPtxas().empty()) return errors;
  for (const std::string& ptx : c.kernels) {
    AssembleOptions options;
    options.opt_level = 0;
    absl::StatusOr<Assembled> a = Assemble(ptx, FindTarget(sm)->arch, options);
    if (!a.ok()) absl::StrAppend(&errors, a.status().message(), "\n");
  }
  return errors;
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PTX_TESTING_H_
