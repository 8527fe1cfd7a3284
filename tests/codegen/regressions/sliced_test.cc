// sliced_tiles.tile and sliced_updates.tile on the VM after their tiles were cut into slices: what the files expect comes
// out, and what must stay whole stays. Slices may lie outside of a tensor, which full checks report.
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/slicing/slice.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/op_file.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

// Loops that a kernel becomes; with four warps, tiles that must live whole are kept in memory, too.
struct Loops {
  int all_warps, four_warps;
};
using LoopsOf = std::map<std::string, Loops>;

void GivesTheSame(const std::string& path, const LoopsOf& loops, int most_outside) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(ReadFile(path));
  ASSERT_TRUE(variants.ok()) << variants.status();
  const Variant& v = variants->front();
  int outside = 0;
  for (int warps : {0, 4}) {
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::Parse(v.text, path, &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    for (const auto& f : module->functions) {
      std::string remarks;
      codegen::Trace trace;
      trace.on_remark = [&](const std::string& line) { absl::StrAppend(&remarks, line, "\n"); };
      const int made = codegen::Slice(codegen::SlicesFor(warps), module.get(), f.get(), &trace);
      const auto expected = loops.find(std::string(f->name));
      ASSERT_NE(expected, loops.end()) << f->name;
      EXPECT_EQ(made, warps == 0 ? expected->second.all_warps : expected->second.four_warps) << f->name << "\n"
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
      EXPECT_EQ(report, "") << call.kernel << " of " << warps << " warps";
    }
  }
  EXPECT_LE(outside, most_outside);
}

TEST(Sliced, TilesGiveTheSame) {
  GivesTheSame("tests/codegen/regressions/sliced_tiles.tile",
               {{"add", {1, 1}},
                {"add_pointers", {1, 1}},
                {"edges", {1, 1}},
                {"in_place", {1, 1}},
                {"shifted_in_place", {2, 2}},
                {"transposed", {2, 2}},
                {"transposed_in_place", {0, 4}},
                {"below_maximum", {4, 4}},
                {"sums", {3, 3}},
                {"argmax", {1, 1}},
                {"softmax", {3, 3}},
                {"layer_norm", {3, 3}},
                {"twice", {1, 1}},
                {"rows", {1, 1}},
                {"in_loop", {1, 1}}},
               12);
}

TEST(Sliced, UpdatesGiveTheSame) {
  GivesTheSame("tests/codegen/regressions/sliced_updates.tile",
               {{"running", {1, 1}},
                {"running_back", {1, 1}},
                {"running_rows", {1, 1}},
                {"running_columns", {1, 1}},
                {"last_given", {2, 2}},
                {"both_ways", {5, 5}},
                {"gather_pointers", {1, 1}},
                {"gather_rows", {1, 1}},
                {"gather_line", {1, 1}},
                {"scatter_pointers", {1, 1}},
                {"scatter_rows", {1, 1}},
                {"store_scatter", {1, 1}},
                {"store_scatter_columns", {1, 1}},
                {"add_pointers_old", {1, 1}},
                {"histogram", {1, 1}},
                {"exchange", {1, 1}},
                {"compare_swap", {1, 1}},
                {"old_twice", {3, 3}},
                {"shared_least", {2, 2}},
                {"joined", {2, 2}},
                {"middle", {2, 2}},
                {"turned_in_place", {5, 5}},
                {"released", {3, 3}}},
               0);
}

// Sums of slices are of equal size when they meet. Of bf16, 256 ones and one more are 256; slices of 64 elements give 1024
// sums, of which those behind the 256th would be lost.
TEST(Sliced, NarrowSumsAreBalanced) {
  const std::string text = R"(
entry @sums(%total: tile<ptr<bf16>>, %last: tile<ptr<bf16>>) {
  %one = constant <bf16: 1.0> : tile<65536xbf16>
  %zero = constant <i32: 0> : tile<i32>
  %r = reduce %one dim=0 identities=[0.0 : bf16] : tile<65536xbf16> -> tile<bf16> (%e: tile<bf16>, %acc: tile<bf16>) {
    %s = addf %e, %acc : tile<bf16>
    yield %s : tile<bf16>
  }
  %k1 = store_ptr_tko weak %total, %r : tile<ptr<bf16>>, tile<bf16> -> token
  %p = scan %one dim=0 reverse=false identities=[0.0 : bf16] : tile<65536xbf16> -> tile<65536xbf16> (%e: tile<bf16>, %acc: tile<bf16>) {
    %s = addf %e, %acc : tile<bf16>
    yield %s : tile<bf16>
  }
  %m = reduce %p dim=0 identities=[0.0 : bf16] : tile<65536xbf16> -> tile<bf16> (%e: tile<bf16>, %acc: tile<bf16>) {
    %s = maxf %e, %acc : tile<bf16>
    yield %s : tile<bf16>
  }
  %k2 = store_ptr_tko weak %last, %m : tile<ptr<bf16>>, tile<bf16> -> token
  return
}
)";
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, "sums.tile", &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  EXPECT_EQ(codegen::Slice({.limit = 128, .slice = 64}, module.get(), module->functions[0].get(), nullptr), 2);
  ir::Verify(*module, &diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString() << ir::Print(*module);
  const absl::StatusOr<std::vector<Variant>> calls =
      ParseOpFile("// run: @sums total=[0] last=[0]\n// expect: total=[65536] last=[65536]\n" + text);
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(RunCall(*module, calls->front().calls[0], true, OnVm(vm::CheckLevel::kFull, 1)), "");
}

}  // namespace
}  // namespace tile::ops
