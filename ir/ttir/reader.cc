#include "ir/ttir/reader.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "ir/ttir/parser.h"
#include "ir/ttir/translator.h"

namespace tile::ir {
namespace {

std::string ModuleName(absl::string_view file) {
  if (const size_t slash = file.find_last_of("/\\"); slash != absl::string_view::npos) file.remove_prefix(slash + 1);
  absl::ConsumeSuffix(&file, ".ttir");
  return file.empty() ? "kernels" : std::string(file);
}

}  // namespace

bool LooksLikeTtir(absl::string_view text) {
  for (size_t at = text.find("tt.func"); at != absl::string_view::npos; at = text.find("tt.func", at + 1)) {
    size_t begin = at;
    if (begin > 0 && text[begin - 1] == '"') --begin;  // in generic form
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
    if (begin == 0 || text[begin - 1] == '\n') return true;
  }
  return false;
}

std::unique_ptr<Module> ReadTtir(absl::string_view text, absl::string_view name, Diagnostics* diags) {
  auto module = std::make_unique<Module>();
  module->source_name = name.empty() ? "<input>" : std::string(name);
  module->name = ModuleName(name);
  ttir::Tree tree;
  if (!ttir::ParseTtir(text, module.get(), &tree, diags)) return nullptr;
  if (!ttir::Translator(&tree, module.get(), diags).Run()) return nullptr;
  module->producer = "triton";
  return module;
}

}  // namespace tile::ir
