// The table behind the verifier, and its speed. What each rule says is tested in tests/verify.

#include "ir/verify/verify.h"

#include <map>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ir/builder.h"

namespace tile::ir {
namespace {

const Element kF32 = Element::Number(Elem::kF32);

std::string ErrorsOf(const Module& m) {
  Diagnostics d;
  Verify(m, &d);
  std::string s;
  for (Diagnostic said : d.list()) {
    EXPECT_NE(said.fix, "") << said.ToString();
    said.fix = "";
    s += said.ToString() + "\n";
  }
  return s;
}

// Every word of every constraint names fields of the format and a known relation.
TEST(Constraints, NameFields) {
  for (const OpInfo& op : AllOps()) {
    for (absl::string_view word : absl::StrSplit(op.constraints, ' ', absl::SkipEmpty())) {
      const size_t at = word.find_first_of(":=~^");
      ASSERT_NE(at, absl::string_view::npos) << op.mnemonic << " " << word;
      const auto known = [&](absl::string_view f) {
        return op.format->operand_index(f) >= 0 || op.format->result_index(f) >= 0;
      };
      EXPECT_TRUE(known(word.substr(0, at))) << op.mnemonic << " " << word;
      const absl::string_view right = word.substr(at + 1);
      EXPECT_TRUE(word[at] == ':' ? SetText(right.substr(0, right.find('.'))) != nullptr : known(right))
          << op.mnemonic << " " << word;
    }
  }
}

// Every operand and result is under some constraint, or judged as a whole by its family.
TEST(Constraints, CoverEveryField) {
  const auto covered = [](const OpInfo& op, const FieldInfo& f) {
    for (absl::string_view word : absl::StrSplit(op.constraints, ' ', absl::SkipEmpty())) {
      if (word.substr(0, word.find_first_of(":=~^")) == f.name) return true;
    }
    return false;
  };
  for (const OpInfo& op : AllOps()) {
    EXPECT_TRUE(op.format->operands.size() < 32 && op.format->results.size() < 32);
    for (const FieldInfo& f : op.format->operands) EXPECT_TRUE(covered(op, f)) << op.mnemonic << " " << f.name;
    for (const FieldInfo& f : op.format->results) EXPECT_TRUE(covered(op, f)) << op.mnemonic << " " << f.name;
  }
}

TEST(Rules, NumbersAreUniquePerOperationAndScope) {
  std::map<std::string, int> scoped;
  for (const RuleInfo& r : AllRules()) {
    if (!r.Code().empty()) {
      EXPECT_EQ(++scoped[r.Code()], 1) << r.Code();
    }
  }
  std::map<std::string, int> used;
  for (const OpInfo& op : AllOps()) {
    std::map<int, const char*> numbers;
    for (const RuleInfo& r : AllRules()) {
      if (!r.AppliesTo(op)) continue;
      ++used[r.name];
      EXPECT_TRUE(numbers.emplace(r.number, r.name).second)
          << r.CodeFor(op) << ": " << r.name << ", " << numbers[r.number];
    }
  }
  for (const RuleInfo& r : AllRules()) {
    if (r.Code().empty()) {
      EXPECT_GT(used[r.name], 0) << r.name << " applies to nothing";
    }
  }
}

TEST(Verify, AcceptsASmallKernel) {
  Module m;
  const Type f32 = m.types().Scalar(kF32);
  Function* f = m.AddFunction("k", {f32});
  Builder b(&m, f->body());
  b.Create(Opcode::kAddf, {{f->param(0)}, {f->param(0)}}, {f32});
  b.Create(Opcode::kReturn, {{}}, {});
  EXPECT_EQ(ErrorsOf(m), "");
}

TEST(Verify, ReportsAllErrorsWithoutCascades) {
  Module m;
  const Type f32 = m.types().Scalar(kF32), i32 = m.types().Scalar(Elem::kI32);
  Function* f = m.AddFunction("k", {f32, i32});
  Builder b(&m, f->body());
  b.Create(Opcode::kAddi, {{f->param(0)}, {f->param(0)}}, {f32});  // one error, though three types are wrong
  b.Create(Opcode::kAddf, {{f->param(0)}, {f->param(1)}}, {f32});
  b.Create(Opcode::kReturn, {{}}, {});
  EXPECT_EQ(ErrorsOf(m),
            "<unknown>: error[addi.c5]: addi: lhs is tile<f32>, must be a tile of i1, i8, i16, i32 or i64\n"
            "<unknown>: error[addf.c6]: addf: rhs is tile<i32>, must have the type of lhs, tile<f32>\n");
}

// `token` is an operand and a result of load_ptr_tko; the table speaks of both.
TEST(Verify, ANameOfOperandAndResultMeansBoth) {
  Module m;
  const Type f32 = m.types().Scalar(kF32);
  Function* f = m.AddFunction("k", {m.types().Scalar(Element::Pointer(Elem::kF32))});
  Builder b(&m, f->body());
  b.Create(Opcode::kLoadPtr, {{f->param(0)}}, {f32, f32});
  b.Create(Opcode::kReturn, {{}}, {});
  EXPECT_EQ(ErrorsOf(m), "<unknown>: error[load_ptr_tko.c5]: load_ptr_tko: token is tile<f32>, must be a token\n");
}

TEST(Verify, StopsWhenDiagnosticsAreFull) {
  Module m;
  Function* f = m.AddFunction("k", {m.types().Scalar(kF32)});
  Builder b(&m, f->body());
  for (int i = 0; i < 1000; ++i) b.Create(Opcode::kReturn, {{f->param(0)}}, {});
  Diagnostics d(7);
  Verify(m, &d);
  EXPECT_EQ(d.num_errors(), 7u);
}

// Budget: 50 us for a kernel of 200 operations. The bound is generous, for busy machines.
TEST(Verify, AcceptsTwoHundredOperations) {
  Module m;
  const Type f32 = m.types().Tile(kF32, {64, 64}), p = m.types().Scalar(Element::Pointer(Elem::kF32));
  const Type i32 = m.types().Scalar(Elem::kI32), token = m.types().Token();
  const Type tensor = m.types().TensorView(kF32, {kDynamic, kDynamic}, {kDynamic, 1});
  const Type view = m.types().PartitionView({64, 64}, tensor);
  Function* f = m.AddFunction("k", {p, i32});
  Builder b(&m, f->body());
  Value* n = f->param(1);
  Value* t = b.Create(Opcode::kMakeTensorView, {{f->param(0)}, {n, n}, {n}}, {tensor})->result(0);
  Value* v = b.Create(Opcode::kMakePartitionView, {{t}}, {view})->result(0);
  Value* order = b.Create(Opcode::kMakeToken, {}, {token})->result(0);
  for (int i = 0; i < 49; ++i) {
    Op* load = b.Create(Opcode::kLoadView, {{v}, {n, n}, {order}}, {f32, token});
    Op* sum = b.Create(Opcode::kAddf, {{load->result(0)}, {load->result(0)}}, {f32});
    Op* exp = b.Create(Opcode::kExp, {{sum->result(0)}}, {f32});
    order = b.Create(Opcode::kStoreView, {{exp->result(0)}, {v}, {n, n}, {load->result(1)}}, {token})->result(0);
  }
  b.Create(Opcode::kReturn, {{}}, {});
  ASSERT_EQ(ErrorsOf(m), "");
}

}  // namespace
}  // namespace tile::ir
