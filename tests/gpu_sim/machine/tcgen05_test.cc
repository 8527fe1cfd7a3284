// Tensor memory and tcgen05 in a kernel of one block: it is right for every order and lateness as it is written, and an error or wrong
// without one of its lines.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/machine/tcgen05_kernel.h"

namespace tile::gpu_sim {
namespace {

// Where a piece of the kernel stands.
int LineOf(absl::string_view text) {
  const size_t at = kProduct.find(text);
  EXPECT_NE(at, absl::string_view::npos) << text;
  return 1 + static_cast<int>(std::count(kProduct.begin(), kProduct.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string Changed(absl::string_view from, absl::string_view to) {
  EXPECT_TRUE(absl::StrContains(kProduct, from)) << from;
  return absl::StrReplaceAll(kProduct, {{from, to}});
}

void Fails(absl::string_view from, absl::string_view to, absl::string_view message) {
  const Outcomes o = RunAll(Changed(from, to));
  EXPECT_LT(o.right, o.all) << from;
  EXPECT_TRUE(absl::StrContains(o.error, message)) << from << ": " << o.error;
}
void IsWrong(absl::string_view from, absl::string_view to) {
  const Outcomes o = RunAll(Changed(from, to));
  EXPECT_LT(o.right, o.all) << from;
  EXPECT_EQ(o.error, "");
}

TEST(Tcgen05, RightInEveryOrder) {
  const Outcomes o = RunAll(std::string(kProduct));
  EXPECT_EQ(o.right, o.all) << o.error;
}

TEST(Tcgen05, WaitsForTheProduct) {
  // Without the loop a product may end behind the load, or never before its columns are freed.
  const Outcomes o = RunAll(Changed("@!%p2 bra multiplied;\n", ""));
  EXPECT_LT(o.right, o.all);
  Fails("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];\n", "", "all threads wait");
}

TEST(Tcgen05, FencesOfProxies) {
  // The line that was taken out stood before the product.
  Fails(
      "fence.proxy.async.shared::cta;\n", "",
      absl::StrCat("tcgen05.mma of line ", LineOf("tcgen05.mma") - 1,
                   ": A: its shared memory at 0 was written by thread 0 at line ", LineOf("st.shared.v4.b32 [%r4], ")));
  Fails("fence.proxy.async.shared::cta;\n", "fence.proxy.async.global;\n", "no fence.proxy.async");
  // The thread that starts the product, behind the barrier, can execute the fence for all.
  const Outcomes o =
      RunAll(absl::StrReplaceAll(Changed("fence.proxy.async.shared::cta;\n", ""),
                                 {{"@!%p3 bra multiplied;\n", "@!%p3 bra multiplied;\nfence.proxy.async;\n"}}));
  EXPECT_EQ(o.right, o.all) << o.error;
}

TEST(Tcgen05, WaitsForLoads) {
  const std::string wait = "tcgen05.wait::ld.sync.aligned;\n";
  Fails(wait, "", absl::StrCat("line ", LineOf("st.global.v4.b32 [%rd3], ") - 1, ", block (0, 0, 0), thread"));
  Fails(wait, "", "no tcgen05.wait::ld stands between");
  const Outcomes o = RunAll(Changed(wait, ""), true);
  EXPECT_EQ(o.right, o.all) << o.error;
}

TEST(Tcgen05, ColumnsBelongToAnAllocation) {
  Fails("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;\n", "", "ends without dealloc of its tensor memory");
  Fails("sync.aligned.b32 %r7, 32", "sync.aligned.b32 %r7, 64", "dealloc of 64 columns");
  Fails("[%r6], 32;", "[%r6], 48;", "power of two");
  Fails("add.s32 %r15, %r7, %r14;", "add.s32 %r15, %r7, %r14;\nadd.s32 %r15, %r15, 24;",
        "of tensor memory: allocated are columns");
  Fails(
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;\n",
      "alloc after relinquish_alloc_permit");
  Fails("[%r6], 32;\n", "[%r6], 32;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 512;\n",
        "no 512 columns");
  Fails("tcgen05.dealloc.cta_group::1", "tcgen05.dealloc.cta_group::2", "cta_group::2 in a kernel");
}

// Columns that go away while a product may still write them.
TEST(Tcgen05, FreesBehindTheProduct) {
  const std::string text = absl::StrReplaceAll(
      Changed("@!%p2 bra multiplied;\n", ""),
      {{"tcgen05.ld.sync.aligned.32x32b.x16.b32 {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31}, [%r15];\n",
        ""}});
  const Outcomes o = RunAll(text);
  EXPECT_TRUE(absl::StrContains(o.error, "D: columns")) << o.error;
}

TEST(Tcgen05, WarpsReachTheirLanes) {
  Fails("and.b32 %r14, %r1, 96;", "and.b32 %r14, %r1, 64;",
        "warp 1 reaches lanes 32 to 63 of tensor memory; this accesses 32 from lane 0");
  Fails("and.b32 %r14, %r1, 96;", "and.b32 %r14, %r1, 127;", "different addresses");
}

TEST(Tcgen05, Descriptors) {
  Fails("0x0000400800800000", "0x0000000800800000", "0b001");
  Fails("0x08040010", "0x0C040010", "M = 192");
  IsWrong("0x08040010", "0x08050010");                                  // B "transposed"
  IsWrong("0x0000400800800000", "0x0000401000800000");                  // twice the stride
  IsWrong("setp.ne.u32 %p1, %r1, %r1;", "setp.eq.u32 %p1, %r1, %r1;");  // adds to fresh columns
}

// One thread starts a product, and commits it: for another thread the barrier has nothing to wait for.
TEST(Tcgen05, CommitIsOfTheThread) {
  const std::string text = absl::StrReplaceAll(
      kProduct, {{"multiplied:\n", "multiplied_here:\n@!%p2 bra multiplied;\n"},
                 {"tcgen05.commit.cta_group::1", "@%p3 bra multiplied;\ncommit:\ntcgen05.commit.cta_group::1"},
                 {"@!%p3 bra multiplied;", "setp.eq.u32 %p2, %r1, 1;\n@%p2 bra commit;\n@!%p3 bra multiplied_here;"}});
  // `multiplied` is where all threads wait.
  const std::string with_label = absl::StrReplaceAll(text, {{"mbarrier.try_wait", "multiplied:\nmbarrier.try_wait"}});
  const Outcomes o = RunAll(with_label);
  EXPECT_LT(o.right, o.all);
}

// D through registers and back: what a store brings is there behind its wait.
TEST(Tcgen05, Stores) {
  const std::string list =
      "{%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31}";
  const std::string load =
      absl::StrCat("tcgen05.ld.sync.aligned.32x32b.x16.b32 ", list, ", [%r15];\ntcgen05.wait::ld.sync.aligned;\n");
  const std::string wait = "tcgen05.wait::st.sync.aligned;\n";
  const std::string again = absl::StrCat(load, "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r15+16], ", list, ";\n", wait,
                                         absl::StrReplaceAll(load, {{"[%r15]", "[%r15+16]"}}));
  const Outcomes with = RunAll(Changed(load, again));
  EXPECT_EQ(with.right, with.all) << with.error;
  const Outcomes without = RunAll(absl::StrReplaceAll(Changed(load, again), {{wait, ""}}));
  EXPECT_LT(without.right, without.all);
}

TEST(Tcgen05, PairsNeedACluster) {
  Fails("tcgen05.mma.cta_group::1", "tcgen05.mma.cta_group::2", "has no block beside rank 0");
}

TEST(Tcgen05, WhatItDoesNotKnow) {
  const auto error = [](absl::string_view from, absl::string_view to) {
    return std::string(gpu_sim::Run(Changed(from, to), 0, 0).status.message());
  };
  EXPECT_TRUE(absl::StrContains(error("tcgen05.mma.cta_group::1", "tcgen05.mma.sp.cta_group::1"),
                                absl::StrCat("line ", LineOf("tcgen05.mma"))));
  EXPECT_TRUE(absl::StrContains(error("32x32b.x16", "32x32b.x8"), "number of registers"));
  EXPECT_TRUE(absl::StrContains(error("tcgen05.wait::ld", "tcgen05.wait::all"), "what it does"));
}

}  // namespace
}  // namespace tile::gpu_sim
