// Tensor memory and tcgen05 in a kernel of one block: it is right for every order and lateness as it is written, and an error or wrong
// without one of its lines.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/machine/decode.h"
#include "tests/gpu_sim/machine/run.h"
#include "tests/gpu_sim/ptx/parser.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kRows = 128, kColumns = 16, kDepth = 16;
constexpr int kSeeds = 6;

// D = A * B, 128 × 16 × 16 of f16. A thread copies its row of A, and 16 of them one of B, to shared memory: pieces of 16 bytes, eight rows
// behind each other, without a swizzle. A row of D is a thread's.
constexpr absl::string_view kProduct = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d) .maxntid 128, 1, 1
{
.reg .pred %p<4>;
.reg .b32 %r<48>;
.reg .b64 %rd<16>;
.shared .align 1024 .b8 tile[8192];
.shared .align 8 .b8 barrier[8];
.shared .align 4 .b8 place[4];
ld.param.b64 %rd1, [a];
ld.param.b64 %rd2, [b];
ld.param.b64 %rd3, [d];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 5;
cvt.u64.u32 %rd4, %r2;
add.s64 %rd1, %rd1, %rd4;
add.s64 %rd2, %rd2, %rd4;
shl.b64 %rd4, %rd4, 1;
add.s64 %rd3, %rd3, %rd4;
shl.b32 %r2, %r1, 4;
mov.u32 %r3, tile;
add.s32 %r4, %r3, %r2;
setp.lt.u32 %p1, %r1, 32;
setp.lt.u32 %p2, %r1, 16;
setp.eq.u32 %p3, %r1, 0;
ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd1];
st.shared.v4.b32 [%r4], {%r8, %r9, %r10, %r11};
ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd1+16];
st.shared.v4.b32 [%r4+2048], {%r8, %r9, %r10, %r11};
@%p2 ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd2];
@%p2 st.shared.v4.b32 [%r4+4096], {%r8, %r9, %r10, %r11};
@%p2 ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd2+16];
@%p2 st.shared.v4.b32 [%r4+4352], {%r8, %r9, %r10, %r11};
mov.u32 %r5, barrier;
mov.u32 %r6, place;
@%p3 mbarrier.init.shared::cta.b64 [%r5], 1;
@!%p1 bra allocated;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
fence.proxy.async.shared::cta;
bar.sync 0;
ld.shared.b32 %r7, [%r6];
@!%p3 bra multiplied;
shr.u32 %r12, %r3, 4;
cvt.u64.u32 %rd5, %r12;
mov.b64 %rd6, 0x0000400800800000;
or.b64 %rd7, %rd5, %rd6;
mov.b64 %rd6, 0x0000400800100000;
add.s64 %rd5, %rd5, 256;
or.b64 %rd8, %rd5, %rd6;
mov.b32 %r13, 0x08040010;
setp.ne.u32 %p1, %r1, %r1;
tcgen05.mma.cta_group::1.kind::f16 [%r7], %rd7, %rd8, %r13, %p1;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];
multiplied:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0;
@!%p2 bra multiplied;
tcgen05.fence::after_thread_sync;
and.b32 %r14, %r1, 96;
shl.b32 %r14, %r14, 16;
add.s32 %r15, %r7, %r14;
tcgen05.ld.sync.aligned.32x32b.x16.b32 {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31}, [%r15];
tcgen05.wait::ld.sync.aligned;
st.global.v4.b32 [%rd3], {%r16, %r17, %r18, %r19};
st.global.v4.b32 [%rd3+16], {%r20, %r21, %r22, %r23};
st.global.v4.b32 [%rd3+32], {%r24, %r25, %r26, %r27};
st.global.v4.b32 [%rd3+48], {%r28, %r29, %r30, %r31};
tcgen05.fence::before_thread_sync;
bar.sync 0;
setp.lt.u32 %p1, %r1, 32;
@!%p1 bra end;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;
end:
ret;
}
)";

struct Outcome {
  absl::Status status;
  bool right = false;
};

// A[m][k] = (m + k) mod 7 - 3, B[n][k] = (2 n + k) mod 5 - 2.
int A(uint32_t m, uint32_t k) { return static_cast<int>((m + k) % 7) - 3; }
int B(uint32_t n, uint32_t k) { return static_cast<int>((2 * n + k) % 5) - 2; }

std::vector<uint16_t> Halves(uint32_t rows, int (*value)(uint32_t, uint32_t)) {
  std::vector<uint16_t> codes;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t k = 0; k < kDepth; ++k)
      codes.push_back(static_cast<uint16_t>(Encode(Format::kF16, value(r, k), Rounding::kNearestEven)));
  }
  return codes;
}

template <class T>
uint64_t Upload(DeviceMemory& memory, const std::vector<T>& values) {
  const uint64_t address = *memory.Allocate(values.size() * sizeof(T), 0);
  std::memcpy(memory.Find(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
  return address;
}

bool IsRight(const float* d) {
  for (uint32_t m = 0; m < kRows; ++m) {
    for (uint32_t n = 0; n < kColumns; ++n) {
      int sum = 0;
      for (uint32_t k = 0; k < kDepth; ++k) sum += A(m, k) * B(n, k);
      if (d[m * kColumns + n] != static_cast<float>(sum)) return false;
    }
  }
  return true;
}

Outcome Run(const std::string& text, int seed, int lateness, bool ptxas_waits = false) {
  const auto parsed = ptx::Parse(text);
  if (!parsed.ok()) return {parsed.status()};
  DeviceMemory memory;
  const auto loaded = LoadModule(**parsed, &memory);
  if (!loaded.ok()) return {loaded.status()};
  const uint64_t d = *memory.Allocate(4 * kRows * kColumns, 0xEE);
  const uint64_t params[] = {Upload(memory, Halves(kRows, A)), Upload(memory, Halves(kRows, B)), d};
  Launch launch;
  launch.program = loaded->programs[0].get();
  launch.memory = &memory;
  launch.block = {kRows, 1, 1};
  launch.random.state = static_cast<uint64_t>(seed + 1) * 0x9E3779B97F4A7C15u;
  launch.lateness = lateness;
  launch.ptxas_waits = ptxas_waits;
  launch.params.resize(launch.program->param_bytes + 64);
  launch.param_base = reinterpret_cast<uint64_t>(launch.params.data());
  std::memcpy(launch.params.data(), params, sizeof params);
  Outcome outcome = {RunLaunch(&launch)};
  outcome.right = outcome.status.ok() && IsRight(reinterpret_cast<const float*>(memory.Find(d, 4)));
  return outcome;
}

// All seeds with each kind of lateness; the number of right results, and the first error.
struct Outcomes {
  int right = 0, all = 0;
  std::string error;
};
Outcomes RunAll(const std::string& text, bool ptxas_waits = false) {
  Outcomes outcomes;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const int lateness : {0, 1, 2}) {
      const Outcome o = Run(text, seed, lateness, ptxas_waits);
      ++outcomes.all;
      outcomes.right += o.right ? 1 : 0;
      if (outcomes.error.empty()) outcomes.error = std::string(o.status.message());
    }
  }
  return outcomes;
}

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
