#include "codegen/passes/canonical/resolve_hints.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tile::codegen {
namespace {

constexpr absl::string_view kDefault = "default";

// Each hint's value for the target, else its default.
const ir::Hints* ForTarget(const ir::Hints& hints, const std::string& arch, ir::Module* module) {
  std::vector<ir::Hint> found;
  for (const absl::string_view wanted : {absl::string_view(arch), kDefault}) {
    for (const ir::ArchHints& a : hints.archs) {
      if (a.arch != wanted) continue;
      for (const ir::Hint& hint : a.hints) {
        const auto same = [&](const ir::Hint& other) { return other.name == hint.name; };
        if (std::none_of(found.begin(), found.end(), same)) found.push_back(hint);
      }
    }
  }
  const ir::ArchHints all = {kDefault, module->arena().Copy(absl::MakeConstSpan(found))};
  auto* resolved = module->arena().New<ir::Hints>();
  resolved->archs = module->arena().Copy(absl::MakeConstSpan(&all, 1));
  return resolved;
}

}  // namespace

absl::Status ResolveHints(Program& p) {
  const std::string arch = absl::StrCat("sm_", p.target.sm);
  ir::Walk(p.function->body(), [&](ir::Op* op) {
    const int hints = op->info()->format->place(ir::Field::kHints).attr;
    if (hints < 0 || !op->attr(hints).present()) return;
    op->set_attr(hints, ir::Attr::Of(ForTarget(op->attr(hints).hints(), arch, p.module.get())));
  });
  return absl::OkStatus();
}

}  // namespace tile::codegen
