// The examples of the operation reference do what they say: the kernels of ir/examples and, of operations that have a line in
// their comment in ir/ops.def instead, the kernels made from it. Comments at the end of a line state it:
//
//   %r = addf %x, %y  // = [3.5, 1]        the results of this line that are numbers, `;` between them
//   %t = print_tko "n = %d\n", %n  // prints "n = 3\n"
//   assert %ok, "x is small"  // traps vm.assert: x is small
//   %t = multimem_store_view_tko …  // refused
//
// Each example becomes a test file of an operation (op_file.h): behind the line stand stores of its results to memory
// that is a parameter more.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "ir/reference.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

// What comments of one kernel say.
struct Stated {
  std::vector<std::string> params, expectations, others;  // `%p: type`, "NAME=VALUE", lines of an op file
};

// Lines that store a result at a parameter, which is added.
std::string StoreOf(const ir::Value& result, absl::string_view value, Stated* stated) {
  const std::string name = absl::StrCat("stated", stated->params.size());
  const ir::Type type = result.type();
  const std::string elem(ir::ElemInfoOf(type.elem()).spelling);
  stated->params.push_back(absl::StrCat("%", name, ": tile<ptr<", elem, ">>"));
  const bool scalar = type.is_scalar();
  stated->expectations.push_back(absl::StrCat(name, "=", scalar ? "[" : "", value, scalar ? "]" : ""));
  if (scalar) return absl::StrCat("  store_ptr_tko weak %", name, ", %", result.name, "\n");
  const auto shape = type.shape();
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
  const std::string tensor = absl::StrCat("tensor_view<", absl::StrJoin(shape, "x"), "x", elem, ", strides=[",
                                          absl::StrJoin(strides, ","), "]>");
  const std::vector<std::string> index(shape.size(), absl::StrCat("%", name, ".0"));
  return absl::StrCat("  %", name, ".0 = constant <i32: 0> : tile<i32>\n",                                      //
                      "  %", name, ".t = make_tensor_view %", name, ", shape = [", absl::StrJoin(shape, ", "),  //
                      "], strides = [", absl::StrJoin(strides, ", "), "] : ", tensor, "\n",                     //
                      "  %", name, ".v = make_partition_view %", name, ".t : partition_view<tile=(",            //
                      absl::StrJoin(shape, "x"), "), ", tensor, ">\n",                                          //
                      "  store_view_tko weak %", result.name, ", %", name, ".v[", absl::StrJoin(index, ", "), "]\n");
}

// The file as an op file that has this kernel alone to run.
absl::StatusOr<std::string> AsOpFile(const std::string& text, const ir::Function& kernel, Stated* stated) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  std::map<size_t, std::string> behind;  // what follows a line; 1-based
  absl::Status wrong;
  ir::Walk(kernel.body(), [&](ir::Op* op) {
    const std::string& line = lines[op->pos.line - 1];
    const size_t at = line.find("  // ");
    if (at == std::string::npos) return;
    absl::string_view comment = absl::string_view(line).substr(at + 5);
    if (absl::ConsumePrefix(&comment, "prints ")) {
      stated->others.push_back(absl::StrCat("// expect-print: ", comment));
    } else if (absl::ConsumePrefix(&comment, "traps ")) {
      stated->others.push_back(absl::StrCat("// expect-trap: ", comment));
    } else if (comment == "refused") {
      stated->others.push_back(absl::StrCat("// expect-refused: ", op->info()->mnemonic));
    } else if (absl::ConsumePrefix(&comment, "= ")) {
      std::vector<const ir::Value*> results;
      for (int i = 0; i < op->num_results(); ++i) {
        if (!op->result(i)->type().is_token()) results.push_back(op->result(i));
      }
      const std::vector<std::string> values = absl::StrSplit(comment, "; ");
      if (values.size() != results.size()) {
        wrong = absl::InvalidArgumentError(absl::StrCat("line ", op->pos.line, ": ", results.size(), " results"));
        return;
      }
      const ir::Op* next = op->next();
      for (size_t i = 0; i < results.size(); ++i) {
        absl::StrAppend(&behind[next->pos.line - 1], StoreOf(*results[i], values[i], stated));
      }
    } else {
      wrong = absl::InvalidArgumentError(absl::StrCat("line ", op->pos.line, ": a comment that states nothing"));
    }
  });
  if (!wrong.ok()) return wrong;
  std::string s = absl::StrCat("// run: @", kernel.name, "\n");
  for (const std::string& e : stated->expectations) absl::StrAppend(&s, "// expect: ", e, "\n");
  for (const std::string& o : stated->others) absl::StrAppend(&s, o, "\n");
  const std::string head = absl::StrCat("entry @", kernel.name, "(");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], "//")) continue;
    absl::string_view line = lines[i];
    if (absl::ConsumePrefix(&line, head)) {
      absl::StrAppend(&s, head, absl::StrJoin(stated->params, ", "), line, "\n");
    } else {
      absl::StrAppend(&s, line, "\n");
    }
    if (const auto it = behind.find(i + 1); it != behind.end()) absl::StrAppend(&s, it->second);
  }
  return s;
}

constexpr char kOpsDef[] = "ir/ops.def";
const std::vector<std::string> kFiles = TileFiles("ir/examples");

// The examples of operations without a kernel in a file, as one file.
std::string KernelsOfLines() {
  std::string files, text;
  for (const std::string& f : kFiles) absl::StrAppend(&files, ReadFile(f));
  for (const ir::OpInfo& op : ir::AllOps()) {
    const std::string head = absl::StrCat("entry @", op.mnemonic, "()");
    if (absl::StrContains(files, head)) continue;
    absl::StrAppend(&text, head, " {\n  ", absl::StrReplaceAll(ir::ExampleOf(op.opcode), {{"\n", "\n  "}}),
                    "return\n}\n\n");
  }
  return text;
}

class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, DoWhatTheySay) {
  const bool lines = GetParam() == kOpsDef;
  const std::string text = lines ? KernelsOfLines() : ReadFile(GetParam());
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, GetParam(), &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  ir::Verify(*module, &diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  for (const auto& kernel : module->functions) {
    SCOPED_TRACE(absl::StrCat(GetParam(), " @", kernel->name));
    const ir::OpInfo* info = ir::FindOp(kernel->name);
    ASSERT_NE(info, nullptr) << "there is no such operation";
    if (!lines) {
      EXPECT_EQ(absl::StrCat("ir/examples/", ir::FamilyName(info->family), ".tile"), GetParam());
    }
    bool has_op = false;
    ir::Walk(kernel->body(), [&](ir::Op* op) { has_op |= op->info() == info; });
    EXPECT_TRUE(has_op) << "the operation does not occur";

    Stated stated;
    const absl::StatusOr<std::string> file = AsOpFile(text, *kernel, &stated);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_FALSE(stated.expectations.empty() && stated.others.empty()) << "no result is stated";
    const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(*file);
    ASSERT_TRUE(variants.ok()) << variants.status() << "\n" << *file;
    const std::unique_ptr<ir::Module> stored = ir::Parse(variants->front().text, GetParam(), &diagnostics);
    ASSERT_NE(stored, nullptr) << diagnostics.ToString() << *file;
    ir::Verify(*stored, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    for (const Call& call : variants->front().calls) {
      for (const vm::CheckLevel level : {vm::CheckLevel::kBounds, vm::CheckLevel::kFull}) {
        EXPECT_EQ(RunCall(*stored, call, level == vm::CheckLevel::kFull, OnVm(level, 1)), "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Examples, testing::ValuesIn(kFiles), TileFileName);
INSTANTIATE_TEST_SUITE_P(Comments, Examples, testing::Values(kOpsDef), TileFileName);

TEST(ExamplesFolder, HasAFileForEachFamily) {
  std::set<std::string> files, families;
  for (const std::string& f : kFiles) files.insert(StemOf(f));
  for (const ir::OpInfo& op : ir::AllOps()) families.insert(ir::FamilyName(op.family));
  EXPECT_EQ(files, families);
}

}  // namespace
}  // namespace tile::ops
