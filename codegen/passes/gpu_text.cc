#include "codegen/passes/gpu_text.h"

#include <utility>

#include "codegen/gpu/ops.h"
#include "codegen/passes/layout_text.h"
#include "codegen/target/decisions.h"
#include "ir/clone.h"
#include "ir/text/printer.h"
#include "ir/text/second_table.h"

namespace tile::codegen {
namespace {

const ir::OpInfo* FindGpuOp(absl::string_view mnemonic) {
  for (const ir::OpInfo& op : AllGpuOps()) {
    if (mnemonic == op.mnemonic) return &op;
  }
  return nullptr;
}

}  // namespace

std::string PrintGpu(const ir::Module& module) {
  const std::unique_ptr<ir::Module> shown = ir::CloneModule(module);
  WriteLayouts(shown.get());
  return ir::Print(*shown, {.keep_names = true});
}

std::unique_ptr<ir::Module> ParseGpu(absl::string_view text, absl::string_view file_name, LayoutTable* layouts,
                                     ir::Diagnostics* diagnostics) {
  std::unique_ptr<ir::Module> module = ir::ParseWith({FindGpuOp, FindDecision}, text, file_name, diagnostics);
  if (module == nullptr) return nullptr;
  ReadLayouts(module.get(), layouts, diagnostics);
  return diagnostics->ok() ? std::move(module) : nullptr;
}

}  // namespace tile::codegen
