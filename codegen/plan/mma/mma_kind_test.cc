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
