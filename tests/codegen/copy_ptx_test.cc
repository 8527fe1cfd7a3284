// Loops over matrix products without TMA: operands copied ahead by all threads, multiplied by mma.sync or fma. Which
// operands, by which instructions, and what waits for what.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

std::string Product() { return ProductText(64, 64, 32); }

// The same where everything is known to be a multiple of 64.
std::string Aligned() {
  return absl::StrReplaceAll(
      Product(), {{"  %at = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1]",
                   "  %a1 = assume div_by<16>, %a : tile<ptr<bf16>>\n  %b1 = assume div_by<16>, %b : tile<ptr<bf16>>\n"
                   "  %n1 = assume div_by<64>, %n : tile<i32>\n  %k1 = assume div_by<64>, %k : tile<i32>\n"
                   "  %m1 = assume div_by<64>, %m : tile<i32>\n"
                   "  %at = make_tensor_view %a1, shape = [%m1, %k1], strides = [%k1, 1]"},
                  {"make_tensor_view %b, shape = [%k, %n], strides = [%n, 1]",
                   "make_tensor_view %b1, shape = [%k1, %n1], strides = [%n1, 1]"}});
}

CompiledText Compiled(const std::string& text, int sm = 80) {
  const CompiledText c = CompileText(text, sm);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
  return c;
}

// Operands that are copied ahead: loads in vectors of 16 bytes, of those 4 or 2 for each thread of 4 warps.
bool IsCopied(const std::string& text, int sm = 80) {
  return absl::StrContains(Compiled(text, sm).ptx, "cp.async.commit_group");
}

TEST(CopyPtx, ThreadsCopyLaterRoundsWhileTheyMultiply) {
  const CompiledText c = Compiled(Aligned());
  // Two operands of 4 KiB, 128 threads: two vectors of each, before the loop and in it.
  EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), 8);
  EXPECT_EQ(Count(c.ptx, "cp.async.commit_group;"), 2);
  EXPECT_EQ(Count(c.ptx, "cp.async.wait_group 4;"), 1);  // six stages, as they are small
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 1);
  // Nothing goes through registers: fragments come by ldmatrix, of the right operand across.
  EXPECT_EQ(Count(c.ptx, "st.shared"), 0);
  EXPECT_EQ(Count(c.ptx, "ld.global"), 0);
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 4);
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 4);
  EXPECT_EQ(Count(c.ptx, "mma.sync.aligned.m16n8k16"), 16);
}

TEST(CopyPtx, WhatIsOutsideOrNotAligned) {
  // Where sizes are not known to hold tiles, less than a vector's 16 bytes are read: none. Unaligned elements of two
  // bytes go through registers, a test chooses once.
  const CompiledText c = Compiled(Product());
  EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), 8);
  EXPECT_EQ(Count(c.ptx, ", 16, %p"), 8);
  // Of whole tiles, too: they may lie outside.
  EXPECT_EQ(Count(Compiled(Aligned()).ptx, ", 16, %p"), 8);
  EXPECT_EQ(Count(c.ptx, "ld.global.b16"), 2 * 2 * 16);
  // Elements of four bytes are copied one by one.
  const std::string wide = absl::StrReplaceAll(Product(), {{"bf16", "f32"}});
  EXPECT_GT(Count(Compiled(wide).ptx, "cp.async.ca.shared.global"), 0);
  EXPECT_EQ(Count(Compiled(wide).ptx, "ld.global"), 0);
}

TEST(CopyPtx, OperandsOneByOne) {
  // The left operand is computed of what is copied: it is read as fragments, and needs no more shared memory or barriers.
  const CompiledText c = Compiled(
      absl::StrReplaceAll(Aligned(), {{"mmaf %x,", "mmaf %w,"}, {"    %next", "    %w = negf %x\n    %next"}}));
  EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), 8);
  EXPECT_EQ(Count(c.ptx, "bar.sync"), 1);
  EXPECT_EQ(Count(c.ptx, "st.shared"), 0);
  EXPECT_EQ(Count(c.ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 4);
  // By fma; a load for both products of a loop.
  EXPECT_TRUE(IsCopied(absl::StrReplaceAll(Product(), {{"bf16", "f32"}})));
  EXPECT_TRUE(IsCopied(absl::StrReplaceAll(Product(), {{"bf16", "f64"}, {"f32", "f64"}})));
  EXPECT_TRUE(IsCopied(absl::StrReplaceAll(Product(), {{"bf16", "tf32"}})));
}

// Of f32, rounded to tf32 for the product; the left operand is this value, which `made` makes.
std::string RoundedToTf32(const std::string& left, const std::string& made = "") {
  const std::string rounded = absl::StrCat(made, "    %xr = ftof ", left,
                                           " : tile<64x32xf32> -> tile<64x32xtf32>\n"
                                           "    %yr = ftof %y : tile<32x64xf32> -> tile<32x64xtf32>\n    %next");
  return absl::StrReplaceAll(Aligned(), {{"bf16", "f32"}, {"mmaf %x, %y,", "mmaf %xr, %yr,"}, {"    %next", rounded}});
}

// Words of a computed operand lie along K as ldmatrix reads them: of vectors each would be moved once more.
TEST(CopyPtx, ComputedWordsComeByLdmatrix) {
  const std::string text = RoundedToTf32("%w", "    %w = negf %x\n");
  // 64 x 32 words, of which a warp of four reads half: eight instructions that read four matrices of 8 x 4.
  EXPECT_EQ(Count(Compiled(text).ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 8);
}

// f32 that is rounded to tf32 for the product lies in the stages as it is: mma.sync rounds fragments, of both operands here
// 32 elements a thread; for wgmma each thread rounds what it copied, before the one barrier.
TEST(CopyPtx, ConversionsThatKeepTheSize) {
  const std::string text = RoundedToTf32("%x");
  const CompiledText old = Compiled(text), now = Compiled(text, 90);
  for (const CompiledText* c : {&old, &now}) {
    EXPECT_EQ(Count(c->ptx, "cp.async.cg.shared.global"), 16);
    EXPECT_EQ(Count(c->ptx, "bar.sync"), 1);
    EXPECT_EQ(Count(c->ptx, "st.shared"), 0);
    EXPECT_EQ(Count(c->ptx, "ld.global"), 0);
    EXPECT_EQ(Count(c->ptx, "mma.sync.aligned.m16n8k8"), 32);
  }
  EXPECT_EQ(Count(old.ptx, "cvt.rn.tf32.f32"), 0);
  EXPECT_EQ(Count(now.ptx, "cvt.rn.tf32.f32"), 64);
  // With the right operand along K, too, by wgmma, which sees what other threads wrote behind a fence.
  const CompiledText across =
      Compiled(absl::StrReplaceAll(text, {{"strides = [%n1, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>",
                                           "strides = [1, %k1] : tile<i32> -> tensor_view<?x?xf32, strides=[1,?]>"},
                                          {"(32x64), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>",
                                           "(32x64), padding_value = zero, tensor_view<?x?xf32, strides=[1,?]>"}}),
               90);
  EXPECT_EQ(Count(across.ptx, "cvt.rn.tf32.f32"), 32);
  EXPECT_EQ(Count(across.ptx, "ld.shared.v4"), 8);
  EXPECT_EQ(Count(across.ptx, "st.shared.v4"), 8);
  EXPECT_EQ(Count(across.ptx, "fence.proxy.async.shared::cta"), 1);
  EXPECT_EQ(Count(across.ptx, "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32"), 4);
  EXPECT_EQ(Count(across.ptx, "cp.async.bulk"), 0);
  // If something else happens to a tile, it is read from its stage for that.
  EXPECT_EQ(Count(Compiled(absl::StrReplaceAll(text, {{"%xr = ftof %x", "%x2 = negf %x\n    %xr = ftof %x2"}})).ptx,
                  "cp.async.cg.shared.global"),
            16);
}

// A fence may wait for the copies of all later rounds: there is none where only copies bring what wgmma reads.
TEST(CopyPtx, NoFenceBetweenCopiesAndWgmma) {
  const std::string forbidden = absl::StrReplaceAll(
      Aligned(), {{"%av[%i, %step]", "%av[%i, %step] optimization_hints = <default = {allow_tma = false}>"}});
  const std::string ptx = Compiled(forbidden, 90).ptx;
  EXPECT_EQ(Count(ptx, "cp.async.bulk"), 0);
  EXPECT_EQ(Count(ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"), 2);
  EXPECT_EQ(Count(ptx, "cp.async.cg.shared.global"), 8);
  EXPECT_EQ(Count(ptx, "fence.proxy.async"), 0);
}

// A product by wgmma is waited for when the next one has begun; then, behind a barrier, its stage is filled again.
TEST(CopyPtx, AProductRunsUntilTheNextOneHasBegun) {
  const std::string text = absl::StrReplaceAll(
      Aligned(), {{"%av[%i, %step]", "%av[%i, %step] optimization_hints = <default = {allow_tma = false}>"}});
  const std::string ptx = Compiled(text, 90).ptx;
  const size_t begun = ptx.find("wgmma.commit_group"), awaited = ptx.find("wgmma.wait_group.sync.aligned 1;"),
               drained = ptx.find("wgmma.wait_group.sync.aligned 0;");
  ASSERT_NE(drained, std::string::npos);
  EXPECT_LT(begun, awaited);
  EXPECT_LT(awaited, drained);
  const size_t barrier = ptx.find("bar.sync", awaited);
  EXPECT_LT(barrier, ptx.find("cp.async.c", awaited));
  // The loop has nothing else to wait for.
  EXPECT_EQ(Count(ptx, "wgmma.wait_group"), 2);
  EXPECT_EQ(Count(ptx.substr(0, drained), "bar.sync"), 2);
  // Of two products all of the iteration before are waited for, when the second one has begun.
  const std::string two =
      Compiled(
          absl::StrReplaceAll(
              text, {{"iter_values(%acc = %zero) -> (tile<64x64xf32>)",
                      "iter_values(%acc = %zero, %acc.2 = %zero) -> (tile<64x64xf32>, tile<64x64xf32>)"},
                     {"%sum = for", "%sum, %sum.2 = for"},
                     {"continue %next : tile<64x64xf32>",
                      "%next.2 = mmaf %x, %y, %acc.2\n"
                      "    continue %next, %next.2 : tile<64x64xf32>, tile<64x64xf32>"},
                     {"  store_view_tko weak %sum,", "  %both = addf %sum, %sum.2\n  store_view_tko weak %both,"}}),
          90)
          .ptx;
  const size_t last = two.rfind("wgmma.commit_group");
  EXPECT_LT(last, two.find("wgmma.wait_group"));
  EXPECT_EQ(Count(two, "wgmma.wait_group.sync.aligned 2;"), 1);
  EXPECT_EQ(Count(two, "wgmma.wait_group"), 2);
  EXPECT_LT(two.find("wgmma.wait_group"), two.find("cp.async.c", last));
  // Sums that the loop reads are waited for where they are made.
  const std::string read =
      Compiled(absl::StrReplaceAll(
                   text, {{"%next = mmaf %x, %y, %acc", "%made = mmaf %x, %y, %acc\n    %next = negf %made"}}),
               90)
          .ptx;
  EXPECT_EQ(Count(read, "wgmma.wait_group.sync.aligned 0;"), 1);
  EXPECT_EQ(Count(read, "wgmma.wait_group"), 1);
}

// Lines that make %NAME.p, pointers to 64 x 64 elements whose rows lie 4096 apart, behind %NAME, which is aligned.
std::string PointerLines(const std::string& name) {
  return absl::StrReplaceAll(R"(
  %NAME.a = assume div_by<16>, %NAME
  %NAME.1 = reshape %NAME.a -> tile<1x1xptr<f16>>
  %NAME.n = broadcast %NAME.1 -> tile<64x64xptr<f16>>
  %NAME.p = offset %NAME.n, %at
)",
                             {{"NAME", name}});
}

// Through pointers that only arithmetic makes, copies stand under a predicate in place of a branch, and addresses are computed before the
// product is waited for.
TEST(CopyPtx, CopiesThroughPointersHaveNoBranch) {
  const std::string text = absl::StrCat(R"(
entry @product(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %k: tile<i32>) {
  %iota = iota -> tile<64xi32>
  %width = constant <i32: 4096> : tile<64xi32>
  %down = muli %iota, %width
  %down.1 = reshape %down -> tile<64x1xi32>
  %down.n = broadcast %down.1 -> tile<64x64xi32>
  %across.1 = reshape %iota -> tile<1x64xi32>
  %across.n = broadcast %across.1 -> tile<64x64xi32>
  %at = addi %down.n, %across.n
)",
                                        PointerLines("a"), PointerLines("b"), R"(
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %step = constant <i32: 64> : tile<64x64xi32>
  %zero = constant <f32: 0> : tile<64x64xf32>
  %sum = for %i in (%first to %k, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %i.1 = reshape %i -> tile<1x1xi32>
    %i.n = broadcast %i.1 -> tile<64x64xi32>
    %far = muli %i.n, %step
    %a.i = offset %a.p, %far
    %b.i = offset %b.p, %far
    %x, %t1 = load_ptr_tko weak %a.i -> tile<64x64xf16>, token
    %y, %t2 = load_ptr_tko weak %b.i -> tile<64x64xf16>, token
    %next = mmaf %x, %y, %acc
    continue %next : tile<64x64xf32>
  }
  %ct = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %cv = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  store_view_tko weak %sum, %cv[%first, %first] -> token
  return
}
)");
  const auto behind_product = [](const std::string& ptx) {
    const size_t begun = ptx.find("wgmma.commit_group");
    return ptx.substr(begun, ptx.find("cp.async.commit_group", begun) - begun);
  };
  const std::string behind = behind_product(Compiled(text, 90).ptx);
  EXPECT_EQ(Count(behind, "bra"), 0) << behind;
  EXPECT_EQ(Count(behind, " cp.async.cg.shared.global"), 8);  // behind predicates
  EXPECT_EQ(Count(behind, "+2048], [%rd"), 2);                // from one place for each operand
  // A quotient is computed only for iterations that there are.
  const std::string divided = behind_product(Compiled(absl::StrReplaceAll(text, {{"%far = muli %i.n, %step",
                                                                                  "%parts = divi %step, %i.n signed\n"
                                                                                  "    %far = muli %parts, %step"}}),
                                                      90)
                                                 .ptx);
  EXPECT_GT(Count(divided, "bra"), 0);
  EXPECT_EQ(Count(divided, " cp.async.cg.shared.global"), 0) << divided;
  EXPECT_EQ(Count(divided, "cp.async.cg.shared.global"), 8);
}

// Four neighbouring lanes have 16 bytes of a result's row in 16 bits: half a sector. So elements go to other threads first, through
// memory of stages that nobody reads any more; where stages are still in use, by shuffles among the lanes of a row.
TEST(CopyPtx, ResultsLeaveInWholeSectors) {
  const std::string text =
      absl::StrReplaceAll(Aligned(), {{"%c: tile<ptr<f32>>", "%c: tile<ptr<bf16>>"},
                                      {"?x?xf32", "?x?xbf16"},
                                      {"make_tensor_view %c, shape = [%m, %n], strides = [%n, 1]",
                                       "make_tensor_view %c1, shape = [%m1, %n1], strides = [%n1, 1]"},
                                      {"  %at = make", "  %c1 = assume div_by<16>, %c : tile<ptr<bf16>>\n  %at = make"},
                                      {"store_view_tko weak %sum",
                                       "%h = ftof %sum -> tile<64x64xbf16>\n"
                                       "  store_view_tko weak %h"}});
  for (const int sm : {80, 90}) {
    const std::string ptx = Compiled(text, sm).ptx;
    EXPECT_EQ(Count(ptx, "st.global.v4.b32"), 4) << sm;
    EXPECT_EQ(Count(ptx, "st.global"), 4) << sm;
    const std::string inside =
        Compiled(absl::StrReplaceAll(text, {{"    continue %next",
                                             "    %h = ftof %next -> tile<64x64xbf16>\n"
                                             "    store_view_tko weak %h, %cv[%step, %j] -> token\n    continue %next"},
                                            {"  %h = ftof %sum", "  %h.2 = ftof %sum"},
                                            {"store_view_tko weak %h, %cv[%i", "store_view_tko weak %h.2, %cv[%i"}}),
                 sm)
            .ptx;
    EXPECT_EQ(Count(inside, "st.global.v4.b32"), 4 + 4) << sm;  // in the loop, and behind it
    EXPECT_EQ(Count(inside, "st.global.b32"), 0) << sm;
    EXPECT_GT(Count(inside, "shfl.sync"), 0) << sm;
  }
}

TEST(CopyPtx, WhatStaysAsItIs) {
  for (const int sm : AllSms()) EXPECT_EQ(IsCopied(Product(), sm), FindTarget(sm)->has(kCpAsync)) << sm;
  const auto changed = [](const std::string& from, const std::string& to) {
    return IsCopied(absl::StrReplaceAll(Product(), {{from, to}}));
  };
  // Another padding than zero; strong loads; loads ordered behind a store in the loop.
  EXPECT_FALSE(changed("padding_value = zero", "padding_value = neg_inf"));
  EXPECT_FALSE(IsCopied(absl::StrReplaceAll(Product(), {{"load_view_tko weak", "load_view_tko relaxed device"}})));
  EXPECT_FALSE(IsCopied(absl::StrReplaceAll(
      Product(), {{"%x, %t1 = load", "%before = store_view_tko weak %acc, %cv[%i, %j] -> token\n%x, %t1 = load"},
                  {"%av[%i, %step]", "%av[%i, %step] token = %before"},
                  {"%bv[%step, %j]", "%bv[%step, %j] token = %before"}})));
  // No stride is known to be 1.
  EXPECT_FALSE(IsCopied(absl::StrReplaceAll(
      Product(), {{"strides=[?,1]", "strides=[?,?]"}, {"[%k, 1]", "[%k, %k]"}, {"[%n, 1]", "[%n, %n]"}})));
}

TEST(CopyPtx, CopiesWaitForWritesBeforeTheLoop) {
  const std::string text = absl::StrReplaceAll(
      Product(), {{"%sum = for", "%before = store_view_tko weak %zero, %cv[%i, %j] -> token\n%sum = for"},
                  {"%av[%i, %step]", "%av[%i, %step] token = %before"},
                  {"%bv[%step, %j]", "%bv[%step, %j] token = %before"}});
  const std::string ptx = Compiled(text).ptx;
  const size_t store = ptx.find("st.global"), barrier = ptx.find("bar.sync"), copy = ptx.find("cp.async.c");
  ASSERT_NE(store, std::string::npos);
  ASSERT_NE(copy, std::string::npos);
  EXPECT_LT(store, barrier);
  EXPECT_LT(barrier, copy);
}

TEST(CopyPtx, LoopsThatAreRunAgainWaitForTheirReaders) {
  const std::string nested = absl::StrReplaceAll(
      Aligned(),
      {{"  %sum = for",
        "  %all = for %again in (%first to %m, step %one) : tile<i32> iter_values(%so.far = %zero) -> "
        "(tile<64x64xf32>) {\n  %sum = for"},
       {"%acc = %zero", "%acc = %so.far"},
       {"  store_view_tko weak %sum", "  continue %sum : tile<64x64xf32>\n  }\n  store_view_tko weak %all"}});
  EXPECT_EQ(Count(Compiled(nested).ptx, "bar.sync"), 2);
}

TEST(CopyPtx, RoundsThatSharedMemoryDoesNotHoldAreSplit) {
  // 64 KiB; elements are widened for fma, 128 KiB a round.
  const std::string text = absl::StrReplaceAll(ProductText(128, 128, 128), {{"bf16", "tf32"}});
  EXPECT_FALSE(IsCopied(text, 75));
}

TEST(CopyPtx, RoundsThatAreTooLargeAreSplit) {
  // Stages of 64 KiB would not fit twice into 99 KiB.
  const std::string large =
      absl::StrReplaceAll(Product(), {{"bf16", "f32"}, {"64x64", "128x128"}, {"64x32", "128x64"}, {"32x64", "64x128"}});
  EXPECT_TRUE(IsCopied(large, 86));
  // Not if the loop does something else, too: then nothing is copied ahead.
  const std::string more =
      absl::StrReplaceAll(large, {{"%next = mmaf %x, %y, %acc", "%s = mmaf %x, %y, %acc\n%next = addf %s, %s"}});
  EXPECT_FALSE(IsCopied(more, 86));
  EXPECT_TRUE(IsCopied(more, 90));
}

// An element of the left operand meets all columns of the thread one after the other, and a row takes all steps before the next.
TEST(CopyPtx, ProductsByFmaGoRowByRow) {
  const CompiledText c = CompileText(absl::StrReplaceAll(ProductText(128, 128, 32), {{"bf16", "f32"}}), 90);
  std::vector<std::vector<std::string>> calls;  // result, left, right, sum
  for (absl::string_view line : absl::StrSplit(c.llvm, '\n')) {
    if (!absl::StrContains(line, "@llvm.fma.f32(float ")) continue;
    calls.push_back(absl::StrSplit(
        absl::StrReplaceAll(line, {{" = call float @llvm.fma.f32(float ", ","}, {" float ", ""}, {" ", ""}, {")", ""}}),
        ','));
  }
  ASSERT_EQ(calls.size(), 128u * 8u);
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(calls[i][1] == calls[i + 1][1], i % 8 != 7) << i;
  for (size_t k = 1; k < 8; ++k) EXPECT_EQ(calls[8 * k][3], calls[8 * k - 8][0]) << k;
  EXPECT_NE(calls[64][3], calls[56][0]);
}

// Of 8-bit floats that lie across: %x is made in the iteration.
std::string Weighted(absl::string_view type) {
  return absl::StrReplaceAll(R"(
entry @k(%v: tile<ptr<TYPE>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %va = assume div_by<16>, %v : tile<ptr<TYPE>>
  %vt = make_tensor_view %va, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xTYPE, strides=[64,1]>
  %vv = make_partition_view %vt : partition_view<tile=(64x64), tensor_view<4096x64xTYPE, strides=[64,1]>>
  %zeros = constant <f32: 0.0> : tile<128x64xf32>
  %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %zeros) -> (tile<128x64xf32>) {
    %k1 = reshape %k : tile<i32> -> tile<1x1xi32>
    %k2 = broadcast %k1 : tile<1x1xi32> -> tile<128x64xi32>
    %f = itof %k2 signed : tile<128x64xi32> -> tile<128x64xf32>
    %x = ftof %f : tile<128x64xf32> -> tile<128x64xTYPE>
    %y, %t = load_view_tko weak %vv[%k, %zero] -> tile<64x64xTYPE>, token
    %next = mmaf %x, %y, %acc : tile<128x64xTYPE>, tile<64x64xTYPE>, tile<128x64xf32>
    continue %next : tile<128x64xf32>
  }
  %ot = make_tensor_view %o, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %ov = make_partition_view %ot : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  store_view_tko weak %sum, %ov[%zero, %zero] -> token
  return
}
)",
                             {{"TYPE", type}});
}

TEST(CopyPtx, ValuesOf8BitsThatLieAcrossAreWidenedForWgmma) {
  const std::string as_it_lies = CompileText(Weighted("bf16"), 90).ptx;  // which wgmma reads across
  EXPECT_GE(Count(as_it_lies, "m64n64k16.f32.bf16.bf16"), 4);
  for (const char* type : {"f8E5M2", "f8E4M3FN"}) {
    const CompiledText c = CompileText(Weighted(type), 90);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, 90), "");
    const auto more = [&](const char* what) { return Count(c.ptx, what) - Count(as_it_lies, what); };
    EXPECT_GE(Count(c.ptx, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"), 4) << c.ptx;
    EXPECT_EQ(Count(c.ptx, "mma.sync"), 0);
    // A thread brings 16 elements at a time, and reads, widens and stores them, two to an instruction.
    EXPECT_GE(Count(c.ptx, "cp.async.cg.shared.global"), 2);
    EXPECT_EQ(more("ld.shared.v4.b32"), 2) << c.ptx;
    EXPECT_EQ(more("st.shared.v4.b32"), 4) << c.ptx;
    EXPECT_GE(Count(CompileText(Weighted(type), 89).ptx, "mma.sync"), 1);
  }
}

TEST(CopyPtx, ValuesOf8BitsThatTmaBringsAreWidenedInPlacesOfTheirOwn) {
  const std::string as_it_lies = CompileText(Weighted("f16"), 90, "", /*descriptors=*/true).ptx;
  for (const char* type : {"f8E5M2", "f8E4M3FN"}) {
    const CompiledText c = CompileText(Weighted(type), 90, "", /*descriptors=*/true);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, 90), "");
    const auto more = [&](const char* what) { return Count(c.ptx, what) - Count(as_it_lies, what); };
    EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), 0);
    EXPECT_EQ(more("cp.async.bulk.tensor"), 0);
    EXPECT_EQ(more("m64n64k16.f32.f16.f16"), 0);
    EXPECT_EQ(more("ld.shared.v4.b32"), 2) << c.ptx;
    EXPECT_EQ(more("st.shared.v4.b32"), 4) << c.ptx;
    // Barriers of three places, full and free; each iteration waits for a free one and a full one, fences, fills and releases it.
    EXPECT_EQ(more("mbarrier.init"), 6);
    EXPECT_EQ(more("mbarrier.try_wait"), 2);
    EXPECT_EQ(more("fence.proxy.async"), 1);
    EXPECT_EQ(more("mbarrier.arrive.shared"), 2);
  }
}

TEST(CopyPtx, WhatIsWidenedBesideLateProductsIsLoadedBeforeThemAndFencedLater) {
  const std::string text = R"(
entry @late(%a: tile<ptr<f8E5M2>>, %b: tile<ptr<f8E5M2>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %at = make_tensor_view %a, shape = [64, 128], strides = [128, 1]
  %bt = make_tensor_view %b, shape = [%n, 128], strides = [128, 1]
  %yt = make_tensor_view %y, shape = [64, 128], strides = [128, 1]
  %av = make_partition_view %at : partition_view<tile=(64x128)>
  %bw = make_partition_view %bt : partition_view<tile=(128xKEYS), padding_value = zero, dim_map=[1, 0]>
  %bv = make_partition_view %bt : partition_view<tile=(KEYSx128), padding_value = zero>
  %yv = make_partition_view %yt : partition_view<tile=(64x128)>
  %none = constant <f32: 0> : tile<64x128xf32>
  %no_score = constant <f32: 0> : tile<64xKEYSxf32>
  %twos = constant <f32: 2> : tile<64x128xf32>
  %x = load_view_tko weak %av[0, 0]
  %sum = for %step in (0 to %n, step 1) iter_values(%acc = %none) {
    %k = load_view_tko weak %bw[0, %step]
    %score = mmaf %x, %k, %no_score
    %weight = exp2 %score
    %narrow = ftof %weight : tile<64xKEYSxf32> -> tile<64xKEYSxf8E5M2>
    %twice = mulf %acc, %twos
    %v = load_view_tko weak %bv[%step, 0]
    %next = mmaf %narrow, %v, %twice
    continue %next
  }
  store_view_tko weak %sum, %yv[0, 0]
  return
})";
  // Vectors of a thread, which are stored in two blocks: in the first iteration there is nothing late.
  for (const auto& [keys, vectors] : {std::pair("32", 2), std::pair("64", 4)}) {
    const CompiledText c = CompileText(absl::StrReplaceAll(text, {{"KEYS", keys}}), 90, "", /*descriptors=*/true);
    ASSERT_EQ(c.error, "");
    EXPECT_EQ(AssemblerErrors(c, 90), "");
    const std::string& code = c.llvm;
    const size_t loads = code.find("load <4 x i32>, ptr addrspace(3)"), scores = code.find("wgmma.mma_async", loads);
    const size_t late = code.find("m64n128k16.f32.f16.f16", scores), stores = code.find("store <4 x i32>", late);
    const size_t fence = code.find("fence.proxy.async", stores), exponentials = code.find("llvm.nvvm.ex2", stores);
    ASSERT_NE(fence, std::string::npos) << code;
    EXPECT_GT(fence, exponentials);
    EXPECT_EQ(Count(code.substr(loads, scores - loads), "load <4 x i32>"), vectors);
    EXPECT_EQ(Count(code.substr(late, fence - late), "store <4 x i32>"), 2 * 2 * vectors);
  }
}

TEST(CopyPtx, LargeWeightsBecomeE5M2InABlockOfTheirOwn) {
  // All weights of a thread are one test, and another one, and none of each stands before it. They are alike here: one word of four.
  const CompiledText c = CompileText(Weighted("f8E5M2"), 90);
  EXPECT_EQ(Count(c.ptx, "vote.sync.any"), 2) << c.ptx;
  const size_t branch = c.ptx.find("bra", c.ptx.find("vote.sync.any"));
  EXPECT_EQ(Count(c.ptx.substr(0, branch), "cvt.rn.satfinite.e5m2x2.f32"), 2);
  EXPECT_EQ(Count(c.ptx.substr(0, branch), "0f7F800000"), 0);
  EXPECT_GE(Count(c.ptx.substr(branch), "0f7F800000"), 2);
}

TEST(CopyPtx, OfRowsThatComeEarlyTheFirstComesAlone) {
  const std::string text = R"(
entry @sums(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %rows: tile<i32>) {
  %block, %y, %z = get_tile_block_id
  %blocks, %ny, %nz = get_num_tile_blocks
  %at = make_tensor_view %a, shape = [%rows, 16384], strides = [16384, 1]
  %bt = make_tensor_view %b, shape = [%rows], strides = [1]
  %from = make_partition_view %at : partition_view<tile=(1x16384)>
  %to = make_partition_view %bt : partition_view<tile=(1)>
  for %i in (%block to %rows, step %blocks) : tile<i32> {
    %x = load_view_tko weak %from[%i, 0]
    %r = reduce %x dim=1 identities=[0.0 : bf16] (%e: tile<bf16>, %acc: tile<bf16>) {
      %t = addf %e, %acc
      yield %t
    }
    store_view_tko weak %r, %to[%i]
  }
  return
})";
  const CompiledText c = CompileText(text, 90, "", false, /*aligned=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  // Four vectors of a thread: of the first tile, of the two behind it, and of the one three iterations later.
  EXPECT_EQ(Count(c.ptx, "cp.async.cg.shared.global"), 4 * 4);
  EXPECT_EQ(Count(c.ptx, "cp.async.commit_group;"), 4);
  EXPECT_EQ(Count(c.ptx, "cp.async.wait_group 2;"), 1);
  // In the order of the program, which blocks of PTX need not keep.
  const size_t first = c.llvm.find("cp.async.commit_group;"), await = c.llvm.find("cp.async.wait_group 0;");
  ASSERT_NE(await, std::string::npos);
  EXPECT_LT(first, await);
  EXPECT_LT(await, c.llvm.find("cp.async.commit_group;", first + 1));
}

// Of two loads that copy early, each waits for its own copies alone, as many iterations early as shared memory holds. What takes a register of a
// thread comes early in that.
TEST(CopyPtx, TwoTilesOfBlocksThatWalkAreOnTheirWay) {
  const std::string text = R"(
entry @scaled(%a: tile<ptr<bf16>>, %c: tile<ptr<bf16>>, %f: tile<ptr<f32>>, %b: tile<ptr<f32>>, %rows: tile<i32>) {
  %block, %y, %z = get_tile_block_id
  %blocks, %ny, %nz = get_num_tile_blocks
  %at = make_tensor_view %a, shape = [%rows, 8192], strides = [8192, 1]
  %ct = make_tensor_view %c, shape = [%rows, 8192], strides = [8192, 1]
  %ft = make_tensor_view %f, shape = [%rows], strides = [1]
  %bt = make_tensor_view %b, shape = [%rows], strides = [1]
  %av = make_partition_view %at : partition_view<tile=(1x8192)>
  %cv = make_partition_view %ct : partition_view<tile=(1x8192)>
  %fv = make_partition_view %ft : partition_view<tile=(1)>
  %to = make_partition_view %bt : partition_view<tile=(1)>
  for %i in (%block to %rows, step %blocks) : tile<i32> {
    %u = load_view_tko weak %av[%i, 0]
    %v = load_view_tko weak %cv[%i, 0]
    %g = load_view_tko weak %fv[%i]
    %p = mulf %u, %v
    %q = ftof %p : tile<1x8192xbf16> -> tile<1x8192xf32>
    %r = reduce %q dim=1 identities=[0.0 : f32] (%e: tile<f32>, %acc: tile<f32>) {
      %t = addf %e, %acc
      yield %t
    }
    %s = mulf %r, %g
    store_view_tko weak %s, %to[%i]
  }
  return
})";
  const CompiledText c = CompileText(text, 90, "", false, /*aligned=*/true);
  EXPECT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  // Three iterations early. In the first one each load ends as many groups as both do in all of those.
  EXPECT_EQ(Count(c.ptx, "cp.async.wait_group 5;"), 2);
  EXPECT_EQ(Count(c.ptx, "cp.async.commit_group;"), 2 * (1 + 2 * 2 + 1));
  EXPECT_EQ(Count(c.ptx, "ld.global"), 2);  // of %f, for the first iteration and for the next
}

}  // namespace
}  // namespace tile::codegen
