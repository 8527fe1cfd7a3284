#include "codegen/plan/mma/mma_kind.h"

#include <set>
#include <string>

#include "codegen/plan/mma/staged_mma.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

TEST(MmaKind, NamesDiffer) {
  std::set<std::string> names;
  for (const MmaKind* kind : MmaKinds()) EXPECT_TRUE(names.insert(std::string(kind->name())).second) << kind->name();
  EXPECT_GE(names.size(), 3u);
}

// So that every product is done by one.
TEST(MmaKind, TheLastIsOnEveryTarget) {
  EXPECT_EQ(MmaKinds().back()->features(), 0u);
  for (const MmaKind* kind : MmaKinds().first(MmaKinds().size() - 1)) EXPECT_NE(kind->features(), 0u) << kind->name();
}

TEST(MmaKind, AsynchronousOnesReadStages) {
  for (const MmaKind* kind : MmaKinds()) {
    SCOPED_TRACE(kind->name());
    EXPECT_EQ(dynamic_cast<const StagedMmaKind*>(kind) != nullptr, kind->reads_stages());
    if (kind->asynchronous()) {
      EXPECT_TRUE(kind->reads_stages());
    }
    if (!kind->reads_stages()) {
      EXPECT_EQ(kind->group_warps(), 1);
    }
  }
}

TEST(MmaKind, FirstsOfTargets) {
  EXPECT_EQ(StagedKindOn(*FindTarget(80)), nullptr);
  EXPECT_EQ(AsyncKindOn(*FindTarget(120)), nullptr);
  EXPECT_FALSE(MultipliesFromTma(*FindTarget(120)));
  const StagedMmaKind* hopper = StagedKindOn(*FindTarget(90));
  ASSERT_NE(hopper, nullptr);
  EXPECT_EQ(AsyncKindOn(*FindTarget(90)), hopper);
  EXPECT_EQ(hopper->group_warps(), 4);
  EXPECT_TRUE(MultipliesFromTma(*FindTarget(90)));
}

// Sums in tensor memory are those of fetched operands alone. Products of what is copied ahead multiply into it.
TEST(MmaKind, TensorMemory) {
  const StagedMmaKind* kind = StagedKindOn(*FindTarget(100));
  ASSERT_NE(kind, nullptr);
  EXPECT_TRUE(kind->sums_in_columns());
  EXPECT_TRUE(MultipliesFromTma(*FindTarget(100)));
  EXPECT_FALSE(kind->through_columns());
  const StagedMmaKind* copied = CopiedKindOn(*FindTarget(100));
  ASSERT_NE(copied, nullptr);
  EXPECT_TRUE(copied->through_columns());
  EXPECT_FALSE(copied->sums_in_columns());
  EXPECT_FALSE(copied->asynchronous());
  EXPECT_EQ(CopiedKindOn(*FindTarget(120)), nullptr);
  EXPECT_EQ(CopiedKindOn(*FindTarget(90)), StagedKindOn(*FindTarget(90)));
  EXPECT_FALSE(StagedKindOn(*FindTarget(90))->sums_in_columns());
}

StagedMmaPlan PlanOf(int64_t m, int64_t n, int groups_m, int groups_n) {
  StagedMmaPlan plan;
  plan.kind = StagedKindOn(*FindTarget(100));
  plan.m = m, plan.n = n, plan.k = 64;
  plan.element_bits = 16;
  plan.groups_m = groups_m, plan.groups_n = groups_n;
  return plan;
}

// The tables of the PTX ISA: of 128 rows, lane l of warp w has row 32 w + l, and register r is column r.
TEST(MmaKind, LayoutOf128Rows) {
  const Layout layout = PlanOf(256, 64, 2, 2).ResultLayout();
  EXPECT_EQ(layout.registers(), 32);
  for (const uint32_t warp : {0u, 3u, 6u, 9u, 15u}) {
    const uint32_t group = warp / 4, row = 128 * (group % 2) + 32 * (warp % 4) + 21, column = 32 * (group / 2) + 19;
    EXPECT_EQ(layout.Apply(19, 21, warp), row * 64 + column) << warp;
  }
  EXPECT_TRUE(layout.IsInjective());
  // More rows than warps reach at once come behind the columns.
  const Layout two = PlanOf(256, 32, 1, 1).ResultLayout();
  EXPECT_EQ(two.Apply(32 + 7, 3, 1), (128u + 35u) * 32 + 7);
}

// Of 64 rows a warp has 16, in registers as tcgen05.ld.16x256b gives them: register 7 of lane 9 is row 2 + 8, column 8 + 2 + 1.
TEST(MmaKind, LayoutOf64Rows) {
  const Layout layout = PlanOf(64, 64, 1, 1).ResultLayout();
  EXPECT_EQ(layout.registers(), 32);
  EXPECT_EQ(layout.Apply(7, 9, 2), (32u + 10u) * 64 + 11);
  EXPECT_TRUE(layout.IsInjective());
}

TEST(MmaKind, NarrowerElementsAreNoSlower) {
  for (const Target& target : AllTargets()) {
    const Machine& machine = MachineOf(target);
    EXPECT_LE(machine.sm, target.sm);
    for (const MmaKind* kind : MmaKinds()) {
      SCOPED_TRACE(std::string(kind->name()) + " on " + target.arch);
      if (!kind->IsOn(target)) continue;
      EXPECT_GT(kind->MacsPerCycle(machine, 16), 0);
      EXPECT_GE(kind->MacsPerCycle(machine, 8), kind->MacsPerCycle(machine, 16));
      EXPECT_GE(kind->WarpInstructions(1 << 20, 16), kind->WarpInstructions(1 << 20, 8));
    }
  }
}

}  // namespace
}  // namespace tile::codegen
