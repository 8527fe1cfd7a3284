#include "tests/passes/through_text.h"

#include <memory>
#include <utility>

#include "codegen/passes/gpu_text.h"
#include "codegen/pipeline.h"

namespace tile::codegen {

std::vector<absl::string_view> TileCodePasses() {
  std::vector<absl::string_view> passes;
  for (const PassInfo& pass : AllPasses()) {
    if (pass.of_tile_code) passes.push_back(pass.name);
  }
  return passes;
}

std::vector<absl::string_view> GpuLevelPasses() {
  std::vector<absl::string_view> passes;
  for (const PassInfo& pass : AllPasses()) {
    if (pass.of_program && !pass.of_tile_code) passes.push_back(pass.name);
  }
  return passes;
}

std::vector<absl::string_view> ProgramPasses() {
  std::vector<absl::string_view> passes;
  for (const PassInfo& pass : AllPasses()) {
    if (pass.of_program) passes.push_back(pass.name);
  }
  return passes;
}

absl::StatusOr<std::string> PtxThroughText(const ir::Module& module, const ir::Function& function,
                                           const CompileOptions& options, const Candidate& candidate,
                                           absl::string_view behind) {
  LayoutTable layouts;
  std::unique_ptr<ir::Module> read;
  auto c = std::make_unique<Compilation>(module, function, options, candidate);
  for (const PassInfo& pass : AllPasses()) {
    const absl::Status s = RunPass(*c, pass.name);
    if (absl::IsNotFound(s)) break;  // a tool, behind the passes
    if (!s.ok()) return s;
    if (behind != pass.name) continue;
    ir::Diagnostics diagnostics;
    read = ParseGpu(PrintGpu(*c->module), "printed", &layouts, &diagnostics);
    if (read == nullptr) return diagnostics.ToStatus();
    c = std::make_unique<Compilation>(*read, *read->functions[0], options, candidate);
  }
  return std::move(c->result.ptx);
}

std::vector<std::string> PassesThatChange(const ir::Module& module, const ir::Function& function,
                                          const CompileOptions& options, const Candidate& candidate) {
  std::vector<std::string> changing;
  Compilation c(module, function, options, candidate);
  std::string text = PrintGpu(*c.module);
  for (absl::string_view pass : ProgramPasses()) {
    if (!RunPass(c, pass).ok()) break;
    std::string behind = PrintGpu(*c.module);
    if (behind != text) changing.emplace_back(pass);
    text = std::move(behind);
  }
  return changing;
}

}  // namespace tile::codegen
