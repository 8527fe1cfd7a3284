// Scans, gathers, scatters and atomics of large tiles: neither code nor registers grow with the tile, nothing is spilled, and
// what can't be sliced is refused in words.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// A kernel with views of four arrays of one tile each; %x is a tile of indices, %p points to their places in %m.
std::string Program(const std::string& body, int64_t n) {
  std::string text =
      "entry @k(%m: tile<ptr<i32>>, %a: tile<ptr<i32>>, %o: tile<ptr<i32>>, %f: tile<ptr<f32>>) {\n"
      "  %z = constant <i32: 0> : tile<i32>\n";
  for (const char* array : {"m", "a", "o", "f"}) {
    absl::StrAppend(
        &text, absl::StrReplaceAll(R"(
  %At = make_tensor_view %A, shape = [SIZE], strides = [1] : tensor_view<SIZExE, strides=[1]>
  %Av = make_partition_view %At : partition_view<tile=(SIZE), tensor_view<SIZExE, strides=[1]>>)",
                                   {{"%A", absl::StrCat("%", array)}, {"xE,", *array == 'f' ? "xf32," : "xi32,"}}));
  }
  absl::StrAppend(&text, R"(
  %x, %tx = load_view_tko weak %av[%z] -> tile<SIZExi32>, token
  %m1 = reshape %m : tile<ptr<i32>> -> tile<1xptr<i32>>
  %mn = broadcast %m1 : tile<1xptr<i32>> -> tile<SIZExptr<i32>>
  %p = offset %mn, %x : tile<SIZExptr<i32>>, tile<SIZExi32> -> tile<SIZExptr<i32>>
  %one = constant <i32: 1> : tile<SIZExi32>
)",
                  body, "  return\n}\n");
  return absl::StrReplaceAll(text, {{"SIZE", absl::StrCat(n)}});
}

constexpr char kStore[] = "  store_view_tko weak %r, %ov[%z] -> token\n";
constexpr char kGatherView[] =
    "  %g = make_gather_scatter_view %mt : gather_scatter_view<tile=(SIZE), tensor_view<SIZExi32, strides=[1]>, "
    "sparse_dim=0>\n";

struct Case {
  const char* name;
  std::string body;
};

std::vector<Case> Cases() {
  const std::string types = " : tile<SIZExptr<i32>>, tile<SIZExi32> -> tile<SIZExi32>, token\n";
  const std::string scan = R"(
  %y, %ty = load_view_tko weak %fv[%z] -> tile<SIZExf32>, token
  %s = scan %y dim=0 reverse=REVERSE identities=[0.0 : f32] : tile<SIZExf32> -> tile<SIZExf32> (%e: tile<f32>, %q: tile<f32>) {
    %u = addf %e, %q : tile<f32>
    yield %u : tile<f32>
  }
  store_view_tko weak %s, %fv[%z] token = %ty -> token
)";
  return {
      {"scan", absl::StrReplaceAll(scan, {{"REVERSE", "false"}})},
      {"reverse scan", absl::StrReplaceAll(scan, {{"REVERSE", "true"}})},
      {"gather",
       absl::StrCat("  %r, %t = load_ptr_tko weak %p : tile<SIZExptr<i32>> -> tile<SIZExi32>, token\n", kStore)},
      {"gather view",
       absl::StrCat(kGatherView, "  %r, %t = load_view_tko weak %g[%x] -> tile<SIZExi32>, token\n", kStore)},
      {"scatter", "  store_ptr_tko weak %p, %one : tile<SIZExptr<i32>>, tile<SIZExi32> -> token\n"},
      {"scatter view", absl::StrCat(kGatherView, "  store_view_tko weak %one, %g[%x] -> token\n")},
      {"store_scatter", "  %t = store_scatter_view_tko %mt[%x], %one dim = 0 -> token\n"},
      {"relaxed store", "  store_ptr_tko relaxed device %p, %one : tile<SIZExptr<i32>>, tile<SIZExi32> -> token\n"},
      {"atomic", absl::StrCat("  %r, %t = atomic_rmw_tko relaxed device %p, add, %one", types, kStore)},
      {"atomic without result", absl::StrCat("  %r, %t = atomic_rmw_tko relaxed device %p, xor, %x", types)},
      {"atomic release",
       absl::StrCat("  %r, %t = atomic_rmw_tko acq_rel device %p, add, %one token = %tx", types, kStore)},
      {"atomic view",
       absl::StrCat("  %r, %t = atomic_rmw_view_tko relaxed device %mv[%z], add, %x -> tile<SIZExi32>, token\n",
                    kStore)},
      {"red view", "  %t = atomic_red_view_tko relaxed device %mv[%z], add, %x -> token\n"},
      {"atomic scatter",
       absl::StrCat(
           "  %r, %t = atomic_scatter_view_tko relaxed device %mt[%x], min, %one dim = 0 -> tile<SIZExi32>, token\n",
           kStore)},
      {"compare and swap",
       absl::StrCat(
           "  %r, %t = atomic_cas_tko relaxed device %p, %one, %x : tile<SIZExptr<i32>>, tile<SIZExi32>, tile<SIZExi32> -> "
           "tile<SIZExi32>, token\n",
           kStore)},
      {"cat and extract",
       absl::StrCat("  %two = cat %x, %x dim = 0 : tile<SIZExi32>, tile<SIZExi32> -> tile<DOUBLExi32>\n"
                    "  %r = extract %two[%z] : tile<DOUBLExi32> -> tile<SIZExi32>\n",
                    kStore)},
  };
}

TEST(SliceUpdatesPtx, CodeDoesNotGrowWithTheTile) {
  for (const Case& c : Cases()) {
    for (int sm : {80, 90}) {
      std::string ptx[2];
      for (int i : {0, 1}) {
        const int64_t n = int64_t{1} << (i == 0 ? 18 : 22);
        const CompiledText t =
            CompileText(Program(absl::StrReplaceAll(c.body, {{"DOUBLE", absl::StrCat(2 * n)}}), n), sm);
        ASSERT_EQ(t.error, "") << c.name;
        ptx[i] = t.ptx;
      }
      EXPECT_EQ(Count(ptx[0], "\n"), Count(ptx[1], "\n")) << c.name << " sm_" << sm;
      EXPECT_LT(Count(ptx[1], "\n"), 3000) << c.name;
      if (FindPtxas().empty()) continue;
      const auto a = Assemble(ptx[1], FindTarget(sm)->arch, {});
      ASSERT_TRUE(a.ok()) << c.name << ": " << a.status();
      EXPECT_EQ(a->spill_bytes, 0) << c.name << " sm_" << sm;
    }
  }
}

TEST(SliceUpdatesPtx, AllTargets) {
  for (const Case& c : Cases()) {
    for (int sm : {75, 86, 89, 100, 120}) {
      const CompiledText t = CompileText(Program(absl::StrReplaceAll(c.body, {{"DOUBLE", "524288"}}), 1 << 18), sm);
      EXPECT_EQ(t.error, "") << c.name;
      EXPECT_EQ(AssemblerErrors(t, sm), "") << c.name << " sm_" << sm;
    }
  }
}

// 256 x 128 by 128 x 256 numbers of 8 bits are 256 KiB as f32: more than any block has.
TEST(SliceUpdatesPtx, OperandsOfProductsComeInParts) {
  const std::string text = R"(
entry @scaled(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %s: tile<ptr<f8E8M0FNU>>, %c: tile<ptr<f32>>) {
  %z = constant <i32: 0> : tile<i32>
  %at = make_tensor_view %a, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf8E4M3FN, strides=[128,1]>
  %av = make_partition_view %at : partition_view<tile=(256x128), tensor_view<256x128xf8E4M3FN, strides=[128,1]>>
  %bt = make_tensor_view %b, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf8E4M3FN, strides=[256,1]>
  %bv = make_partition_view %bt : partition_view<tile=(128x256), tensor_view<128x256xf8E4M3FN, strides=[256,1]>>
  %st = make_tensor_view %s, shape = [256, 4], strides = [4, 1] : tensor_view<256x4xf8E8M0FNU, strides=[4,1]>
  %sv = make_partition_view %st : partition_view<tile=(256x4), tensor_view<256x4xf8E8M0FNU, strides=[4,1]>>
  %x, %t1 = load_view_tko weak %av[%z, %z] -> tile<256x128xf8E4M3FN>, token
  %y, %t2 = load_view_tko weak %bv[%z, %z] -> tile<128x256xf8E4M3FN>, token
  %sx, %t3 = load_view_tko weak %sv[%z, %z] -> tile<256x4xf8E8M0FNU>, token
  %sy = permute %sx [1, 0] : tile<256x4xf8E8M0FNU> -> tile<4x256xf8E8M0FNU>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %r = mmaf_scaled %x, %y, %zero, %sx, %sy
  %ct = make_tensor_view %c, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf32, strides=[256,1]>
  %cv = make_partition_view %ct : partition_view<tile=(256x256), tensor_view<256x256xf32, strides=[256,1]>>
  store_view_tko weak %r, %cv[%z, %z] -> token
  return
}
)";
  for (const int sm : AllSms()) {
    const CompiledText t = CompileText(text, sm);
    EXPECT_EQ(t.error, "") << sm;
    EXPECT_EQ(AssemblerErrors(t, sm), "") << sm;
  }
}

// Hundreds of math functions: each is there once.
TEST(SliceUpdatesPtx, MathFunctionsAreNotCopiedToEveryPlace) {
  std::string text = R"(
entry @chain(%a: tile<ptr<f32>>) {
  %z = constant <i32: 0> : tile<i32>
  %at = make_tensor_view %a, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
  %av = make_partition_view %at : partition_view<tile=(512), tensor_view<512xf32, strides=[1]>>
  %v0, %t = load_view_tko weak %av[%z] -> tile<512xf32>, token
)";
  constexpr int kOps = 400;
  for (int i = 0; i < kOps; ++i) {
    absl::StrAppend(&text, "  %v", i + 1, " = ", i % 2 == 0 ? "sin" : "cos", " %v", i, " : tile<512xf32>\n");
  }
  absl::StrAppend(&text, "  store_view_tko weak %v", kOps, ", %av[%z] token = %t -> token\n  return\n}\n");
  const CompiledText c = CompileText(text, 90);
  if (absl::StrContains(c.error, "codegen.libdevice")) GTEST_SKIP() << "no libdevice";
  ASSERT_EQ(c.error, "");
  EXPECT_LT(Count(c.ptx, "\n"), 40 * kOps);
  EXPECT_EQ(AssemblerErrors(c, 90), "");
}

TEST(SliceUpdatesPtx, WhatIsTooLargeIsRefused) {
  const CompiledText t = CompileText(R"(
entry @square(%a: tile<ptr<f32>>) {
  %z = constant <i32: 0> : tile<i32>
  %at = make_tensor_view %a, shape = [2048, 2048], strides = [2048, 1] : tensor_view<2048x2048xf32, strides=[2048,1]>
  %av = make_partition_view %at : partition_view<tile=(2048x2048), tensor_view<2048x2048xf32, strides=[2048,1]>>
  %x, %t = load_view_tko weak %av[%z, %z] -> tile<2048x2048xf32>, token
  %r = mmaf %x, %x, %x
  store_view_tko weak %r, %av[%z, %z] token = %t -> token
  return
}
)",
                                     90);
  EXPECT_TRUE(absl::StrContains(t.error, "error[codegen.registers]")) << t.error;
  EXPECT_TRUE(absl::StrContains(t.error, "test.tile:6:")) << t.error;
}

}  // namespace
}  // namespace tile::codegen
