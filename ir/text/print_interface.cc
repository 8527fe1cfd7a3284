// The interface block of an entry as text. Expressions stand in postfix order and are written in infix form with as few
// parentheses as give the same postfix order back.
#include "absl/strings/str_join.h"
#include "ir/text/expr_ops.h"
#include "ir/text/lexer.h"
#include "ir/text/number.h"
#include "ir/text/print_internal.h"

namespace tile::ir::text {
namespace {

std::string NameText(absl::string_view name) {
  return IsIdentifier(name) && !IsReservedInExpr(name) ? std::string(name) : Quote(name);
}

class InterfacePrinter {
 public:
  InterfacePrinter(const Function& f, const Interface& i, const Names& names) : f_(f), i_(i), names_(names) {}

  std::string Text() const {
    std::string out;
    for (const ArrayArg& a : i_.arrays) absl::StrAppend(&out, "  ", Array(a), "\n");
    for (const ScalarArg& s : i_.scalars) absl::StrAppend(&out, "  ", ScalarText(s), "\n");
    for (const Workspace& w : i_.workspaces) {
      absl::StrAppend(&out, "  workspace ", NameText(w.name), ": ", ToString(w.element), "[", ExprText(w.count), "]",
                      At(w.pointer_param), "\n");
    }
    if (!i_.grid.empty()) {
      absl::StrAppend(&out, "  grid ",
                      absl::StrJoin(i_.grid, ", ", [&](std::string* s, const Expr& e) { s->append(ExprText(e)); }),
                      "\n");
    }
    return out;
  }

 private:
  std::string Param(int index) const {
    return index >= 0 && index < f_.num_params() ? names_.Of(f_.param(index)) : absl::StrCat("%?", index);
  }
  std::string At(int index) const { return index < 0 ? "" : absl::StrCat(" at ", Param(index)); }

  std::string ArrayName(int index) const {
    return index >= 0 && index < static_cast<int>(i_.arrays.size()) ? NameText(i_.arrays[index].name) : "?";
  }

  // The text of a node, and how tightly it binds.
  std::pair<std::string, int> Leaf(const ExprNode& n) const {
    switch (n.op) {
      case ExprOp::kShape: return {absl::StrCat(ArrayName(n.a), ".shape[", n.b, "]"), kTightest};
      case ExprOp::kStride: return {absl::StrCat(ArrayName(n.a), ".stride[", n.b, "]"), kTightest};
      case ExprOp::kAlign: return {absl::StrCat(ArrayName(n.a), ".align"), kTightest};
      case ExprOp::kNumSms: return {"num_sms", kTightest};
      case ExprOp::kScalar: {
        const bool known = n.a >= 0 && n.a < static_cast<int>(i_.scalars.size());
        return {known ? NameText(i_.scalars[n.a].name) : "?", kTightest};
      }
      default: return {absl::StrCat(n.value), kTightest};
    }
  }

  std::string ExprText(const Expr& e) const {
    std::vector<std::pair<std::string, int>> stack;
    for (const ExprNode& n : e) {
      const ExprOpInfo* info = FindExprOp(n.op);
      const size_t arity = info == nullptr ? 0 : info->arity;
      if (stack.size() < arity) return "?";
      if (arity == 0) {
        stack.push_back(Leaf(n));
        continue;
      }
      std::string s;
      if (info->binds == kTightest) {
        s = absl::StrCat(info->text, "(",
                         absl::StrJoin(stack.end() - arity, stack.end(), ", ",
                                       [](std::string* out, const auto& x) { out->append(x.first); }),
                         ")");
      } else {
        const auto& [left, left_binds] = stack[stack.size() - 2];
        const auto& [right, right_binds] = stack.back();
        const bool wrap_left = left_binds < info->binds, wrap_right = right_binds <= info->binds;
        s = absl::StrCat(wrap_left ? "(" : "", left, wrap_left ? ")" : "", " ", info->text, " ", wrap_right ? "(" : "",
                         right, wrap_right ? ")" : "");
      }
      stack.resize(stack.size() - arity);
      stack.emplace_back(std::move(s), info->binds);
    }
    return stack.size() == 1 ? stack[0].first : "?";
  }

  // A lone number would be read as the constant of a size: parentheses make it an expression.
  std::string SizeText(const Expr& e) const {
    return e.size() == 1 && e[0].op == ExprOp::kConst ? absl::StrCat("(", ExprText(e), ")") : ExprText(e);
  }

  std::string Dim(const DimBinding& d) const {
    std::string s = d.param >= 0 ? Param(d.param) : "";
    if (d.constant) absl::StrAppend(&s, s.empty() ? "" : " = ", *d.constant);
    if (!d.size.empty()) {
      absl::StrAppend(&s, d.constant ? " default " : s.empty() ? "" : " = ", SizeText(d.size));
    }
    return s.empty() ? "?" : s;
  }

  std::string Dims(const std::vector<DimBinding>& dims) const {
    return absl::StrJoin(dims, ", ", [&](std::string* out, const DimBinding& d) { out->append(Dim(d)); });
  }

  std::string Array(const ArrayArg& a) const {
    std::string s = absl::StrCat(kDirections[static_cast<int>(a.direction) % 3], " ", NameText(a.name), ": ",
                                 ToString(a.element), "[", Dims(a.shape), "]");
    if (!a.strides.empty()) absl::StrAppend(&s, " strides [", Dims(a.strides), "]");
    s += At(a.pointer_param);
    if (a.init == InitKind::kZero) s += " init zero";
    if (a.init == InitKind::kValue) absl::StrAppend(&s, " init ", FormatNumber(a.element.kind, a.init_bits));
    return s;
  }

  std::string ScalarText(const ScalarArg& a) const {
    std::string s = absl::StrCat("scalar ", NameText(a.name));
    if (a.param >= 0) absl::StrAppend(&s, " = ", Param(a.param));
    if (!a.value.empty()) absl::StrAppend(&s, " value ", ExprText(a.value));
    if (a.default_bits) absl::StrAppend(&s, " default ", FormatNumber(DefaultElem(f_, a), *a.default_bits));
    return s;
  }

  const Function& f_;
  const Interface& i_;
  const Names& names_;
};

}  // namespace

std::string InterfaceText(const Function& f, const Interface& interface, const Names& names) {
  return InterfacePrinter(f, interface, names).Text();
}

}  // namespace tile::ir::text
