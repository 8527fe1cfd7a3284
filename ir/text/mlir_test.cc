// Text of MLIR's cuda_tile dialect: what it has beyond .tile, one feature per test. Whole programs: tests/mlir.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "ir/text/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tile::ir {
namespace {

// As .tile with debug records, "" if it is refused; what is said about it in `said`, one code each.
std::string Tile(absl::string_view text, std::string* said = nullptr) {
  Diagnostics diags;
  const std::unique_ptr<Module> m = ParseAndVerify(text, "f.mlir", &diags);
  std::vector<std::string> codes;
  for (const Diagnostic& d : diags.list()) codes.push_back(absl::StrCat(d.where.substr(7), " ", d.code));
  if (said != nullptr) *said = absl::StrJoin(codes, "; ");
  EXPECT_TRUE(said != nullptr || codes.empty()) << diags.ToString();
  PrintOptions options;
  options.keep_names = options.debug = true;
  return m == nullptr ? "" : Print(*m, options);
}

std::string Module(absl::string_view items) { return absl::StrCat("cuda_tile.module @m {\n", items, "\n}\n"); }
std::string Body(absl::string_view ops, std::string* said = nullptr) {
  const std::string text =
      Tile(Module(absl::StrCat("entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %c: tile<i1>) {\n", ops, "\n}")), said);
  const size_t begin = text.find("{\n"), end = text.find("  return\n");
  return begin == std::string::npos || end == std::string::npos ? text : text.substr(begin + 2, end - begin - 2);
}

TEST(Mlir, PrefixesAreNoPartOfWords) {
  EXPECT_EQ(Body("%y = cuda_tile.addf %x, %x : !cuda_tile.tile<f32>"), "  %y = addf %x, %x : tile<f32>\n");
  EXPECT_EQ(Body("%y = assume #cuda_tile.div_by<16>, %p : tile<!cuda_tile.ptr<f32>>"),
            "  %y = assume div_by<16>, %p : tile<ptr<f32>>\n");
  EXPECT_EQ(Body("%v = make_tensor_view %p, shape = [8], strides = [1] : !cuda_tile.tensor_view<8xf32, strides=[1]>"),
            "  %v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>\n");
}

TEST(Mlir, ModulesHaveBracesAndAttributes) {
  EXPECT_EQ(Tile("cuda_tile.module @m attributes {producer = \"me 1.0\", other.x = [1, {a = 2}]} {\n}\n"),
            "module @m producer \"me 1.0\"\n");
  EXPECT_EQ(Tile("module attributes {gpu.container_module} {\ncuda_tile.module @m {\nentry @k() {\n}\n}\n}\n"),
            "module @m\n\nentry @k() {\n  return\n}\n");
  std::string said;
  EXPECT_EQ(Tile("cuda_tile.module @m {\nentry @k() {\n}\n", &said), "");
  EXPECT_EQ(said, "3:2 text.syntax");
}

TEST(Mlir, ReturnIsImpliedInModules) {
  EXPECT_EQ(Body(""), "");
  std::string said;
  Tile("entry @k() {\n}\n", &said);
  EXPECT_EQ(said, "2:1 entry.c2") << "at the closing brace";
}

TEST(Mlir, ANameOfSeveralResultsMeansTheFirst) {
  EXPECT_EQ(Body("%v:2 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n%y = negf %v : tile<f32>"),
            Body("%v:2 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n%y = negf %v#0 : tile<f32>"));
}

TEST(Mlir, LoopsWithoutValuesMayHaveResults) {
  EXPECT_TRUE(
      absl::StrContains(Body("%y = loop : tile<f32> {\nif %c {\nbreak %x : tile<f32>\n}\n}"), "loop -> tile<f32>"));
}

TEST(Mlir, GlobalsMayBePublic) {
  EXPECT_EQ(Tile(Module("global public @g <i32: 1> : tile<1xi32>")), "module @m\nglobal @g <i32: 1> : tile<1xi32>\n");
}

TEST(Mlir, FloatsBeyondTheirTypeAreInfinite) {
  EXPECT_EQ(Body("%y = constant <f16: -70000.0> : tile<f16>"), "  %y = constant <f16: 0xFC00> : tile<f16>\n");
  EXPECT_EQ(Body("%y = constant <f32: 1.0e400> : tile<f32>"), "  %y = constant <f32: 0x7F800000> : tile<f32>\n");
  std::string said;
  Body("%y = constant <f8E4M3FN: 1.0e9> : tile<f8E4M3FN>", &said);
  EXPECT_EQ(said, "3:26 text.number") << "a type without infinities";
  Tile("entry @k() {\n%y = constant <f16: 70000.0> : tile<f16>\nreturn\n}\n", &said);
  EXPECT_EQ(said, "2:21 text.number");
}

TEST(Mlir, OptionalPartsStandInAnyOrder) {
  EXPECT_EQ(Body("%y = maxf %x, %x flush_to_zero propagate_nan : tile<f32>"),
            Body("%y = maxf %x, %x propagate_nan flush_to_zero : tile<f32>"));
  EXPECT_EQ(Body("%y = addf %x, %x flush_to_zero rounding<zero> : tile<f32>"),
            "  %y = addf %x, %x rounding<zero> flush_to_zero : tile<f32>\n");
}

TEST(Mlir, OperandTypesStandInAnyOrder) {
  const std::string view = "partition_view<tile=(2), tensor_view<8xf32, strides=[1]>>";
  std::string said;
  EXPECT_NE(Body(absl::StrCat("%i = constant <i32: 0> : tile<i32>\n%z = constant <f32: 0.0> : tile<2xf32>\n"
                              "%v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>\n"
                              "%w = make_partition_view %v : ",
                              view,
                              "\n%t = atomic_red_view_tko relaxed device %w[%i], "
                              "addf, %z : tile<2xf32>, ",
                              view, ", tile<i32> -> token"),
                 &said),
            "");
  EXPECT_EQ(said, "");
}

TEST(Mlir, DictionariesAreLeftOutWithAWarning) {
  std::string said;
  EXPECT_EQ(Body("if %c {\n} {cuda_tile.loop_split = 0}\n%y = negf %x {note} : tile<f32>", &said),
            "  if %c {\n  }\n  %y = negf %x : tile<f32>\n");
  EXPECT_EQ(said, "4:3 text.attributes") << "once";
}

TEST(Mlir, StringsHaveHexadecimalEscapes) {
  EXPECT_EQ(Body("%t = print_tko \"\\0A\\22\" : token"), "  %t = print_tko \"\\n\\\"\" : token\n");
}

// --- aliases and locations ------------------------------------------------------------------------------------------

TEST(Mlir, AliasesStandForWhatTheyName) {
  const std::string text = Module("entry @k(%x: !t) {\n%y = assume #d, %x : !t\n}");
  const std::string want =
      "module @m\n\nentry @k(%x: tile<i32>) {\n  %y = assume div_by<4>, %x : tile<i32>\n  return\n}\n";
  EXPECT_EQ(Tile("!t = !cuda_tile.tile<!e>\n#d = #cuda_tile.div_by<4>\n!e = i32\n" + text), want);
  EXPECT_EQ(Tile(text + "!t = !cuda_tile.tile<i32>\n#d = #cuda_tile.div_by<4>\n"), want) << "defined below";
  std::string said;
  Tile("!t = !t\n#d = #cuda_tile.div_by<4>\n" + text, &said);
  EXPECT_TRUE(absl::StrContains(said, "text.limit")) << said;
  Tile(text, &said);
  EXPECT_EQ(said, "2:14 text.token") << "defined nowhere";
  Tile("#d = 1\n#d = 2\n" + text, &said);
  EXPECT_TRUE(absl::StartsWith(said, "2:1 text.redefined")) << said;
}

TEST(Mlir, AliasesAreKnownInTheirPart) {
  const auto part = [](absl::string_view type, absl::string_view entry) {
    return absl::StrCat("!t = !cuda_tile.tile<", type, ">\ncuda_tile.module @m {\nentry @", entry,
                        "(%x: !t) {\n}\n}\n");
  };
  EXPECT_EQ(Tile(part("i32", "a") + "// -----\n" + part("f32", "b")),
            "module @m\n\nentry @a(%x: tile<i32>) {\n  return\n}\n\nentry @b(%x: tile<f32>) {\n  return\n}\n");
}

std::string At(absl::string_view loc, absl::string_view aliases = "") {
  const std::string text = Tile(absl::StrCat(aliases, Module(absl::StrCat("entry @k() {\nreturn loc(", loc, ")\n}"))));
  const size_t begin = text.find("#1 =");
  return begin == std::string::npos ? "" : text.substr(begin);
}

TEST(Mlir, LocationsInPlace) {
  EXPECT_EQ(At("unknown"), "");
  EXPECT_EQ(At("\"k.py\":3:4"), "#1 = loc(\"k.py\":3:4)\n");
  EXPECT_EQ(At("\"k.py\":3:4 to :3:9"), "#1 = loc(\"k.py\":3:4)\n");
  EXPECT_EQ(At("\"f\"(\"k.py\":3:4)"), "#1 = loc(\"k.py\":3:4)\n");
  EXPECT_EQ(At("\"f\""), "");
  EXPECT_EQ(At("fused[unknown, \"k.py\":3:4]"), "#1 = loc(\"k.py\":3:4)\n");
  EXPECT_EQ(At("fused<\"m\">[\"k.py\":3:4, \"l.py\":1:1]"), "#1 = loc(\"k.py\":3:4)\n#2 = loc(\"l.py\":1:1)\n");
  EXPECT_EQ(At("callsite(\"a\":1:2 at \"b\":3:4)"),
            "#1 = loc(\"a\":1:2)\n#2 = loc(\"b\":3:4)\n#3 = call_site<callee = #1, caller = #2>\n");
  EXPECT_EQ(At("callsite(unknown at \"b\":3:4)"), "#1 = loc(\"b\":3:4)\n");
  EXPECT_EQ(At("#l", "#l = loc(#m)\n#m = loc(\"k.py\":3:4)\n"), "#1 = loc(\"k.py\":3:4)\n");
}

TEST(Mlir, DebugAttributes) {
  const std::string text = Tile(
      "#f = #cuda_tile.di_file<\"k.py\" in \"/src\">\n#u = #cuda_tile.di_compile_unit<file = #f>\n"
      "#s = #cuda_tile.di_subprogram<\n  file = #f, line = 1, name = \"k\", linkageName = \"k\",\n"
      "  compileUnit = #u, scopeLine = 2>\n"
      "#b = #cuda_tile.di_lexical_block<scope = #s, file = #f, line = 5, column = 2>\n"
      "#l = loc(\"k.py\":7:8)\n#d = #cuda_tile.di_loc<#l in #s>\n"
      "cuda_tile.module @m {\nentry @k() {\nreturn loc(#cuda_tile.di_loc<loc(\"k.py\":9:1) in #b>)\n} loc(#d)\n} loc(#l)\n");
  EXPECT_EQ(
      text.substr(text.find("#1 =")),
      "#1 = loc(\"k.py\":9:1)\n"
      "#2 = file<name = \"k.py\", directory = \"/src\">\n"
      "#3 = compile_unit<file = #2>\n"
      "#4 = subprogram<name = \"k\", linkage_name = \"k\", file = #2, line = 1, compile_unit = #3, scope_line = 2>\n"
      "#5 = lexical_block<scope = #4, file = #2, line = 5, column = 2>\n"
      "#6 = loc(\"k.py\":9:1 in #5)\n"
      "#7 = loc(\"k.py\":7:8)\n"
      "#8 = loc(\"k.py\":7:8 in #4)\n");
}

TEST(Mlir, RecordsByNumberAndInPlaceDoNotMix) {
  std::string said;
  Tile("entry @k() {\nreturn loc(\"k.py\":3:4)\n}\n#1 = loc(\"k.py\":3:4)\n", &said);
  EXPECT_EQ(said, "4:1 text.debug_order");
}

// --- several modules, functions of tests ----------------------------------------------------------------------------

TEST(Mlir, ModulesOfAFileBecomeOne) {
  std::string said;
  const std::string text = Tile(
      "cuda_tile.module @a {\nglobal @g <i32: 1> : tile<1xi32>\nentry @k() {\n%x = get_global @g : tile<ptr<i32>>\n}\n}\n"
      "cuda_tile.module @b {\nentry @k() {\n%x = get_global @g : tile<ptr<f32>>\n}\nglobal @g <f32: 2.0> : tile<1xf32>\n}\n",
      &said);
  EXPECT_EQ(said, "8:7 text.renamed") << "once";
  EXPECT_EQ(text,
            "module @a\nglobal @g <i32: 1> : tile<1xi32>\nglobal @g.2 <f32: 2.000000e+00> : tile<1xf32>\n\n"
            "entry @k() {\n  %x = get_global @g : tile<ptr<i32>>\n  return\n}\n\n"
            "entry @k.2() {\n  %x = get_global @g.2 : tile<ptr<f32>>\n  return\n}\n");
  Tile("cuda_tile.module @a {\nentry @k() {\n}\nentry @k() {\n}\n}\n", &said);
  EXPECT_EQ(said, "4:7 module.c1") << "twice in one module";
}

TEST(Mlir, FunctionsOfTestsAreCheckedAndLeftOut) {
  std::string said;
  EXPECT_EQ(Tile(Module("testing$func @f(%x: tile<4xf32>) -> tile<4xf32> {\nreturn %x : tile<4xf32>\n}\n"
                        "entry @k() {\n}"),
                 &said),
            "module @m\n\nentry @k() {\n  return\n}\n");
  EXPECT_EQ(said, "2:14 text.test_function");
  Tile(Module("testing$func @f(%x: tile<4xf32>) {\n%y = absi %x : tile<4xf32>\n}"), &said);
  EXPECT_EQ(said, "2:14 text.test_function; 3:6 absi.c5");
}

// A pointer that is no tile is a type of the dialect, though no operation takes one.
TEST(Mlir, FunctionsOfTestsTakePointersThatAreNoTiles) {
  std::string said;
  Tile(Module("testing$func @f(%x: !cuda_tile.ptr<i1>, %y: ptr<f32>) {\nreturn\n}"), &said);
  EXPECT_EQ(said, "2:14 text.test_function");
  Tile(
      "!p = !cuda_tile.ptr<i8>\n\"cuda_tile.module\"() <{sym_name = \"m\"}> ({\n\"cuda_tile.testing$func\"() <{sym_name = \"f\"}> ({\n"
      "^bb0(%x: !p):\n\"cuda_tile.return\"() : () -> ()\n}) : () -> ()\n}) : () -> ()\n",
      &said);
  EXPECT_EQ(said, "3:1 text.test_function");
  Tile(Module("entry @k(%x: ptr<i1>) {\n}"), &said);
  EXPECT_EQ(said, "2:14 text.syntax") << "of kernels tiles";
  Tile(Module("entry @k(%x: token, %y: tensor_view<f32>) {\n}"), &said);
  EXPECT_EQ(said, "2:10 entry.c1; 2:21 entry.c1") << "a launch has neither";
  Tile(Module("entry @k() {\n%t = testing$evolve (%x : tile<f32>) -> token\n%u = join_tokens %t, %t : token\n}"),
       &said);
  EXPECT_EQ(said, "3:6 text.unknown_op") << "and no more of what depends on it";
}

TEST(Mlir, ErrorsDoNotSpread) {
  std::string said;
  Tile(
      "cuda_tile.module @a {\nentry @k(%x: til<i32>) {\n%y = adf %x\n}\n}\n"
      "cuda_tile.module @b {\nentry @l() {\n%y = adf %z\n}\n}\n",
      &said);
  EXPECT_EQ(said, "2:14 text.syntax; 8:6 text.unknown_op");
}

// --- the generic form -----------------------------------------------------------------------------------------------

TEST(Mlir, GenericOperations) {
  EXPECT_EQ(Body("%y = \"cuda_tile.addf\"(%x, %x) <{rounding_mode = #cuda_tile.rounding<zero>, flush_to_zero}> "
                 ": (tile<f32>, tile<f32>) -> tile<f32>"),
            "  %y = addf %x, %x rounding<zero> flush_to_zero : tile<f32>\n");
  EXPECT_EQ(Body("%y = \"cuda_tile.cmpf\"(%x, %x) {comparison_predicate = #cuda_tile.comparison_predicate<equal>, "
                 "comparison_ordering = 1 : i32} : (tile<f32>, tile<f32>) -> tile<i1>"),
            "  %y = cmpf equal ordered %x, %x : tile<f32> -> tile<i1>\n");
  EXPECT_EQ(Body("%y:2 = \"cuda_tile.load_ptr_tko\"(%p, %c) <{memory_ordering_semantics = 0 : i32, "
                 "operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tile<ptr<f32>>, tile<i1>) -> (tile<f32>, token)"),
            "  %load_ptr, %token = load_ptr_tko weak %p, %c : tile<ptr<f32>>, tile<i1> -> tile<f32>, token\n");
  EXPECT_EQ(Body("%y = \"cuda_tile.constant\"() <{value = dense<[1.0, 2.0]> : tile<2xf32>}> : () -> tile<2xf32>\n"
                 "%z = \"cuda_tile.constant\"() <{value = dense<true> : tile<4x!cuda_tile.i1>}> : () -> tile<4xi1>"),
            "  %y = constant <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>\n"
            "  %z = constant <i1: true> : tile<4xi1>\n");
  EXPECT_EQ(Body("%y = \"cuda_tile.constant\"() <{value = dense<1> : tile<2x4xi8>}> : () -> tile<2x4xi8>\n"
                 "%z = \"cuda_tile.permute\"(%y) <{permutation = array<i32: 1, 0>}> : (tile<2x4xi8>) -> tile<4x2xi8>"),
            "  %y = constant <i8: 1> : tile<2x4xi8>\n  %z = permute %y [1, 0] : tile<2x4xi8> -> tile<4x2xi8>\n");
}

TEST(Mlir, GenericRegions) {
  EXPECT_EQ(Body("\"cuda_tile.if\"(%c) ({\n\"cuda_tile.yield\"() : () -> ()\n}, {\n}) : (tile<i1>) -> ()"),
            Body("if %c {\n}"));
  EXPECT_EQ(
      Body("%t = iota : tile<4xi32>\n%y = \"cuda_tile.reduce\"(%t) <{dim = 0 : i32, identities = [0 : i32]}> ({\n"
           "^bb0(%a: tile<i32>, %b: tile<i32>):\n%s = addi %a, %b : tile<i32>\nyield %s : tile<i32>\n"
           "}) : (tile<4xi32>) -> tile<i32>"),
      Body("%t = iota : tile<4xi32>\n%y = reduce %t dim=0 identities=[0] (%a, %b) {\n%s = addi %a, %b\nyield %s\n}"));
}

TEST(Mlir, GenericModules) {
  EXPECT_EQ(
      Tile("\"builtin.module\"() ({\n\"cuda_tile.module\"() <{sym_name = \"m\"}> ({\n"
           "\"cuda_tile.global\"() <{alignment = 16 : i64, constant, sym_name = \"g\", symbol_visibility = "
           "#cuda_tile.symbol_visibility<private>, value = dense<[1, 2]> : tile<2xi32>}> : () -> ()\n"
           "\"cuda_tile.entry\"() <{function_type = (tile<i32>) -> (), sym_name = \"k\"}> ({\n"
           "^bb0(%x: tile<i32>):\n\"cuda_tile.return\"() : () -> ()\n}) : () -> ()\n}) : () -> ()\n}) : () -> ()\n"),
      "module @m\nglobal private constant @g alignment = 16 <i32: [1, 2]> : tile<2xi32>\n\n"
      "entry @k(%x: tile<i32>) {\n  return\n}\n");
}

TEST(Mlir, GenericErrors) {
  const auto said = [](absl::string_view op) {
    std::string codes;
    Body(op, &codes);
    return codes;
  };
  EXPECT_EQ(said("%y = \"cuda_tile.addf\"(%x) : (tile<f32>) -> tile<f32>"), "3:6 text.syntax");
  EXPECT_EQ(said("%y = \"cuda_tile.negf\"(%x) : (tile<f16>) -> tile<f16>"), "3:6 text.operand_types");
  EXPECT_EQ(said("%y:2 = \"cuda_tile.negf\"(%x) : (tile<f32>) -> tile<f32>"), "3:8 text.result_count");
  EXPECT_EQ(said("%y = \"cuda_tile.nothing\"(%x) : (tile<f32>) -> tile<f32>"), "3:6 text.unknown_op");
  EXPECT_EQ(said("\"cuda_tile.return\"() ({\n}) : () -> ()"), "3:1 text.syntax");
  EXPECT_EQ(said("%y = \"other.op\"(%x) : (tile<f32>) -> tile<f32>"), "3:6 text.syntax");
}

}  // namespace
}  // namespace tile::ir
