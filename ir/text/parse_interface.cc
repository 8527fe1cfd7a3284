// The interface block of an entry. Names of arrays and scalars are collected first, because an expression may speak of
// one that stands further down.
#include <algorithm>

#include "ir/foreign_names.h"
#include "ir/text/expr_ops.h"
#include "ir/text/number.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

class InterfaceParser {
 public:
  InterfaceParser(Parser& parser, Function* f) : p_(parser), f_(f) {}

  bool Parse() {
    f_->interface = std::make_unique<Interface>();
    p_.Advance();
    const Token open = p_.tok();
    if (!p_.Expect("{", "after interface") || !CollectNames()) return false;
    while (!p_.tok().is("}")) {
      if (p_.tok().kind == Tok::kEnd || p_.stop())
        return p_.Fail(open, "unclosed", "this '{' is not closed", "add '}'");
      if (!ParseItem()) SkipItem();
    }
    p_.Advance();
    return true;  // errors are reported; the body is worth reading
  }

 private:
  static bool StartsItem(const Token& t) {
    for (absl::string_view word : {"in", "out", "inout", "scalar", "workspace", "grid"}) {
      if (t.is(word)) return true;
    }
    return false;
  }

  void SkipItem() {
    while (p_.tok().kind != Tok::kEnd && !p_.tok().is("}") && !(p_.tok().first_on_line && StartsItem(p_.tok())))
      p_.Advance();
  }

  static std::optional<std::string> NameOf(const Token& t) {
    if (t.kind == Tok::kString) return Unquote(t.text);
    if (t.kind != Tok::kIdent || IsReservedInExpr(t.text)) return std::nullopt;
    return std::string(t.text);
  }

  bool CollectNames() {
    Lexer ahead = p_.lexer_;
    for (Token t = p_.tok(); t.kind != Tok::kEnd && !t.is("}"); t = ahead.Next()) {
      if (!StartsItem(t) || t.is("workspace") || t.is("grid")) continue;
      const bool scalar = t.is("scalar");
      t = ahead.Next();
      const std::optional<std::string> name = NameOf(t);
      if (!name) {
        if (t.kind == Tok::kEnd || t.is("}")) break;
        continue;
      }
      std::vector<std::string>& names = scalar ? scalars_ : arrays_;
      auto& numbers = scalar ? scalar_numbers_ : array_numbers_;
      if (!numbers.try_emplace(*name, static_cast<int>(names.size())).second) {
        return p_.Fail(t, "redefined",
                       absl::StrCat("the interface has two ", scalar ? "scalars" : "arrays", " of this name"),
                       "choose another name");
      }
      names.push_back(*name);
      if (names.size() > static_cast<size_t>(kMaxArguments)) {
        return p_.Fail(t, "limit", absl::StrCat("an interface has at most ", kMaxArguments, " arguments"));
      }
    }
    return true;
  }

  bool ParseName(std::string* name) {
    const std::optional<std::string> s = NameOf(p_.tok());
    if (!s) {
      const bool reserved = p_.tok().kind == Tok::kIdent;
      return p_.FailExpected(
          "a name", reserved ? absl::StrCat("the word means something else here; write \"", p_.tok().text, "\"") : "");
    }
    *name = *s;
    p_.Advance();
    return true;
  }

  bool ParseParam(int* index) {
    const Token at = p_.tok();
    if (at.kind != Tok::kValue) {
      return p_.FailExpected("a parameter like %x", at.kind == Tok::kIdent ? absl::StrCat("write %", at.text) : "");
    }
    // Only parameters are defined in front of the body.
    if (const auto it = p_.names_.find(at.text); it != p_.names_.end() && it->second.value != nullptr) {
      *index = it->second.value->index();
      p_.Advance();
      return true;
    }
    return p_.Fail(at, "undefined", absl::StrCat("@", f_->name, " has no parameter %", at.text),
                   p_.ClosestName(at.text));
  }

  bool ParseItem() {
    Interface& i = *f_->interface;
    Reading::Entry& places = p_.reading_->entries[f_];
    const SourcePos pos = p_.tok().pos;
    for (int d = 0; d < 3; ++d) {
      if (!p_.Accept(kDirections[d])) continue;
      ArrayArg a;
      a.direction = static_cast<Direction>(d);
      if (!ParseArray(&a)) return false;
      i.arrays.push_back(std::move(a));
      places.arrays.push_back(pos);
      return true;
    }
    if (p_.Accept("scalar")) {
      ScalarArg s;
      if (!ParseScalar(&s)) return false;
      i.scalars.push_back(std::move(s));
      places.scalars.push_back(pos);
      return true;
    }
    if (p_.Accept("workspace")) {
      Workspace w;
      if (!ParseName(&w.name) || !p_.Expect(":", "after the name", "write it like x: f32[%n]") ||
          !p_.ParseElement(&w.element) || !p_.Expect("[", "before the number of elements") || !ParseExpr(&w.count) ||
          !p_.Expect("]", "behind the number of elements") || (p_.Accept("at") && !ParseParam(&w.pointer_param))) {
        return false;
      }
      i.workspaces.push_back(std::move(w));
      places.workspaces.push_back(pos);
      return true;
    }
    const Token at = p_.tok();
    if (p_.Accept("grid")) {
      if (!i.grid.empty()) return p_.Fail(at, "syntax", "the interface has two grids");
      do {
        Expr e;
        places.grid.push_back(p_.tok().pos);
        if (!ParseExpr(&e)) return false;
        i.grid.push_back(std::move(e));
        if (i.grid.size() > 3) return p_.Fail(at, "syntax", "a grid has at most three sizes");
      } while (p_.Accept(","));
      return true;
    }
    p_.last_ = Token();  // the error is this token, not the end of what stands before it
    const bool scalar = at.is(":") && !i.scalars.empty();
    return p_.FailExpected("in, out, inout, scalar, workspace or grid",
                           scalar            ? "a scalar has the type of its parameter: scalar n = %n"
                           : at.is("input")  ? "did you mean in?"
                           : at.is("output") ? "did you mean out?"
                           : at.is("/")      ? "division is one /, and rounds down"
                           : at.kind == Tok::kIdent
                               ? DidYouMean(at.text, {"in", "out", "inout", "scalar", "workspace", "grid"})
                               : "");
  }

  bool NoTile() {
    return !p_.tok().is("tile") || p_.FailExpected("an element type", "an array is no tile: x: f32[%n] at %x");
  }

  bool ParseArray(ArrayArg* a) {
    if (!ParseName(&a->name) || !p_.Expect(":", "after the name", "write it like x: f32[%n]") || !NoTile() ||
        !p_.ParseElement(&a->element) || !ParseDims(&a->shape)) {
      return false;
    }
    if (p_.Accept("strides") && !ParseDims(&a->strides)) return false;
    if (p_.Accept("at") && !ParseParam(&a->pointer_param)) return false;
    if (!p_.Accept("init")) return true;
    if (p_.Accept("zero")) {
      a->init = InitKind::kZero;
      return true;
    }
    a->init = InitKind::kValue;
    return p_.ParseNumberOf(a->element.kind, &a->init_bits);
  }

  bool ParseScalar(ScalarArg* s) {
    if (!ParseName(&s->name)) return false;
    if (p_.Accept("=") && !ParseParam(&s->param)) return false;
    if (p_.Accept("value") && !ParseExpr(&s->value)) return false;
    if (!p_.Accept("default")) return true;
    return p_.ParseNumberOf(DefaultElem(*f_, *s), &s->default_bits.emplace());
  }

  bool ParseDims(std::vector<DimBinding>* dims) {
    if (!p_.Expect("[", "before a list of sizes", p_.tok().is("(") ? "sizes stand in brackets: x: f32[%n]" : ""))
      return false;
    while (!p_.tok().is("]")) {
      if (!dims->empty() && !p_.Expect(",", "or ']' in a list of sizes")) return false;
      dims->emplace_back();
      in_sizes_ = true;
      const bool ok = ParseDim(&dims->back());
      in_sizes_ = false;
      if (!ok) return false;
      if (dims->size() > kMaxRank)
        return p_.Fail(p_.tok(), "limit", absl::StrCat("an array has at most ", kMaxRank, " dimensions"));
    }
    p_.Advance();
    return true;
  }

  // [%n], [16], [%n = 16], [x.shape[0]], [%n = x.shape[0]], [16 default x.shape[0]], [?]
  bool ParseDim(DimBinding* d) {
    if (p_.Accept("?")) return true;
    if (p_.tok().kind == Tok::kValue) {
      if (!ParseParam(&d->param)) return false;
      if (!p_.Accept("=")) return true;
    }
    const bool wrapped = p_.tok().is("(");
    if (!ParseExpr(&d->size)) return false;
    if (!wrapped && d->size.size() == 1 && d->size[0].op == ExprOp::kConst) {
      d->constant = d->size[0].value;
      d->size.clear();
      if (p_.Accept("default")) return ParseExpr(&d->size);
    }
    return true;
  }

  // --- expressions: precedence climbing into postfix order ---

  bool ParseExpr(Expr* e) {
    const Token at = p_.tok();
    return Infix(e, 0, 0) && CheckSize(at, *e);
  }

  bool CheckSize(const Token& at, const Expr& e) {
    return e.size() <= kMaxExprNodes ||
           p_.Fail(at, "limit", absl::StrCat("an expression has at most ", kMaxExprNodes, " operands and operators"));
  }

  bool Infix(Expr* e, int binds, int depth) {
    const Token at = p_.tok();
    if (depth > kMaxExprNodes) return p_.Fail(at, "limit", "the expression nests too deep");
    if (!Primary(e, depth)) return false;
    while (true) {
      const ExprOpInfo* op = nullptr;
      for (const ExprOpInfo& o : kExprOps) {
        if (o.binds != kTightest && o.binds > binds && p_.tok().kind == Tok::kPunct && p_.tok().is(o.text)) op = &o;
      }
      if (op == nullptr) {
        if (p_.tok().kind != Tok::kValue) return true;
        return p_.Fail(p_.tok(), "syntax", "an expression speaks of arrays and scalars, not of parameters",
                       "for a remainder put a space behind '%'");
      }
      p_.Advance();
      if (!Infix(e, op->binds, depth + 1)) return false;
      e->push_back({op->op});
      if (!CheckSize(at, *e)) return false;
    }
  }

  bool Primary(Expr* e, int depth) {
    const Token at = p_.tok();
    if (p_.Accept("(")) {
      return Infix(e, 0, depth + 1) &&
             p_.Expect(")", "in the expression",
                       p_.tok().is(",") ? "a grid stands without parentheses: grid 4, 2" : "");
    }
    if (at.is("-") || at.kind == Tok::kInt) {
      ExprNode n;
      if (!p_.ParseInt(&n.value)) return false;
      e->push_back(n);
      return true;
    }
    if (p_.Accept("num_sms")) {
      e->push_back({ExprOp::kNumSms});
      return true;
    }
    for (const ExprOpInfo& o : kExprOps) {
      if (o.binds != kTightest || !at.is(o.text)) continue;
      p_.Advance();
      for (size_t i = 0; i < o.arity; ++i) {
        if (!p_.Expect(i == 0 ? "(" : ",", absl::StrCat("in ", o.text, "(…)")) || !Infix(e, 0, depth + 1)) return false;
      }
      e->push_back({o.op});
      return p_.Expect(")", absl::StrCat("behind the arguments of ", o.text));
    }
    if (at.kind == Tok::kValue) {
      return p_.Fail(at, "syntax", "an expression speaks of arrays and scalars, not of parameters",
                     "declare the parameter: scalar n = %n");
    }
    std::string name;
    if (!ParseName(&name)) return false;
    return p_.Accept(".") ? Property(e, at, name) : ScalarUse(e, at, name);
  }

  bool ScalarUse(Expr* e, const Token& at, const std::string& name) {
    const auto it = scalar_numbers_.find(name);
    if (it == scalar_numbers_.end()) {
      const bool array = array_numbers_.contains(name);
      return p_.Fail(
          at, "undefined", absl::StrCat("the interface has no scalar ", name),
          array ? absl::StrCat("of an array write ", name, ".shape[0], .stride[0] or .align") : ScalarAdvice(name));
    }
    e->push_back({ExprOp::kScalar, it->second});
    return true;
  }

  std::string ScalarAdvice(const std::string& name) const {
    if (p_.tok().is("(")) {
      const std::string advice = FunctionAdvice(name);
      return absl::StrCat(advice, advice.empty() ? "" : "; ", "functions: ceildiv, min, max, select");
    }
    const bool param = p_.names_.contains(name);
    const std::string near = DidYouMean(name, {scalars_.begin(), scalars_.end()});
    if (param && in_sizes_) return absl::StrCat("write %", name, ": it is a parameter");
    if (param) return absl::StrCat("declare the parameter: scalar ", name, " = %", name);
    return near.empty() ? FunctionAdvice(name) : near;
  }

  bool Property(Expr* e, const Token& at, const std::string& name) {
    const auto it = array_numbers_.find(name);
    if (it == array_numbers_.end()) {
      return p_.Fail(at, "undefined", absl::StrCat("the interface has no array ", name),
                     DidYouMean(name, {arrays_.begin(), arrays_.end()}));
    }
    if (p_.Accept("align")) {
      e->push_back({ExprOp::kAlign, it->second});
      return true;
    }
    const bool shape = p_.tok().is("shape");
    if (!shape && !p_.tok().is("stride")) {
      return p_.FailExpected("shape[…], stride[…] or align",
                             p_.tok().is("size") || p_.tok().is("sizes") || p_.tok().is("len")
                                 ? absl::StrCat("write ", name, ".shape[0]")
                                 : DidYouMean(p_.tok().text, {"shape", "stride", "align"}));
    }
    p_.Advance();
    uint64_t dim;
    if (!p_.Expect("[", "before a dimension") || !p_.ParseUint(&dim, kMaxRank - 1) ||
        !p_.Expect("]", "behind a dimension")) {
      return false;
    }
    e->push_back({shape ? ExprOp::kShape : ExprOp::kStride, it->second, static_cast<int32_t>(dim)});
    return true;
  }

  Parser& p_;
  Function* f_;
  bool in_sizes_ = false;  // of an array
  std::vector<std::string> arrays_, scalars_;
  absl::flat_hash_map<std::string, int> array_numbers_, scalar_numbers_;
};

bool ParseInterface(Parser& parser, Function* f) { return InterfaceParser(parser, f).Parse(); }

}  // namespace tile::ir::text
