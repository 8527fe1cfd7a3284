// The simulator finds what a GPU may do wrong: each kernel is right as it is written, and wrong, with some seed, without the line that
// a test takes out.
#include "tests/gpu_sim/machine/run.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/gpu_sim/machine/decode.h"
#include "tests/gpu_sim/ptx/parser.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kThreads = 64;
constexpr int kSeeds = 16;

std::string Kernel(absl::string_view body) {
  return absl::StrCat(R"(
.version 8.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[1024];
.visible .entry k(.param .u64 in, .param .u64 out) .maxntid 64, 1, 1
{
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
ld.param.b64 %rd1, [in];
ld.param.b64 %rd2, [out];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
cvt.u64.u32 %rd3, %r2;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
mov.u32 %r3, tile;
add.s32 %r4, %r3, %r2;
xor.b32 %r5, %r2, 252;
add.s32 %r6, %r3, %r5;
)",
                      body, "ret;\n}\n");
}

struct Result {
  absl::Status status;
  std::vector<uint32_t> out;
};

// in[i] = 100 + i.
Result Run(const std::string& text, int seed, uint32_t cluster_size = 1, uint32_t blocks = 0) {
  Result result;
  const auto parsed = ptx::Parse(text);
  if (!parsed.ok()) return {parsed.status(), {}};
  DeviceMemory memory;
  const auto loaded = LoadModule(**parsed, &memory);
  if (!loaded.ok()) return {loaded.status(), {}};
  const uint64_t in = *memory.Allocate(4 * kThreads, 0), out = *memory.Allocate(4 * kThreads, 0xEE);
  std::vector<uint32_t> values(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) values[i] = 100 + i;
  std::memcpy(memory.Find(in, 4 * kThreads), values.data(), 4 * kThreads);
  Launch launch;
  launch.program = loaded->programs[0].get();
  launch.memory = &memory;
  launch.block = {kThreads, 1, 1};
  launch.cluster[0] = cluster_size;
  launch.grid[0] = blocks == 0 ? cluster_size : blocks;
  launch.random.state = static_cast<uint64_t>(seed + 1) * 0x9E3779B97F4A7C15u;
  launch.params.resize(launch.program->param_bytes + 64);
  launch.param_base = reinterpret_cast<uint64_t>(launch.params.data());
  const uint64_t params[] = {in, out};
  std::memcpy(launch.params.data(), params, sizeof params);
  result.status = RunLaunch(&launch);
  result.out.resize(kThreads);
  std::memcpy(result.out.data(), memory.Find(out, 4 * kThreads), 4 * kThreads);
  return result;
}

// How many seeds give every thread the value of the thread at the other end.
int RightSeeds(const std::string& text) {
  int right = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Result r = Run(text, seed);
    EXPECT_TRUE(r.status.ok()) << r.status;
    bool all = r.status.ok();
    for (uint32_t i = 0; all && i < kThreads; ++i) all = r.out[i] == 100 + (kThreads - 1 - i);
    right += all;
  }
  return right;
}

void NeedsLine(const std::string& text, absl::string_view line) {
  EXPECT_EQ(RightSeeds(text), kSeeds);
  ASSERT_TRUE(absl::StrContains(text, line)) << line;
  EXPECT_LT(RightSeeds(absl::StrReplaceAll(text, {{line, ""}})), kSeeds) << "also right without " << line;
}

TEST(Run, Barriers) {
  NeedsLine(Kernel(R"(
ld.global.b32 %r7, [%rd4];
st.shared.b32 [%r4], %r7;
bar.sync 0;
ld.shared.b32 %r8, [%r6];
st.global.b32 [%rd5], %r8;
)"),
            "bar.sync 0;\n");
}

TEST(Run, WaitsForCopies) {
  NeedsLine(Kernel(R"(
cp.async.ca.shared.global [%r4], [%rd4], 4;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 0;
ld.shared.b32 %r8, [%r6];
st.global.b32 [%rd5], %r8;
)"),
            "cp.async.wait_group 0;\n");
}

// A copy that ignores its source, which cannot be read, unless a number compares so with itself.
Result CopyIgnoring(absl::string_view comparison) {
  return Run(Kernel(absl::StrCat("setp.", comparison, R"(.u32 %p1, %r4, %r4;
not.pred %p2, %p1;
@%p2 mov.b64 %rd4, 0;
cp.async.ca.shared.global [%r4], [%rd4], 4, %p2;
cp.async.wait_all;
bar.sync 0;
ld.shared.b32 %r8, [%r6];
st.global.b32 [%rd5], %r8;
)")),
             0);
}

TEST(Run, ZerosComeOfCopiesThatIgnoreTheirSource) {
  const Result ignored = CopyIgnoring("ne"), copied = CopyIgnoring("eq");
  EXPECT_TRUE(ignored.status.ok()) << ignored.status;
  EXPECT_EQ(ignored.out, std::vector<uint32_t>(kThreads, 0));
  EXPECT_EQ(copied.out[0], 100 + kThreads - 1);
}

void Fails(const std::string& text, absl::string_view message) {
  const Result r = Run(text, 0);
  EXPECT_FALSE(r.status.ok());
  EXPECT_TRUE(absl::StrContains(r.status.message(), message)) << r.status;
}

// How many seeds end because a block of a cluster of two reaches into the other one, which has ended.
int SeedsWithoutBlock(const std::string& text) {
  int failed = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Result r = Run(text, seed, 2);
    failed += !r.status.ok();
    EXPECT_TRUE(r.status.ok() || absl::StrContains(r.status.message(), "has ended")) << r.status;
  }
  return failed;
}

TEST(Run, BlocksOfClusterStay) {
  const std::string barrier = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const std::string text = Kernel(absl::StrCat(R"(
mov.u32 %r7, %cluster_ctarank;
xor.b32 %r7, %r7, 1;
mapa.shared::cluster.u32 %r8, %r4, %r7;
st.shared::cluster.b32 [%r8], %r1;
)",
                                               barrier));
  EXPECT_EQ(SeedsWithoutBlock(text), 0);
  EXPECT_GT(SeedsWithoutBlock(absl::StrReplaceAll(text, {{barrier, ""}})), 0);
}

// A tensor map that the kernel makes in shared memory and copies to `out`, and from which TMA brings `in`.
TEST(Run, MapsThatTheKernelMakes) {
  std::string text;
  for (const char* field :
       {"rank.shared::cta.b1024.b32 [%r3], 0", "box_dim.shared::cta.b1024.b32 [%r3], 0, 64",
        "global_dim.shared::cta.b1024.b32 [%r3], 0, 64", "element_stride.shared::cta.b1024.b32 [%r3], 0, 1",
        "elemtype.shared::cta.b1024.b32 [%r3], 2", "global_address.shared::cta.b1024.b64 [%r3], %rd1"}) {
    absl::StrAppend(&text, "@%p2 tensormap.replace.tile.", field, ";\n");
  }
  const std::string zeros = "mov.b32 %r7, 0;\nst.shared.b32 [%r4], %r7;\n";
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n";
  const std::string kernel = absl::StrReplaceAll(Kernel(absl::StrCat(zeros, R"(
setp.eq.u32 %p2, %r1, 0;
setp.ge.u32 %p1, %r1, 32;
add.s32 %r10, %r3, 512;
@%p2 mbarrier.init.shared::cta.b64 [%r10], 1;
bar.sync 0;
@%p1 bra others;
)",
                                                                     text, R"(
bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r3], 128;
)",
                                                                     fence, R"(
add.s32 %r11, %r3, 256;
mov.b32 %r12, 0;
@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;
@%p2 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r11], [%rd2, {%r12}], [%r10];
others:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], 0;
@!%p3 bra others;
bar.sync 0;
ld.shared.b32 %r8, [%r6+256];
st.global.b32 [%rd5], %r8;
)")),
                                                 {{".align 16 .b8 tile", ".align 128 .b8 tile"}});
  EXPECT_EQ(RightSeeds(kernel), kSeeds);
  Fails(absl::StrReplaceAll(kernel, {{fence, ""}}), "no fence");
  Fails(absl::StrReplaceAll(kernel, {{"@%p2 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r3], 0;\n", ""}}),
        "rank");
  Fails(absl::StrReplaceAll(
            kernel, {{"box_dim.shared::cta.b1024.b32 [%r3], 0, 64", "box_dim.shared::cta.b1024.b32 [%r3], 5, 64"}}),
        "no dimension 5");
  Fails(absl::StrReplaceAll(kernel, {{"mov.b32 %r7, 0;", "mov.b32 %r7, 1;"}}), "neither a tensor map nor zeros");
}

// What an instruction makes of 1.5 and 2 (%h1, %h2: f16), 1.5 (%h3: bf16) and 2^-25 (%f1).
uint32_t OfHalves(absl::string_view instruction) {
  const Result r = Run(Kernel(absl::StrCat(R"({
.reg .b16 %h<4>;
.reg .b32 %f<4>;
mov.b16 %h1, 0x3E00;
mov.b16 %h2, 0x4000;
mov.b16 %h3, 0x3FC0;
mov.b32 %f1, 0f33000000;
)",
                                           instruction, "\nst.global.b32 [%rd5], %f2;\n}\n")),
                       0);
  EXPECT_TRUE(r.status.ok()) << r.status;
  return r.out.empty() ? 0 : r.out[0];
}

// Sums of f32 and of 16 bits, of sm_100 and newer: 2^-25 is lost where it is rounded down.
TEST(Run, AddsOperandsOf16Bits) {
  EXPECT_EQ(OfHalves("add.rm.f32.f16 %f2, %h1, %f1;"), 0x3FC00000u);
  EXPECT_EQ(OfHalves("add.rp.f32.f16 %f2, %h1, %f1;"), 0x3FC00001u);
  EXPECT_EQ(OfHalves("sub.rn.f32.bf16 %f2, %h3, %f1;"), 0x3FC00000u);
  EXPECT_EQ(OfHalves("fma.rp.f32.f16 %f2, %h1, %h2, %f1;"), 0x40400001u);
  Fails(Kernel("mul.f32.f16 %r7, %r1, %r2;\n"), "operands of this type");
}

TEST(Run, SaysWhereItStands) {
  Fails(Kernel("st.global.b32 [%rd5+256], %r1;\n"), "thread");
  Fails(Kernel("st.global.b32 [%rd5+2], %r1;\n"), "thread");
  Fails(Kernel("setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 0, 96;\n"), "all threads wait");
  Fails(Kernel("frobnicate.b32 %r7, %r1;\n"), "frobnicate");
}

// Each function has its own %r1 and tables of targets; a call passes by way of variables that all calls name alike.
constexpr absl::string_view kFunctions = R"(
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0);
.func (.param .align 4 .b8 func_retval0[8]) both(.param .b32 both_param_0)
{
.reg .b32 %r<8>;
ld.param.b32 %r1, [both_param_0];
add.s32 %r4, %r1, 1;
{
.param .b32 param0;
st.param.b32 [param0], %r4;
.param .b32 retval0;
call.uni (retval0), twice, (param0);
ld.param.b32 %r2, [retval0];
}
st.param.b32 [func_retval0], %r1;
st.param.b32 [func_retval0+4], %r2;
ret;
}
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
.reg .b32 %r<8>;
.reg .pred %p<2>;
ld.param.b32 %r1, [twice_param_0];
and.b32 %r2, %r1, 1;
targets: .branchtargets even, odd;
brx.idx %r2, targets;
even:
add.s32 %r3, %r1, %r1;
bra.uni end;
odd:
shl.b32 %r3, %r1, 1;
end:
st.param.b32 [func_retval0], %r3;
ret;
}
)";
// out = x and 2 (x + 1), added up, of the first 32 threads only.
constexpr absl::string_view kCaller = R"(
ld.global.b32 %r7, [%rd4];
mov.b32 %r8, 0;
mov.b32 %r9, 0;
setp.lt.u32 %p1, %r1, 32;
{
.param .b32 param0;
st.param.b32 [param0], %r7;
.param .align 4 .b8 retval0[8];
@%p1 call (retval0), both, (param0);
@%p1 ld.param.v2.b32 {%r8, %r9}, [retval0];
}
add.s32 %r10, %r8, %r9;
st.global.b32 [%rd5], %r10;
)";

std::string WithFunctions(absl::string_view functions) {
  return absl::StrReplaceAll(Kernel(kCaller), {{".visible", absl::StrCat(functions, ".visible")}});
}

TEST(Run, Functions) {
  const Result r = gpu_sim::Run(WithFunctions(kFunctions), 0);
  ASSERT_TRUE(r.status.ok()) << r.status;
  for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(r.out[i], i < 32 ? 3 * (100 + i) + 2 : 0) << i;
}

TEST(Run, FunctionsThatItDoesNotKnow) {
  Fails(WithFunctions(absl::StrReplaceAll(kFunctions, {{"both", "other"}})), "the module has no function `both`");
  Fails(WithFunctions(absl::StrReplaceAll(kFunctions, {{", twice,", ", both,"}})), "`both` would call itself");
}

// What each thread stores of %r7; it must be the same in all.
uint32_t Stored(absl::string_view body) {
  const Result r = gpu_sim::Run(Kernel(absl::StrCat(".reg .b128 %q<3>;\n", body, "st.global.b32 [%rd5], %r7;\n")), 0);
  EXPECT_TRUE(r.status.ok()) << r.status;
  for (const uint32_t v : r.out) EXPECT_EQ(v, r.out[0]);
  return r.out[0];
}

// 1.5 and 2 in a register of 64 bits.
TEST(Run, PairsOfF32) {
  const auto half = [](absl::string_view op, absl::string_view result) {
    return Stored(absl::StrCat("mov.b64 %rd6, 0x400000003FC00000;\n", op, "mov.b64 {%r8, %r9}, %rd7;\nmov.b32 %r7, ",
                               result, ";\n"));
  };
  EXPECT_EQ(half("fma.rn.f32x2 %rd7, %rd6, %rd6, %rd6;\n", "%r8"), 0x40700000u);
  EXPECT_EQ(half("fma.rn.f32x2 %rd7, %rd6, %rd6, %rd6;\n", "%r9"), 0x40C00000u);
  EXPECT_EQ(half("add.rn.f32x2 %rd7, %rd6, %rd6;\n", "%r8"), 0x40400000u);
  EXPECT_EQ(half("mul.rz.ftz.f32x2 %rd7, %rd6, %rd6;\n", "%r9"), 0x40800000u);
  EXPECT_EQ(half("sub.f32x2 %rd7, %rd6, %rd6;\n", "%r9"), 0u);
}

TEST(Run, ExtremaOfThree) {
  const std::string numbers = "mov.b32 %r8, 0f3F800000;\nmov.b32 %r9, 0f40000000;\nmov.b32 %r10, 0fC0400000;\n";
  EXPECT_EQ(Stored(absl::StrCat(numbers, "max.f32 %r7, %r8, %r9, %r10;\n")), 0x40000000u);
  EXPECT_EQ(Stored(absl::StrCat(numbers, "min.f32 %r7, %r8, %r9, %r10;\n")), 0xC0400000u);
  const std::string nan = absl::StrCat(numbers, "mov.b32 %r8, 0x7FC00000;\n");
  EXPECT_EQ(Stored(absl::StrCat(nan, "max.f32 %r7, %r8, %r9, %r10;\n")), 0x40000000u);
  EXPECT_EQ(Stored(absl::StrCat(nan, "max.NaN.f32 %r7, %r8, %r9, %r10;\n")), 0x7FFFFFFFu);
}

TEST(Run, ExtremaOfIntegersAndZero) {
  const std::string numbers =
      "mov.b32 %r8, -5;\nmov.b32 %r9, 3;\nmov.b32 %r10, 0x0002FFFE;\nmov.b32 %r11, 0xFFFF0001;\n";
  const auto stored = [&](absl::string_view text) { return Stored(absl::StrCat(numbers, text)); };
  EXPECT_EQ(stored("min.s32 %r7, %r8, %r9;\n"), 0xFFFFFFFBu);
  EXPECT_EQ(stored("min.relu.s32 %r7, %r8, %r9;\n"), 0u);
  EXPECT_EQ(stored("max.relu.s32 %r7, %r8, %r9;\n"), 3u);
  EXPECT_EQ(stored("min.relu.s16x2 %r7, %r10, %r11;\n"), 0u);
  EXPECT_EQ(stored("max.relu.s16x2 %r7, %r10, %r11;\n"), 0x00020001u);
}

// A register of 128 bits, by way of shared memory; the one behind it stays.
TEST(Run, RegistersOf128Bits) {
  const std::string text = R"(
mov.b64 %rd6, 5;
mov.b64 %rd7, 7;
mov.b128 %q2, {%rd7, %rd7};
mov.b128 %q1, {%rd6, %rd7};
st.shared.b128 [%r3], %q1;
ld.shared.b128 %q0, [%r3];
mov.b128 %q1, %q0;
mov.b128 {%rd8, %rd9}, %q1;
shl.b64 %rd9, %rd9, 8;
add.s64 %rd8, %rd8, %rd9;
mov.b128 {%rd9, %rd10}, %q2;
shl.b64 %rd9, %rd9, 16;
add.s64 %rd8, %rd8, %rd9;
cvt.u32.u64 %r7, %rd8;
)";
  EXPECT_EQ(Stored(text), 0x070705u);
}

// 256 bits in one access.
TEST(Run, WideAccesses) {
  const std::string text = R"(
ld.global.v8.b32 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, [%rd1];
add.s32 %r7, %r8, %r15;
)";
  EXPECT_EQ(Stored(text), 100u + 107u);
}

TEST(Run, PrintsAndAssertions) {
  const std::string call = R"({
.param .b64 param0;
st.param.b64 [param0], %rd1;
.param .b64 param1;
st.param.b64 [param1], %rd1;
.param .b32 retval0;
call.uni (retval0), vprintf, (param0, param1);
}
mov.b32 %r7, 3;
)";
  EXPECT_EQ(Stored(call), 3u);
  Fails(Kernel("{\ncall.uni __assertfail, ();\n}\n"), "assertion");
}

// Blocks that have not begun are taken over by those that run: each index is worked on once.
TEST(Run, BlocksTakeOverOthers) {
  const std::string text = Kernel(R"(
.reg .b128 %q<2>;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra done;
mov.u32 %r7, %ctaid.x;
add.s32 %r8, %r3, 512;
mbarrier.init.shared::cta.b64 [%r8], 1;
mov.b32 %r9, 0;
work:
mul.wide.u32 %rd6, %r7, 4;
add.s64 %rd6, %rd2, %rd6;
red.global.add.u32 [%rd6], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r3], [%r8];
poll:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r9;
@!%p2 bra poll;
xor.b32 %r9, %r9, 1;
ld.shared.b128 %q1, [%r3];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;
@!%p3 bra done;
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q1;
bra work;
done:
)");
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Result r = gpu_sim::Run(text, seed, 1, kThreads);
    ASSERT_TRUE(r.status.ok()) << r.status;
    EXPECT_EQ(r.out, std::vector<uint32_t>(kThreads, 0xEEEEEEEF)) << seed;
  }
  const Result r = gpu_sim::Run(absl::StrReplaceAll(text, {{"@!%p3 bra done;\n", ""}}), 0, 1, kThreads);
  EXPECT_TRUE(absl::StrContains(r.status.message(), "nothing was canceled")) << r.status;
}

}  // namespace
}  // namespace tile::gpu_sim
