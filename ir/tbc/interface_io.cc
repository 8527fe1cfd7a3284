#include "ir/tbc/interface_io.h"

#include "ir/limits.h"

namespace tile::ir {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

template <class T>
Offset<Vector<Offset<T>>> WriteTables(const std::vector<Offset<T>>& tables, FlatBufferBuilder* fbb) {
  return tables.empty() ? 0 : fbb->CreateVector(tables);
}

template <class T>
flatbuffers::Optional<T> ToOptional(const std::optional<T>& v) {
  return v ? flatbuffers::Optional<T>(*v) : flatbuffers::Optional<T>();
}

class InterfaceReader {
 public:
  InterfaceReader(int num_params, ReadContext* context) : num_params_(num_params), context_(*context) {}

  bool Run(const fbs::KernelInterface& from, Interface* to) {
    return Each(from.arrays(), &to->arrays, [&](const fbs::ArrayArg& f, ArrayArg* t) { return Array(f, t); }) &&
           Each(from.scalars(), &to->scalars, [&](const fbs::ScalarArg& f, ScalarArg* t) { return Scalar(f, t); }) &&
           Each(from.workspaces(), &to->workspaces,
                [&](const fbs::Workspace& f, Workspace* t) { return Work(f, t); }) &&
           Grid(from.grid(), &to->grid);
  }

 private:
  template <class F, class T, class Fn>
  bool Each(const Vector<Offset<F>>* from, std::vector<T>* to, Fn fn) {
    if (from == nullptr) return true;
    if (from->size() > kMaxArguments)
      return context_.Fail("limit", "more than ", kMaxArguments, " arguments in an interface");
    for (const F* f : *from) {
      if (!context_.Charge(sizeof(T))) return false;
      to->emplace_back();
      if (!fn(*f, &to->back())) return false;
    }
    return true;
  }

  bool Grid(const Vector<Offset<fbs::Expr>>* from, std::vector<Expr>* to) {
    if (from != nullptr && from->size() > 3) return context_.Fail("interface", "a grid of over 3 dimensions");
    return ReadExprs(from, "a size of the grid", &context_, to);
  }

  bool Name(const flatbuffers::String* from, std::string* to) {
    if (from == nullptr) return true;
    if (from->size() > kMaxNameBytes) return context_.Fail("limit", "a name of over ", kMaxNameBytes, " bytes");
    if (!context_.Charge(from->size())) return false;
    to->assign(from->c_str(), from->size());
    return true;
  }

  bool Param(int32_t from, absl::string_view name, int* to) {
    if (from < -1 || from >= num_params_) {
      return context_.Fail("interface", name, " refers to parameter ", from, ", the kernel has ", num_params_);
    }
    *to = from;
    return true;
  }

  bool ReadElement(fbs::Element kind, fbs::Element pointee, absl::string_view name, Element* to) {
    const std::optional<Element> e = FromFbs(kind, pointee);
    if (!e) {
      return context_.Fail("interface", name, " has unknown element ", static_cast<int>(kind), context_.origin());
    }
    *to = *e;
    return true;
  }

  bool Dims(const Vector<Offset<fbs::DimBinding>>* from, absl::string_view name, std::vector<DimBinding>* to) {
    if (from != nullptr && from->size() > kMaxRank) return context_.Fail("limit", name, " has a rank over ", kMaxRank);
    return Each(from, to, [&](const fbs::DimBinding& f, DimBinding* t) {
      if (const auto c = f.constant()) t->constant = *c;
      return Param(f.param(), name, &t->param) && ReadExpr(f.size(), name, &context_, &t->size);
    });
  }

  bool Array(const fbs::ArrayArg& f, ArrayArg* t) {
    if (!Name(f.name(), &t->name)) return false;
    if (f.direction() > fbs::Direction::MAX || f.init() > fbs::InitKind::MAX) {
      return context_.Fail("interface", t->name, " has an unknown direction or initial value", context_.origin());
    }
    t->direction = static_cast<Direction>(f.direction());
    t->init = static_cast<InitKind>(f.init());
    t->init_bits = f.init_bits();
    return ReadElement(f.element(), f.pointee(), t->name, &t->element) &&
           Param(f.pointer_param(), t->name, &t->pointer_param) && Dims(f.shape(), t->name, &t->shape) &&
           Dims(f.strides(), t->name, &t->strides);
  }

  bool Scalar(const fbs::ScalarArg& f, ScalarArg* t) {
    if (const auto bits = f.default_bits()) t->default_bits = *bits;
    return Name(f.name(), &t->name) && Param(f.param(), t->name, &t->param) &&
           ReadExpr(f.value(), t->name, &context_, &t->value);
  }

  bool Work(const fbs::Workspace& f, Workspace* t) {
    return Name(f.name(), &t->name) && Param(f.pointer_param(), t->name, &t->pointer_param) &&
           ReadElement(f.element(), f.pointee(), t->name, &t->element) &&
           ReadExpr(f.count(), t->name, &context_, &t->count);
  }

  const int num_params_;
  ReadContext& context_;
};

Offset<Vector<Offset<fbs::DimBinding>>> WriteDims(const std::vector<DimBinding>& dims, FlatBufferBuilder* fbb) {
  std::vector<Offset<fbs::DimBinding>> rows;
  for (const DimBinding& d : dims) {
    const auto size = WriteExpr(d.size, fbb);
    rows.push_back(fbs::CreateDimBinding(*fbb, d.param, ToOptional(d.constant), size));
  }
  return WriteTables(rows, fbb);
}

}  // namespace

bool ReadExpr(const fbs::Expr* from, absl::string_view what, ReadContext* context, Expr* to) {
  absl::Span<const fbs::ExprNode> nodes;
  if (from == nullptr) return true;
  if (!context->Items(from->nodes(), &nodes)) return false;
  if (nodes.size() > kMaxExprNodes)
    return context->Fail("limit", what, ": an expression of over ", kMaxExprNodes, " nodes");
  if (!context->Charge(static_cast<int64_t>(nodes.size() * sizeof(ExprNode)))) return false;
  to->reserve(nodes.size());
  for (const fbs::ExprNode& n : nodes) {
    if (n.op() > fbs::ExprOp::MAX) {
      return context->Fail("interface", what, ": unknown operation ", static_cast<int>(n.op()), " in an expression",
                           context->origin());
    }
    to->push_back({static_cast<ExprOp>(n.op()), n.a(), n.b(), n.value()});
  }
  return true;
}

Offset<fbs::Expr> WriteExpr(const Expr& expr, FlatBufferBuilder* fbb) {
  if (expr.empty()) return 0;
  std::vector<fbs::ExprNode> nodes;
  for (const ExprNode& n : expr) nodes.emplace_back(n.value, n.a, n.b, static_cast<fbs::ExprOp>(n.op), 0, 0, 0);
  return fbs::CreateExpr(*fbb, fbb->CreateVectorOfStructs(nodes));
}

bool ReadExprs(const Vector<Offset<fbs::Expr>>* from, absl::string_view what, ReadContext* context,
               std::vector<Expr>* to) {
  if (from == nullptr) return true;
  if (from->size() > kMaxRank) return context->Fail("limit", what, ": more than ", kMaxRank, " expressions");
  for (const fbs::Expr* e : *from) {
    to->emplace_back();
    if (!ReadExpr(e, what, context, &to->back())) return false;
  }
  return true;
}

Offset<Vector<Offset<fbs::Expr>>> WriteExprs(const std::vector<Expr>& exprs, FlatBufferBuilder* fbb) {
  std::vector<Offset<fbs::Expr>> rows;
  for (const Expr& e : exprs) {
    // In a list an empty expression still takes its place.
    rows.push_back(e.empty() ? fbs::CreateExpr(*fbb) : WriteExpr(e, fbb));
  }
  return WriteTables(rows, fbb);
}

bool ReadInterface(const fbs::KernelInterface& from, int num_params, ReadContext* context, Interface* to) {
  return InterfaceReader(num_params, context).Run(from, to);
}

Offset<fbs::KernelInterface> WriteInterface(const Interface& from, uint32_t kernel, FlatBufferBuilder* fbb) {
  std::vector<Offset<fbs::ArrayArg>> arrays;
  for (const ArrayArg& a : from.arrays) {
    const auto name = fbb->CreateString(a.name);
    const auto shape = WriteDims(a.shape, fbb), strides = WriteDims(a.strides, fbb);
    arrays.push_back(fbs::CreateArrayArg(*fbb, name, static_cast<fbs::Direction>(a.direction), ToFbs(a.element.kind),
                                         ToFbs(a.element.pointee), a.pointer_param, shape, strides,
                                         static_cast<fbs::InitKind>(a.init), a.init_bits));
  }
  std::vector<Offset<fbs::ScalarArg>> scalars;
  for (const ScalarArg& s : from.scalars) {
    const auto name = fbb->CreateString(s.name);
    const auto value = WriteExpr(s.value, fbb);
    scalars.push_back(fbs::CreateScalarArg(*fbb, name, s.param, value, ToOptional(s.default_bits)));
  }
  std::vector<Offset<fbs::Workspace>> workspaces;
  for (const Workspace& w : from.workspaces) {
    const auto name = fbb->CreateString(w.name);
    const auto count = WriteExpr(w.count, fbb);
    workspaces.push_back(
        fbs::CreateWorkspace(*fbb, name, w.pointer_param, ToFbs(w.element.kind), ToFbs(w.element.pointee), count));
  }
  const auto a = WriteTables(arrays, fbb);
  const auto s = WriteTables(scalars, fbb);
  const auto w = WriteTables(workspaces, fbb);
  const auto grid = WriteExprs(from.grid, fbb);
  return fbs::CreateKernelInterface(*fbb, kernel, a, s, w, grid);
}

}  // namespace tile::ir
