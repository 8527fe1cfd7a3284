// Loops over matrix products: operands fetched ahead by TMA into a ring of stages, multiplied by wgmma. Which loops, what
// the code looks like, what the host has to do for it.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "codegen/build_image.h"
#include "gtest/gtest.h"
#include "ir/expr.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

std::string Product() { return ProductText(128, 256, 64); }

// f32 rounded to tf32, tiles of 128 x 128 x 32.
std::string Rounded(const std::string& how) {
  return absl::StrReplaceAll(
      ProductText(128, 128, 32),
      {{"bf16", "f32"},
       {"%next = mmaf %x, %y",
        absl::StrCat("%xr = ftof %x", how, " : tile<128x32xf32> -> tile<128x32xtf32>\n%yr = ftof %y", how,
                     " : tile<32x128xf32> -> tile<32x128xtf32>\n%next = mmaf %xr, %yr")}});
}

CompiledText Compiled90(const std::string& text) {
  const CompiledText c = CompileText(text, 90, "", true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  return c;
}

// By a producer warp, which stands beside one or two warpgroups.
bool IsFetched(const std::string& text) {
  const std::string ptx = Compiled90(text).ptx;
  return absl::StrContains(ptx, ".reqntid 160") || absl::StrContains(ptx, ".reqntid 288");
}

TEST(FetchPtx, ALoopOverProductsBecomesAPipeline) {
  const CompiledText c = Compiled90(Product());
  // Two warpgroups of 64 rows, four steps of 16 along K, the right operand lies along N.
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"), 4);
  EXPECT_EQ(Count(c.ptx, "add, 1, 1, 0, 1;"), 4);
  EXPECT_EQ(Count(c.llvm, ".reg .pred add;"), 1);  // one for LLVM
  // A ninth warp fills four stages: a copy for the left operand, four of 64 columns for the right one.
  EXPECT_EQ(Count(c.ptx, ".reqntid 288"), 1);
  EXPECT_EQ(Count(c.ptx, "mbarrier.init"), 8);
  EXPECT_EQ(Count(c.ptx, "mbarrier.arrive.expect_tx"), 1);
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.tensor.2d.shared"), 5);
  EXPECT_EQ(Count(c.ptx, "cluster.arrive"), 0);
  EXPECT_EQ(Count(c.ptx, "mbarrier.try_wait"), 2);
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 1);  // barriers are initialised
  EXPECT_TRUE(c.persistent);
  // The products of a round are waited for in the next, all of them behind the loop.
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 1;"), 1);
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 0;"), 1);
  // Both operands and the result.
  EXPECT_EQ(Count(c.ptx, ".param .align 64 .b8"), 3);
  EXPECT_EQ(Count(c.ptx, "ldmatrix"), 0);
}

TEST(FetchPtx, ResultsAreStoredByTma) {
  EXPECT_EQ(Count(Compiled90(Product()).ptx, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"), 8);
  const CompiledText c = Compiled90(absl::StrReplaceAll(
      Product(), {{"%c: tile<ptr<f32>>", "%c: tile<ptr<bf16>>"},
                  {"tensor_view<?x?xf32", "tensor_view<?x?xbf16"},
                  {"  store_view_tko weak %sum",
                   "  %out = ftof %sum : tile<128x256xf32> -> tile<128x256xbf16>\n  store_view_tko weak %out"}}));
  // In 16 bits four boxes of 16 rows of 128 bytes for each warp, two at a time, beside which there is room for four stages.
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"), 4);
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.wait_group.read 1;"), 4);
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.wait_group.read 0;"), 1);
  EXPECT_EQ(Count(c.ptx, "fence.proxy.async.shared::cta;"), 4);
  EXPECT_EQ(Count(c.ptx, "st.shared.b32"), 64);
  EXPECT_EQ(Count(c.ptx, "cvt.rn.bf16x2.f32"), 64);
  EXPECT_EQ(Count(c.ptx, "st.global"), 0);
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 1);
  EXPECT_EQ(Count(c.ptx, "mbarrier.init"), 8);
  EXPECT_EQ(Count(c.ptx, ".param .align 64 .b8"), 3);
}

// The store that a frontend's token orders behind a load of the same array waits for the load, on its own way to memory.
TEST(FetchPtx, TokensOrderStoresByTma) {
  const auto with = [](const std::string& before, const std::string& token) {
    return Compiled90(
               absl::StrReplaceAll(Product(),
                                   {{"  store_view_tko weak %sum, %cv[%i, %j]",
                                     absl::StrCat(before, "  store_view_tko weak %sum, %cv[%i, %j] token = ", token)}}))
        .ptx;
  };
  const std::string fresh = with("  %t = make_token : token\n", "%t");
  EXPECT_EQ(Count(fresh, "fence.proxy.async;"), 0);
  EXPECT_EQ(Count(fresh, "tile.bulk_group"), 8);
  const std::string behind = with("  %old, %t = load_view_tko weak %cv[%i, %j] -> tile<128x256xf32>, token\n", "%t");
  EXPECT_EQ(Count(behind, "fence.proxy.async;"), 1);
  EXPECT_EQ(Count(behind, "tile.bulk_group"), 8);
  EXPECT_EQ(Count(behind, "bar.sync"), Count(fresh, "bar.sync") + 1);
}

// A program may forbid TMA for each access. If one load of a loop takes another way, all do.
TEST(FetchPtx, HintsForbidTma) {
  const auto with = [](const char* access, absl::string_view hints) {
    return Compiled90(
               absl::StrReplaceAll(Product(), {{access, absl::StrCat(access, " optimization_hints = <", hints, ">")}}))
        .ptx;
  };
  const auto loads = [](const std::string& ptx) { return Count(ptx, "cp.async.bulk.tensor.2d.shared"); };
  const auto stores = [](const std::string& ptx) { return Count(ptx, "cp.async.bulk.tensor.2d.global"); };
  constexpr char kLeft[] = "%av[%i, %step]", kStore[] = "%cv[%i, %j]";
  const std::string left = with(kLeft, "default = {allow_tma = false}");
  EXPECT_EQ(loads(left), 0);
  EXPECT_GT(Count(left, "cp.async.cg"), 0);
  const std::string store = with(kStore, "default = {allow_tma = false}");
  EXPECT_EQ(loads(store), 5);
  EXPECT_EQ(stores(store), 0);
  EXPECT_GT(Count(store, "st.global"), 0);
  // The target's own hints come before the default; those of others count for nothing.
  for (const char* allowing : {"sm_90 = {allow_tma = true}, default = {allow_tma = false}",
                               "sm_100 = {allow_tma = false}", "default = {allow_tma = true, latency = 3}"}) {
    EXPECT_EQ(loads(with(kLeft, allowing)), 5) << allowing;
    EXPECT_EQ(stores(with(kStore, allowing)), 8) << allowing;
  }
  for (const char* forbidding : {"sm_90 = {allow_tma = false}, default = {allow_tma = true}",
                                 "sm_90 = {latency = 2}, default = {allow_tma = false}"}) {
    EXPECT_EQ(loads(with(kLeft, forbidding)), 0) << forbidding;
    EXPECT_EQ(stores(with(kStore, forbidding)), 0) << forbidding;
  }
}

TEST(FetchPtx, BlocksOfAClusterShareLoads) {
  const std::string text = absl::StrReplaceAll(Product(), {{"256", "128"}});
  const CompiledText c = Compiled90(text);
  EXPECT_EQ(Count(c.ptx, "cp.async.bulk.tensor.2d.shared"), 3);
  EXPECT_EQ(Count(c.ptx, "multicast::cluster"), 2);
  EXPECT_EQ(Count(c.ptx, "mapa.shared::cluster"), 2);
  // Blocks that differ in y share the right operand, in a grid of an even size there.
  ir::Diagnostics diags;
  const auto m = ir::Parse(text, "test.tile", &diags);
  ASSERT_NE(m, nullptr) << diags.ToString();
  CompileOptions options;
  options.target = FindTarget(90);
  options.joining = Joining::kNever;
  const auto images = BuildImages(*m, *m->functions[0], options, ir::ImageKind::kPtx);
  ASSERT_TRUE(images.ok()) << images.status();
  ASSERT_EQ(images->size(), 3u);
  const ir::Image &clusters = (*images)[0].image, &alone = (*images)[1].image;
  EXPECT_EQ(clusters.cluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(clusters.requirements.back().text, "the grid's size in dimension 1 is a multiple of 2");
  EXPECT_EQ(clusters.payload, alone.payload);
  EXPECT_EQ(alone.cluster, (std::array<uint32_t, 3>{1, 1, 1}));
}

// A block is alone at first and at its end: nothing that it need not wait for stands before its first copy.
TEST(FetchPtx, TheFirstCopyComesSoon) {
  for (const char* columns : {"256", "128"}) {
    const std::string ptx = Compiled90(absl::StrReplaceAll(Product(), {{"256", columns}})).ptx;
    // Descriptors are on their way from the first instructions on.
    EXPECT_EQ(Count(ptx, "prefetch.tensormap"), 3);
    EXPECT_LT(ptx.find("prefetch.tensormap"), ptx.find("mbarrier.init"));
    // Where the first tile block lies is computed between barriers that are initialised and the wait for that; of others at the end.
    const size_t announced = ptx.find("fence.mbarrier_init"),
                 awaited = ptx.find(*columns == '2' ? "bar.sync" : "cluster.wait");
    EXPECT_LT(announced, ptx.find("div.u32"));
    EXPECT_LT(ptx.find("div.u32", ptx.find("div.u32") + 1), awaited);
    EXPECT_GT(ptx.find("div.u32", awaited), ptx.find("cp.async.bulk.tensor.2d.shared"));
    // Where that is in small grids takes one division: two have quotients of zero, for the first tile block and for others of both sides.
    EXPECT_EQ(Count(ptx, "@less bra divided;"), 2 * 3);
    // One thread copies; of any other predicate ptxas makes a loop over the lanes.
    EXPECT_EQ(Count(ptx, "elect.sync"), 1);
  }
  // A cluster's blocks announce barriers without waiting for memory, and do not meet at the end: the producer waits until its stages are free.
  const std::string cluster = Compiled90(absl::StrReplaceAll(Product(), {{"256", "128"}})).ptx;
  EXPECT_EQ(Count(cluster, "barrier.cluster.arrive.relaxed.aligned"), 1);
  EXPECT_EQ(Count(cluster, "barrier.cluster"), 2);
  EXPECT_EQ(Count(cluster, "mbarrier.try_wait"), 2 + Count(cluster, "mbarrier.init") / 2);
}

// What the image needs of the grid holds for so many blocks on so many multiprocessors.
bool EndsSooner(const ir::Image& image, int64_t blocks, int64_t multiprocessors) {
  return *ir::EvaluateExpr(image.requirements.back().condition, [&](const ir::ExprNode& n) -> absl::StatusOr<int64_t> {
    return n.op == ir::ExprOp::kNumSms ? multiprocessors : n.b == 0 ? blocks : 1;
  }) != 0;
}

// Blocks of few are done sooner without.
TEST(FetchPtx, ClustersAreForLargeGrids) {
  int clusters = 0;
  for (const BuiltImage& built : Images(absl::StrReplaceAll(Product(), {{"256", "128"}}))) {
    if (built.image.cluster[0] == 1) continue;
    ++clusters;
    EXPECT_EQ(built.image.requirements.back().text, "the grid has more than 2 blocks for each multiprocessor");
    EXPECT_FALSE(EndsSooner(built.image, 264, 132));
    EXPECT_TRUE(EndsSooner(built.image, 266, 132));
  }
  EXPECT_EQ(clusters, 1);
}

// A product whose loop counts the tiles along K.
std::string CountedProduct(int k) {
  return absl::StrReplaceAll(ProductText(128, 128, k),
                             {{"%first to %k", "%first to %steps"},
                              {"  %first =", "  %rows, %steps = get_index_space_shape %av\n  %first ="}});
}

// Iterations of 32 f16 along K become one of 64, for sizes that are multiples of that; for others they stay.
TEST(FetchPtx, ShortRoundsAreJoined) {
  const auto products = [](const BuiltImage& built) { return Count(*built.payload, "wgmma.mma_async"); };
  const auto joined = [](const BuiltImage& built, const char* of = "is a multiple of 64") {
    return std::any_of(built.image.requirements.begin(), built.image.requirements.end(),
                       [&](const ir::ImageRequirement& r) { return absl::EndsWith(r.text, of); });
  };
  int pairs = 0, alone = 0;
  for (const BuiltImage& built : Images(CountedProduct(32))) {
    if (built.image.tma.empty()) continue;
    EXPECT_EQ(products(built), joined(built) ? 4 : 2);
    (joined(built) ? pairs : alone) += 1;
  }
  // All images with descriptors, and those of blocks that are neither joined nor parts once more.
  EXPECT_EQ(pairs, 4);
  EXPECT_EQ(alone, 2);
  // Rows of 128 bytes are long enough; a loop may leave out tiles.
  for (const std::string& text :
       {CountedProduct(64), absl::StrReplaceAll(CountedProduct(32), {{"%first to", "%one to"}}),
        ProductText(128, 128, 32)}) {
    for (const BuiltImage& built : Images(text)) EXPECT_FALSE(joined(built));
  }
  // 8-bit floats up to 128 along K, behind which their sums are added to the others in f32: as often as of a program with tiles of that.
  const std::vector<BuiltImage> bytes = Images(absl::StrReplaceAll(CountedProduct(64), {{"bf16", "f8E5M2"}}));
  EXPECT_TRUE(joined(bytes[0], "is a multiple of 128"));
  EXPECT_EQ(Count(bytes[0].compiled.ptx, "setp.ne.b32 add, 0, 0; "), Count(bytes[0].compiled.ptx, "k32.f32") / 4);
  for (const BuiltImage& built : Images(absl::StrReplaceAll(CountedProduct(128), {{"bf16", "f8E5M2"}})))
    EXPECT_FALSE(joined(built, "is a multiple of 256"));
}

TEST(FetchPtx, SmallStagesAreMore) {
  const auto stages = [](int m, int n, int k) {
    return Count(Compiled90(ProductText(m, n, k)).ptx, "mbarrier.init") / 2;
  };
  EXPECT_EQ(stages(64, 128, 32), 6);   // 12 KiB, in two blocks
  EXPECT_EQ(stages(128, 128, 64), 5);  // 32 KiB
  EXPECT_EQ(stages(128, 256, 64), 4);  // 48 KiB, as many as fit
}

// The first image does the work of two blocks in one, as if the program had tiles of 128 x 256, in grids of an even size.
TEST(FetchPtx, NeighbouringBlocksAreJoined) {
  const std::string text = ProductText(128, 128, 64);
  const std::vector<BuiltImage> images = Images(text);
  ASSERT_EQ(images.size(), 5u);
  EXPECT_EQ(Count(images[0].compiled.ptx, "m64n256k16"), 4);
  EXPECT_EQ(Count(images[2].compiled.ptx, "m64n128k16"), 4);
  const ir::Image& joined = images[0].image;
  const auto& needs = joined.requirements;
  ASSERT_GE(needs.size(), 2u);
  EXPECT_EQ(needs[needs.size() - 2].text, "the grid's size in dimension 0 is a multiple of 2");
  // Two blocks in one take 1.74 times as long as one, so that it matters how many the last multiprocessors have.
  EXPECT_FALSE(EndsSooner(joined, 64, 132));
  EXPECT_TRUE(EndsSooner(joined, 256, 132));
  EXPECT_FALSE(EndsSooner(joined, 300, 132));
  EXPECT_TRUE(EndsSooner(joined, 512, 132));
  EXPECT_FALSE(EndsSooner(joined, 576, 132));
  EXPECT_TRUE(EndsSooner(joined, 1024, 132));
  EXPECT_TRUE(EndsSooner(joined, 100, 64));
  const auto grid = [](const ir::Expr& e) {
    return ir::EvaluateExpr(e, [](const ir::ExprNode& n) -> absl::StatusOr<int64_t> { return n.b == 0 ? 40 : 30; });
  };
  EXPECT_EQ(*grid(joined.grid[0]), 20 * 30);
  // Words whose right operand lies across: it is the first of the transposed product, and rows are the instruction's columns.
  EXPECT_EQ(Count(Images(Rounded(""))[0].compiled.ptx, "m64n256k8"), 4);
}

// The second one does half of a block, 64 x 128, in twice as many. So does that of 256 x 256, which is cut for the registers anyway.
TEST(FetchPtx, BlocksAreDoneInParts) {
  const std::vector<BuiltImage> images = Images(ProductText(128, 128, 64));
  ASSERT_EQ(images.size(), 5u);
  const BuiltImage& parts = images[1];
  EXPECT_EQ(parts.compiled.parts, 2);
  EXPECT_EQ(Count(parts.compiled.ptx, ".reqntid 160"), 1);
  EXPECT_EQ(*ir::EvaluateExpr(parts.image.grid[0],
                              [](const ir::ExprNode& n) -> absl::StatusOr<int64_t> { return n.b == 0 ? 40 : 30; }),
            80 * 30);
  EXPECT_TRUE(EndsSooner(parts.image, 64, 132));
  EXPECT_FALSE(EndsSooner(parts.image, 100, 132));
  EXPECT_FALSE(EndsSooner(parts.image, 1024, 132));
  const std::vector<BuiltImage> large = Images(ProductText(256, 256, 64));
  EXPECT_EQ(large[0].compiled.parts, 2);
  EXPECT_TRUE(EndsSooner(large[0].image, 64, 132));
  EXPECT_FALSE(EndsSooner(large[0].image, 256, 132));
  // Not if the kernel does something else, too.
  const auto has_parts = [](const std::string& text) {
    for (const BuiltImage& image : Images(text)) {
      if (image.compiled.parts > 1) return true;
    }
    return false;
  };
  EXPECT_FALSE(has_parts(absl::StrReplaceAll(
      ProductText(128, 128, 64), {{"  %first = constant", "  assert %in, \"no\"\n  %first = constant"},
                                  {"  %at = make", "  %in = cmpi less_than %j, %m, signed\n  %at = make"}})));
}

TEST(FetchPtx, BlocksThatAreNotJoined) {
  const std::string text = ProductText(128, 128, 64);
  const auto joins = [](const std::string& t) { return absl::StrContains(Images(t)[0].compiled.ptx, "m64n256k16"); };
  EXPECT_TRUE(joins(text));
  // The place is used for something else; the kernel does something else; a tile that does not depend on the place.
  EXPECT_FALSE(joins(absl::StrReplaceAll(text, {{"%bv[%step, %j]", "%bv[%step, %j.1]"},
                                                {"%first = constant", "%j.1 = addi %j, %i\n  %first = constant"}})));
  EXPECT_FALSE(
      joins(absl::StrReplaceAll(text, {{"  %first = constant", "  assert %in, \"no\"\n  %first = constant"},
                                       {"  %at = make", "  %in = cmpi less_than %j, %m, signed\n  %at = make"}})));
  EXPECT_FALSE(joins(absl::StrReplaceAll(text, {{"%cv[%i, %j]", "%cv[%i, %first]"}})));
  EXPECT_FALSE(joins(absl::StrReplaceAll(text, {{"%bv[%step, %j]", "%bv[%step, %first]"}})));
  EXPECT_FALSE(joins(absl::StrReplaceAll(text, {{"store_view_tko weak %sum", "store_view_tko relaxed device %sum"}})));
}

TEST(FetchPtx, NothingSpillsAndNothingIsSerialised) {
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  for (const char* columns : {"256", "128", "64"}) {
    const std::string text = absl::StrReplaceAll(Product(), {{"256", columns}});
    const absl::StatusOr<Assembled> a = Assemble(Compiled90(text).ptx, "sm_90a", {});
    ASSERT_TRUE(a.ok()) << a.status();
    EXPECT_EQ(a->spill_bytes, 0);
    EXPECT_LE(a->registers, 168);
    EXPECT_FALSE(absl::StrContains(a->log, "serialized")) << a->log;
  }
}

TEST(FetchPtx, TheHostEncodesTensorsAndChecksThem) {
  ir::Diagnostics diags;
  const auto m = ir::Parse(Product(), "test.tile", &diags);
  ASSERT_NE(m, nullptr) << diags.ToString();
  CompileOptions options;
  options.target = FindTarget(90);
  options.joining = Joining::kNever;
  const auto images = BuildImages(*m, *m->functions[0], options, ir::ImageKind::kPtx);
  ASSERT_TRUE(images.ok()) << images.status();
  ASSERT_EQ(images->size(), 2u);
  const ir::Image &fast = (*images)[0].image, &general = (*images)[1].image;
  EXPECT_EQ(fast.grid.size(), 3u);
  ASSERT_EQ(fast.tma.size(), 3u);
  EXPECT_EQ(fast.tma[0].base_param, 0u);
  EXPECT_EQ(fast.tma[0].box, (std::vector<uint32_t>{64, 128}));
  EXPECT_EQ(fast.tma[1].base_param, 1u);
  EXPECT_EQ(fast.tma[1].box, (std::vector<uint32_t>{64, 64}));
  EXPECT_EQ(fast.tma[1].swizzle, 3);
  EXPECT_EQ(fast.tma[2].base_param, 2u);
  EXPECT_EQ(fast.tma[2].box, (std::vector<uint32_t>{32, 16}));
  EXPECT_EQ(fast.params.size(), 9u);
  std::string texts;
  for (const auto& r : fast.requirements) absl::StrAppend(&texts, r.text, "\n");
  for (const char* text :
       {"the address of the tensor at parameter 0 is a multiple of 16", "stride 0 of the tensor at parameter 1 is a",
        "size 1 of the tensor at parameter 1 is not 0"}) {
    EXPECT_TRUE(absl::StrContains(texts, text)) << texts;
  }
  EXPECT_TRUE(general.requirements.empty());
  EXPECT_TRUE(general.params.empty());
}

TEST(FetchPtx, MajorOrdersAndTypes) {
  // Along K: rows of 128 bytes, no transposition.
  const CompiledText nt = Compiled90(absl::StrReplaceAll(
      Product(),
      {{"shape = [%k, %n], strides = [%n, 1]", "shape = [%k, %n], strides = [1, %k]"},
       {"%bt : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>",
        "%bt : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xbf16, strides=[1,?]>>"},
       {"%bt = make_tensor_view %b, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>",
        "%bt = make_tensor_view %b, shape = [%k, %n], strides = [1, %k] : tile<i32> -> tensor_view<?x?xbf16, strides=[1,?]>"}}));
  EXPECT_EQ(Count(nt.ptx, "add, 1, 1, 0, 0;"), 4);
  EXPECT_EQ(Count(nt.ptx, "cp.async.bulk.tensor.2d.shared"), 2);
  // f16 as bf16; f32 has no instruction; tf32 only along K.
  EXPECT_TRUE(IsFetched(absl::StrReplaceAll(Product(), {{"bf16", "f16"}})));
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(
      Product(), {{"bf16", "f32"}, {"128x64", "32x16"}, {"64x256", "16x32"}, {"128x256", "32x32"}})));
  // f32 that is rounded as TMA does not.
  EXPECT_FALSE(IsFetched(Rounded(" rounding<zero>")));
  EXPECT_FALSE(IsFetched(Rounded(" rounding<nearest_away>")));
  // A sum in f16 is rounded in every step.
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(Product(), {{"f32", "f16"}, {"bf16", "f16"}, {"256", "64"}})));
}

// wgmma takes bytes along K only. The right operand lies along N: it becomes the first operand of the transposed product, whose
// fragments are made of bytes that lie across, and the left one the second. Sums of an iteration begin with zero and are added.
TEST(FetchPtx, BytesThatLieAcross) {
  const std::string text = absl::StrReplaceAll(ProductText(128, 128, 128), {{"bf16", "f8E4M3FN"}});
  const CompiledText c = Compiled90(text);
  // One half of the columns is added while the other is multiplied.
  const std::string half = "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3";
  EXPECT_EQ(Count(c.ptx, half), 8);
  EXPECT_EQ(Count(c.ptx, "setp.ne.b32 add, 0, 0; " + half), 2);
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 1;"), 1);
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4.trans"), 4);
  EXPECT_EQ(Count(c.ptx, "prmt.b32"), 16);
  EXPECT_EQ(Count(c.ptx, "add.rn.f32"), 64);
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 0;"), 1);
  // With fast_acc the hardware adds up.
  const CompiledText fast = Compiled90(absl::StrReplaceAll(text, {{"%y, %acc", "%y, %acc fast_acc"}}));
  EXPECT_EQ(Count(fast.ptx, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"), 4);
  EXPECT_EQ(Count(fast.ptx, "setp.ne.b32 add, 0, 0; "), 0);
  EXPECT_EQ(Count(fast.ptx, "add.rn.f32"), 0);
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  const absl::StatusOr<Assembled> a = Assemble(c.ptx, "sm_90a", {});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->spill_bytes, 0);
  EXPECT_FALSE(absl::StrContains(a->log, "serialized")) << a->log;
}

// 128 sums of a thread, and 64 that begin with zero: the producer's warpgroup leaves its registers to the others, which add half of the
// columns after the other.
TEST(FetchPtx, RegistersMoveToSumsOfBytes) {
  const std::string text = absl::StrReplaceAll(ProductText(128, 256, 64), {{"bf16", "f8E5M2"}});
  const CompiledText c = Compiled90(text);
  EXPECT_EQ(Count(c.ptx, ".reqntid 384"), 1);
  EXPECT_EQ(Count(c.ptx, ".minnctapersm 1"), 1);
  EXPECT_EQ(Count(c.ptx, "setmaxnreg.dec.sync.aligned.u32 24;"), 1);
  EXPECT_EQ(Count(c.ptx, "setmaxnreg.inc.sync.aligned.u32 240;"), 1);
  EXPECT_EQ(Count(c.ptx, "m64n128k32"), 4);
  EXPECT_EQ(Count(c.ptx, "setp.ne.b32 add, 0, 0; "), 2);
  EXPECT_EQ(Count(c.ptx, "add.rn.f32"), 128);
  // The hardware adds up with fast_acc, and a result half as large leaves room.
  const CompiledText fast = Compiled90(absl::StrReplaceAll(text, {{"%y, %acc", "%y, %acc fast_acc"}})),
                     small = Compiled90(absl::StrReplaceAll(text, {{"256", "128"}}));
  EXPECT_EQ(Count(fast.ptx, "setmaxnreg"), 0);
  EXPECT_EQ(Count(small.ptx, "setmaxnreg"), 0);
  EXPECT_EQ(Count(small.ptx, ".reqntid 288"), 1);
  // A result twice as large is computed in two parts, each of which is one of these.
  const CompiledText parts = Compiled90(absl::StrReplaceAll(ProductText(256, 256, 64), {{"bf16", "f8E5M2"}}));
  EXPECT_EQ(Count(parts.ptx, "m64n128k32"), 4);
  EXPECT_EQ(Count(parts.ptx, "setmaxnreg.inc"), 1);
  // Of columns, since those lie across: half as many come to registers.
  EXPECT_EQ(Count(parts.ptx, "prmt.b32"), Count(c.ptx, "prmt.b32") / 2);
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  const absl::StatusOr<Assembled> a = Assemble(c.ptx, "sm_90a", {});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->registers, 168);
  EXPECT_FALSE(absl::StrContains(a->log, "setmaxnreg")) << a->log;  // that it is ignored
  EXPECT_FALSE(absl::StrContains(a->log, "serialized")) << a->log;
}

// Two stages would fit: iterations are cut along K until four do.
TEST(FetchPtx, IterationsAreCutForStages) {
  for (int k : {64, 128}) {
    const CompiledText c = Compiled90(ProductText(128, 256, k));
    EXPECT_EQ(Count(c.ptx, "wgmma.mma_async"), 4) << k;
    EXPECT_TRUE(absl::StrContains(absl::StrJoin(c.remarks, "\n"), "4 stages of 49152 bytes")) << k;
  }
}

// TMA rounds. The right operand lies along N and becomes the first of the transposed product: fragments are read by vectors of two,
// without conflicts, since half of the lanes read the other half of K first.
TEST(FetchPtx, WordsThatLieAcross) {
  const CompiledText c = Compiled90(Rounded(""));
  EXPECT_EQ(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32"), 4);
  EXPECT_EQ(Count(c.ptx, "ld.shared.v2"), 8);
  // Four more go round the four stages, of the producer's last wait, too.
  EXPECT_EQ(Count(c.ptx, "selp.b32"), 16 + 4 + 8);  // and of the ring
  EXPECT_EQ(Count(c.ptx, "cvt.rn.tf32"), 0);
  if (FindPtxas().empty()) GTEST_SKIP() << "no ptxas";
  const absl::StatusOr<Assembled> a = Assemble(c.ptx, "sm_90a", {});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->spill_bytes, 0);
  EXPECT_FALSE(absl::StrContains(a->log, "serialized")) << a->log;
}

TEST(FetchPtx, WhatStaysAsItIs) {
  const std::string small = absl::StrReplaceAll(Product(), {{"256", "64"}, {"128", "64"}});
  EXPECT_TRUE(IsFetched(small));
  // Another use of a loaded tile; other padding than zero; a load that a token orders behind a store; a strong load; an
  // index that is carried and no counter; an address that the host does not know; fewer rows than an instruction.
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(
      small, {{"%next = mmaf %x, %y, %acc", "%w = negf %x\n%s = mmaf %w, %y, %acc\n%next = mmaf %x, %y, %s"}})));
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(small, {{"padding_value = zero", "padding_value = neg_inf"}})));
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(
      small, {{"%sum = for", "%before = store_view_tko weak %zero, %cv[%i, %j] -> token\n%sum = for"},
              {"%av[%i, %step]", "%av[%i, %step] token = %before"}})));
  EXPECT_FALSE(IsFetched(absl::StrReplaceAll(small, {{"load_view_tko weak %av", "load_view_tko relaxed device %av"}})));
  const auto carried = [&](const char* update) {
    return absl::StrReplaceAll(
        small,
        {{"%sum = for", "%sum, %last = for"},
         {"(%acc = %zero) -> (tile<64x64xf32>)", "(%acc = %zero, %at.k = %first) -> (tile<64x64xf32>, tile<i32>)"},
         {"%av[%i, %step]", "%av[%i, %at.k]"},
         {"continue %next : tile<64x64xf32>",
          absl::StrCat("%k.1 = ", update, " %at.k, %one\ncontinue %next, %k.1 : tile<64x64xf32>, tile<i32>")}});
  };
  EXPECT_FALSE(IsFetched(carried("shli")));
  EXPECT_TRUE(IsFetched(carried("addi")));  // a counter, which is computed from the induction variable
  EXPECT_FALSE(IsFetched(
      absl::StrReplaceAll(small, {{"%at = make_tensor_view %a,", "%p = offset %a, %m\n%at = make_tensor_view %p,"}})));
  EXPECT_FALSE(IsFetched(
      absl::StrReplaceAll(small, {{"64x64xf32", "32x64xf32"},
                                  {"%av[%i, %step] -> tile<64x64xbf16>", "%av[%i, %step] -> tile<32x64xbf16>"},
                                  {"%cv = make_partition_view %ct : partition_view<tile=(64x64)",
                                   "%cv = make_partition_view %ct : partition_view<tile=(32x64)"},
                                  {"%av = make_partition_view %at : partition_view<tile=(64x64)",
                                   "%av = make_partition_view %at : partition_view<tile=(32x64)"}})));
  // Targets without TMA, or without an instruction that reads stages.
  for (int sm : {80, 120}) EXPECT_FALSE(absl::StrContains(CompileText(small, sm, "", true).ptx, "cp.async.bulk")) << sm;
}

TEST(FetchPtx, BlocksThatMayWaitForOthersAreNotPersistent) {
  const std::string text = absl::StrReplaceAll(
      Product(),
      {{"256", "128"},
       {"  return", "  %p, %t = atomic_rmw_tko relaxed device %c, addf, %zero.1 -> tile<f32>, token\n  return"},
       {"%first = ", "%zero.1 = constant <f32: 0> : tile<f32>\n  %first = "}});
  const CompiledText c = Compiled90(text);
  EXPECT_FALSE(c.persistent);
  EXPECT_GT(Count(c.ptx, "cp.async.bulk.tensor"), 0);
}

TEST(FetchPtx, ScratchMemoryLiesBesideTheStages) {
  // A result in bf16 is turned for its store, through shared memory.
  const std::string text = absl::StrReplaceAll(
      Product(), {{"%c: tile<ptr<f32>>", "%c: tile<ptr<bf16>>"},
                  {"-> tensor_view<?x?xf32, strides=[?,1]>", "-> tensor_view<?x?xbf16, strides=[?,1]>"},
                  {"tensor_view<?x?xf32, strides=[?,1]>>", "tensor_view<?x?xbf16, strides=[?,1]>>"},
                  {"  store_view_tko weak %sum,",
                   "  %short = ftof %sum : tile<128x256xf32> -> tile<128x256xbf16>\n  store_view_tko weak %short,"}});
  const CompiledText c = Compiled90(text);
  EXPECT_EQ(Count(c.ptx, "mbarrier.init"), 8);
  EXPECT_EQ(Count(c.ptx, "wgmma.wait_group.sync.aligned 0;"), 1);
}

// Accumulators in another layout are converted in every round, before anything is awaited.
TEST(FetchPtx, WhatIsCarriedMayNeedConversion) {
  const std::string small = absl::StrReplaceAll(Product(), {{"256", "64"}, {"128", "64"}});
  EXPECT_TRUE(IsFetched(absl::StrReplaceAll(
      small, {{"%acc = %zero)", "%acc = %s.2)"}, {"%sum = for", R"(%s.1 = reshape %zero -> tile<16x64x4xf32>
  %s = scan %s.1 dim=1 reverse=true identities=[0 : f32] : tile<16x64x4xf32> -> tile<16x64x4xf32> (%e: tile<f32>, %a1: tile<f32>) {
    %b1 = addf %e, %a1
    yield %b1 : tile<f32>
  }
  %s.2 = reshape %s -> tile<64x64xf32>
  %sum = for)"}})));
}

TEST(FetchPtx, IndicesMayBeComputedAndTokensPassedOn) {
  const std::string small = absl::StrReplaceAll(Product(), {{"256", "64"}, {"128", "64"}});
  EXPECT_TRUE(IsFetched(
      absl::StrReplaceAll(small, {{"%x, %t1 =", "%step.2 = addi %step, %one\n%t0 = make_token : token\n%x, %t1 ="},
                                  {"%av[%i, %step]", "%av[%i, %step.2] token = %t0"},
                                  {"%bv[%step, %j]", "%bv[%step, %j] token = %t1"}})));
}

}  // namespace
}  // namespace tile::codegen
