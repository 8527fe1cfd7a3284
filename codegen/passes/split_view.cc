#include "codegen/passes/split_view.h"

#include <algorithm>
#include <cstring>

#include "codegen/analysis/facts.h"
#include "codegen/analysis/view_dim.h"
#include "ir/op_views.h"

namespace tile::codegen {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

Value* OpWriter::Make(Opcode code, std::vector<Value*> operands, Type result,
                      std::vector<std::pair<absl::string_view, ir::Attr>> attrs) {
  const ir::OpInfo* info = ir::GetOp(code);
  std::vector<uint32_t> ends;
  for (size_t i = 0; i < info->format->operands.size(); ++i)
    ends.push_back(static_cast<uint32_t>(std::min(i + 1, operands.size())));
  std::vector<ir::Attr> list(info->format->attrs.size());
  for (const auto& [name, attr] : attrs) list[static_cast<size_t>(info->format->attr_index(name))] = attr;
  Op* op = module_->CreateOp({.info = info,
                              .operands = operands,
                              .operand_ends = ends,
                              .results = {&result, 1},
                              .attrs = list,
                              .loc = where_->loc,
                              .pos = where_->pos});
  module_->InsertBefore(where_->block(), where_, op);
  return op->result(0);
}

Value* OpWriter::Number(int64_t n, Type type) {
  const auto size = static_cast<size_t>(ir::StorageBytes(type.elem()));
  uint8_t bytes[8];
  std::memcpy(bytes, &n, 8);
  const ir::Dense dense{type.elem(), true, module_->arena().Copy(absl::Span<const uint8_t>(bytes, size))};
  return Make(Opcode::kConstant, {}, type, {{"value", ir::Attr::Of(module_->arena().New<ir::Dense>(dense))}});
}

Value* OpWriter::Resized(Value* v, ir::Elem to, ir::Signedness sign) {
  const int from_bits = ir::ElemInfoOf(v->type().elem()).bits, to_bits = ir::ElemInfoOf(to).bits;
  if (from_bits == to_bits) return v;
  if (from_bits > to_bits) return Make(Opcode::kTrunci, {v}, Scalar(to));
  return Make(Opcode::kExti, {v}, Scalar(to), {{"signedness", ir::Attr::Enum(sign)}});
}

bool CanSplitAccess(const Op& access, int dim, int64_t parts) {
  if (ir::LoadPtrOp::Is(&access)) return false;
  const ir::ViewAccessOp fields(access);
  const Type view = fields.view()->type(), tensor = view.tensor();
  const auto of = ir::DefAs<ir::MakePartitionViewOp>(fields.view());
  if (view.kind() != ir::TypeKind::kPartitionView || !of) return false;
  for (const Value* index : fields.index()) {
    if (ir::ElemInfoOf(index->type().elem()).bits < 32) return false;
  }
  const auto k = static_cast<size_t>(dim);
  const size_t d = TensorDim(view, dim);
  uint64_t divisor = 1;
  if (tensor->shape[d] != ir::kDynamic) {
    divisor = PowerOfTwoIn(static_cast<uint64_t>(tensor->shape[d]));
  } else {
    const auto maker = ir::DefAs<ir::MakeTensorViewOp>(of->source());
    size_t open = 0;
    for (size_t i = 0; i < d; ++i) open += tensor->shape[i] == ir::kDynamic;
    if (maker) divisor = Facts().Divisor(maker->dynamic_shape()[open]);
  }
  const int64_t whole = view.shape()[k];
  return whole % parts == 0 &&
         (divisor < static_cast<uint64_t>(whole / parts) || divisor >= static_cast<uint64_t>(whole));
}

void SplitAccess(ir::Module* module, Op* access, int dim, int64_t parts, Value* part) {
  ir::TypeContext& types = module->types();
  OpWriter w(module, access);
  const ir::ViewAccessOp fields(access);
  Value* view = fields.view();
  const Type old = view->type();
  std::vector<int64_t> shape(old.shape().begin(), old.shape().end());
  shape[static_cast<size_t>(dim)] /= parts;
  Value* smaller = w.Make(Opcode::kMakePartitionView, {view->def()->operand(0)},
                          types.PartitionView(shape, old.tensor(), old->dim_map, old->padding));
  const int index = fields.index_at() + dim;
  // An index outside of the view, a negative one, say, stays outside.
  Value* at = access->operand(index);
  const int64_t most = int64_t{1} << (ir::ElemInfoOf(at->type().elem()).bits - 2);
  at = w.Make(Opcode::kMini, {at, w.Number(most / parts, at->type())}, at->type(),
              {{"signedness", ir::Attr::Enum(ir::Signedness::kUnsigned)}});
  Value* scaled = w.Make(Opcode::kMuli, {at, w.Number(parts, at->type())}, at->type());
  Value* moved =
      w.Make(Opcode::kAddi, {scaled, w.Resized(part, at->type().elem(), ir::Signedness::kUnsigned)}, at->type());
  access->set_operand(fields.view_at(), smaller);
  access->set_operand(index, moved);
  if (const auto load = ir::As<ir::LoadViewOp>(access)) load->tile()->set_type(types.Tile(old.element(), shape));
}

}  // namespace tile::codegen
