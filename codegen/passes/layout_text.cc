#include "codegen/passes/layout_text.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "codegen/target/decisions.h"
#include "ir/loops.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr absl::string_view kBetween = "; ";
constexpr absl::string_view kNone = "-";  // of a result without a layout, beside one that has one

// Results that may have layouts.
std::vector<Value*> TilesOf(const Op& op) {
  std::vector<Value*> tiles;
  for (int i = 0; i < op.num_results(); ++i) {
    if (NeedsLayout(op.result(i)->type())) tiles.push_back(op.result(i));
  }
  return tiles;
}

// "" if no result has one.
std::string LayoutsOf(const Op& op) {
  std::vector<std::string> texts;
  bool any = false;
  for (const Value* tile : TilesOf(op)) {
    const Layout* layout = LayoutOf(tile->type());
    any = any || layout != nullptr;
    texts.push_back(layout == nullptr ? std::string(kNone) : layout->ToString());
  }
  return any ? absl::StrJoin(texts, kBetween) : "";
}

// Puts layouts from annotations into the types.
class LayoutReader {
 public:
  LayoutReader(ir::Module* module, LayoutTable* layouts, ir::Diagnostics* diagnostics)
      : module_(module), layouts_(layouts), diagnostics_(diagnostics) {}

  void Read(ir::Function* f) {
    ir::Walk(f->body(), [&](Op* op) {
      if (const auto text = DecisionOf<Decision::kLayout>(*op)) {
        const std::string fault = SetResults(*op, *text);
        if (!fault.empty()) diagnostics_->Error("gpu_text.layout", module_->Where(op->loc, op->pos), fault);
        Drop(op);
      }
      if (!op->info()->has(ir::kLoop) || op->region(0) == nullptr) return;
      const ir::CarryingLoop loop(*op);
      for (int i = 0; i < loop.num_carried(); ++i) {
        if (NeedsLayout(loop.init(i)->type())) SetLayout(module_, loop.arg(i), LayoutOf(loop.init(i)->type()));
      }
    });
  }

 private:
  // What is wrong with the text; "" if nothing is.
  std::string SetResults(const Op& op, absl::string_view text) {
    const std::vector<Value*> tiles = TilesOf(op);
    const std::vector<absl::string_view> texts = absl::StrSplit(text, kBetween);
    if (texts.size() != tiles.size())
      return absl::StrCat(op.info()->mnemonic, " gives ", tiles.size(), " tiles, ", texts.size(),
                          " layouts are written");
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (texts[i] == kNone) continue;
      const std::optional<Layout> layout = Layout::Parse(texts[i]);
      if (!layout) return absl::StrCat("this is no layout: ", texts[i]);
      if (layout->shape() != tiles[i]->type().shape())
        return absl::StrCat("the layout of ", tiles[i]->type().ToString(), " is that of another shape: ", texts[i]);
      SetLayout(module_, tiles[i], layouts_->Intern(*layout));
    }
    return "";
  }

  void Drop(Op* op) {
    std::vector<std::pair<const ir::AttrInfo*, ir::Attr>> others;
    for (const ir::Annotation* a = op->annotations(); a != nullptr; a = a->next) {
      if (a->info != &InfoOf(Decision::kLayout)) others.emplace_back(a->info, a->value);
    }
    op->DropAnnotations();
    for (const auto& [info, value] : others) module_->Annotate(op, *info, value);
  }

  ir::Module* module_;
  LayoutTable* layouts_;
  ir::Diagnostics* diagnostics_;
};

}  // namespace

void WriteLayouts(ir::Module* module) {
  for (const auto& f : module->functions) {
    ir::Walk(f->body(), [&](Op* op) {
      if (const std::string layouts = LayoutsOf(*op); !layouts.empty()) Decide<Decision::kLayout>(module, op, layouts);
    });
  }
}

void ReadLayouts(ir::Module* module, LayoutTable* layouts, ir::Diagnostics* diagnostics) {
  for (const auto& f : module->functions) LayoutReader(module, layouts, diagnostics).Read(f.get());
}

}  // namespace tile::codegen
