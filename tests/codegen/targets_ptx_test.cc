// Every row of the table of GPUs: LLVM knows it, its PTX is of the version that the row says, and a ptxas that knows that version takes
// what every part of codegen makes for it.
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// Conversions, vector atomics and other instructions that come with a GPU are asked for by these.
constexpr char kKernels[] = R"(
entry @convert(%p: tile<ptr<f32>>, %q: tile<ptr<f8E4M3FN>>, %b: tile<ptr<bf16>>) {
  %i = iota : tile<128xi32>
  %ps = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pt = broadcast %ps : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %pi = offset %pt, %i
  %x, %t0 = load_ptr_tko weak %pi
  %h = ftof %x rounding<nearest_even> -> tile<128xbf16>
  %sum = addf %h, %h
  %f = ftof %sum rounding<nearest_even> -> tile<128xf8E4M3FN>
  %qs = reshape %q : tile<ptr<f8E4M3FN>> -> tile<1xptr<f8E4M3FN>>
  %qt = broadcast %qs : tile<1xptr<f8E4M3FN>> -> tile<128xptr<f8E4M3FN>>
  %qi = offset %qt, %i
  %t1 = store_ptr_tko weak %qi, %f
  %bs = reshape %b : tile<ptr<bf16>> -> tile<1xptr<bf16>>
  %bt = broadcast %bs : tile<1xptr<bf16>> -> tile<128xptr<bf16>>
  %bi = offset %bt, %i
  %old, %t2 = atomic_rmw_tko relaxed device %bi, addf, %sum
  return
}
)";

TEST(TargetsPtx, EveryRowIsAssembled) {
  const int newest = NewestPtx();
  for (const Target& target : AllTargets()) {
    for (const std::string& text : {std::string(kKernels), ProductText(128, 128, 32)}) {
      for (const bool descriptors : {false, true}) {
        const CompiledText c = CompileText(text, target, "", descriptors);
        EXPECT_EQ(c.error, "") << target.arch;
        EXPECT_TRUE(absl::StrContains(c.ptx, absl::StrCat(".target ", target.arch, "\n"))) << c.ptx.substr(0, 200);
        EXPECT_TRUE(absl::StrContains(c.ptx, absl::StrCat(".version ", target.ptx / 10, ".", target.ptx % 10, "\n")))
            << c.ptx.substr(0, 200);
        if (newest < target.ptx) continue;
        EXPECT_EQ(AssemblerErrors(c, target), "") << target.arch;
      }
    }
  }
  if (FindPtxas().empty()) GTEST_SKIP() << "ptxas was not found: the PTX was made but not assembled";
}

TEST(Targets, NamesFindTheirRows) {
  std::set<std::string> names;
  for (const Target& t : AllTargets()) {
    EXPECT_TRUE(names.insert(t.name()).second) << t.name();
    EXPECT_EQ(FindTarget(t.name()), &t);
    EXPECT_EQ(FindTarget(t.arch), &t);
    EXPECT_FALSE(FindTarget(t.sm)->is_family()) << t.sm << ": the first row of a number is the GPU's own";
  }
  EXPECT_EQ(FindTarget("75a"), nullptr);
  EXPECT_EQ(FindTarget(""), nullptr);
}

// Code of an `a` form runs on its own GPU only; of others, and of families, on later ones of the major number.
TEST(Targets, OfGpusWithoutARow) {
  EXPECT_STREQ(TargetOfGpu(87)->arch, "sm_86");
  EXPECT_STREQ(TargetOfGpu(103)->arch, "sm_103a");
  EXPECT_STREQ(TargetOfGpu(107)->arch, "sm_100f");
  EXPECT_STREQ(TargetOfGpu(129)->arch, "sm_120f");
  EXPECT_EQ(TargetOfGpu(91), nullptr);
  EXPECT_EQ(TargetOfGpu(130), nullptr);
}

}  // namespace
}  // namespace tile::codegen
