// How wide loads and stores are: 16 bytes where facts prove them aligned, both ways where only a run can tell, single
// elements where nothing lies side by side. And who stores what several threads hold.
#include <algorithm>
#include <regex>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

CompiledText Compiled90(const std::string& text) {
  for (const int sm : AllSms()) {
    const CompiledText c = CompileText(text, sm);
    EXPECT_EQ(c.error, "") << sm;
    EXPECT_EQ(AssemblerErrors(c, sm), "") << sm;
  }
  return CompileText(text, 90);
}

// A row of 4096 elements of type E, copied; P: the pointers.
std::string Copy(const std::string& elem, bool aligned, const std::string& size) {
  return absl::StrReplaceAll(R"(
entry @copy(%x: tile<ptr<E>>, %y: tile<ptr<E>>, %n: tile<i32>, %i: tile<i32>) {
  %x.p = ALIGN%x
  %y.p = ALIGN%y
  %x.t = make_tensor_view %x.p, shape = [SIZE], strides = [1] : OPENtensor_view<TYPExE, strides=[1]>
  %y.t = make_tensor_view %y.p, shape = [SIZE], strides = [1] : OPENtensor_view<TYPExE, strides=[1]>
  %x.v = make_partition_view %x.t : partition_view<tile=(4096), padding_value = zero, tensor_view<TYPExE, strides=[1]>>
  %y.v = make_partition_view %y.t : partition_view<tile=(4096), tensor_view<TYPExE, strides=[1]>>
  %a, %t = load_view_tko weak %x.v[%i] -> tile<4096xE>, token
  store_view_tko weak %a, %y.v[%i] -> token
  return
}
)",
                             {{"E>", elem + ">"},
                              {"xE,", "x" + elem + ","},
                              {"ALIGN", aligned ? "assume div_by<16>, " : "assume div_by<1>, "},
                              {"SIZE", size},
                              {"OPEN", size == "%n" ? "tile<i32> -> " : ""},
                              {"TYPE", size == "%n" ? "?" : size}});
}

TEST(MemoryPtx, AlignedRowsMoveBySixteenBytes) {
  for (const char* elem : {"i8", "f16", "bf16", "f32", "f64", "i1", "f8E4M3FN"}) {
    const CompiledText c = Compiled90(Copy(elem, true, "8192"));
    const bool wide = std::string(elem) == "f64";
    const std::string type = wide ? ".v2.b64" : ".v4.b32";
    EXPECT_GT(Count(c.ptx, absl::StrCat("ld.global", type)), 0) << elem;
    EXPECT_GT(Count(c.ptx, absl::StrCat("st.global", type)), 0) << elem;
    // Nothing else, and as whole tiles divide the tensor, one test for all: of the tile.
    EXPECT_EQ(Count(c.ptx, "ld.global"), Count(c.ptx, absl::StrCat("ld.global", type))) << elem;
    EXPECT_EQ(Count(c.ptx, "st.global"), Count(c.ptx, absl::StrCat("st.global", type))) << elem;
    // Of i1 each element is one, too: any byte but 0 is true. One more asks whether the grid is small, and one makes the wait a branch.
    const int elements = std::string(elem) == "i1" ? 4096 / 128 : 0;
    EXPECT_EQ(Count(c.ptx, "setp."), 3 + elements) << elem;
  }
}

// From sm_90 on, where a kernel may start before that one has ended.
TEST(MemoryPtx, KernelsWaitForTheOneInFrontAheadOfMemory) {
  const CompiledText c = Compiled90(Copy("f32", true, "8192"));
  ASSERT_EQ(Count(c.ptx, "griddepcontrol.wait;"), 1);
  EXPECT_LT(c.ptx.find("griddepcontrol.wait;"), std::min(c.ptx.find("ld.global"), c.ptx.find("st.global")));
  // Addresses and masks are there by then, and the wait, of which ptxas knows no better, begins another basic block.
  const size_t wait = c.ptx.find("@some griddepcontrol.wait;"), load = c.ptx.find("ld.global");
  ASSERT_LT(wait, load);
  for (const char* before : {"add.s64", "mad.", "mul.", "shl.", "setp.", "ld.param"})
    EXPECT_GT(c.ptx.find(before, wait), load) << before;
  // Which may start once blocks of a small grid are there, of others once they have ended.
  EXPECT_TRUE(std::regex_search(c.ptx, std::regex("@%p[0-9]+ griddepcontrol.launch_dependents;")));
  EXPECT_EQ(Count(CompileText(Copy("f32", true, "8192"), 80).ptx, "griddepcontrol"), 0);
}

TEST(MemoryPtx, UnknownAlignmentIsTestedAtRunTime) {
  const struct {
    const char *elem, *wide, *narrow;
  } kCases[] = {
      {"f32", ".v4.b32", ".b32"}, {"f16", ".v4.b32", ".b16"}, {"i8", ".v4.b32", ".b8"}, {"i64", ".v2.b64", ".b64"}};
  for (const auto& k : kCases) {
    const CompiledText c = Compiled90(Copy(k.elem, false, "%n"));
    for (const char* op : {"ld.global", "st.global"}) {
      EXPECT_GT(Count(c.ptx, absl::StrCat(op, k.wide, " ")), 0) << k.elem;
      EXPECT_GT(Count(c.ptx, absl::StrCat(op, k.narrow, " ")), 0) << k.elem;
    }
  }
}

TEST(MemoryPtx, ASizeThatEndsWithinAVectorIsTested) {
  // 4098 is no multiple of four: whole only in tiles that are inside.
  const CompiledText c = Compiled90(Copy("f32", true, "4098"));
  EXPECT_GT(Count(c.ptx, "ld.global.v4.b32"), 0);
  EXPECT_GT(Count(c.ptx, "ld.global.b32"), 0);
  // Smaller than the tile: pairs always fit.
  const CompiledText d = Compiled90(Copy("f32", true, "1026"));
  EXPECT_EQ(Count(d.ptx, "ld.global.v4.b32"), 0);
  EXPECT_GT(Count(d.ptx, "ld.global.v2.b32"), 0);
  EXPECT_EQ(Count(d.ptx, "ld.global.b32"), 0);
}

TEST(MemoryPtx, StridesDecideToo) {
  const std::string text = R"(
entry @load(%x: tile<ptr<f32>>, %i: tile<i32>, %o: tile<ptr<f32>>) {
  %x.p = assume div_by<16>, %x
  %x.t = make_tensor_view %x.p, shape = [64, 64], strides = [STRIDE, 1] : tensor_view<64x64xf32, strides=[STRIDE,1]>
  %x.v = make_partition_view %x.t : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[STRIDE,1]>>
  %a, %t = load_view_tko weak %x.v[%i, %i] -> tile<64x64xf32>, token
  store_view_tko weak %a, %x.v[%i, %i] -> token
  return
}
)";
  EXPECT_EQ(Count(Compiled90(absl::StrReplaceAll(text, {{"STRIDE", "68"}})).ptx, "ld.global.b32"), 0);
  EXPECT_EQ(Count(Compiled90(absl::StrReplaceAll(text, {{"STRIDE", "66"}})).ptx, "ld.global.v4.b32"), 0);
  EXPECT_GT(Count(Compiled90(absl::StrReplaceAll(text, {{"STRIDE", "66"}})).ptx, "ld.global.v2.b32"), 0);
  EXPECT_EQ(Count(Compiled90(absl::StrReplaceAll(text, {{"STRIDE", "65"}})).ptx, "ld.global.v"), 0);
}

// Offsets in a row below a bound, as kernels with pointers write it.
std::string Pointers(const std::string& align_pointer, const std::string& align_n) {
  return absl::StrReplaceAll(R"(
entry @copy(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %x.a = assume div_by<AP>, %x
  %y.a = assume div_by<AP>, %y
  %n.a = assume div_by<AN>, %n
  %b, %b.y, %b.z = get_tile_block_id
  %size = constant <i32: 1024> : tile<i32>
  %first = muli %b, %size
  %first.1 = reshape %first -> tile<1xi32>
  %first.n = broadcast %first.1 -> tile<1024xi32>
  %iota = iota -> tile<1024xi32>
  %i = addi %first.n, %iota
  %n.1 = reshape %n.a -> tile<1xi32>
  %n.n = broadcast %n.1 -> tile<1024xi32>
  %mask = cmpi less_than %i, %n.n, signed : tile<1024xi32> -> tile<1024xi1>
)",
                             {{"AP", align_pointer}, {"AN", align_n}}) +
         CopyLines(1024, "f32", "%i", "%i", "%mask");
}

TEST(MemoryPtx, PointersToNeighboursMoveTogether) {
  const CompiledText proven = Compiled90(Pointers("16", "16"));
  EXPECT_EQ(Count(proven.ptx, "ld.global.v4.b32"), 2);
  EXPECT_EQ(Count(proven.ptx, "ld.global.b32"), 0);
  EXPECT_EQ(Count(proven.ptx, "st.global.b32"), 0);
  for (const auto& [p, n] : {std::pair("1", "16"), std::pair("16", "1")}) {
    const CompiledText tested = Compiled90(Pointers(p, n));
    EXPECT_EQ(Count(tested.ptx, "ld.global.v4.b32"), 2);
    EXPECT_EQ(Count(tested.ptx, "ld.global.b32"), 8);
  }
}

TEST(MemoryPtx, StrongAccessesAreOfTheElementsSize) {
  const CompiledText c = Compiled90(absl::StrReplaceAll(
      Copy("f16", true, "8192"),
      {{"load_view_tko weak", "load_view_tko acquire device"}, {"store_view_tko weak", "store_view_tko release sys"}}));
  EXPECT_GT(Count(c.ptx, "ld.acquire.gpu.global.v4.b16"), 0);
  EXPECT_GT(Count(c.ptx, "st.release.sys.global.v4.b16"), 0);
  EXPECT_EQ(Count(c.ptx, "ld.global"), 0);
}

TEST(MemoryPtx, OneThreadStoresAScalarAndAStrongLoadIsShared) {
  const CompiledText c = Compiled90(R"(
entry @scalar(%x: tile<ptr<i32>>) {
  %v, %t = load_ptr_tko acquire device %x -> tile<i32>, token
  %w = addi %v, %v
  %t2 = store_ptr_tko release device %x, %w token = %t
  return
}
)");
  EXPECT_EQ(Count(c.ptx, "ld.acquire.gpu.global.b32"), 1);
  EXPECT_EQ(Count(c.ptx, "st.release.gpu.global.b32"), 1);
  EXPECT_EQ(Count(c.ptx, "shfl.sync.idx"), 1);
  // The store comes behind a barrier: it is ordered after an acquire.
  EXPECT_LT(c.ptx.find("ld.acquire"), c.ptx.find("bar"));
  EXPECT_LT(c.ptx.find("bar"), c.ptx.find("st.release"));
}

std::string ToOnePlace(absl::string_view mode, absl::string_view use) {
  return absl::StrCat(R"(
entry @one(%x: tile<ptr<i32>>, %a: tile<ptr<i32>>, %i: tile<i32>) {
  %t = make_tensor_view %a, shape = [4096], strides = [1] : tensor_view<4096xi32, strides=[1]>
  %v = make_partition_view %t : partition_view<tile=(1024), tensor_view<4096xi32, strides=[1]>>
  %value, %k = load_view_tko weak %v[%i] -> tile<1024xi32>, token
  %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %xs = broadcast %x1 : tile<1xptr<i32>> -> tile<1024xptr<i32>>
  %old, %k2 = atomic_rmw_tko relaxed device %xs, )",
                      mode, R"(, %value -> tile<1024xi32>, token
)",
                      use, R"(  return
}
)");
}

TEST(MemoryPtx, UpdatesOfOnePlaceArePutTogether) {
  for (const char* mode : {"add", "umax", "min", "and", "xor"}) {
    const CompiledText c = Compiled90(ToOnePlace(mode, ""));
    EXPECT_EQ(Count(c.ptx, "red.relaxed.gpu.global."), 1) << mode;
    EXPECT_EQ(Count(c.ptx, "shfl.sync.bfly"), 5) << mode;
  }
  // Each its own: who asks for old values, and what is not the same in any order.
  const CompiledText asked = Compiled90(ToOnePlace("add", "  %k3 = store_view_tko weak %old, %v[%i] -> token\n"));
  EXPECT_EQ(Count(asked.ptx, "atom.relaxed.gpu.global."), 8);
  EXPECT_EQ(Count(Compiled90(ToOnePlace("xchg", "")).ptx, ".global.exch"), 8);
}

TEST(MemoryPtx, HalfBytes) {
  const CompiledText c = CompileText(Copy("f4E2M1FN", true, "8192"), 90);
  EXPECT_EQ(c.error, "");
  EXPECT_GT(Count(c.ptx, "ld.global.v4.b32"), 0);
  EXPECT_EQ(Count(c.ptx, "red."), 0);
  // With an odd stride only words can be updated.
  const CompiledText d = Compiled90(R"(
entry @odd(%x: tile<ptr<f4E2M1FN>>, %i: tile<i32>) {
  %t = make_tensor_view %x, shape = [2, 8], strides = [9, 1] : tensor_view<2x8xf4E2M1FN, strides=[9,1]>
  %v = make_partition_view %t : partition_view<tile=(2x8), tensor_view<2x8xf4E2M1FN, strides=[9,1]>>
  %a, %k = load_view_tko weak %v[%i, %i] -> tile<2x8xf4E2M1FN>, token
  %k2 = store_view_tko weak %a, %v[%i, %i] token = %k -> token
  return
}
)");
  EXPECT_EQ(Count(d.ptx, "ld.global.b8"), 1);
  EXPECT_EQ(Count(d.ptx, "red.relaxed.gpu.global.and.b32"), 1);
  EXPECT_EQ(Count(d.ptx, "red.relaxed.gpu.global.or.b32"), 1);
}

TEST(MemoryPtx, GlobalsTokensAssertsAndPrints) {
  const CompiledText c = CompileText(R"(
global @table.1 alignment = 64 <f16: [1.0, 2.0]> : tile<2xf16>
entry @all(%c: tile<i1>, %i: tile<i32>) {
  %start = gdc_wait_tko : token
  %p = get_global @table.1 : tile<ptr<f16>>
  %v, %t = load_ptr_tko weak %p token = %start -> tile<f16>, token
  assert %c, "c holds"
  %t2 = print_tko "%d %f\n", %i, %v token = %t -> token
  %m = alloca num_elem = 4, alignment = 16 : tile<ptr<f16>>
  %t3 = store_ptr_tko weak %m, %v token = %t2
  %t4 = memory_fence_alias_tko %t3
  %t5 = gdc_launch_dependents_tko token = %t4 : token
  return
}
)",
                                     90);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  EXPECT_EQ(Count(c.ptx, ".global .align 64 .b8 global$table$2e1[4] = {0, 60, 0, 64}"), 1);
  EXPECT_EQ(Count(c.ptx, "griddepcontrol.wait;"), 1);
  EXPECT_EQ(Count(c.ptx, "griddepcontrol.launch_dependents;"), 1);
  EXPECT_EQ(Count(c.ptx, "fence.proxy.alias;"), 1);
  EXPECT_EQ(Count(c.ptx, "st.release.sys.global.b32"), 1);
}

TEST(MemoryPtx, FencesOfAliasesOnAllTargets) {
  for (const int sm : AllSms()) {
    const CompiledText c = CompileText(R"(
entry @k() {
  %t = make_token : token
  %done = memory_fence_alias_tko %t
  return
}
)",
                                       sm);
    EXPECT_EQ(c.error, "") << sm;
    EXPECT_EQ(AssemblerErrors(c, sm), "");
    EXPECT_EQ(Count(c.ptx, "fence.proxy.alias;"), 1) << sm;
  }
}

// Elements of four bits are stored by two updates of a word, which a barrier separates from loads as it does stores.
TEST(MemoryPtx, HalfBytesAreOrderedByTokens) {
  const CompiledText c = CompileText(R"(
entry @k(%p: tile<ptr<f4E2M1FN>>, %out: tile<ptr<f32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = make_token : token
  %a = alloc_shared alignment = 16 : tensor_view<16x8xf4E2M1FN, strides=[8,1], shared>
  %xt = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf4E2M1FN, strides=[8,1]>
  %xv = make_partition_view %xt : partition_view<tile=(16x1), tensor_view<16x8xf4E2M1FN, strides=[8,1]>>
  %all = make_partition_view %a : partition_view<tile=(16x1), tensor_view<16x8xf4E2M1FN, strides=[8,1], shared>>
  %part = make_partition_view %a : partition_view<tile=(2x1), tensor_view<16x8xf4E2M1FN, strides=[8,1], shared>>
  %x, %t1 = load_view_tko weak %xv[%zero, %zero] -> tile<16x1xf4E2M1FN>, token
  %t2 = store_view_tko weak %x, %all[%zero, %zero] token = %none -> token
  %y, %t3 = load_view_tko weak %part[%one, %one] token = %t2 -> tile<2x1xf4E2M1FN>, token
  %f = ftof %y : tile<2x1xf4E2M1FN> -> tile<2x1xf32>
  %ot = make_tensor_view %out, shape = [2, 1], strides = [1, 1] : tensor_view<2x1xf32, strides=[1,1]>
  %ov = make_partition_view %ot : partition_view<tile=(2x1), tensor_view<2x1xf32, strides=[1,1]>>
  store_view_tko weak %f, %ov[%zero, %zero] -> token
  return
}
)",
                                     90);
  EXPECT_EQ(c.error, "");
  const size_t stored = c.ptx.rfind("red.relaxed.cta.shared.or.b32"), read = c.ptx.find("ld.shared.b8", stored);
  ASSERT_NE(stored, std::string::npos) << c.ptx;
  ASSERT_NE(read, std::string::npos) << c.ptx;
  EXPECT_EQ(Count(c.ptx.substr(stored, read - stored), "bar.sync"), 1) << c.ptx;
}

// A slice of a small tile, which every warp has, comes from the lanes that hold it: no warp waits for another.
TEST(MemoryPtx, SlicesOfSmallTilesComeByShuffles) {
  const CompiledText c = Compiled90(R"(
entry @column(%a: tile<ptr<f16>>, %j: tile<i32>, %out: tile<ptr<f16>>) {
  %zero = constant <i32: 0> : tile<i32>
  %a.t = make_tensor_view %a, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xf16, strides=[4,1]>
  %a.v = make_partition_view %a.t : partition_view<tile=(4x4), tensor_view<4x4xf16, strides=[4,1]>>
  %b, %t = load_view_tko weak %a.v[%zero, %zero]
  %c = extract %b[%zero, %j] -> tile<4x1xf16>
  %d = reshape %c -> tile<4xf16>
  %out.t = make_tensor_view %out, shape = [4], strides = [1] : tensor_view<4xf16, strides=[1]>
  %out.v = make_partition_view %out.t : partition_view<tile=(4), tensor_view<4xf16, strides=[1]>>
  store_view_tko weak %d, %out.v[%zero] -> token
  return
}
)");
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 0);
  EXPECT_EQ(Count(c.ptx, "st.shared"), 0);
  EXPECT_GE(Count(c.ptx, "shfl.sync.idx"), 1);
}

// Warps exchange parts of a row in memory that nobody had before, unless the exchange comes again: then earlier readers must be done.
TEST(MemoryPtx, ExchangesThatHappenOnceHaveMemoryOfTheirOwn) {
  const std::string once = R"(
entry @mean(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %i, %j, %k = get_tile_block_id
  %xt = make_tensor_view %x, shape = [%n, 4096], strides = [4096, 1]
  %yt = make_tensor_view %y, shape = [%n, 4096], strides = [4096, 1]
  %xv = make_partition_view %xt : partition_view<tile=(1x4096)>
  %yv = make_partition_view %yt : partition_view<tile=(1x4096)>
BEGIN
  %a = load_view_tko weak %xv[%i, 0]
  %max = reduce %a dim=1 identities=[-inf] (%e, %m) {
    %r = maxf %e, %m
    yield %r
  }
  %max1 = reshape %max : tile<1x1xf32>
  %below = subf %a, %max1
  %sum = reduce %below dim=1 identities=[0.0] (%e, %m) {
    %r = addf %e, %m
    yield %r
  }
  %sum1 = reshape %sum : tile<1x1xf32>
  %b = addf %below, %sum1
  store_view_tko weak %b, %yv[%i, 0]
END
  return
}
)";
  const auto barriers = [&](const char* begin, const char* end) {
    return Count(Compiled90(absl::StrReplaceAll(once, {{"BEGIN", begin}, {"END", end}})).ptx, "bar.sync");
  };
  EXPECT_EQ(barriers("", ""), 2);
  EXPECT_EQ(barriers("  for %at in (%i to %n, step %one) {", "  continue\n  }"), 4);
}

}  // namespace
}  // namespace tile::codegen
