// Products with block scales: by mma.sync where the GPU has it for their types, with scales that lanes load for themselves, or by tcgen05, with scales that
// are copied to tensor memory.
#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

// Tiles of 128 x 128, K at a time, both operands and their scales along K as frontends load them.
std::string Text(const std::string& data, const std::string& scale, int k, int block) {
  return absl::StrReplaceAll(
      R"(
entry @scaled(%a: tile<ptr<DATA>>, %b: tile<ptr<DATA>>, %sa: tile<ptr<SCALE>>, %sb: tile<ptr<SCALE>>, %c: tile<ptr<f32>>, %steps: tile<i32>) {
  %j, %i, %z = get_tile_block_id
  %at = make_tensor_view %a, shape = [4096, 4096], strides = [4096, 1]
  %bt = make_tensor_view %b, shape = [4096, 4096], strides = [4096, 1]
  %sat = make_tensor_view %sa, shape = [4096, ALL], strides = [ALL, 1]
  %sbt = make_tensor_view %sb, shape = [4096, ALL], strides = [ALL, 1]
  %ct = make_tensor_view %c, shape = [4096, 4096], strides = [4096, 1]
  %av = make_partition_view %at : partition_view<tile=(128xTILE), padding_value = zero>
  %bv = make_partition_view %bt : partition_view<tile=(128xTILE), padding_value = zero>
  %sav = make_partition_view %sat : partition_view<tile=(128xGROUPS)>
  %sbv = make_partition_view %sbt : partition_view<tile=(128xGROUPS)>
  %cv = make_partition_view %ct : partition_view<tile=(128x128)>
  %zero = constant <f32: 0> : tile<128x128xf32>
  %sum = for %step in (0 to %steps, step 1) iter_values(%acc = %zero) {
    %x = load_view_tko weak %av[%i, %step]
    %y = load_view_tko weak %bv[%j, %step]
    %sx = load_view_tko weak %sav[%i, %step]
    %sy = load_view_tko weak %sbv[%j, %step]
    %yt = permute %y [1, 0]
    %syt = permute %sy [1, 0]
    %next = mmaf_scaled %x, %yt, %acc, %sx, %syt
    continue %next
  }
  store_view_tko weak %sum, %cv[%i, %j]
  return
}
)",
      {{"DATA", data},
       {"SCALE", scale},
       {"TILE", absl::StrCat(k)},
       {"ALL", absl::StrCat(4096 / block)},
       {"GROUPS", absl::StrCat(k / block)}});
}

struct Form {
  const char *data, *scale;
  int k, block;
  const char* instruction;  // "": none
};

constexpr Form kForms[] = {
    {"f8E4M3FN", "f8E8M0FNU", 128, 32, ".kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"},
    {"f8E5M2", "f8E8M0FNU", 64, 32, ".kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0"},
    {"f4E2M1FN", "f8E8M0FNU", 128, 32, ".kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"},
    {"f4E2M1FN", "f8E4M3FN", 128, 16, ".kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
    {"f4E2M1FN", "f8E8M0FNU", 128, 16, ""},
};

// Instructions of each warp, if so many share the product.
int InstructionsOf(const Form& f, int warps) {
  return 128 / 16 * (128 / 8) * f.k / (f.data[1] == '8' ? 32 : 64) / warps;
}

bool Has(const std::vector<std::string>& remarks, const std::string& text) {
  for (const std::string& r : remarks) {
    if (absl::StrContains(r, text)) return true;
  }
  return false;
}

TEST(ScaledPtx, ByInstructionsWithScales) {
  for (const int sm : {120, 121}) {
    for (const Form& f : kForms) {
      const CompiledText c = CompileText(Text(f.data, f.scale, f.k, f.block), sm);
      ASSERT_EQ(c.error, "");
      EXPECT_EQ(AssemblerErrors(c, sm), "") << f.data << " " << f.scale;
      if (*f.instruction == '\0') {
        EXPECT_EQ(Count(c.ptx, "mma.sync"), 0);
        EXPECT_TRUE(Has(c.remarks, "it is multiplied out: no instruction takes f4E2M1FN with one f8E8M0FNU for 16"));
        continue;
      }
      EXPECT_EQ(Count(c.ptx, f.instruction), InstructionsOf(f, 16));
      EXPECT_EQ(Count(c.ptx, "fma.rn.f32"), 0);
      EXPECT_FALSE(Has(c.remarks, "multiplied out"));
    }
  }
}

TEST(ScaledPtx, OtherGpusMultiplyThemOut) {
  for (const int sm : {80, 90}) {
    const CompiledText c = CompileText(Text("f8E4M3FN", "f8E8M0FNU", 128, 32), sm);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(Count(c.ptx, "block_scale"), 0);
    EXPECT_GT(Count(c.ptx, "fma.rn.f32"), 0);
    EXPECT_TRUE(Has(c.remarks, "takes no block scales; that of sm_120"));
  }
}

// One product of an iteration: a piece of scales for each operand and for each four blocks along K, then the instructions.
TEST(ScaledPtx, IntoTensorMemory) {
  constexpr const char* kKinds[] = {"mxf8f6f4.block_scale.block32", "mxf8f6f4.block_scale.block32",
                                    "mxf4.block_scale.block32", "mxf4nvf4.block_scale.block16"};
  for (const char* name : {"100", "100f", "103", "110"}) {
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      const Form& f = kForms[i];
      const Target& target = *FindTarget(name);
      const CompiledText c = CompileText(Text(f.data, f.scale, f.k, f.block), target);
      ASSERT_EQ(c.error, "") << name;
      EXPECT_EQ(Count(c.ptx, absl::StrCat("tcgen05.mma.cta_group::1.kind::", kKinds[i])),
                f.k / (f.data[1] == '8' ? 32 : 64));
      EXPECT_EQ(Count(c.ptx, "tcgen05.cp.cta_group::1.32x128b.warpx4"), 2 * std::max(1, f.k / f.block / 4));
      EXPECT_EQ(Count(c.ptx, "fma.rn.f32"), 0);
      EXPECT_EQ(AssemblerErrors(c, target), "") << f.data << " " << f.scale << " for " << name;
    }
    const Form& none = kForms[4];
    const CompiledText c = CompileText(Text(none.data, none.scale, none.k, none.block), *FindTarget(name));
    EXPECT_EQ(Count(c.ptx, "tcgen05.mma"), 0);
    EXPECT_TRUE(Has(c.remarks, "it is multiplied out: no instruction takes f4E2M1FN with one f8E8M0FNU for 16"));
  }
}

TEST(ScaledPtx, NothingIsSpilled) {
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  for (const char* name : {"100", "100f", "103", "110", "120", "121"}) {
    for (const Form& f : kForms) {
      if (*f.instruction == '\0') continue;
      const CompiledText c = CompileText(Text(f.data, f.scale, f.k, f.block), *FindTarget(name));
      ASSERT_EQ(c.error, "");
      const auto assembled = Assemble(c.ptx, FindTarget(name)->arch, {});
      ASSERT_TRUE(assembled.ok()) << assembled.status();
      EXPECT_EQ(assembled->spill_bytes, 0) << f.data << " " << f.scale << " for " << name;
    }
  }
}

}  // namespace
}  // namespace tile::codegen
