// tcgen05 by a pair of blocks: 256 × 16 × 16, each block with its 128 rows of A and of D, and its 8 columns of B.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/machine/tcgen05_kernel.h"

namespace tile::gpu_sim {
namespace {

constexpr absl::string_view kClusterBarrier = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
constexpr absl::string_view kCommit =
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r5], 3;\n";

// The kernel of one block with these changes.
std::string Pair() {
  const std::vector<std::pair<absl::string_view, std::string>> kChanges = {
      {"cta_group::1", "cta_group::2"},
      // Thread and row of the pair; the column of B.
      {"shl.b32 %r2, %r1, 5;\n",
       "mov.u32 %r40, %cluster_ctarank;\nshl.b32 %r41, %r40, 7;\nadd.s32 %r41, %r41, %r1;\nshl.b32 %r2, %r41, 5;\n"},
      {"add.s64 %rd2, %rd2, %rd4;\n",
       "shl.b32 %r41, %r40, 3;\nadd.s32 %r41, %r41, %r1;\nshl.b32 %r41, %r41, 5;\ncvt.u64.u32 %rd9, %r41;\nadd.s64 %rd2, %rd2, %rd9;\n"},
      {"setp.lt.u32 %p2, %r1, 16;", "setp.lt.u32 %p2, %r1, 8;"},
      {"bar.sync 0;\nld.shared", std::string(kClusterBarrier) + "ld.shared"},
      // The first thread of the block of even rank multiplies, for both.
      {"@!%p3 bra multiplied;", "setp.eq.u32 %p2, %r40, 0;\nand.pred %p3, %p3, %p2;\n@!%p3 bra multiplied;"},
      {"0x08040010", "0x10040010"},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];\n", std::string(kCommit)},
      {"bar.sync 0;\nsetp.lt", std::string(kClusterBarrier) + "setp.lt"}};
  std::string text(kProduct);
  for (auto at = kChanges.rbegin(); at != kChanges.rend(); ++at) {
    EXPECT_TRUE(absl::StrContains(text, at->first)) << at->first;
    text = absl::StrReplaceAll(text, {*at});
  }
  return text;
}

Outcomes Changed(absl::string_view from, absl::string_view to) {
  const std::string text = Pair();
  EXPECT_TRUE(absl::StrContains(text, from)) << from;
  return RunAll(absl::StrReplaceAll(text, {{from, to}}), false, 2);
}
void Fails(absl::string_view from, absl::string_view to, absl::string_view message) {
  const Outcomes o = Changed(from, to);
  EXPECT_LT(o.right, o.all) << from;
  EXPECT_TRUE(absl::StrContains(o.error, message)) << from << ": " << o.error;
}

TEST(Tcgen05Pair, RightInEveryOrder) {
  const Outcomes o = RunAll(Pair(), false, 2);
  EXPECT_EQ(o.right, o.all) << o.error;
}

TEST(Tcgen05Pair, TellsBothBlocks) {
  Fails(kCommit, absl::StrReplaceAll(kCommit, {{", 3;", ", 1;"}}), "all threads wait");
  Fails(kCommit, absl::StrReplaceAll(kCommit, {{", 3;", ", 7;"}}), "the cluster has not the blocks of mask 7");
}

// Both blocks of a pair allocate, the same columns.
TEST(Tcgen05Pair, AllocatesInBothBlocks) {
  Fails("@!%p1 bra allocated;\n", "setp.eq.u32 %p2, %r40, 0;\nand.pred %p1, %p1, %p2;\n@!%p1 bra allocated;\n",
        "no columns are allocated");
  Fails(
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], 32;\n",
      "shl.b32 %r42, %r40, 5;\nadd.s32 %r42, %r42, 32;\ntcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], %r42;\n",
      "where the other block of the pair has");
}

TEST(Tcgen05Pair, WaitsForTheOtherBlock) {
  const Outcomes o = Changed(kClusterBarrier, "bar.sync 0;\n");
  EXPECT_LT(o.right, o.all);
}

TEST(Tcgen05Pair, MOfThePair) { Fails("0x10040010", "0x0C040010", "M = 192"); }

}  // namespace
}  // namespace tile::gpu_sim
