// Random programs with their tiles cut into slices, and products in parts: the program stays valid, and the VM gives the same results and
// finds no token missing. Limits are so low that small tiles are cut, too.
//
//   random_slice_test --seeds=FIRST,LAST     others than those of the test
#include <cstdio>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/passes/grid/split_products.h"
#include "codegen/passes/slicing/slice.h"
#include "codegen/target/target.h"
#include "gtest/gtest.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/random_program.h"
#include "tests/harness/on_vm.h"

namespace tile::fuzz {
namespace {

uint64_t first_seed = 0, last_seed = 299;

std::string OnVm(const RandomProgram& p, ops::Arguments* arguments, vm::CheckLevel level = vm::CheckLevel::kFull) {
  *arguments = MakeArguments(p, Bools::kBits);  // full checks report other bytes
  const ops::Answer answer = ops::OnVm(level, 1)(*p.module, "random", arguments);
  if (!answer.refused.ok()) return answer.refused.ToString();
  return answer.reports.empty() ? "" : answer.reports[0];
}

// `change` says how many changes it made. How many programs it changed that the VM could compare.
int64_t Compared(uint64_t first, uint64_t last,
                 absl::FunctionRef<int(uint64_t seed, ir::Module*, ir::Function*)> change) {
  int64_t changes = 0, compared = 0, outside = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomOptions options = {.seed = seed};
    const RandomProgram p = MakeRandomProgram(options), q = MakeRandomProgram(options);
    const int made = change(seed, q.module.get(), q.module->functions[0].get());
    if (made == 0) continue;
    changes += made;
    ir::Diagnostics diagnostics;
    ir::Verify(*q.module, &diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString() << ir::Print(*q.module);
    if (!diagnostics.ok()) return 0;
    ops::Arguments expected, actual;
    EXPECT_EQ(OnVm(p, &expected), "");
    std::string report = OnVm(q, &actual);
    // A slice of a tile that sticks out of its tensor may lie outside altogether, which full checks report.
    if (absl::StartsWith(report, "vm.index_out_of_bounds")) {
      ++outside;
      report = OnVm(q, &actual, vm::CheckLevel::kBounds);
    }
    const std::string difference = Difference(p, expected, actual);
    EXPECT_TRUE(report.empty() && difference.empty())
        << report << difference << ir::Print(*p.module) << ir::Print(*q.module);
    if (!report.empty() || !difference.empty()) return 0;
    ++compared;
  }
  std::printf("%ld changes, %ld programs compared, %ld with parts outside\n", changes, compared, outside);
  return compared;
}

int SliceSmall(uint64_t seed, ir::Module* module, ir::Function* function) {
  const int64_t size = int64_t{16} << (seed % 4);
  return codegen::Slice({.limit = 4 * size, .slice = size, .carried = 4 * size}, module, function, nullptr);
}

TEST(RandomSlice, SlicedProgramsDoTheSame) {
  EXPECT_GT(Compared(first_seed, last_seed, SliceSmall), static_cast<int64_t>(last_seed - first_seed + 1) / 20);
}

TEST(RandomSlice, LoopsThatCarryTilesDoTheSame) {
  EXPECT_GT(Compared(kCarriedSeeds + first_seed, kCarriedSeeds + last_seed, SliceSmall),
            static_cast<int64_t>(last_seed - first_seed + 1) / 3);
}

TEST(RandomSlice, ProductsInPartsDoTheSame) {
  const auto split = [](uint64_t, ir::Module* module, ir::Function* function) {
    return codegen::SplitProducts(*codegen::FindTarget(80), /*by_tma=*/false, /*limit=*/4096, module, function,
                                  nullptr);
  };
  EXPECT_GT(Compared(kProductSeeds + first_seed, kProductSeeds + last_seed, split),
            static_cast<int64_t>(last_seed - first_seed + 1) / 30);
}

}  // namespace
}  // namespace tile::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) std::sscanf(argv[1], "--seeds=%lu,%lu", &tile::fuzz::first_seed, &tile::fuzz::last_seed);
  return RUN_ALL_TESTS();
}
