#include "ir/create_like.h"

#include "absl/container/inlined_vector.h"

namespace tile::ir {

Op* CreateLike(Module* module, const Op& from, absl::Span<Value* const> operands, absl::Span<const Type> results,
               absl::Span<const uint32_t> operand_ends) {
  const FormatInfo& format = *from.info()->format;
  absl::InlinedVector<uint32_t, 8> ends(operand_ends.begin(), operand_ends.end());
  for (size_t f = ends.size(); f < format.operands.size(); ++f) {
    ends.push_back(static_cast<uint32_t>(from.group_end(static_cast<int>(f))));
  }
  absl::InlinedVector<Attr, 8> attrs;
  for (size_t i = 0; i < format.attrs.size(); ++i) attrs.push_back(from.attr(static_cast<int>(i)));
  Op* op = module->CreateOp({.info = from.info(),
                             .operands = operands,
                             .operand_ends = ends,
                             .results = results,
                             .attrs = attrs,
                             .loc = from.loc,
                             .pos = from.pos});
  for (const Annotation* a = from.annotations(); a != nullptr; a = a->next) module->Annotate(op, *a->info, a->value);
  return op;
}

std::vector<Type> ResultTypesOf(const Op& op) {
  std::vector<Type> types;
  for (int i = 0; i < op.num_results(); ++i) types.push_back(op.result(i)->type());
  return types;
}

std::vector<Value*> OperandsOf(const Op& op) {
  std::vector<Value*> operands;
  for (int i = 0; i < op.num_operands(); ++i) operands.push_back(op.operand(i));
  return operands;
}

Type WithElement(Module* module, Type type, Element element) {
  TypeData data = *type.data();
  data.element = element;
  if (data.tensor != nullptr) data.tensor = WithElement(module, type.tensor(), element).data();
  return module->types().Intern(std::move(data));
}

Op* CopyOp(Module* module, const Op& from, ValueMap* values) {
  absl::InlinedVector<Value*, 8> operands;
  for (int i = 0; i < from.num_operands(); ++i) {
    const auto it = values->find(from.operand(i));
    operands.push_back(it == values->end() ? from.operand(i) : it->second);
  }
  const auto define = [values](const Value* old, Value* copy) {
    copy->name = old->name;
    (*values)[old] = copy;
  };
  Op* op = CreateLike(module, from, operands, ResultTypesOf(from));
  for (int r = 0; r < from.num_regions(); ++r) {
    const Block* region = from.region(r);
    if (region == nullptr) continue;
    absl::InlinedVector<Type, 8> types;
    for (const Value* arg : region->args()) types.push_back(arg->type());
    Block* block = module->CreateBlock(types);
    op->set_region(r, block);
    for (int i = 0; i < region->num_args(); ++i) define(region->arg(i), block->arg(i));
    CopyOps(module, *region, block, values);
  }
  for (int i = 0; i < from.num_results(); ++i) define(from.result(i), op->result(i));
  return op;
}

void CopyOps(Module* module, const Block& from, Block* to, ValueMap* values) {
  for (const Op* op : from) module->Append(to, CopyOp(module, *op, values));
}

}  // namespace tile::ir
