// Kernel interface and launch rule (ir/interface.h): a caller can fill every parameter, and evaluate every expression in
// one pass without a stack that runs dry.

#include "absl/container/flat_hash_set.h"
#include "ir/limits.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

int OperandsOf(ExprOp op) {
  if (op <= ExprOp::kNumSms) return 0;
  return op == ExprOp::kSelect ? 3 : 2;
}

class InterfaceCheck {
 public:
  InterfaceCheck(Verifier& verifier, const Function& f)
      : verifier_(verifier),
        f_(f),
        i_(*f.interface),
        places_(verifier.PlacesOf(f)),
        at_(f.pos),
        uses_(f.num_params(), Use::kNone),
        input_sizes_(f.num_params()) {
    for (const ArrayArg& a : i_.arrays) {
      for (const DimBinding& d : a.shape) {
        if (a.direction != Direction::kOut && d.param >= 0 && d.param < f.num_params()) input_sizes_[d.param] = true;
      }
    }
  }

  void Run() {
    if (!CheckLimits()) return;
    for (size_t a = 0; a < i_.arrays.size(); ++a) {
      if (places_ != nullptr) at_ = places_->arrays[a];
      CheckArray(i_.arrays[a]);
    }
    for (size_t s = 0; s < i_.scalars.size(); ++s) {
      if (places_ != nullptr) at_ = places_->scalars[s];
      CheckScalar(i_.scalars[s]);
    }
    for (size_t w = 0; w < i_.workspaces.size(); ++w) {
      if (places_ != nullptr) at_ = places_->workspaces[w];
      CheckWorkspace(i_.workspaces[w]);
    }
    for (size_t d = 0; d < i_.grid.size(); ++d) {
      if (places_ != nullptr) at_ = places_->grid[d];
      CheckExpr(i_.grid[d], absl::StrCat("grid size ", d));
    }
    for (int p = 0; p < f_.num_params(); ++p) {
      if (places_ != nullptr) at_ = places_->params[p];
      if (uses_[p] == Use::kNone)
        Fail(Rule::kAllBound, absl::StrCat("parameter ", Param(p), " is bound to nothing"),
             "bind it as a pointer, size, stride, scalar or workspace");
    }
    at_ = f_.pos;
    if (expressions_ok_) CheckOrder();
  }

 private:
  enum class Use : uint8_t { kNone, kWhole, kSize };

  void Fail(Rule rule, absl::string_view message, absl::string_view fix = "") {
    verifier_.Report(rule, nullptr, f_.loc, at_, absl::StrCat("interface of @", f_.name), message, fix);
  }

  std::string Param(int p) const {
    const absl::string_view name = f_.param(p)->name;
    return name.empty() ? absl::StrCat(p) : absl::StrCat("%", name);
  }

  bool CheckLimits() {
    bool good = i_.arrays.size() + i_.scalars.size() + i_.workspaces.size() <= kMaxArguments && i_.grid.size() <= 3;
    for (const ArrayArg& a : i_.arrays) {
      good = good && a.shape.size() <= kMaxRank && (a.strides.empty() || a.strides.size() == a.shape.size());
    }
    if (!good) {
      Fail(Rule::kInterfaceLimits,
           "has too many arguments, grid sizes or dimensions, or strides for some dimensions only");
    }
    return good;
  }

  void CheckName(const std::string& name) {
    if (!IsGoodName(name)) {
      Fail(Rule::kArgumentName, "an argument's name is empty, too long or has control characters",
           "use letters, digits and _");
    }
    if (!names_.insert(name).second) Fail(Rule::kArgumentName, absl::StrCat("two arguments are called ", name));
  }

  // The type of parameter p, taken for `use`; no type if that is an error. Sizes may share a parameter: they must be equal
  // then.
  Type Bind(int p, Use use, absl::string_view what) {
    if (p == -1) {
      Fail(Rule::kBoundParam, absl::StrCat(what, " is bound to no pointer"),
           "say which parameter receives it: at %x, a parameter of type tile<ptr<…>>");
      return Type();
    }
    if (p < 0 || p >= f_.num_params()) {
      Fail(Rule::kBoundParam, absl::StrCat(what, " binds parameter ", p, " of ", f_.num_params()));
      return Type();
    }
    if (uses_[p] != Use::kNone && (uses_[p] != Use::kSize || use != Use::kSize)) {
      Fail(Rule::kBoundParam, absl::StrCat(what, " binds parameter ", Param(p), ", which is bound already"),
           "give each argument a parameter of its own");
      return Type();
    }
    uses_[p] = use;
    return f_.param(p)->type();
  }

  void CheckPointer(int p, Element element, absl::string_view what) {
    const Type t = Bind(p, Use::kWhole, what);
    if (!t) return;
    if (t.elem() == Elem::kPtr && IsNum(element.kind) && MemoryBits(element.kind) == MemoryBits(t.element().pointee))
      return;
    Fail(Rule::kBoundType, absl::StrCat(what, " of ", ToString(element), " binds ", t.ToString()),
         "bind a pointer to elements of this size");
  }

  void CheckDim(const DimBinding& d, bool stride, const std::string& what) {
    if (d.param != -1) {
      const Type t = Bind(d.param, Use::kSize, what);
      if (t && (!IsInt(t.elem()) || t.elem() == Elem::kI1)) {
        Fail(Rule::kBoundType, absl::StrCat(what, " binds ", t.ToString()), "sizes and strides are integers");
      }
    }
    if (d.constant && *d.constant < (stride ? 1 : 0)) Fail(Rule::kDimValue, absl::StrCat(what, " is ", *d.constant));
    if (stride && d.param == -1 && !d.constant)
      Fail(Rule::kDimValue, absl::StrCat(what, " has no parameter or constant"));
    if (!d.size.empty()) CheckExpr(d.size, what);
  }

  void CheckArray(const ArrayArg& a) {
    CheckName(a.name);
    CheckPointer(a.pointer_param, a.element, a.name);
    const bool output = a.direction == Direction::kOut;
    for (size_t d = 0; d < a.shape.size(); ++d) {
      const std::string what = absl::StrCat("size ", d, " of ", a.name);
      CheckDim(a.shape[d], false, what);
      const DimBinding& b = a.shape[d];
      if (output && !b.constant && b.size.empty() && !IsSizeOfInput(b.param)) {
        Fail(Rule::kOutputSizes, absl::StrCat(what, " is not known before the launch"),
             "give an expression: y: f32[x.shape[0]]");
      }
    }
    for (size_t d = 0; d < a.strides.size(); ++d) {
      CheckDim(a.strides[d], true, absl::StrCat("stride ", d, " of ", a.name));
    }
    if (!output && a.init != InitKind::kUndefined) {
      Fail(Rule::kInitOutput, absl::StrCat(a.name, " is an input, but has an initial value"));
    }
  }

  // Outputs may share the parameter of an input's size.
  bool IsSizeOfInput(int param) const { return param >= 0 && param < f_.num_params() && input_sizes_[param]; }

  void CheckScalar(const ScalarArg& s) {
    CheckName(s.name);
    // Without a parameter it is an i64 that only expressions use.
    const Type t = s.param == -1 ? Type() : Bind(s.param, Use::kWhole, s.name);
    if (t && !IsNum(t.elem())) {
      Fail(Rule::kBoundType, absl::StrCat("the scalar ", s.name, " binds ", t.ToString()), "bind pointers as arrays");
    }
    if (s.value.empty()) return;
    if (t && !IsInt(t.elem())) {
      Fail(Rule::kBoundType, absl::StrCat(s.name, " is ", t.ToString(), ", but has an integer expression"),
           "give a default value instead");
    }
    CheckExpr(s.value, s.name);
  }

  void CheckWorkspace(const Workspace& w) {
    CheckName(w.name);
    CheckPointer(w.pointer_param, w.element, w.name);
    CheckExpr(w.count, absl::StrCat("the size of ", w.name));
  }

  // --- expressions --------------------------------------------------------------------------------------------------

  bool RefersWell(const ExprNode& n) const {
    const auto dim_exists = [&] {
      return n.a >= 0 && static_cast<size_t>(n.a) < i_.arrays.size() && n.b >= 0 &&
             static_cast<size_t>(n.b) < i_.arrays[n.a].shape.size();
    };
    switch (n.op) {
      case ExprOp::kShape:
      case ExprOp::kStride: return dim_exists();
      case ExprOp::kAlign: return n.a >= 0 && static_cast<size_t>(n.a) < i_.arrays.size();
      case ExprOp::kScalar: {
        if (n.a < 0 || static_cast<size_t>(n.a) >= i_.scalars.size()) return false;
        const int p = i_.scalars[n.a].param;
        return p == -1 || (p >= 0 && p < f_.num_params() && IsInt(f_.param(p)->type().elem()));
      }
      default: return true;
    }
  }

  void CheckExpr(const Expr& e, const std::string& what) {
    int depth = 0;
    const char* wrong = e.empty() ? "is empty" : e.size() > kMaxExprNodes ? "has too many nodes" : nullptr;
    for (const ExprNode& n : e) {
      if (wrong != nullptr) break;
      if (static_cast<int>(n.op) >= kNumExprOps) {
        wrong = "has an unknown operation";
      } else if (!RefersWell(n)) {
        wrong = "refers to an array, dimension or integer scalar that does not exist";
      } else {
        depth -= OperandsOf(n.op);
        if (depth < 0) wrong = "lacks operands";
        ++depth;
      }
    }
    if (wrong == nullptr && depth != 1) wrong = "yields more than one value";
    if (wrong == nullptr) return;
    expressions_ok_ = false;
    Fail(e.size() > kMaxExprNodes ? Rule::kInterfaceLimits : Rule::kExprForm,
         absl::StrCat("the expression of ", what, " ", wrong));
  }

  // Sizes and scalars can be found in some order: what is not needed for itself comes first. Nodes are the dimensions of
  // all arrays, then the scalars.
  void CheckOrder() {
    std::vector<size_t> first(i_.arrays.size() + 1, 0);
    for (size_t a = 0; a < i_.arrays.size(); ++a) first[a + 1] = first[a] + i_.arrays[a].shape.size();
    const size_t scalars = first.back(), n = scalars + i_.scalars.size();
    std::vector<std::vector<size_t>> waiting(n);
    std::vector<size_t> waits(n, 0), ready;
    const auto need = [&](size_t node, const Expr& e) {
      const auto edge = [&](size_t from) {
        waiting[from].push_back(node);
        ++waits[node];
      };
      for (const ExprNode& x : e) {
        if (x.op == ExprOp::kShape) edge(first[x.a] + x.b);
        if (x.op == ExprOp::kScalar) edge(scalars + x.a);
        if (x.op == ExprOp::kStride) {  // row-major strides follow from the sizes
          for (size_t d = first[x.a]; d < first[x.a + 1]; ++d) edge(d);
        }
      }
    };
    for (size_t a = 0; a < i_.arrays.size(); ++a) {
      for (size_t d = 0; d < i_.arrays[a].shape.size(); ++d) need(first[a] + d, i_.arrays[a].shape[d].size);
    }
    for (size_t s = 0; s < i_.scalars.size(); ++s) need(scalars + s, i_.scalars[s].value);
    for (size_t i = 0; i < n; ++i) {
      if (waits[i] == 0) ready.push_back(i);
    }
    for (size_t done = 0; done < ready.size(); ++done) {
      for (size_t w : waiting[ready[done]]) {
        if (--waits[w] == 0) ready.push_back(w);
      }
    }
    if (ready.size() != n) Fail(Rule::kExprCycle, "sizes of outputs or values of scalars depend on themselves");
  }

  Verifier& verifier_;
  const Function& f_;
  const Interface& i_;
  const Reading::Entry* places_;   // null unless read from text
  SourcePos at_;                   // of the item that is judged
  std::vector<Use> uses_;          // per parameter
  std::vector<bool> input_sizes_;  // per parameter: it is a size of an input
  absl::flat_hash_set<std::string> names_;
  bool expressions_ok_ = true;
};

}  // namespace

void Verifier::CheckInterface(const Function& function) { InterfaceCheck(*this, function).Run(); }

}  // namespace tile::ir::verify
