// Operations whose text the syntax column does not describe: those with regions, and make_tensor_view, whose operands
// stand between the sizes and strides that its type fixes.
#include "absl/strings/str_join.h"
#include "ir/text/number.h"
#include "ir/text/print_internal.h"

namespace tile::ir::text {
namespace {

std::vector<Type> TypesOf(const std::vector<Value*>& values) {
  std::vector<Type> types;
  for (Value* v : values) types.push_back(v->type());
  return types;
}

std::vector<Type> AllResults(const Op& op) {
  std::vector<Type> types;
  for (int i = 0; i < op.num_results(); ++i) types.push_back(op.result(i)->type());
  return types;
}

}  // namespace

void Printer::PutCustom(const Op& op, int indent) {
  switch (op.info()->format->id) {
    case Format::kFor: return PutFor(op, indent);
    case Format::kLoop: return PutLoop(op, indent);
    case Format::kIf: return PutIf(op, indent);
    case Format::kRegion: {
      Put(" ");
      return PutBody(op, 0, indent);
    }
    case Format::kReduce:
    case Format::kScan: return PutReduce(op, indent);
    default: return PutMakeTensorView(op);
  }
}

// " iter_values(%a = %x, %b = %y)"; nothing without values.
void Printer::PutIterValues(const Op& op, const std::vector<Value*>& inits, int first_arg) {
  if (inits.empty()) return;
  Put(" iter_values(");
  const Block* body = op.region(0);
  for (size_t i = 0; i < inits.size(); ++i) {
    const int arg = first_arg + static_cast<int>(i);
    Put(i == 0 ? "" : ", ", body != nullptr && arg < body->num_args() ? names_.Of(body->arg(arg)) : "%?", " = ",
        names_.Of(inits[i]));
  }
  Put(")");
}

void Printer::PutFor(const Op& op, int indent) {
  const Block* body = op.region(0);
  const Value* lower = op.operand("lower_bound");
  Put(op.attr("unsigned_cmp").as_bool() ? " unsigned " : " ",
      body != nullptr && body->num_args() > 0 ? names_.Of(body->arg(0)) : "%?", " in (", names_.Of(lower), " to ",
      names_.Of(op.operand("upper_bound")), ", step ", names_.Of(op.operand("step")), ") : ", lower->type().ToString());
  PutIterValues(op, op.group("init_values"), 1);
  if (op.num_results() > 0) Put(" -> (", TypeList(AllResults(op)), ")");
  Put(" ");
  PutBody(op, 0, indent);
}

void Printer::PutLoop(const Op& op, int indent) {
  const std::vector<Value*> inits = op.group("init_values");
  PutIterValues(op, inits, 0);
  if (!inits.empty()) Put(" : ", TypeList(TypesOf(inits)));
  if (op.num_results() > 0) Put(" -> ", TypeList(AllResults(op)));
  Put(" ");
  PutBody(op, 0, indent);
}

void Printer::PutIf(const Op& op, int indent) {
  Put(" ", names_.Of(op.operand("condition")));
  if (op.num_results() > 0) Put(" -> (", TypeList(AllResults(op)), ")");
  Put(" ");
  PutBody(op, 0, indent);
  if (op.region(1) == nullptr) return;
  Put(" else ");
  PutBody(op, 1, indent);
}

void Printer::PutReduce(const Op& op, int indent) {
  const std::vector<Value*> operands = op.group("operands");
  const FormatInfo& format = *op.info()->format;
  Put(" ");
  PutValues(operands);
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    Put(" ", format.attrs[i].name, "=", AttrText(format.attrs[i], op.attr(static_cast<int>(i)), op));
  }
  Put(" : ", TypeList(TypesOf(operands)), " -> ", TypeList(AllResults(op)));
  if (one_line_) {
    Put(" { … }");
    return;
  }
  Put("\n");
  out_.append(indent * 2, ' ');
  Put("(");
  const Block* body = op.region(0);
  for (int i = 0; body != nullptr && i < body->num_args(); ++i) {
    Put(i == 0 ? "" : ", ", names_.Of(body->arg(i)), ": ", body->arg(i)->type().ToString());
  }
  Put(") ");
  PutBody(op, 0, indent);
}

void Printer::PutMakeTensorView(const Op& op) {
  const auto list = [&](absl::string_view name, absl::Span<const int64_t> fixed, const std::vector<Value*>& open) {
    Put(", ", name, " = [");
    size_t next = 0;
    for (size_t i = 0; i < fixed.size(); ++i) {
      const std::string value = fixed[i] != kDynamic ? absl::StrCat(fixed[i])
                                : next < open.size() ? names_.Of(open[next++])
                                                     : "?";
      Put(i == 0 ? "" : ", ", value);
    }
    Put("]");
  };
  const Type type = op.num_results() > 0 ? op.result(0)->type() : Type();
  const bool view = type && type.is_tensor_view();
  std::vector<Value*> open = op.group("dynamic_shape");
  const std::vector<Value*> strides = op.group("dynamic_strides");
  Put(" ", names_.Of(op.operand("base")));
  list("shape", view ? type.shape() : absl::Span<const int64_t>(), open);
  list("strides", view ? absl::Span<const int64_t>(type->strides) : absl::Span<const int64_t>(), strides);
  open.insert(open.end(), strides.begin(), strides.end());
  std::vector<Type> types = TypesOf(open);
  if (std::all_of(types.begin(), types.end(), [&](Type t) { return t == types[0]; })) {
    types.resize(std::min<size_t>(types.size(), 1));
  }
  PutTypes(types, AllResults(op));
}

}  // namespace tile::ir::text
