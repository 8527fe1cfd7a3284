#include "codegen/passes/gpu_text.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/passes/assign_layouts.h"
#include "codegen/target/decisions.h"
#include "codegen/target/gpu_ops.h"
#include "ir/text/printer.h"
#include "ir/text/second_table.h"

namespace tile::codegen {
namespace {

// "  // 4x16 registers …" for each result that has one.
std::string LayoutsOf(const ir::Op& op) {
  std::string text;
  for (int i = 0; i < op.num_results(); ++i) {
    const ir::Type type = op.result(i)->type();
    if (const Layout* layout = type.is_tile() ? LayoutOf(type) : nullptr)
      absl::StrAppend(&text, "  // ", layout->ToString());
  }
  return text;
}

const ir::OpInfo* FindGpuOp(absl::string_view mnemonic) {
  for (const ir::OpInfo& op : AllGpuOps()) {
    if (mnemonic == op.mnemonic) return &op;
  }
  return nullptr;
}

}  // namespace

std::string PrintGpu(const ir::Module& module) {
  // The printer numbers the operations of each kernel; what belongs to them takes the place of their numbers.
  constexpr absl::string_view kMark = "  // ";
  std::string text;
  std::vector<const ir::Op*> ops;
  size_t kernel = 0;  // the next
  for (absl::string_view line : absl::StrSplit(ir::Print(module, {.keep_names = true, .numbers = true}), '\n')) {
    if (absl::StartsWith(line, "entry ")) {
      ops.clear();
      ir::Walk(module.functions[kernel++]->body(), [&](const ir::Op* op) { ops.push_back(op); });
    }
    const size_t mark = line.rfind(kMark);
    int number = 0;
    if (mark != absl::string_view::npos && absl::SimpleAtoi(line.substr(mark + kMark.size()), &number)) {
      absl::StrAppend(&text, line.substr(0, mark), LayoutsOf(*ops[static_cast<size_t>(number) - 1]), "\n");
    } else {
      absl::StrAppend(&text, line, "\n");
    }
  }
  text.pop_back();  // behind the last newline stands nothing
  return text;
}

std::unique_ptr<ir::Module> ParseGpu(absl::string_view text, absl::string_view file_name,
                                     ir::Diagnostics* diagnostics) {
  return ir::ParseWith({FindGpuOp, FindDecision}, text, file_name, diagnostics);
}

}  // namespace tile::codegen
