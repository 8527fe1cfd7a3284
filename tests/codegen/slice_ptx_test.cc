// Tiles that are worked on in slices: neither code nor registers grow with the tile, and which steps are optional.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

std::string Sized(const std::string& text, int64_t n) { return absl::StrReplaceAll(text, {{"SIZE", absl::StrCat(n)}}); }

// y = x + 1, to another tensor or, with tokens, to the same.
std::string Increment(int64_t n, const std::string& to = "%y") {
  return Sized(absl::StrReplaceAll(R"(
entry @increment(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %i, %j, %k = get_tile_block_id
  %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %yt = make_tensor_view TO, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(SIZE), tensor_view<?xf32, strides=[1]>>
  %yv = make_partition_view %yt : partition_view<tile=(SIZE), tensor_view<?xf32, strides=[1]>>
  %a, %t = load_view_tko weak %xv[%i] -> tile<SIZExf32>, token
  %one = constant <f32: 1> : tile<SIZExf32>
  %b = addf %a, %one : tile<SIZExf32>
  store_view_tko weak %b, %yv[%i] TOKEN -> token
  return
}
)",
                                   {{"TO", to}, {"TOKEN", to == "%x" ? "token = %t" : ""}}),
               n);
}

// y = x - max(x)
std::string BelowMaximum(int64_t n) {
  return Sized(R"(
entry @below(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %i = constant <i32: 0> : tile<i32>
  %xt = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %yt = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(SIZE), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>
  %yv = make_partition_view %yt : partition_view<tile=(SIZE), tensor_view<?xf32, strides=[1]>>
  %a, %t = load_view_tko weak %xv[%i] -> tile<SIZExf32>, token
  %m = reduce %a dim=0 identities=[-inf : f32] : tile<SIZExf32> -> tile<f32> (%e: tile<f32>, %acc: tile<f32>) {
    %r = maxf %e, %acc : tile<f32>
    yield %r : tile<f32>
  }
  %m1 = reshape %m : tile<f32> -> tile<1xf32>
  %mn = broadcast %m1 : tile<1xf32> -> tile<SIZExf32>
  %b = subf %a, %mn : tile<SIZExf32>
  store_view_tko weak %b, %yv[%i] -> token
  return
}
)",
               n);
}

TEST(SlicePtx, CodeDoesNotGrowWithTheTile) {
  for (std::string (*program)(int64_t) :
       {+[](int64_t n) { return Increment(n); }, +[](int64_t n) { return BelowMaximum(n); }}) {
    const CompiledText small = CompileText(program(1 << 16), 90), large = CompileText(program(1 << 22), 90);
    ASSERT_EQ(small.error, "");
    ASSERT_EQ(large.error, "");
    EXPECT_EQ(Count(small.ptx, "\n"), Count(large.ptx, "\n"));
    EXPECT_EQ(Count(small.ptx, "ld.global"), Count(large.ptx, "ld.global"));
    if (FindPtxas().empty()) continue;
    const auto a = Assemble(small.ptx, "sm_90a", {}), b = Assemble(large.ptx, "sm_90a", {});
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    EXPECT_EQ(a->registers, b->registers);
    EXPECT_EQ(a->spill_bytes, 0);
    EXPECT_EQ(b->spill_bytes, 0);
  }
}

TEST(SlicePtx, AllTargets) {
  for (const int sm : AllSms()) {
    const CompiledText c = CompileText(BelowMaximum(1 << 17), sm);
    EXPECT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, sm), "") << sm;
  }
}

TEST(SlicePtx, OnlyWhatIsOrderedWaits) {
  EXPECT_EQ(Count(CompileText(Increment(1 << 16), 90).ptx, "bar.sync"), 0);
  // In place a token orders the store behind the load.
  EXPECT_EQ(Count(CompileText(Increment(1 << 16, "%x"), 90).ptx, "bar.sync"), 1);
}

TEST(SlicePtx, StepsAreOptionalAndRemarked) {
  ir::Diagnostics diags;
  const auto m = ir::Parse(Increment(1 << 16), "test.tile", &diags);
  ASSERT_NE(m, nullptr) << diags.ToString();
  std::string ptx[2], remarks[2];
  for (int all : {0, 1}) {
    CompileOptions options;
    options.target = FindTarget(90);
    Trace trace;
    if (all == 0) trace.step_limit = 0;
    trace.on_remark = [&](const std::string& line) { absl::StrAppend(&remarks[all], line, "\n"); };
    options.trace = &trace;
    const auto c = Compile(*m, *m->functions[0], options);
    ASSERT_TRUE(c.ok()) << c.status();
    ptx[all] = c->ptx;
  }
  EXPECT_GT(Count(ptx[0], "st.global"), 3 * Count(ptx[1], "st.global"));
  EXPECT_TRUE(absl::StrContains(remarks[0], "remark[slice]: store_view_tko: tiles stay whole: left out")) << remarks[0];
  EXPECT_TRUE(absl::StrContains(
      remarks[1], "remark[slice]: store_view_tko: tile<65536xf32> in a loop over 4 slices along dimension 0"))
      << remarks[1];
}

// What a loop carries in slices does not spill. The text is compiled with no warps given.
void FitsRegisters(const std::string& text, const char* remark) {
  for (int sm : {80, 90, 120}) {
    ir::Diagnostics diags;
    const auto m = ir::Parse(text, "test.tile", &diags);
    ASSERT_NE(m, nullptr) << diags.ToString();
    CompileOptions options;
    options.target = FindTarget(sm);
    Trace trace;
    std::string remarks;
    trace.on_remark = [&](const std::string& line) { absl::StrAppend(&remarks, line, "\n"); };
    options.trace = &trace;
    const auto built = BuildImages(*m, *m->functions[0], options, ir::ImageKind::kCubin);
    ASSERT_TRUE(built.ok()) << built.status();
    for (const BuiltImage& image : *built) EXPECT_LE(image.assembled.spill_bytes, 64) << "sm_" << sm;
    EXPECT_TRUE(absl::StrContains(remarks, remark)) << remarks;
  }
}

// Gradients of a norm: two sums over rows, 32 rows at a time, reduced behind the loop.
TEST(SlicePtx, LoopsThatCarryTilesAreDoneForEachSlice) {
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  FitsRegisters(R"(
entry @sums(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %dx: tile<ptr<f32>>, %dy: tile<ptr<f32>>, %n: tile<i32>, %rounds: tile<i32>) {
  %i, %j, %k = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0.0> : tile<32x1024xf32>
  %xa = assume div_by<16>, %x : tile<ptr<f32>>
  %ya = assume div_by<16>, %y : tile<ptr<f32>>
  %xt = make_tensor_view %xa, shape = [%n, 4096], strides = [4096, 1] : tile<i32> -> tensor_view<?x4096xf32, strides=[4096,1]>
  %yt = make_tensor_view %ya, shape = [%n, 4096], strides = [4096, 1] : tile<i32> -> tensor_view<?x4096xf32, strides=[4096,1]>
  %dxt = make_tensor_view %dx, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %dyt = make_tensor_view %dy, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(32x1024), padding_value = zero, tensor_view<?x4096xf32, strides=[4096,1]>>
  %yv = make_partition_view %yt : partition_view<tile=(32x1024), padding_value = zero, tensor_view<?x4096xf32, strides=[4096,1]>>
  %dxv = make_partition_view %dxt : partition_view<tile=(1024), tensor_view<4096xf32, strides=[1]>>
  %dyv = make_partition_view %dyt : partition_view<tile=(1024), tensor_view<4096xf32, strides=[1]>>
  %sx, %sy = for %r in (%zero to %rounds, step %one) : tile<i32> iter_values(%ax = %none, %ay = %none) -> (tile<32x1024xf32>, tile<32x1024xf32>) {
    %a, %ta = load_view_tko weak %xv[%r, %i] -> tile<32x1024xf32>, token
    %b, %tb = load_view_tko weak %yv[%r, %i] -> tile<32x1024xf32>, token
    %p = mulf %a, %b : tile<32x1024xf32>
    %px = addf %ax, %p : tile<32x1024xf32>
    %py = addf %ay, %b : tile<32x1024xf32>
    continue %px, %py : tile<32x1024xf32>, tile<32x1024xf32>
  }
  %tx = reduce %sx dim=0 identities=[0.0 : f32] : tile<32x1024xf32> -> tile<1024xf32> (%e: tile<f32>, %s: tile<f32>) {
    %u = addf %e, %s : tile<f32>
    yield %u : tile<f32>
  }
  %ty = reduce %sy dim=0 identities=[0.0 : f32] : tile<32x1024xf32> -> tile<1024xf32> (%e: tile<f32>, %s: tile<f32>) {
    %u = addf %e, %s : tile<f32>
    yield %u : tile<f32>
  }
  store_view_tko weak %tx, %dxv[%i] -> token
  store_view_tko weak %ty, %dyv[%i] -> token
  return
}
)",
                "for: it is done for each of 4 slices");
}

// What goes around a loop stands in registers: what exceeds them takes all of them, rather than few for blocks that would
// wait for memory as well. People are told.
TEST(SlicePtx, WhatSpillsTakesAllRegisters) {
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  ir::Diagnostics diags;
  const auto m = ir::Parse(R"(
entry @powers(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %i, %j, %k = get_tile_block_id
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %t = make_tensor_view %x, shape = [65536], strides = [1] : tensor_view<65536xf32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(65536), tensor_view<65536xf32, strides=[1]>>
  %a, %read = load_view_tko weak %v[%i] -> tile<65536xf32>, token
  %last = for %round in (%zero to %n, step %one) : tile<i32> iter_values(%p = %a) -> (tile<65536xf32>) {
    %q = scan %p dim=0 reverse=false identities=[0.0 : f32] : tile<65536xf32> -> tile<65536xf32> (%e: tile<f32>, %s: tile<f32>) {
      %u = addf %e, %s : tile<f32>
      yield %u : tile<f32>
    }
    continue %q : tile<65536xf32>
  }
  store_view_tko weak %last, %v[%i] token = %read -> token
  return
}
)",
                           "test.tile", &diags);
  ASSERT_NE(m, nullptr) << diags.ToString();
  CompileOptions options;
  options.target = FindTarget(90);
  Trace trace;
  std::string warning;
  trace.on_warning = [&](const std::string& line) { warning = line; };
  options.trace = &trace;
  const auto built = BuildImage(*m, *m->functions[0], options, ir::ImageKind::kCubin);
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_GT(built->assembled.spill_bytes, 0);
  EXPECT_GT(built->assembled.registers, 100);
  EXPECT_EQ(absl::StrContains(warning, "test.tile:8:"), built->assembled.spill_bytes > 1024) << warning;
}

}  // namespace
}  // namespace tile::codegen
