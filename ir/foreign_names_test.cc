// Every row of foreign_names.def says something that can be written.
#include "ir/foreign_names.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ir/element.h"
#include "ir/op_info.h"
#include "ir/text/check.h"

namespace tile::ir {
namespace {

using Kind = ForeignName::Kind;

// What the forms speak of.
constexpr char kHead[] =
    "entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>, %z: tile<f32>, %i: tile<i32>, %j: tile<i32>, "
    "%l: tile<i64>, %c: tile<i1>) {\n"
    "%v = constant <f32: 1.0> : tile<64xf32>\n%part = constant <f32: 1.0> : tile<32xf32>\n%m = constant <f32: 1.0> : tile<16x16xf32>\n"
    "%t1 = make_tensor_view %p, shape = [1024], strides = [1]\n"
    "%view = make_partition_view %t1 : partition_view<tile=(1)>\n";

// The first form of "addf %x, %y, or addi %i, %j for integers; …" as lines of a body. Names that it defines are made its own.
std::string FirstForm(absl::string_view form) {
  form = form.substr(0, form.find(", or "));
  form = form.substr(0, form.find("; through"));
  form = form.substr(0, form.find("; of a mask"));
  form = form.substr(0, form.find("; modes"));
  form = form.substr(0, form.find("; along"));
  form = form.substr(0, form.find("; without"));
  form = form.substr(0, form.find(" rounds "));
  std::string lines;
  int n = 0;
  std::string text(form);
  for (const absl::string_view line : absl::StrSplit(form, "; ")) {
    const size_t equals = line.find(" = ");
    const size_t mark =
        line.find("get_tile_block_id") != absl::string_view::npos || line.find("get_num") != absl::string_view::npos;
    if (equals == absl::string_view::npos || !absl::StartsWith(line, "%") || mark) continue;
    const std::string name(line.substr(0, equals));
    if (absl::StrContains(name, ",")) continue;
    text = absl::StrReplaceAll(text, {{absl::StrCat(name, " ="), absl::StrCat("%own", ++n, " =")}});
    // Uses behind it.
    const size_t at = text.find(absl::StrCat("%own", n, " ="));
    const size_t behind = text.find("; ", at);
    if (behind != std::string::npos) {
      std::string rest = text.substr(behind);
      if (name != "%x" && name != "%y") rest = absl::StrReplaceAll(rest, {{name, absl::StrCat("%own", n)}});
      text = text.substr(0, behind) + rest;
    }
  }
  for (const absl::string_view line : absl::StrSplit(text, "; ")) absl::StrAppend(&lines, line, "\n");
  return lines;
}

TEST(ForeignNames, EveryFormCanBeWritten) {
  int read = 0;
  for (const ForeignName& row : AllForeignNames()) {
    if (row.kind != Kind::kOp) continue;
    EXPECT_TRUE(row.own.empty() || FindOp(row.own) != nullptr) << row.own;
    const bool operation = absl::StartsWith(row.form, "%") || FindOp(row.form.substr(0, row.form.find(' '))) != nullptr;
    if (!operation || absl::StrContains(row.form, "…") || row.own == "get_tile_block_id" ||
        row.own == "get_num_tile_blocks") {
      continue;
    }
    std::string body = FirstForm(row.form);
    if (row.own == "return") body = "";
    // Views of the table.
    body = absl::StrReplaceAll(body, {{"make_partition_view %v", "make_partition_view %t1"}});
    Diagnostics diags;
    EXPECT_NE(ParseAndVerify(absl::StrCat(kHead, body, "return\n}\n"), "f", &diags), nullptr)
        << row.names << ": " << row.form << "\n"
        << body << diags.ToString();
    ++read;
  }
  EXPECT_GT(read, 60);
}

TEST(ForeignNames, NoNameStandsTwiceOrIsOurs) {
  for (const Kind kind : {Kind::kOp, Kind::kElement, Kind::kFunction, Kind::kScript, Kind::kArgument}) {
    std::set<std::string> seen;
    for (const ForeignName& row : AllForeignNames()) {
      if (row.kind != kind) continue;
      for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
        EXPECT_TRUE(seen.insert(std::string(name)).second) << name << " stands twice";
        EXPECT_FALSE(name.empty()) << row.names;
        const bool ours = kind == Kind::kElement ? FindElem(name).has_value() : FindOp(name) != nullptr;
        EXPECT_FALSE(ours && (kind == Kind::kOp || kind == Kind::kElement)) << name << " is ours";
        // Script asks for both.
        EXPECT_FALSE(kind == Kind::kScript && FindForeignName(Kind::kOp, name) != nullptr)
            << name << " is an operation's";
      }
      EXPECT_TRUE(kind != Kind::kElement || FindElem(row.own)) << row.own;
    }
  }
}

TEST(ForeignNames, Advice) {
  EXPECT_EQ(OpAdvice("relu"), "write maxf %x, 0.0");
  EXPECT_EQ(OpAdvice("ReLU"), "write maxf %x, 0.0");
  EXPECT_EQ(OpAdvice("torch.where"), "write select %c, %x, %y");
  EXPECT_EQ(OpAdvice("arith.addf"), "did you mean addf?");
  EXPECT_EQ(OpAdvice("ADDF"), "did you mean addf?");
  EXPECT_EQ(OpAdvice("adf"), "did you mean addf?");
  EXPECT_EQ(OpAdvice("tensor_shape"), "did you mean get_tensor_shape?");
  EXPECT_EQ(OpAdvice("index_space"), "did you mean get_index_space_shape?");
  EXPECT_EQ(OpAdvice("nothing_of_the_kind"), "");
  EXPECT_EQ(OpAdvice(std::string(100000, 'a')), "");
  EXPECT_EQ(ElementAdvice("float32"), "did you mean f32?");
  EXPECT_EQ(ElementAdvice("F16"), "did you mean f16?");
  EXPECT_EQ(ElementAdvice("f31"), "did you mean f32?");
  EXPECT_EQ(FunctionAdvice("cdiv"), "write ceildiv(a, b)");
  EXPECT_EQ(FunctionAdvice("ceildv"), "did you mean ceildiv?");
}

TEST(ForeignNames, OperationsByAPartOfTheirNames) {
  EXPECT_EQ(OpsNamedLike("load"),
            (std::vector<absl::string_view>{"load_ptr_tko", "load_view_tko", "multimem_load_reduce_view_tko"}));
  EXPECT_TRUE(OpsNamedLike("ad").empty()) << "too short to mean anything";
}

}  // namespace
}  // namespace tile::ir
