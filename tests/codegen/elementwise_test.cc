// Every elementwise operation on every type with every attribute compiles for GPUs of each kind, and ptxas takes the
// result. Then, in PTX, the instructions that roundings and flush_to_zero promise.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

using ir::Elem;

// `op` is the operation without result type, on tiles %a, %b, %c of one type; what it needs besides stands in `before`.
struct Line {
  std::string op;
  Elem result;
  std::string before;
};

constexpr int kSize = 128;
constexpr Elem kInts[] = {Elem::kI1, Elem::kI8, Elem::kI16, Elem::kI32, Elem::kI64};
constexpr const char* kSigns[] = {"signed", "unsigned"};
constexpr const char* kPredicates[] = {
    "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"};

std::vector<Elem> All() {
  std::vector<Elem> all;
  for (int i = 0; i < ir::kNumElems; ++i) {
    if (ir::IsNum(static_cast<Elem>(i))) all.push_back(static_cast<Elem>(i));
  }
  return all;
}

std::string Name(Elem e) { return ir::ElemInfoOf(e).spelling; }
int Bits(Elem e) { return ir::ElemInfoOf(e).bits; }
std::string Tile(absl::string_view element) { return absl::StrCat("tile<", kSize, "x", element, ">"); }

// What the table has of operations on one type with no attribute, or a sign: a new one needs no line here.
void AddPlainLines(Elem e, std::vector<Line>* out) {
  const char* set = ir::IsFp(e) ? "FP" : "INT";
  const std::string one = absl::StrCat("source:", set, " result=source"),
                    two = absl::StrCat("lhs:", set, " rhs=lhs result=lhs");
  for (const ir::OpInfo& op : ir::AllOps()) {
    if (!op.has(ir::kElementwise)) continue;
    const ir::Format format = op.format->id;
    if (format == ir::Format::kUnary && op.constraints == one)
      out->push_back({absl::StrCat(op.mnemonic, " %a"), e, ""});
    if (format == ir::Format::kBinary && op.constraints == two)
      out->push_back({absl::StrCat(op.mnemonic, " %a, %b"), e, ""});
    if (format != ir::Format::kBinarySign || op.constraints != two) continue;
    for (const char* sign : kSigns) out->push_back({absl::StrCat(op.mnemonic, " %a, %b ", sign), e, ""});
  }
}

void AddIntegerLines(Elem e, std::vector<Line>* out) {
  for (const char* op : {"negi %a", "negi %a overflow<no_signed_wrap>", "negi %a overflow<no_wrap>"}) {
    out->push_back({op, e, ""});
  }
  for (const char* op : {"addi", "subi", "muli", "shli"}) {
    for (const char* promise : {"", " overflow<no_signed_wrap>", " overflow<no_unsigned_wrap>", " overflow<no_wrap>"}) {
      out->push_back({absl::StrCat(op, " %a, %b", promise), e, ""});
    }
  }
  for (const char* sign : kSigns) {
    out->push_back({absl::StrCat("divi %a, %b ", sign), e, ""});
    out->push_back({absl::StrCat("divi %a, %b ", sign, " rounding<positive_inf>"), e, ""});
    for (const char* p : kPredicates) out->push_back({absl::StrCat("cmpi ", p, " %a, %b, ", sign), Elem::kI1, ""});
    for (Elem to : kInts) {
      if (Bits(to) > Bits(e)) out->push_back({absl::StrCat("exti %a ", sign), to, ""});
    }
    if (e == Elem::kI1) {
      out->push_back(
          {absl::StrCat("exti %$ ", sign), Elem::kI16, absl::StrCat("%$ = exti %a ", sign, " -> ", Tile("i4"))});
    } else {
      out->push_back({absl::StrCat("exti %$ ", sign), Elem::kI64, absl::StrCat("%$ = trunci %a -> ", Tile("i4"))});
      out->push_back({"trunci %$", Elem::kI1, absl::StrCat("%$ = trunci %a -> ", Tile("i4"))});
    }
    for (Elem to : All()) {
      if (ir::IsFloat(to) && to != Elem::kF8E8M0FNU) out->push_back({absl::StrCat("itof %a ", sign), to, ""});
    }
  }
  out->push_back({"divi %a, %b signed rounding<negative_inf>", e, ""});
  for (Elem to : kInts) {
    if (Bits(to) < Bits(e)) out->push_back({"trunci %a", to, ""});
  }
  if (e == Elem::kI64) {
    for (const char* pointee : {"f64", "f4E2M1FN", "i1"}) {
      const std::string p = Tile(absl::StrCat("ptr<", pointee, ">"));
      out->push_back(
          {"ptr_to_int %$.4", e,
           absl::StrCat("%$ = int_to_ptr %a -> ", p, "\n  %$.1 = offset %$, %b", "\n  %$.2 = select %less, %$, %$.1",
                        "\n  %$.3 = ptr_to_ptr %$.2 -> ", Tile("ptr<i8>"), "\n  %$.4 = offset %$.3, %less")});
    }
  }
}

void AddFloatLines(Elem e, std::vector<Line>* out) {
  const bool f32 = e == Elem::kF32;
  std::vector<std::string> flushes = {""};
  if (f32) flushes.push_back(" flush_to_zero");
  const auto add = [&](absl::string_view op, std::vector<std::string> roundings) {
    for (const std::string& r : roundings) {
      for (const std::string& ftz : flushes) {
        out->push_back({absl::StrCat(op, r.empty() ? "" : absl::StrCat(" rounding<", r, ">"), ftz), e, ""});
      }
    }
  };
  const std::vector<std::string> ieee = {"", "zero", "negative_inf", "positive_inf"};
  for (const char* op : {"addf %a, %b", "subf %a, %b", "mulf %a, %b", "fma %a, %b, %c", "divf %a, %b", "sqrt %a"}) {
    add(op, ieee);
  }
  if (f32) {
    add("divf %a, %b", {"approx", "full"});
    add("sqrt %a", {"approx"});
    for (const char* op : {"exp %a rounding<approx>", "tanh %a rounding<approx>"}) out->push_back({op, e, ""});
  }
  for (const char* op : {"maxf %a, %b", "minf %a, %b", "maxf %a, %b propagate_nan", "minf %a, %b propagate_nan",
                         "exp2 %a", "rsqrt %a"}) {
    add(op, {""});
  }
  for (const char* op : {"exp %a", "tanh %a"}) out->push_back({op, e, ""});
  for (const char* n : {"i1", "i8", "i16", "i32"}) {
    out->push_back({"fpowi %a, %$", e, absl::StrCat("%$ = ftoi %a signed -> ", Tile(n))});
  }
  for (int n : {-1, 0, 1, 2, 3, 4}) {
    out->push_back({"fpowi %a, %$", e, absl::StrCat("%$ = constant <i32: ", n, "> : ", Tile("i32"))});
  }
  for (const char* op : {"jn %a, %$", "yn %a, %$"}) {
    out->push_back({op, e, absl::StrCat("%$ = ftoi %a signed -> ", Tile("i32"))});
  }
  for (const char* order : {"ordered", "unordered"}) {
    for (const char* p : kPredicates) out->push_back({absl::StrCat("cmpf ", p, " ", order, " %a, %b"), Elem::kI1, ""});
  }
}

std::vector<std::string> FtofRoundings(Elem from, Elem to) {
  if (to == Elem::kF8E8M0FNU) return {"zero", "positive_inf"};
  if (Bits(to) <= 8) return {"nearest_even"};
  if (from == Elem::kF64 && to == Elem::kF32) return {"nearest_even", "zero", "negative_inf", "positive_inf"};
  if (from == Elem::kF32 && to == Elem::kTF32) return {"nearest_even", "zero", "nearest_away"};
  if (from == Elem::kBF16 && to == Elem::kF32) {
    return {"nearest_even", "zero", "nearest_away", "negative_inf", "positive_inf"};
  }
  return {"nearest_even", "zero"};
}

std::vector<Line> LinesOf(Elem e) {
  std::vector<Line> lines;
  if (ir::IsInt(e) || ir::IsFp(e)) AddPlainLines(e, &lines);
  if (ir::IsInt(e)) AddIntegerLines(e, &lines);
  if (ir::IsFp(e)) AddFloatLines(e, &lines);
  if (e != Elem::kF4E2M1FN) lines.push_back({"select %less, %a, %b", e, ""});
  for (Elem to : All()) {
    if (Bits(to) == Bits(e)) lines.push_back({"bitcast %a", to, ""});
    if (!ir::IsFloat(e)) continue;
    if (ir::IsFloat(to) && to != e) {
      for (const std::string& r : FtofRoundings(e, to)) {
        lines.push_back({absl::StrCat("ftof %a rounding<", r, ">"), to, ""});
      }
    }
    if (ir::IsInt(to)) {
      for (const char* sign : kSigns) {
        lines.push_back({absl::StrCat("ftoi %a ", sign), to, ""});
        lines.push_back({absl::StrCat("ftoi %a ", sign, " saturating"), to, ""});
      }
    }
  }
  return lines;
}

// A kernel that loads %a, %b, %c and %less and stores the result of every line.
std::string KernelText(Elem e, const std::vector<Line>& lines, int size = kSize) {
  std::map<Elem, int> results;
  for (const Line& line : lines) ++results[line.result];
  std::string params, body;
  const auto view = [&](absl::string_view name, absl::string_view elem, int count) {
    absl::StrAppend(&params, params.empty() ? "" : ", ", "%", name, ": tile<ptr<", elem, ">>");
    const std::string tensor = absl::StrCat("tensor_view<", size * count, "x", elem, ", strides=[1]>");
    absl::StrAppend(&body, "  %", name, ".t = make_tensor_view %", name, ", shape = [", size * count,
                    "], strides = [1] : ", tensor, "\n  %", name, ".v = make_partition_view %", name,
                    ".t : partition_view<tile=(", size, "), ", tensor, ">\n");
  };
  view("in", Name(e), 3);
  view("cond", "i1", 1);
  for (const auto& [elem, count] : results) view(absl::StrCat("out_", Name(elem)), Name(elem), count);
  const auto number = [&](int n) {
    const std::string name = absl::StrCat("%n", n);
    const std::string line = absl::StrCat("  ", name, " = constant <i32: ", n, "> : tile<i32>\n");
    if (!absl::StrContains(body, line)) body += line;
    return name;
  };
  for (int i = 0; i < 3; ++i) {
    const std::string n = number(i);
    const std::string name(1, static_cast<char>('a' + i));
    absl::StrAppend(&body, "  %", name, ", %", name, ".k = load_view_tko weak %in.v[", n, "] -> ", Tile(Name(e)),
                    ", token\n");
  }
  absl::StrAppend(&body, "  %less, %less.k = load_view_tko weak %cond.v[%n0] -> ", Tile("i1"), ", token\n");
  std::map<Elem, int> stored;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::string mine = absl::StrCat("%v", i);
    const auto named = [&](const std::string& s) { return absl::StrReplaceAll(s, {{"%$", mine}}); };
    if (!line.before.empty()) absl::StrAppend(&body, "  ", named(line.before), "\n");
    const std::string n = number(stored[line.result]++);
    const bool typed = absl::StartsWith(line.op, "cmp") || absl::StrContains(line.op, "to") ||
                       absl::StartsWith(line.op, "exti") || absl::StartsWith(line.op, "trunci") ||
                       absl::StartsWith(line.op, "bitcast");
    absl::StrAppend(&body, "  %r", i, " = ", named(line.op), typed ? absl::StrCat(" -> ", Tile(Name(line.result))) : "",
                    "\n  store_view_tko weak %r", i, ", %out_", Name(line.result), ".v[", n, "] -> token\n");
  }
  const std::string text = absl::StrCat("entry @k(", params, ") {\n", body, "  return\n}\n");
  return absl::StrReplaceAll(text, {{absl::StrCat("tile<", kSize, "x"), absl::StrCat("tile<", size, "x")}});
}

class AllOperations : public testing::TestWithParam<Elem> {};

TEST_P(AllOperations, CompileAndAssemble) {
  if (FindLibdevice().empty()) GTEST_SKIP() << "libdevice was not found, which has the mathematical functions";
  const std::string text = KernelText(GetParam(), LinesOf(GetParam()));
  for (const int sm : AllSms()) {
    const CompiledText c = CompileText(text, sm);
    ASSERT_EQ(c.error, "") << sm;
    ASSERT_EQ(AssemblerErrors(c, sm), "");
  }
  if (FindPtxas().empty()) GTEST_SKIP() << "ptxas was not found: the PTX was made but not assembled";
}

INSTANTIATE_TEST_SUITE_P(Elements, AllOperations, testing::ValuesIn(All()),
                         [](const testing::TestParamInfo<Elem>& p) { return Name(p.param); });

// Each operation of the table is among the lines.
TEST(AllOperations, AreAll) {
  std::string all;
  for (Elem e : All()) {
    for (const Line& line : LinesOf(e)) absl::StrAppend(&all, " ", line.op, " ", line.before, "\n");
  }
#define TILE_OP(number, Name, mnemonic, Format, Family, since, traits, constraints) \
  {                                                                                 \
    using namespace ir;                                                             \
    constexpr bool kMine = ((traits)&kElementwise) == kElementwise;                 \
    EXPECT_TRUE(!kMine || absl::StrContains(all, " " mnemonic " ")) << mnemonic;    \
  }
#include "ir/ops.def"
}

// --- what PTX says --------------------------------------------------------------------------------------------------

std::string PtxOf(Elem e, const Line& line, int sm) {
  const CompiledText c = CompileText(KernelText(e, {line}), sm);
  EXPECT_EQ(c.error, "") << line.op;
  return c.ptx;
}

TEST(Ptx, RoundingsAndFlushesByName) {
  const struct {
    Elem elem;
    const char* op;
    const char* ptx;
    int sm = 90;
  } kCases[] = {
      {Elem::kF32, "addf %a, %b", "add.rn.f32 "},
      {Elem::kF32, "addf %a, %b rounding<zero>", "add.rz.f32 "},
      {Elem::kF32, "addf %a, %b rounding<negative_inf> flush_to_zero", "add.rm.ftz.f32 "},
      {Elem::kF32, "addf %a, %b flush_to_zero", "add.rn.ftz.f32 "},
      {Elem::kF32, "subf %a, %b", "sub.rn.f32 "},
      {Elem::kF32, "mulf %a, %b rounding<positive_inf>", "mul.rp.f32 "},
      {Elem::kF32, "fma %a, %b, %c flush_to_zero", "fma.rn.ftz.f32 "},
      {Elem::kF32, "fma %a, %b, %c", "fma.rn.f32 "},
      {Elem::kF32, "divf %a, %b", "div.rn.f32 "},
      {Elem::kF32, "divf %a, %b rounding<negative_inf>", "div.rm.f32 "},
      {Elem::kF32, "divf %a, %b rounding<approx>", "div.approx.f32 "},
      {Elem::kF32, "divf %a, %b rounding<full> flush_to_zero", "div.full.ftz.f32 "},
      {Elem::kF32, "sqrt %a", "sqrt.rn.f32 "},
      {Elem::kF32, "sqrt %a rounding<zero> flush_to_zero", "sqrt.rz.ftz.f32 "},
      {Elem::kF32, "sqrt %a rounding<approx>", "sqrt.approx.f32 "},
      {Elem::kF32, "rsqrt %a flush_to_zero", "rsqrt.approx.ftz.f32 "},
      {Elem::kF32, "exp2 %a", "ex2.approx.f32 "},
      {Elem::kF32, "exp2 %a flush_to_zero", "ex2.approx.ftz.f32 "},
      {Elem::kF32, "exp %a rounding<approx>", "ex2.approx.f32 "},
      {Elem::kF32, "tanh %a rounding<approx>", "tanh.approx.f32 "},
      {Elem::kF32, "maxf %a, %b", "max.f32 "},
      {Elem::kF32, "maxf %a, %b flush_to_zero", "max.ftz.f32 "},
      {Elem::kF32, "minf %a, %b propagate_nan", "min.NaN.f32 "},
      {Elem::kF32, "minf %a, %b propagate_nan", "min.f32 ", 75},
      {Elem::kF32, "ceil %a", "cvt.rpi.f32.f32 "},
      {Elem::kF32, "negf %a", "xor.b32 "},
      {Elem::kF32, "absf %a", "and.b32 "},
      {Elem::kF64, "fma %a, %b, %c rounding<positive_inf>", "fma.rp.f64 "},
      {Elem::kF64, "divf %a, %b rounding<zero>", "div.rz.f64 "},
      {Elem::kF64, "sqrt %a", "sqrt.rn.f64 "},
      {Elem::kF16, "addf %a, %b", "add.rn.f16 ", 75},
      {Elem::kF16, "addf %a, %b rounding<zero>", "cvt.rz.f16.f32 ", 75},
      {Elem::kF16, "fma %a, %b, %c", "fma.rn.f16 ", 75},
      {Elem::kF16, "divf %a, %b", "div.rn.f32 "},
      {Elem::kBF16, "addf %a, %b", "add.rn.bf16 "},
      {Elem::kBF16, "addf %a, %b", "fma.rn.bf16 ", 80},
      {Elem::kBF16, "addf %a, %b", "add.rn.f32 ", 75},
      {Elem::kBF16, "fma %a, %b, %c", "fma.rz.f32 ", 75},
      {Elem::kI32, "mulhii %a, %b", "mul.hi.u32 "},
      {Elem::kI64, "mulhii %a, %b", "mul.hi.u64 "},
      {Elem::kI32, "shri %a, %b unsigned", "shr.u32 "},
  };
  for (const auto& c : kCases) {
    const std::string ptx = PtxOf(c.elem, {c.op, c.elem, ""}, c.sm);
    EXPECT_TRUE(absl::StrContains(ptx, c.ptx)) << c.op << " for sm_" << c.sm << ptx;
  }
}

TEST(Ptx, ConversionsByName) {
  const struct {
    Elem from, to;
    const char* op;
    const char* ptx;
    int sm = 90;
  } kCases[] = {
      {Elem::kF32, Elem::kF8E4M3FN, "ftof %a", "cvt.rn.satfinite.e4m3x2.f32 "},
      {Elem::kF32, Elem::kF8E4M3FN, "ftof %a", "add.rn.f32 ", 80},
      {Elem::kF8E4M3FN, Elem::kF16, "ftof %a", "cvt.rn.f16x2.e4m3x2 "},
      {Elem::kF64, Elem::kF32, "ftof %a rounding<positive_inf>", "cvt.rp.f32.f64 "},
      {Elem::kF64, Elem::kF16, "ftof %a", "cvt.rz.f32.f64 "},
      {Elem::kF32, Elem::kBF16, "ftof %a rounding<zero>", "cvt.rz.bf16.f32 ", 80},
      {Elem::kF32, Elem::kBF16, "ftof %a", "cvt.rn.bf16.f32 ", 80},
      {Elem::kF32, Elem::kI64, "ftoi %a signed", "cvt.rzi.s64.f32 "},
      {Elem::kF32, Elem::kI8, "ftoi %a unsigned saturating", "cvt.rzi.u32.f32 "},
      {Elem::kI64, Elem::kBF16, "itof %a unsigned", "cvt.rz.f32.u64 "},
  };
  for (const auto& c : kCases) {
    const std::string ptx = PtxOf(c.from, {c.op, c.to, ""}, c.sm);
    EXPECT_TRUE(absl::StrContains(ptx, c.ptx)) << c.op << " for sm_" << c.sm << ptx;
  }
}

// The rows of the target table name a PTX version that has the conversions.
TEST(Ptx, ConversionsOfEveryTarget) {
  for (const int sm : AllSms()) {
    for (Elem e : {Elem::kF8E4M3FN, Elem::kF8E5M2, Elem::kBF16}) {
      for (const auto& [from, to] : {std::pair(Elem::kF32, e), std::pair(e, Elem::kF32)}) {
        const CompiledText c = CompileText(KernelText(from, {{"ftof %a", to, ""}}), sm);
        EXPECT_EQ(c.error, "") << sm;
        EXPECT_EQ(AssemblerErrors(c, sm), "");
      }
    }
  }
}

// A product and a sum stay two roundings, also where one follows the other.
TEST(Ptx, DoesNotFuse) {
  for (Elem e : {Elem::kF16, Elem::kBF16, Elem::kF32, Elem::kF64}) {
    const Line line = {"addf %$, %c", e, "%$ = mulf %a, %b"};
    const std::string ptx = PtxOf(e, line, 90);
    EXPECT_FALSE(absl::StrContains(ptx, "fma.")) << ptx;
    EXPECT_TRUE(absl::StrContains(ptx, "mul.rn.")) << ptx;
    EXPECT_TRUE(absl::StrContains(ptx, "add.rn.")) << ptx;
  }
}

// Shifts of PTX have the rule for large amounts, so that no choice is left.
TEST(Ptx, ShiftsNeedNoSelect) {
  for (const char* op : {"shli %a, %b", "shri %a, %b unsigned"}) {
    EXPECT_FALSE(absl::StrContains(PtxOf(Elem::kI32, {op, Elem::kI32, ""}, 90), "selp")) << op;
  }
}

// Long functions stand once in a kernel whose tiles have many registers, short tiles have them in place.
TEST(Ptx, LongFunctionsAreCalled) {
  if (FindLibdevice().empty()) GTEST_SKIP() << "libdevice was not found";
  const auto calls = [](const std::string& op, int size) {
    std::string text = KernelText(Elem::kF32, {{op, Elem::kF32, ""}}, size);
    const CompiledText c = CompileText(text, 90);
    EXPECT_EQ(c.error, "");
    return absl::StrContains(c.ptx, "call.uni");
  };
  EXPECT_TRUE(calls("sin %a", 4096));
  EXPECT_FALSE(calls("sin %a", 128));
  EXPECT_FALSE(calls("log %a", 4096));
}

}  // namespace
}  // namespace tile::codegen
