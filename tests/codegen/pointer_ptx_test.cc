// Pointers as frontends compute them: which forms of addresses and masks give accesses of sixteen bytes under one predicate,
// which are tested at run time, and what the remarks say is missing.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

CompiledText Compiled90(const std::string& text) {
  const CompiledText c = CompileText(text, 90);
  EXPECT_EQ(c.error, "") << text;
  EXPECT_EQ(AssemblerErrors(c, 90), "");
  return c;
}

// A row of a matrix, as `gather` and `scatter` of cuTile address it: in 64 bits, each part times its stride, and masked by both
// bounds. E: the element; AN: what divides the number of columns; INDEX: how the columns follow from %iota.
std::string Row(const std::string& elem, const std::string& an, const std::string& index = "%iota") {
  return absl::StrReplaceAll(
             R"(
entry @row(%x: tile<ptr<E>>, %y: tile<ptr<E>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {
  %x.a = assume div_by<16>, %x
  %y.a = assume div_by<16>, %y
  %n.d = assume div_by<AN>, %n
  %n.a = assume bounded<0, ?>, %n.d
  %stride.a = assume div_by<16>, %stride
  %one = constant <i64: 1> : tile<8192xi64>
  %c1024 = constant <i32: 1024> : tile<8192xi32>
  %row, %b.y, %b.z = get_tile_block_id
  %row.w = exti %row signed -> tile<i64>
  %row.1 = reshape %row.w -> tile<1xi64>
  %row.n = broadcast %row.1 -> tile<8192xi64>
  %m.w = exti %m signed -> tile<i64>
  %m.1 = reshape %m.w -> tile<1xi64>
  %m.n = broadcast %m.1 -> tile<8192xi64>
  %in.m = cmpi less_than %row.n, %m.n, unsigned -> tile<8192xi1>
  %s.w = exti %stride.a signed -> tile<i64>
  %s.1 = reshape %s.w -> tile<1xi64>
  %s.n = broadcast %s.1 -> tile<8192xi64>
  %down = muli %row.n, %s.n
  %iota = iota -> tile<8192xi32>
  %moved = addi %iota, %c1024
  %col = exti INDEX signed : tile<8192xi32> -> tile<8192xi64>
  %n.w = exti %n.a signed -> tile<i64>
  %n.1 = reshape %n.w -> tile<1xi64>
  %n.n = broadcast %n.1 -> tile<8192xi64>
  %in.n = cmpi less_than %col, %n.n, unsigned -> tile<8192xi1>
  %mask = andi %in.m, %in.n
  %along = muli %col, %one
  %at = addi %down, %along
)",
             {{"<E>", absl::StrCat("<", elem, ">")}, {"AN", an}, {"INDEX", index}}) +
         CopyLines(8192, elem, "%at", "%at", "%mask");
}

TEST(PointerPtx, RowsOfMatricesMoveBySixteenBytes) {
  for (const char* elem : {"i8", "f8E4M3FN", "i16", "f16", "bf16", "f32", "i64"}) {
    for (const char* index : {"%iota", "%moved"}) {
      const CompiledText c = Compiled90(Row(elem, "16", index));
      const std::string wide = std::string(elem) == "i64" ? ".v2.b64" : ".v4.b32";
      EXPECT_GT(Count(c.ptx, absl::StrCat("ld.global", wide)), 0) << elem;
      EXPECT_EQ(Count(c.ptx, "ld.global"), Count(c.ptx, absl::StrCat("ld.global", wide))) << elem;
      EXPECT_EQ(Count(c.ptx, "st.global"), Count(c.ptx, absl::StrCat("st.global", wide))) << elem;
    }
  }
  // Twice sixteen bytes to each of 512 threads, and one test of the column for each. One is for the wait (codegen/llvm/delay_grid_wait.h).
  const CompiledText c = Compiled90(Row("f16", "16"));
  EXPECT_EQ(Count(c.ptx, "ld.global.v4.b32"), 2);
  EXPECT_LE(Count(c.ptx, "setp."), 5);
}

// Columns of 128 are loaded by eight bytes, and stored as rows of four: threads exchange them and store eight bytes, too. Rows of two are four
// bytes, as two elements of two; those stay where they are.
TEST(PointerPtx, PartsOfWordsAreJoinedBeforeTheyAreStored) {
  const std::string text = R"(
entry @turn(%x: tile<ptr<bf16>>, %y: tile<ptr<bf16>>) {
  %x.a = assume div_by<16>, %x
  %y.a = assume div_by<16>, %y
  %rows = iota -> tile<128xi32>
  %row.1 = reshape %rows -> tile<128x1xi32>
  %row = broadcast %row.1 -> tile<128xNxi32>
  %columns = iota -> tile<Nxi32>
  %column.1 = reshape %columns -> tile<1xNxi32>
  %column = broadcast %column.1 -> tile<128xNxi32>
  %n = constant <i32: N> : tile<128xNxi32>
  %m = constant <i32: 128> : tile<128xNxi32>
  %down = muli %column, %m
  %from = addi %down, %row
  %along = muli %row, %n
  %to = addi %along, %column
  %x.1 = reshape %x.a -> tile<1x1xptr<bf16>>
  %x.n = broadcast %x.1 -> tile<128xNxptr<bf16>>
  %x.p = offset %x.n, %from
  %y.1 = reshape %y.a -> tile<1x1xptr<bf16>>
  %y.n = broadcast %y.1 -> tile<128xNxptr<bf16>>
  %y.p = offset %y.n, %to
  %v, %t = load_ptr_tko weak %x.p
  store_ptr_tko weak %y.p, %v
  return
}
)";
  const CompiledText four = Compiled90(absl::StrReplaceAll(text, {{"N", "4"}}));
  EXPECT_EQ(Count(four.ptx, "ld.global.v2.b32"), 1);
  EXPECT_EQ(Count(four.ptx, "st.global"), 1);
  EXPECT_EQ(Count(four.ptx, "st.global.v2.b32"), 1);
  const CompiledText two = Compiled90(absl::StrReplaceAll(text, {{"N", "2"}}));
  EXPECT_EQ(Count(two.ptx, "bar.sync"), 0);
}

// What is known to be equal for the neighbours in a vector is compared once for all of them, whoever uses it.
TEST(PointerPtx, AMaskOfVectorsIsComparedOncePerVector) {
  const std::string masked = absl::StrReplaceAll(
      Row("f32", "16"), {{"  store_ptr_tko weak %y.p, %v, %mask",
                          "  %zero = constant <f32: 0.0> : tile<8192xf32>\n  %twice = addf %v, %v\n"
                          "  %kept = select %mask, %twice, %zero\n  store_ptr_tko weak %y.p, %kept"}});
  const CompiledText c = Compiled90(masked);
  ASSERT_EQ(Count(c.ptx, "selp."), 16);
  EXPECT_LE(Count(c.ptx, "setp."), 7);
  const CompiledText within = Compiled90(absl::StrReplaceAll(masked, {{"div_by<16>, %n", "div_by<2>, %n"}}));
  EXPECT_GE(Count(within.ptx, "setp."), 9);
}

TEST(PointerPtx, ABoundWithinAVectorIsTested) {
  const CompiledText c = Compiled90(Row("f16", "1"));
  EXPECT_EQ(Count(c.ptx, "ld.global.v4.b32"), 2);
  EXPECT_EQ(Count(c.ptx, "ld.global.b16"), 16);
  EXPECT_EQ(Count(c.ptx, "st.global.v4.b32"), 2);
  EXPECT_EQ(Count(c.ptx, "st.global.b16"), 16);
}

// Where only the address's alignment is open, neighbours that are accessed one by one take no registers for their addresses: a thread has as
// many elements as where it is known.
TEST(PointerPtx, NeighboursFollowFromTheFirst) {
  const std::string open =
      absl::StrReplaceAll(Row("f16", "16"), {{"%y.a = assume div_by<16>", "%y.a = assume div_by<2>"}});
  const CompiledText c = Compiled90(open);
  EXPECT_EQ(Count(c.ptx, "ld.global.v4.b32"), 4);
  EXPECT_EQ(Count(c.ptx, "st.global.v4.b32"), 4);
  EXPECT_EQ(Count(c.ptx, "st.global.b16"), 32);
  EXPECT_EQ(Count(c.ptx, "+14], "), 4);
}

// Columns of a block, modulo their number, as Triton's products take them. PROMISE: of the number of the block; WRAP: of its start.
std::string Modulo(const std::string& promise, const std::string& wrap) {
  return absl::StrReplaceAll(R"(
entry @modulo(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %k: tile<i32>, %n: tile<i32>) {
  %x.a = assume div_by<16>, %x
  %y.a = assume div_by<16>, %y
  %n.a = assume div_by<16>, %n
  %size = constant <i32: 1024> : tile<i32>
  %pid, %b.y, %b.z = get_tile_block_id
  %q = divi %pid, %k signed
  PROMISE
  %start = muli %p, %size WRAP
  %start.1 = reshape %start -> tile<1xi32>
  %start.n = broadcast %start.1 -> tile<1024xi32>
  %iota = iota -> tile<1024xi32>
  %at = addi %start.n, %iota
  %n.1 = reshape %n.a -> tile<1xi32>
  %n.n = broadcast %n.1 -> tile<1024xi32>
  %column = remi %at, %n.n signed
)",
                             {{"PROMISE", promise}, {"WRAP", wrap}}) +
         CopyLines(1024, "f16", "%column", "%iota");
}

TEST(PointerPtx, RemaindersOfBlocksAreNeighbours) {
  const std::string promise = "%p = assume bounded<0, ?>, %q";
  const CompiledText c = Compiled90(Modulo(promise, "overflow<no_signed_wrap>"));
  EXPECT_GT(Count(c.ptx, "ld.global.v4.b32"), 0);
  EXPECT_EQ(Count(c.ptx, "ld.global"), Count(c.ptx, "ld.global.v4.b32"));
  // A block that begins below zero at a multiple of n: its first element is 0, its second 1 - n.
  for (const CompiledText& d :
       {Compiled90(Modulo(promise, "")), Compiled90(Modulo("%p = addi %q, %q", "overflow<no_signed_wrap>"))}) {
    EXPECT_GT(Count(d.ptx, "ld.global.b16"), 0);
  }
}

// Pointers that a loop moves on, and a row of them for each row of a tile.
std::string Moved(const std::string& turned, const std::string& by) {
  return absl::StrReplaceAll(R"(
entry @moved(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %n: tile<i32>) {
  %x.a = assume div_by<16>, %x
  %y.a = assume div_by<16>, %y
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %width = constant <i32: WIDTH> : tile<64x64xi32>
  %step = constant <i32: BY> : tile<64x64xi32>
  %iota = iota -> tile<64xi32>
  %rows.1 = reshape %iota -> tile<ROW>
  %rows = broadcast %rows.1 -> tile<64x64xi32>
  %columns.1 = reshape %iota -> tile<COLUMN>
  %columns = broadcast %columns.1 -> tile<64x64xi32>
  %down = muli %rows, %width
  %at = addi %down, %columns
  %x.1 = reshape %x.a -> tile<1x1xptr<f16>>
  %x.n = broadcast %x.1 -> tile<64x64xptr<f16>>
  %x.p = offset %x.n, %at
  %y.1 = reshape %y.a -> tile<1x1xptr<f16>>
  %y.n = broadcast %y.1 -> tile<64x64xptr<f16>>
  %y.p = offset %y.n, %at
  %a, %b = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%p = %x.p, %q = %y.p)
      -> (tile<64x64xptr<f16>>, tile<64x64xptr<f16>>) {
    %v, %t = load_ptr_tko weak %p -> tile<64x64xf16>, token
    store_ptr_tko weak %q, %v -> token
    %p.1 = offset %p, %step
    %q.1 = offset %q, %step
    continue %p.1, %q.1 : tile<64x64xptr<f16>>, tile<64x64xptr<f16>>
  }
  return
}
)",
                             {{"ROW", turned == "yes" ? "1x64xi32" : "64x1xi32"},
                              {"COLUMN", turned == "yes" ? "64x1xi32" : "1x64xi32"},
                              {"WIDTH", "1024"},
                              {"BY", by}});
}

TEST(PointerPtx, LoopsMovePointersOn) {
  for (const char* turned : {"no", "yes"}) {
    const CompiledText c = Compiled90(Moved(turned, "64"));
    EXPECT_GT(Count(c.ptx, "ld.global.v4.b32"), 0) << turned;
    EXPECT_EQ(Count(c.ptx, "ld.global"), Count(c.ptx, "ld.global.v4.b32")) << turned;
    EXPECT_EQ(Count(c.ptx, "st.global"), Count(c.ptx, "st.global.v4.b32")) << turned;
    // Nothing moves between threads.
    EXPECT_EQ(Count(c.ptx, "bar.sync"), 0) << turned;
    // By steps that are no multiple of a vector: only a run can tell.
    const CompiledText d = Compiled90(Moved(turned, "60"));
    EXPECT_GT(Count(d.ptx, "ld.global.v4.b32"), 0) << turned;
    EXPECT_GT(Count(d.ptx, "ld.global.b16"), 0) << turned;
  }
}

// Remarks on the accesses.
std::vector<std::string> Remarks(const std::string& text) {
  std::vector<std::string> remarks;
  for (const std::string& line : Compiled90(text).remarks) {
    if (absl::StrContains(line, "remark[vector]")) remarks.push_back(line);
  }
  return remarks;
}

TEST(PointerPtx, RemarksNameTheMissingFact) {
  const std::vector<std::string> aligned = Remarks(Row("f16", "16"));
  ASSERT_EQ(aligned.size(), 2u);
  EXPECT_TRUE(absl::EndsWith(aligned[0], "8 elements (16 bytes) at a time")) << aligned[0];
  const std::vector<std::string> bound = Remarks(Row("f16", "4"));
  ASSERT_EQ(bound.size(), 2u);
  EXPECT_TRUE(absl::StrContains(bound[0], "the bound that cmpi compares with is not known to be a multiple of 8"))
      << bound[0];
  // By a stride that nobody knows.
  const std::vector<std::string> apart =
      Remarks(absl::StrReplaceAll(Row("f16", "16"), {{"muli %col, %one", "muli %col, %s.n"}}));
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_TRUE(absl::StrContains(apart[0], "element by element")) << apart[0];
  EXPECT_TRUE(absl::StrContains(apart[0], "behind muli, neighbours need not rise by one (test.tile:30:12)"))
      << apart[0];
}

// Products of two tiles of 16384, 32 registers each in a thread; stored to TO.
std::string LargeProduct(const std::string& to, const std::string& token = "") {
  std::string text =
      "entry @pieces(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {\n  %i = iota : tile<16384xi32>\n";
  for (const std::string name : {"%x", "%y", "%z"}) {
    absl::StrAppend(&text, "  ", name, ".a = assume div_by<16>, ", name, "\n",
                    SplatLines(name + ".n", name + ".a", 16384, "ptr<f32>"), "  ", name, ".p = offset ", name,
                    ".n, %i\n");
  }
  return absl::StrCat(text,
                      "  %v, %t1 = load_ptr_tko weak %x.p -> tile<16384xf32>, token\n"
                      "  %w, %t2 = load_ptr_tko weak %y.p -> tile<16384xf32>, token\n"
                      "  %r = mulf %v, %w\n  store_ptr_tko weak ",
                      to, ", %r", token, " -> token\n  return\n}\n");
}

// Loads in front of the first store, and in front of others: "4 2 2".
std::string LoadsBeforeStores(const std::string& ptx) {
  std::vector<int> loads = {0};
  bool stored = false;
  for (const absl::string_view line : absl::StrSplit(ptx, '\n')) {
    if (absl::StrContains(line, "ld.global")) {
      if (stored) loads.push_back(0);
      ++loads.back();
    }
    if (absl::StrContains(line, "ld.global") || absl::StrContains(line, "st.global"))
      stored = absl::StrContains(line, "st.global");
  }
  return absl::StrJoin(loads, " ");
}

// Four loads of a thread are on their way; each store makes room for two.
TEST(PointerPtx, LargeTilesAreStoredInPieces) {
  EXPECT_EQ(LoadsBeforeStores(Compiled90(LargeProduct("%z.p")).ptx), "4 2 2 2 2 2 2");
  // A store that follows a load, by its token or because it goes to the same place, follows all of it.
  EXPECT_EQ(LoadsBeforeStores(Compiled90(LargeProduct("%z.p", " token = %t2")).ptx), "16");
  EXPECT_EQ(LoadsBeforeStores(Compiled90(LargeProduct("%y.p")).ptx), "16");
}

// Rows that are repeated along the last dimension have its elements in the last registers: what is stored has neighbours first.
constexpr char kRepeated[] = R"(entry @k(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %zero = constant <i32: 0> : tile<i32>
  %xa = assume div_by<16>, %x : tile<ptr<f16>>
  %ya = assume div_by<16>, %y : tile<ptr<f16>>
  %xt = make_tensor_view %xa, shape = [256], strides = [1] : tensor_view<256xf16, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(256), tensor_view<256xf16, strides=[1]>>
  %a, %t = load_view_tko weak %xv[%zero]
  %a1 = reshape %a : tile<256xf16> -> tile<256x1xf16>
  %all = broadcast %a1 : tile<256x1xf16> -> tile<256x4xf16>
  %i = iota : tile<4xi32>
  %f = itof %i signed : tile<4xi32> -> tile<4xf16>
  %f1 = reshape %f : tile<4xf16> -> tile<1x4xf16>
  %fs = broadcast %f1 : tile<1x4xf16> -> tile<256x4xf16>
  %b = mulf %all, %fs : tile<256x4xf16>
  %c = reshape %b : tile<256x4xf16> -> tile<1024xf16>
  %lane = iota : tile<1024xi32>
  %y1 = reshape %ya : tile<ptr<f16>> -> tile<1xptr<f16>>
  %ys = broadcast %y1 : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %p = offset %ys, %lane : tile<1024xptr<f16>>, tile<1024xi32>
  store_ptr_tko weak %p, %c : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
)";

TEST(PointerPtx, StoresTakeNeighboursFirst) {
  const CompiledText c = CompileText(kRepeated, 90);
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(Count(c.ptx, "st.global.b16"), 0);
  EXPECT_GT(Count(c.ptx, "st.global.v"), 0);
}

}  // namespace
}  // namespace tile::codegen
