#include "codegen/plan/resources/candidate.h"

#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/target/tuning.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

// A loop over products of 128 x 128, 64 at a time, and one product outside of it.
constexpr char kProducts[] = R"(
entry @k(%a: tile<ptr<ELEM>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %at = make_tensor_view %a, shape = [128, 4096], strides = [4096, 1] : tensor_view<128x4096xELEM, strides=[4096,1]>
  %bt = make_tensor_view %a, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xELEM, strides=[128,1]>
  %av = make_partition_view %at : partition_view<tile=(128x64), tensor_view<128x4096xELEM, strides=[4096,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(64x128), tensor_view<4096x128xELEM, strides=[128,1]>>
  %ct = make_tensor_view %c, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %cv = make_partition_view %ct : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0> : tile<128x128xf32>
  %x0, %t0 = load_view_tko weak %av[%first, %first] -> tile<128x64xELEM>, token
  %y0, %u0 = load_view_tko weak %bv[%first, %first] -> tile<64x128xELEM>, token
  %begin = mmaf %x0, %y0, %zero
  %sum = for %k in (%first to %n, step %one) : tile<i32> iter_values(%acc = %begin) -> (tile<128x128xf32>) {
    %x, %t = load_view_tko weak %av[%first, %k] -> tile<128x64xELEM>, token
    %y, %u = load_view_tko weak %bv[%k, %first] -> tile<64x128xELEM>, token
    %next = mmaf %x, %y, %acc
    continue %next : tile<128x128xf32>
  }
  store_view_tko weak %sum, %cv[%first, %first] -> token
  return
}
)";

std::unique_ptr<ir::Module> Products(const char* elem) {
  ir::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> m =
      ir::Parse(absl::StrReplaceAll(kProducts, {{"ELEM", elem}}), "products.tile", &diagnostics);
  if (m != nullptr) ir::Verify(*m, &diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  return m;
}

std::vector<Candidate> InOrder(Candidates candidates) {
  std::vector<Candidate> all;
  while (const auto c = candidates.Next(kAnything)) all.push_back(*c);
  return all;
}

TEST(Candidates, LoopsAreCounted) {
  const auto m = Products("bf16");
  const std::vector<ProductLoop> loops = ProductLoopsOf(*m->functions[0]);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].bytes, 2 * 2 * 128 * 64);
  EXPECT_EQ(loops[0].macs, 128 * 128 * 64);
  EXPECT_TRUE(loops[0].on_cores);
  const auto f32 = Products("f32");
  EXPECT_FALSE(ProductLoopsOf(*f32->functions[0])[0].on_cores);
}

TEST(Candidates, MoreOverlapCostsNoMore) {
  const auto m = Products("bf16");
  const std::vector<ProductLoop> loops = ProductLoopsOf(*m->functions[0]);
  for (const Target& target : AllTargets()) {
    SCOPED_TRACE(target.arch);
    const CostModel cost(target);
    for (const Ahead ahead : {Ahead::kCopies, Ahead::kTma}) {
      for (int stages = 2; stages < tuning::kMostStages; ++stages) {
        EXPECT_LE(cost.CyclesOf(loops, ahead, stages + 1, 1), cost.CyclesOf(loops, ahead, stages, 1));
        EXPECT_LE(cost.CyclesOf(loops, ahead, stages, 2), cost.CyclesOf(loops, ahead, stages, 1));
      }
    }
    EXPECT_LT(cost.CyclesOf(loops, Ahead::kTma, 3, 1), cost.CyclesOf(loops, Ahead::kCopies, 3, 1));
    EXPECT_LT(cost.CyclesOf(loops, Ahead::kCopies, 2, 1), cost.CyclesOf(loops, Ahead::kNothing, 0, 1));
  }
}

TEST(Candidates, TheFirstIsTheDeepestRingOfTheFastestKind) {
  const auto m = Products("bf16");
  const std::vector<Candidate> hopper = InOrder({*FindTarget(90), *m->functions[0], true});
  EXPECT_EQ(hopper.size(), tuning::kMostStages - 1u + tuning::kMostCopyStages - 1u + 1u);
  EXPECT_EQ(hopper.front().ahead, Ahead::kTma);
  EXPECT_EQ(hopper.front().most_stages, tuning::kMostStages);
  EXPECT_EQ(hopper.back().ahead, Ahead::kNothing);
  const std::vector<Candidate> ampere = InOrder({*FindTarget(80), *m->functions[0], true});
  EXPECT_EQ(ampere.size(), tuning::kMostCopyStages - 1u + 1u);
  EXPECT_EQ(ampere.front().ahead, Ahead::kCopies);
  EXPECT_EQ(ampere.front().most_stages, tuning::kMostCopyStages);
  EXPECT_EQ(InOrder({*FindTarget(75), *m->functions[0], true}).size(), 1u);
}

TEST(Candidates, AllHaveTheWarpsThatTheUserChose) {
  const auto m = Products("bf16");
  for (const Candidate& c : InOrder({*FindTarget(90), *m->functions[0], true, 8})) EXPECT_EQ(c.num_warps, 8);
  for (const Candidate& c : InOrder({*FindTarget(90), *m->functions[0], true})) EXPECT_EQ(c.num_warps, 0);
}

// A program in which nothing is loaded ahead is the same for every candidate.
TEST(Candidates, WhatWouldBeTheSameIsNotTried) {
  const auto m = Products("bf16");
  Candidates candidates(*FindTarget(90), *m->functions[0], true);
  ASSERT_TRUE(candidates.Next(kAnything));
  EXPECT_EQ(candidates.Became(*m->functions[0], Fit::kTooManyRegisters),
            CostModel(*FindTarget(90)).CyclesOf(ProductLoopsOf(*m->functions[0]), Ahead::kNothing, 0, 1));
  EXPECT_FALSE(candidates.Next(kAnything));
}

TEST(Candidates, NothingDearerIsTried) {
  const auto m = Products("bf16");
  const std::vector<ProductLoop> loops = ProductLoopsOf(*m->functions[0]);
  const CostModel cost(*FindTarget(90));
  Candidates candidates(*FindTarget(90), *m->functions[0], true);
  EXPECT_FALSE(candidates.Next(cost.CyclesOf(loops, Ahead::kTma, tuning::kMostStages, 1)));
  EXPECT_TRUE(candidates.Next(cost.CyclesOf(loops, Ahead::kNothing, 0, 1)));
}

}  // namespace
}  // namespace tile::codegen
