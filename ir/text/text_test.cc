// Grammar corners, and round trips of whole files: what is read is printed in one canonical form, and that form comes
// back unchanged.
#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/text/second_table.h"

namespace tile::ir {
namespace {

std::unique_ptr<Module> MustParse(absl::string_view text) {
  Diagnostics diags;
  std::unique_ptr<Module> m = Parse(text, "test.tile", &diags);
  EXPECT_NE(m, nullptr) << diags.ToString() << text;
  return m != nullptr ? std::move(m) : std::make_unique<Module>();
}

std::string Canonical(absl::string_view text) { return Print(*MustParse(text)); }

std::string ReadFile(const std::string& name) {
  std::ifstream in("ir/text/testdata/" + name);
  EXPECT_TRUE(in.good()) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Parameters that the snippets below use.
constexpr char kParams[] =
    "%p: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %x: tile<f32>, %c: tile<i1>, %t: token, "
    "%v: tensor_view<?x4xf32, strides=[?,1]>, %a: tile<4xi32>";

// The canonical form of the operations in a kernel with these parameters.
std::string Body(absl::string_view ops) {
  const auto m = MustParse(absl::StrCat("entry @k(", kParams, ") {\n", ops, "\nreturn\n}\n"));
  PrintOptions options;
  options.keep_names = true;
  const std::string text = Print(*m, options);
  EXPECT_EQ(Print(*MustParse(text), options), text);
  EXPECT_EQ(FirstDifference(*m, *MustParse(Print(*m))), "");
  const size_t begin = text.find("{\n") + 2, end = text.rfind("  return\n");
  return text.substr(begin, end - begin);
}

// --- annotations ----------------------------------------------------------------------------------------------------

const AttrInfo kAnnotations[] = {{.name = "map", .kind = AttrKind::kInt},
                                 {.name = "sizes", .kind = AttrKind::kInts},
                                 {.name = "by", .kind = AttrKind::kString},
                                 {.name = "early", .kind = AttrKind::kFlag}};

const OpInfo* NoOp(absl::string_view) { return nullptr; }
const AttrInfo* FindAnnotation(absl::string_view name) {
  for (const AttrInfo& info : kAnnotations) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

std::string AnnotatedBody(absl::string_view ops, Diagnostics* diags) {
  const std::string all = absl::StrCat("entry @k(", kParams, ") {\n", ops, "  return\n}\n");
  const auto m = ParseWith({NoOp, FindAnnotation}, all, "test.tile", diags);
  if (m == nullptr) return "";
  const std::string text = Print(*m, {.keep_names = true});
  const size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind("  return\n") - begin);
}

TEST(Annotations, StandBehindTypesAndRegions) {
  constexpr char kOps[] =
      "  %y = addf %x, %x : tile<f32> {by = \"fma\", early}\n"
      "  %s = for %i in (%n to %n, step %m) : tile<i32> iter_values(%z = %y) -> (tile<f32>) {\n"
      "    continue %z : tile<f32> {map = -1}\n"
      "  } {sizes = [64, 8]}\n";
  Diagnostics diags;
  EXPECT_EQ(AnnotatedBody(kOps, &diags), kOps) << diags.ToString();
}

TEST(Annotations, Errors) {
  for (const char* wrong :
       {"{map}", "{map = x}", "{other = 1}", "{map = 1 early}", "{map = 1", "{early = 1}", "{\"by\"}"}) {
    Diagnostics diags;
    EXPECT_EQ(AnnotatedBody(absl::StrCat("  %y = addf %x, %x : tile<f32> ", wrong, "\n"), &diags), "") << wrong;
    EXPECT_FALSE(diags.ok()) << wrong;
  }
  Diagnostics diags;
  EXPECT_EQ(Parse("entry @k(%x: tile<f32>) {\n  %y = addf %x, %x : tile<f32> {map = 1}\n  return\n}\n", "t", &diags),
            nullptr)
      << "the text of programs has none";
}

// --- whole files ----------------------------------------------------------------------------------------------------

class Sample : public ::testing::TestWithParam<const char*> {};

TEST_P(Sample, IsCanonical) {
  const std::string text = ReadFile(GetParam());
  const auto m = MustParse(text);
  EXPECT_EQ(Print(*m), text);
  PrintOptions names;
  names.keep_names = true;
  EXPECT_EQ(FirstDifference(*m, *MustParse(Print(*m, names))), "");
  EXPECT_TRUE(LooksLikeText(text));
}
INSTANTIATE_TEST_SUITE_P(Text, Sample,
                         ::testing::Values("all_ops.tile", "interface.tile", "debug.tile", "kernels.tile"));

// The text form follows from the format; tests/ops reads and prints a file of every operation.
TEST(Samples, CoverEveryFormat) {
  const auto m = MustParse(ReadFile("all_ops.tile"));
  std::set<const FormatInfo*> seen;
  for (const auto& f : m->functions) {
    Walk(f->body(), [&](Op* op) { seen.insert(op->info()->format); });
  }
  for (const OpInfo& op : AllOps())
    EXPECT_TRUE(seen.contains(op.format)) << "testdata/all_ops.tile lacks " << op.mnemonic;
}

TEST(Table, SyntaxNamesEveryFieldOnce) {
  for (const FormatInfo& f : AllFormats()) {
    if (absl::string_view(f.syntax) == "custom") continue;
    std::vector<std::string> names;
    for (const FieldInfo& field : f.operands) names.push_back(field.name);
    for (const AttrInfo& attr : f.attrs) names.push_back(attr.name);
    for (const std::string& name : names) {
      int n = 0;
      const std::string syntax = f.syntax;
      for (size_t at = syntax.find("$" + name); at != std::string::npos; at = syntax.find("$" + name, at + 1)) {
        const char next = at + 1 + name.size() < syntax.size() ? syntax[at + 1 + name.size()] : ' ';
        n += !isalnum(static_cast<unsigned char>(next)) && next != '_';
      }
      EXPECT_EQ(n, 1) << f.name << ": $" << name;
    }
  }
}

// --- operations -----------------------------------------------------------------------------------------------------

TEST(Text, TypesMayBeLeftOutOrWrittenInFull) {
  const std::string brief = "  %b = addi %n, %m : tile<i32>\n";
  EXPECT_EQ(Body("%b = addi %n, %m"), brief);
  EXPECT_EQ(Body("%b = addi %n, %m : tile<i32>, tile<i32>"), brief);
  EXPECT_EQ(Body("%b = addi %n, %m : tile<i32> -> tile<i32>"), brief);
  EXPECT_EQ(Body("%i, %j, %k = get_tile_block_id"), "  %i, %j, %k = get_tile_block_id : tile<i32>\n");
  EXPECT_EQ(Body("%i = gdc_wait_tko -> token"), "  %i = gdc_wait_tko : token\n");
  EXPECT_EQ(Body("%o = offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>"),
            "  %o = offset %p, %n : tile<ptr<f32>>, tile<i32>\n");
}

TEST(Text, WrongTypesAreWrittenInFull) {
  // Not the parser's business: the verifier tells, and needs the program for it.
  EXPECT_EQ(Body("%b = addi %n, %x"), "  %b = addi %n, %x : tile<i32>, tile<f32>\n");
  EXPECT_EQ(Body("%b = addi %n, %m : tile<i32> -> tile<f16>"), "  %b = addi %n, %m : tile<i32> -> tile<f16>\n");
  EXPECT_EQ(Body("%i, %j, %k = get_tile_block_id : tile<i32>, tile<i64>, tile<i32>"),
            "  %i, %j, %k = get_tile_block_id : tile<i32>, tile<i64>, tile<i32>\n");
  EXPECT_EQ(Body("%w = make_partition_view %v : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>"),
            "  %w = make_partition_view %v : tensor_view<?x4xf32, strides=[?,1]> -> partition_view<tile=(4), "
            "tensor_view<4xf32, strides=[1]>>\n");
}

TEST(Text, DefaultsAreNotWritten) {
  EXPECT_EQ(Body("%b = addi %n, %m overflow<none>"), "  %b = addi %n, %m : tile<i32>\n");
  EXPECT_EQ(Body("%b = exp %x rounding<full>"), "  %b = exp %x : tile<f32>\n");
  EXPECT_EQ(Body("%b = exp %x rounding<nearest_even>"), "  %b = exp %x rounding<nearest_even> : tile<f32>\n");
}

TEST(Text, AnAbsentOperandBeforeAPresentOneIsAnUnderscore) {
  EXPECT_EQ(Body("%l, %k = load_ptr_tko weak %p, _, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token"),
            "  %l, %k = load_ptr_tko weak %p, _, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token\n");
  // As in NVIDIA's listings: what is no mask is the padding value.
  EXPECT_EQ(Body("%l, %k = load_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token"),
            "  %l, %k = load_ptr_tko weak %p, _, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token\n");
  EXPECT_EQ(Body("%l, %k = load_ptr_tko weak %p, %x, _ : tile<ptr<f32>>, tile<f32> -> tile<f32>, token"),
            "  %l, %k = load_ptr_tko weak %p, %x, _ : tile<ptr<f32>>, tile<f32> -> tile<f32>, token\n");
  EXPECT_EQ(Body("%l, %k = load_ptr_tko weak %p, _ : tile<ptr<f32>> -> tile<f32>, token"),
            "  %l, %k = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n");
}

TEST(Text, ResultsWithoutNames) {
  EXPECT_EQ(Body("load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"),
            "  %load_ptr, %token = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n");
  EXPECT_EQ(Body("print_tko \"hi\""), "  print_tko \"hi\"\n");
  EXPECT_EQ(Body("print_tko \"hi\" : token"), "  %token = print_tko \"hi\" : token\n");
  EXPECT_EQ(Body("get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>, tile<i32>"),
            "  %tensor_shape:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\n");
}

TEST(Text, SeveralResults) {
  EXPECT_EQ(Body("%s:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\n%b = addi %s#0, %s#1"),
            "  %s:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\n"
            "  %b = addi %s#0, %s#1 : tile<i32>\n");
  EXPECT_EQ(Body("%s, %r = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\n%b = addi %s, %r"),
            "  %tensor_shape:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\n"
            "  %b = addi %tensor_shape#0, %tensor_shape#1 : tile<i32>\n");
}

TEST(Text, CommentsAndLines) {
  EXPECT_EQ(Body("// nothing\n%b = addi %n, // rhs follows\n    %m\n  : tile<i32> // end"),
            "  %b = addi %n, %m : tile<i32>\n");
}

TEST(Text, ImpliedTerminators) {
  EXPECT_EQ(Body("if %c {\n}"), "  if %c {\n  }\n");
  EXPECT_EQ(Body("if %c {\nyield\n} else {\nyield\n}"), "  if %c {\n  } else {\n  }\n");
  EXPECT_EQ(Body("for %i in (%n to %m, step %n) : tile<i32> {\ncontinue\n}"),
            "  for %i in (%n to %m, step %n) : tile<i32> {\n  }\n");
  EXPECT_EQ(Body("loop {\nbreak\n}"), "  loop {\n    break\n  }\n");
  // A region that must pass values is left as it is, for the verifier.
  EXPECT_EQ(Body("%y = if %c -> (tile<f32>) {\n} else {\n}"), "  %y = if %c -> (tile<f32>) {\n  } else {\n  }\n");
}

TEST(Text, ForTakesItsResultsFromItsInitialValues) {
  EXPECT_EQ(Body("%r = for %i in (%n to %m, step %n) : tile<i32> iter_values(%y = %x) {\ncontinue %y\n}"),
            "  %r = for %i in (%n to %m, step %n) : tile<i32> iter_values(%y = %x) -> (tile<f32>) {\n"
            "    continue %y : tile<f32>\n  }\n");
}

TEST(Text, SiblingRegionsMayUseOneName) {
  EXPECT_EQ(Body("if %c {\n%b = addi %n, %m\n}\nif %c {\n%b = addi %n, %m\n}"),
            "  if %c {\n    %b = addi %n, %m : tile<i32>\n  }\n  if %c {\n    %b_1 = addi %n, %m : tile<i32>\n  }\n");
}

// --- constants ------------------------------------------------------------------------------------------------------

std::string Constant(absl::string_view value, absl::string_view type) {
  const std::string s = Body(absl::StrCat("%k = constant ", value, " : ", type));
  const size_t begin = s.find('<'), end = s.rfind(" : ");
  return s.substr(begin, end - begin);
}

TEST(Constants, Lists) {
  EXPECT_EQ(Constant("<i32: [1, -2, 0xFFFFFFFF, 4]>", "tile<4xi32>"), "<i32: [1, -2, -1, 4]>");
  EXPECT_EQ(Constant("<i32: [1, 2, 3, 4]>", "tile<2x2xi32>"), "<i32: [[1, 2], [3, 4]]>");
  EXPECT_EQ(Constant("<i32: [[[1], [2]], [[3], [4]]]>", "tile<2x2x1xi32>"), "<i32: [[[1], [2]], [[3], [4]]]>");
  EXPECT_EQ(Constant("<i1: [true, false, 1, 0]>", "tile<4xi1>"), "<i1: [true, false, true, false]>");
  EXPECT_EQ(Constant("<i4: [-8, 7, 15, 0]>", "tile<4xi4>"), "<i4: [-8, 7, -1, 0]>");
  EXPECT_EQ(Constant("<f16: [1, 0.5, inf, -0.0]>", "tile<4xf16>"),
            "<f16: [1.000000e+00, 5.000000e-01, 0x7C00, -0.000000e+00]>");
  EXPECT_EQ(Constant("<i32: []>", "tile<4xi32>"), "<i32: []>");
  EXPECT_EQ(Constant("<i32: [5]>", "tile<i32>"), "<i32: [5]>");
}

TEST(Constants, LongListsAreHexadecimal) {
  std::string hex = "<i16: \"0x", list = "<i16: [";
  for (int i = 0; i < 512; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", i % 128);
    absl::StrAppend(&hex, absl::Hex(i % 128, absl::kZeroPad2), "00");
  }
  EXPECT_EQ(Constant(list + "]>", "tile<512xi16>"), hex + "\">");
  EXPECT_EQ(Constant("<i8: \"0x0102FfFe\">", "tile<2x2xi8>"), "<i8: [[1, 2], [-1, -2]]>");
}

TEST(Constants, ASplatStaysOneElement) {
  const auto m = MustParse("entry @k() {\n%0 = constant <f32: 1.0> : tile<4294967296x4294967296xf32>\nreturn\n}");
  const Dense& d = m->functions[0]->body()->front()->attr("value").dense();
  EXPECT_TRUE(d.splat);
  EXPECT_EQ(d.bytes.size(), 4u);
  const auto g = MustParse("global @g <i8: 7> : tile<1099511627776xi8>");
  EXPECT_EQ(g->globals[0]->count, int64_t{1} << 40);
}

// --- types ----------------------------------------------------------------------------------------------------------

TEST(Types, ComeBack) {
  for (const char* type : {
           "token",
           "tile<i32>",
           "tile<16x8xf32>",
           "tile<1x1x1x1xi1>",
           "tile<ptr<f8E4M3FN>>",
           "tile<128xptr<bf16>>",
           "tile<2xf4E2M1FN>",
           "tile<8xi4>",
           "tensor_view<f32>",
           "tensor_view<?x?xf16, strides=[?,1]>",
           "tensor_view<3x5xf64, strides=[5,1], shared>",
           "tensor_view<f32, shared>",
           "tensor_view<8xi8, strides=[-1]>",
           "partition_view<tile=(16x16), tensor_view<?x?xf16, strides=[?,1]>>",
           "partition_view<tile=(64), padding_value = nan, tensor_view<?xf32, strides=[1]>>",
           "partition_view<tile=(4x2), tensor_view<?x?xf16, strides=[?,1], shared>, dim_map=[1, 0]>",
           "strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = neg_zero, tensor_view<?x?xf16, "
           "strides=[?,1]>, dim_map=[1, 0]>",
           "gather_scatter_view<tile=(4x2), padding_value = pos_inf, tensor_view<?x?xf16, strides=[?,1]>, "
           "sparse_dim=1>",
       }) {
    const auto m = MustParse(absl::StrCat("entry @k(%a: ", type, ") {\nreturn\n}"));
    ASSERT_EQ(m->functions.size(), 1u) << type;
    EXPECT_EQ(m->functions[0]->param(0)->type().ToString(), type);
  }
}

TEST(Types, PropertiesOfAViewInAnyOrder) {
  EXPECT_EQ(Canonical("entry @k(%a: partition_view<tile=(4), tensor_view<?xf32, strides=[1]>, dim_map=[0], "
                      "padding_value=zero>) {\nreturn\n}"),
            "entry @k(%arg0: partition_view<tile=(4), padding_value = zero, tensor_view<?xf32, strides=[1]>>) {\n  "
            "return\n}\n");
}

// --- module ---------------------------------------------------------------------------------------------------------

TEST(ModuleText, Header) {
  EXPECT_EQ(Canonical("module @kernels"), "module @kernels\n");
  EXPECT_EQ(Canonical("module @kernels entry @k() {\nreturn\n}"), "entry @k() {\n  return\n}\n");
  EXPECT_EQ(Canonical("module @\"a b\" producer \"x\\\"\\x01\\n\""), "module @\"a b\" producer \"x\\\"\\x01\\n\"\n");
}

TEST(ModuleText, Names) {
  EXPECT_EQ(Canonical("entry @\"a\"() {\nreturn\n}\nentry @\"\"() {\nreturn\n}"),
            "entry @a() {\n  return\n}\n\nentry @\"\"() {\n  return\n}\n");
  const auto m = MustParse("entry @k(%acc: tile<i32>) {\n%cst_-1_i32, %y, %z = get_tile_block_id\nreturn\n}");
  Op* op = m->functions[0]->body()->front();
  EXPECT_EQ(op->result(0)->name, "cst_-1_i32");
  EXPECT_EQ(PrintValue(*m->functions[0]->param(0)), "%acc");
  EXPECT_EQ(PrintValue(*op->result(0)), "%cst_-1_i32");
  EXPECT_EQ(PrintOp(*op), "%cst_-1_i32, %y, %z = get_tile_block_id : tile<i32>");
}

TEST(ModuleText, PrintOpShowsRegionsOnOneLine) {
  const auto m = MustParse(
      "entry @k(%c: tile<i1>, %x: tile<4xf32>) {\n%r = if %c -> (tile<4xf32>) {\nyield %x\n} else {\nyield %x\n}\n"
      "%s = reduce %x dim=0 identities=[0 : f32] : tile<4xf32> -> tile<f32>\n(%a: tile<f32>, %b: tile<f32>) {\nyield "
      "%a\n}\nreturn\n}");
  const Op* branch = m->functions[0]->body()->front();
  EXPECT_EQ(PrintOp(*branch), "%r = if %c -> (tile<4xf32>) { … } else { … }");
  EXPECT_EQ(PrintOp(*branch->next()),
            "%s = reduce %x dim=0 identities=[0.000000e+00 : f32] : tile<4xf32> -> tile<f32> { … }");
}

TEST(ModuleText, PrintOpOfALooseOp) {
  Module m;
  const Type i32 = m.types().Scalar(Elem::kI32);
  Function* f = m.AddFunction("k", {i32});
  Builder b(&m, f->body());
  Op* op = b.Create(Opcode::kNegi, {{f->param(0)}}, {i32});
  op->Unlink();
  EXPECT_EQ(PrintOp(*op), "%0 = negi %? : tile<i32>");
  op->DropOperands();
  EXPECT_EQ(PrintOp(*op), "%0 = negi <operands dropped>");
}

TEST(ModuleText, Positions) {
  const auto m = MustParse("// kernel\nentry @k(%n: tile<i32>) {\n  %a =\n    addi %n, %n\n\treturn\n}");
  const Function& f = *m->functions[0];
  EXPECT_EQ(f.pos.line, 2u);
  EXPECT_EQ(f.pos.column, 7u);
  EXPECT_EQ(f.body()->front()->pos.line, 4u);
  EXPECT_EQ(f.body()->front()->pos.column, 5u);
  EXPECT_EQ(f.body()->back()->pos.column, 2u);
  EXPECT_EQ(m->Where(0, f.body()->front()->pos), "test.tile:4:5");
}

TEST(ModuleText, DebugCanBeLeftOut) {
  const auto m = MustParse(ReadFile("debug.tile"));
  PrintOptions options;
  options.debug = false;
  const std::string text = Print(*m, options);
  EXPECT_EQ(text.find('#'), std::string::npos) << text;
  EXPECT_EQ(FirstDifference(*m, *MustParse(text), {.debug = false}), "");
}

TEST(ModuleText, WindowsLinesAndByteOrderMark) {
  EXPECT_EQ(Canonical("\xEF\xBB\xBF"
                      "entry @k() {\r\n  return\r\n}\r\n"),
            "entry @k() {\n  return\n}\n");
}

TEST(ModuleText, LooksLikeText) {
  EXPECT_TRUE(LooksLikeText("entry @k() {\n\treturn\r\n}"));
  EXPECT_TRUE(LooksLikeText("wrong, but text: \xC3\xA4"));
  EXPECT_TRUE(LooksLikeText(""));
  EXPECT_FALSE(LooksLikeText(absl::string_view("\x7FTileIR\0", 8)));
  EXPECT_FALSE(LooksLikeText(absl::string_view("TBC0\0\0\1", 7)));
}

TEST(ModuleText, DeepAndLongInput) {
  // As deep as allowed.
  std::string text = "entry @k(%c: tile<i1>) {\n";
  for (int i = 0; i < 64; ++i) text += "if %c {\n";
  for (int i = 0; i < 64; ++i) text += "}\n";
  EXPECT_EQ(Canonical(text + "return\n}").size() > 64 * 8, true);
  // A million operations on one line each take no stack.
  text = "entry @k(%n: tile<i32>) {\n";
  for (int i = 0; i < 100000; ++i) text += "negi %n\n";
  EXPECT_GT(Canonical(text + "return\n}").size(), size_t{1000000});
}

}  // namespace
}  // namespace tile::ir
