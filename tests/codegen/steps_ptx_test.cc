// Attention by one warpgroup of which three blocks fit: greatest scores as integers, weights handed to the product step by step, two iterations
// around a ring of pieces, and what is rare marked.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "codegen/assemble/frequencies.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"
#include "tests/harness/tile_files.h"

namespace tile::codegen {
namespace {

std::string Attention() { return ReadFile("tests/codegen/regressions/weights_in_steps.tile"); }

std::string Ptx(const std::string& text, int sm = 90, bool descriptors = true) {
  const CompiledText c = CompileText(text, sm, "", descriptors);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c.ptx;
}

constexpr char kStep[] =
    "wgmma.fence.sync.aligned;{ .reg .pred add; setp.eq.b32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16";

TEST(StepsPtx, ExponentialsStandBetweenTheStepsOfTheirProduct) {
  const std::vector<std::string> steps = absl::StrSplit(Ptx(Attention()), kStep);
  // 128 keys in steps of 16, in two iterations.
  ASSERT_EQ(steps.size(), 17u);
  for (size_t i = 1; i < 16; ++i) {
    if (i == 8) continue;  // from one iteration to the next
    // Eight weights of a thread in four words; those of the first two steps are there before it is decided what to multiply.
    EXPECT_EQ(Count(steps[i], "cvt.rn.f16x2.f32"), 4) << i;
    if (i % 8 > 1) {
      EXPECT_EQ(Count(steps[i], "ex2.approx"), 8) << i;
    }
    EXPECT_EQ(Count(steps[i], "wgmma.wait_group"), 0) << i;
  }
}

TEST(StepsPtx, GreatestScoresAreIntegersWhereNoneWasNegative) {
  const std::string ptx = Ptx(Attention());
  // Two rows of 32 numbers and what is carried, over four lanes; in two iterations.
  EXPECT_EQ(Count(ptx, "max.s32"), 2 * 2 * (32 + 2));
  EXPECT_EQ(Count(ptx, "vote.sync.any.pred"), 2);  // of NaN
  // And in the usual way.
  EXPECT_GE(Count(ptx, "max.f32"), 2 * 2 * (31 + 2));
  // An instruction for three integers is Hopper's; and what floats give is not what integers do if a NaN is to win.
  EXPECT_EQ(Count(Ptx(Attention(), 80, false), "max.s32"), 0);
  const std::string wins = absl::StrReplaceAll(Attention(), {{"maxf %e, %a", "maxf %e, %a propagate_nan"}});
  EXPECT_EQ(Count(Ptx(wins), "max.s32"), 0);
  // Nor is it known to begin with what is carried if it is used otherwise, too.
  const std::string twice =
      absl::StrReplaceAll(Attention(), {{"%drop = subf %old_max, %new_max", "%drop = subf %step_max, %new_max"}});
  EXPECT_EQ(Count(Ptx(twice), "max.s32"), 0);
}

// What the loop carries is not there where scores stand in front of it: they begin with themselves.
TEST(StepsPtx, GreatestScoresInFrontOfTheLoop) {
  const std::string text = R"(
entry @k(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %m: tile<ptr<f32>>, %n: tile<i32>) {
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %qt = make_tensor_view %q, shape = [64, 64], strides = [64, 1]
  %kt = make_tensor_view %k, shape = [%n, 64], strides = [64, 1]
  %mt = make_tensor_view %m, shape = [64], strides = [1]
  %qv = make_partition_view %qt : partition_view<tile=(64x64), padding_value = zero>
  %kv = make_partition_view %kt : partition_view<tile=(64x128), padding_value = zero, dim_map=[1, 0]>
  %mv = make_partition_view %mt : partition_view<tile=(64)>
  %none = constant <f32: 0> : tile<64x128xf32>
  %max0 = constant <f32: 0> : tile<64xf32>
  %query = load_view_tko weak %qv[0, 0]
  %score = for %i in (%first to %n, step %one) iter_values(%sums = %none) {
    %key = load_view_tko weak %kv[0, %i]
    %next = mmaf %query, %key, %sums
    continue %next
  }
  %greatest = reduce %score dim=1 identities=[0xFF800000 : f32] : tile<64x128xf32> -> tile<64xf32> (%e: tile<f32>, %a: tile<f32>) {
    %r = maxf %e, %a
    yield %r : tile<f32>
  }
  %max = for %j in (%first to %n, step %one) iter_values(%old = %max0) {
    %half = constant <f32: 0.5> : tile<64xf32>
    %less = mulf %old, %half
    %new = maxf %old, %greatest
    %next = addf %new, %less
    continue %next
  }
  store_view_tko weak %max, %mv[0]
  return
}
)";
  // Two rows of 32 numbers, over four lanes.
  EXPECT_EQ(Count(Ptx(text), "max.s32"), 2 * (31 + 2));
}

TEST(StepsPtx, PlacesInARingThatTwoIterationsFillAreConstants) {
  const std::string ptx = Ptx(Attention());
  // Keys and values of two iterations: each waits for a barrier of its own, whose address nothing computes in the loop.
  const size_t loop = ptx.find("vote.sync.all.pred"), end = ptx.rfind("wgmma.wait_group");
  ASSERT_NE(loop, std::string::npos);
  int computed = 0;
  for (const absl::string_view line : absl::StrSplit(ptx.substr(loop, end - loop), '\n')) {
    computed += absl::StrContains(line, "shl.b32") && absl::EndsWith(line, ", 14;");
  }
  // Only what is copied next has a variable place: of two operands, in two iterations.
  EXPECT_LE(computed, 4);
}

TEST(StepsPtx, WhatIsRareInALoopIsMarked) {
  const std::string ptx = Ptx(Attention());
  // Floats instead of integers, and multiplication by factors that are not one, in two iterations.
  EXPECT_EQ(Count(ptx, "// tile.frequency 1\n"), 4);
  EXPECT_GE(Count(ptx, "// tile.frequency 1000\n"), 4);
  EXPECT_EQ(Count(WithFrequencies(ptx), ".pragma \"frequency 1\";"), 4);
}

}  // namespace
}  // namespace tile::codegen
