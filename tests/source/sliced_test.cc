// sliced_tiles.tile on the VM after its tiles were cut into slices: what the file expects comes out, and what must stay
// whole stays. Slices may lie outside of a tensor, which full checks report.
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/slice.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify.h"
#include "tests/ops/on_vm.h"
#include "tests/ops/op_file.h"
#include "tests/ops/tile_files.h"

namespace tile::ops {
namespace {

TEST(Sliced, FilesGiveTheSame) {
  const std::string path = "tests/source/sliced_tiles.tile";
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(ReadFile(path));
  ASSERT_TRUE(variants.ok()) << variants.status();
  const Variant& v = variants->front();
  // Loops, and why there are none.
  const std::map<std::string, int> loops = {
      {"add", 1},        {"add_pointers", 1},        {"edges", 1},         {"in_place", 1}, {"shifted_in_place", 0},
      {"transposed", 2}, {"transposed_in_place", 0}, {"below_maximum", 4}, {"sums", 3},     {"argmax", 1},
      {"softmax", 3},    {"layer_norm", 3},          {"twice", 1},         {"rows", 1},     {"in_loop", 1}};
  int outside = 0;
  for (int warps : {0, 4}) {
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::Parse(v.text, path, &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    for (const auto& f : module->functions) {
      std::string remarks;
      codegen::Trace trace;
      trace.on_remark = [&](const std::string& line) { absl::StrAppend(&remarks, line, "\n"); };
      EXPECT_EQ(codegen::Slice(codegen::SlicesFor(warps), module.get(), f.get(), &trace),
                loops.at(std::string(f->name)))
          << f->name << "\n"
          << remarks;
    }
    ir::Verify(*module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString() << ir::Print(*module);
    for (const Call& call : v.calls) {
      std::string report = RunCall(*module, call, true, OnVm(vm::CheckLevel::kFull, 1));  // tokens, too
      if (absl::StrContains(report, "vm.index_out_of_bounds")) {
        ++outside;
        report = RunCall(*module, call, false, OnVm(vm::CheckLevel::kBounds, 1));
      }
      EXPECT_EQ(report, "") << call.kernel;
    }
  }
  EXPECT_LE(outside, 12);
}

}  // namespace
}  // namespace tile::ops
