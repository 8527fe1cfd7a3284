#include "runtime/launch_rule.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/bits.h"
#include "ir/cpp_name.h"
#include "ir/expr.h"

namespace tile::runtime {
namespace {

using ir::ArrayArg;
using ir::DimBinding;
using ir::Direction;
using ir::Expr;
using ir::ExprNode;
using ir::ExprOp;
using ir::Interface;

absl::Status Error(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// Evaluates expressions over arguments that are being resolved: what an expression asks for is resolved first.
class Resolver {
 public:
  Resolver(const ir::Function& f, Arguments* args, const Environment& env)
      : f_(f),
        interface_(*f.interface),
        args_(*args),
        env_(env),
        array_state_(args->arrays.size()),
        scalar_state_(args->scalars.size()) {}

  absl::Status Run() {
    if (args_.arrays.size() != interface_.arrays.size() || args_.scalars.size() != interface_.scalars.size()) {
      return Error("internal: arguments do not belong to this interface");
    }
    for (size_t i = 0; i < interface_.arrays.size(); ++i) {
      if (absl::Status s = CheckGiven(i); !s.ok()) return s;
    }
    for (size_t i = 0; i < interface_.scalars.size(); ++i) {
      if (absl::Status s = ResolveScalar(i); !s.ok()) return s;
    }
    for (size_t i = 0; i < interface_.arrays.size(); ++i) {
      if (absl::Status s = ResolveArray(i); !s.ok()) return s;
    }
    for (const ir::Workspace& w : interface_.workspaces) {
      absl::StatusOr<int64_t> n = Evaluate(w.count);
      if (!n.ok()) return n.status();
      if (*n < 0 || *n > (int64_t{1} << 40))
        return Error(absl::StrCat("workspace `", w.name, "` would have ", *n, " elements"));
      args_.workspace_elements.push_back(*n);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Evaluate(const Expr& e) {
    absl::Status of_leaf;  // speaks for itself
    absl::StatusOr<int64_t> v = ir::EvaluateExpr(e, [&](const ExprNode& n) {
      absl::StatusOr<int64_t> leaf = Leaf(n);
      of_leaf = leaf.status();
      return leaf;
    });
    if (v.ok() || !of_leaf.ok()) return v;
    return Error(absl::StrCat("the launch rule ", v.status().message(), ": ", ExprToString(interface_, e)));
  }

 private:
  enum class State : uint8_t { kOpen, kBusy, kDone };

  absl::StatusOr<int64_t> Leaf(const ExprNode& n) {
    if (n.op == ExprOp::kNumSms) return env_.num_sms;
    const auto i = static_cast<size_t>(n.a), d = static_cast<size_t>(n.b);
    if (n.op == ExprOp::kScalar) {
      if (absl::Status s = ResolveScalar(i); !s.ok()) return s;
      return ir::SignExtend(*args_.scalars[i],
                            ir::ElemInfoOf(f_.param(interface_.scalars[i].param)->type().elem()).bits);
    }
    if (absl::Status s = ResolveArray(i); !s.ok()) return s;
    const ArrayValue& a = args_.arrays[i];
    if (n.op == ExprOp::kAlign) return ir::AlignmentOf(a.address);
    return n.op == ExprOp::kShape ? a.shape[d] : (a.strides.empty() ? RowMajorStrides(a.shape) : a.strides)[d];
  }

  // A given array against the interface, before anything depends on it.
  absl::Status CheckGiven(size_t i) {
    const ArrayArg& arg = interface_.arrays[i];
    const ArrayValue& a = args_.arrays[i];
    if (!a.given) {
      if (arg.direction == Direction::kOut) return absl::OkStatus();
      return Error(absl::StrCat("argument `", arg.name, "` (", arg.direction == Direction::kIn ? "in" : "inout", " ",
                                ir::ToString(arg.element), ", rank ", arg.shape.size(), ") is missing"));
    }
    if (a.shape.size() != arg.shape.size()) {
      return Error(absl::StrCat("argument `", arg.name, "` has rank ", a.shape.size(), " [",
                                absl::StrJoin(a.shape, ","), "], but the kernel takes rank ", arg.shape.size()));
    }
    for (size_t d = 0; d < a.shape.size(); ++d) {
      if (arg.shape[d].constant && a.shape[d] != *arg.shape[d].constant) {
        return Error(absl::StrCat("argument `", arg.name, "` has shape [", absl::StrJoin(a.shape, ","),
                                  "], but dimension ", d, " must be ", *arg.shape[d].constant));
      }
      if (absl::Status s = Unify(arg, d, a.shape[d]); !s.ok()) return s;
    }
    if (!a.strides.empty() && arg.strides.empty() && a.strides != RowMajorStrides(a.shape)) {
      return Error(
          absl::StrCat("argument `", arg.name, "` must be row-major without gaps: the kernel takes no strides"));
    }
    for (size_t d = 0; d < arg.strides.size(); ++d) {
      const int64_t stride = (a.strides.empty() ? RowMajorStrides(a.shape) : a.strides)[d];
      if (arg.strides[d].constant && stride != *arg.strides[d].constant && a.shape[d] > 1) {
        return Error(absl::StrCat("argument `", arg.name, "` has stride ", stride, " in dimension ", d,
                                  ", but it must be ", *arg.strides[d].constant));
      }
    }
    return absl::OkStatus();
  }

  // Sizes that share a parameter must be equal.
  absl::Status Unify(const ArrayArg& arg, size_t d, int64_t size) {
    const int p = arg.shape[d].param;
    if (p < 0) return absl::OkStatus();
    for (const Known& k : known_) {
      if (k.param != p) continue;
      if (k.size == size) return absl::OkStatus();
      return Error(absl::StrCat("dimension ", d, " of `", arg.name, "` is ", size, ", but dimension ", k.dim, " of `",
                                k.array, "` is ", k.size, "; they must be equal"));
    }
    known_.push_back({p, size, arg.name, d});
    return absl::OkStatus();
  }

  absl::Status ResolveScalar(size_t i) {
    if (args_.scalars[i]) return absl::OkStatus();
    const ir::ScalarArg& arg = interface_.scalars[i];
    if (scalar_state_[i] == State::kBusy) return Error(absl::StrCat("scalar `", arg.name, "` depends on itself"));
    scalar_state_[i] = State::kBusy;
    if (arg.default_bits) {
      args_.scalars[i] = *arg.default_bits;
    } else if (!arg.value.empty()) {
      absl::StatusOr<int64_t> v = Evaluate(arg.value);
      if (!v.ok()) return v.status();
      const int bits = ir::ElemInfoOf(f_.param(arg.param)->type().elem()).bits;
      if (bits < 64 && (*v >= (int64_t{1} << bits) || *v < -(int64_t{1} << (bits - 1)))) {
        return Error(absl::StrCat("scalar `", arg.name, "` is ", *v, ", which does not fit ", bits, " bits"));
      }
      args_.scalars[i] = static_cast<uint64_t>(*v);
    } else {
      return Error(
          absl::StrCat("argument `", arg.name, "` (scalar ", f_.param(arg.param)->type().ToString(), ") is missing"));
    }
    scalar_state_[i] = State::kDone;
    return absl::OkStatus();
  }

  absl::Status ResolveArray(size_t i) {
    ArrayValue& a = args_.arrays[i];
    const ArrayArg& arg = interface_.arrays[i];
    if (a.given || array_state_[i] == State::kDone) return absl::OkStatus();
    if (array_state_[i] == State::kBusy) return Error(absl::StrCat("the shape of `", arg.name, "` depends on itself"));
    array_state_[i] = State::kBusy;
    a.shape.clear();
    for (size_t d = 0; d < arg.shape.size(); ++d) {
      const DimBinding& dim = arg.shape[d];
      int64_t size = -1;
      if (!dim.size.empty()) {
        absl::StatusOr<int64_t> v = Evaluate(dim.size);
        if (!v.ok()) return v.status();
        size = *v;
        if (size < 0) return Error(absl::StrCat("dimension ", d, " of `", arg.name, "` would be ", size));
      } else if (dim.constant) {
        size = *dim.constant;
      } else {
        for (const Known& k : known_) {
          if (k.param == dim.param) size = k.size;
        }
      }
      if (size < 0) {
        return Error(absl::StrCat("nothing gives the size of dimension ", d, " of `", arg.name,
                                  "`: pass an array, such as ", arg.name, "=zeros:", ir::ToString(arg.element), "[…]"));
      }
      if (absl::Status s = Unify(arg, d, size); !s.ok()) return s;
      a.shape.push_back(size);
    }
    array_state_[i] = State::kDone;
    return absl::OkStatus();
  }

  struct Known {
    int param;
    int64_t size;
    std::string array;
    size_t dim;
  };

  const ir::Function& f_;
  const Interface& interface_;
  Arguments& args_;
  const Environment& env_;
  std::vector<Known> known_;
  std::vector<State> array_state_, scalar_state_;
};

}  // namespace

Arguments Arguments::For(const Interface& interface) {
  Arguments a;
  a.arrays.resize(interface.arrays.size());
  a.scalars.resize(interface.scalars.size());
  return a;
}

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    // Anybody's sizes: an array of so many bytes is refused where they are counted.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[d], 1), &stride)) stride = INT64_MAX;
  }
  return strides;
}

absl::Status Resolve(const ir::Function& f, Arguments* args, const Environment& env) {
  if (f.interface == nullptr) return Error(absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no interface"));
  args->workspace_elements.clear();
  return Resolver(f, args, env).Run();
}

absl::StatusOr<std::array<int64_t, 3>> EvaluateGrid(const ir::Function& f, const Arguments& args,
                                                    const Environment& env) {
  if (f.interface == nullptr || f.interface->grid.empty()) {
    return Error(
        absl::StrCat("kernel `", ir::ReadableName(f.name), "` has no launch rule: give the grid (--grid X[,Y[,Z]])"));
  }
  Arguments copy = args;
  Resolver resolver(f, &copy, env);
  if (absl::Status s = resolver.Run(); !s.ok()) return s;
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (size_t i = 0; i < f.interface->grid.size() && i < 3; ++i) {
    absl::StatusOr<int64_t> n = resolver.Evaluate(f.interface->grid[i]);
    if (!n.ok()) return n.status();
    grid[i] = *n;
  }
  return grid;
}

absl::StatusOr<std::vector<uint64_t>> MakeParams(const ir::Function& f, const Arguments& args, const Environment&) {
  const Interface& in = *f.interface;
  std::vector<uint64_t> words(static_cast<size_t>(f.num_params()));
  std::vector<bool> bound(words.size());
  const auto set = [&](int param, uint64_t word) {
    words[static_cast<size_t>(param)] = word;
    bound[static_cast<size_t>(param)] = true;
  };
  // A size or stride must be readable, as unsigned, in its parameter's type.
  const auto set_extent = [&](const ArrayArg& arg, int param, int64_t value) -> absl::Status {
    const int bits = ir::ElemInfoOf(f.param(param)->type().elem()).bits;
    if (value < 0 || (bits < 64 && value >= (int64_t{1} << bits))) {
      return Error(absl::StrCat("a size or stride of `", arg.name, "` is ", value, ", which does not fit the ", bits,
                                " bits of its parameter"));
    }
    set(param, static_cast<uint64_t>(value));
    return absl::OkStatus();
  };
  for (size_t i = 0; i < in.arrays.size(); ++i) {
    const ArrayArg& arg = in.arrays[i];
    const ArrayValue& a = args.arrays[i];
    set(arg.pointer_param, a.address);
    const std::vector<int64_t> strides = a.strides.empty() ? RowMajorStrides(a.shape) : a.strides;
    for (size_t d = 0; d < arg.shape.size(); ++d) {
      if (arg.shape[d].param < 0) continue;
      if (absl::Status s = set_extent(arg, arg.shape[d].param, a.shape[d]); !s.ok()) return s;
    }
    for (size_t d = 0; d < arg.strides.size(); ++d) {
      if (arg.strides[d].param < 0) continue;
      if (absl::Status s = set_extent(arg, arg.strides[d].param, strides[d]); !s.ok()) return s;
    }
  }
  for (size_t i = 0; i < in.scalars.size(); ++i) set(in.scalars[i].param, args.scalars[i].value_or(0));
  for (size_t i = 0; i < in.workspaces.size() && i < args.workspaces.size(); ++i) {
    set(in.workspaces[i].pointer_param, args.workspaces[i]);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (bound[i]) continue;
    const absl::string_view name = f.param(static_cast<int>(i))->name;
    return Error(absl::StrCat("the interface of `", ir::ReadableName(f.name), "` binds nothing to parameter ", i,
                              name.empty() ? "" : absl::StrCat(" (%", name, ")")));
  }
  return words;
}

std::string ExprToString(const Interface& interface, const Expr& e) {
  std::vector<std::string> stack;
  const auto pop = [&] {
    if (stack.empty()) return std::string("?");
    std::string s = stack.back();
    stack.pop_back();
    return s;
  };
  const auto name = [&](int32_t a, const auto& list) {
    return a >= 0 && static_cast<size_t>(a) < list.size() ? list[static_cast<size_t>(a)].name : std::string("?");
  };
  for (const ExprNode& n : e) {
    switch (n.op) {
      case ExprOp::kConst: stack.push_back(absl::StrCat(n.value)); break;
      case ExprOp::kNumSms: stack.push_back("num_sms"); break;
      case ExprOp::kScalar: stack.push_back(name(n.a, interface.scalars)); break;
      case ExprOp::kShape: stack.push_back(absl::StrCat(name(n.a, interface.arrays), ".shape[", n.b, "]")); break;
      case ExprOp::kStride: stack.push_back(absl::StrCat(name(n.a, interface.arrays), ".stride[", n.b, "]")); break;
      case ExprOp::kAlign: stack.push_back(absl::StrCat(name(n.a, interface.arrays), ".align")); break;
      case ExprOp::kSelect: {
        const std::string b = pop(), a = pop(), c = pop();
        stack.push_back(absl::StrCat("select(", c, ", ", a, ", ", b, ")"));
        break;
      }
      default: {
        const std::string b = pop(), a = pop();
        static constexpr struct {
          ExprOp op;
          const char* text;
          bool call;
        } kText[] = {{ExprOp::kAdd, " + ", false},    {ExprOp::kSub, " - ", false},
                     {ExprOp::kMul, " * ", false},    {ExprOp::kDiv, " / ", false},
                     {ExprOp::kMod, " % ", false},    {ExprOp::kLess, " < ", false},
                     {ExprOp::kEqual, " == ", false}, {ExprOp::kCeilDiv, "ceildiv", true},
                     {ExprOp::kMin, "min", true},     {ExprOp::kMax, "max", true}};
        for (const auto& t : kText) {
          if (t.op == n.op)
            stack.push_back(t.call ? absl::StrCat(t.text, "(", a, ", ", b, ")") : absl::StrCat("(", a, t.text, b, ")"));
        }
      }
    }
  }
  return pop();
}

}  // namespace tile::runtime
