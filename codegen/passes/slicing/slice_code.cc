#include "codegen/passes/slicing/slice_code.h"

#include <cstring>

#include "ir/create_like.h"

namespace tile::codegen {

namespace op = ir::ops;
using ir::Block;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

Value* Mapped(const ir::ValueMap& map, Value* v) {
  const auto it = map.find(v);
  return it == map.end() ? v : it->second;
}

}  // namespace

Op* Copy(ir::Builder& b, const Op& from, const Values& operands, const std::vector<Type>& results) {
  Op* to = ir::CreateLike(b.module(), from, operands, results);
  b.module()->Append(b.block(), to);
  return to;
}

void CopyBody(ir::Builder& b, const Op& from, Op* to, bool turned) {
  const Block& body = *from.region(0);
  std::vector<Type> types;
  for (const Value* arg : body.args()) types.push_back(arg->type());
  Block* copy = b.AddRegion(to, 0, types);
  ir::ValueMap map;
  for (int i = 0; i < body.num_args(); ++i) map[body.arg(i)] = copy->arg(turned ? i ^ 1 : i);
  ir::CopyOps(b.module(), body, copy, &map);
}

Value* Spread(ir::Builder& b, Value* scalar, absl::Span<const int64_t> shape) {
  if (shape.empty()) return scalar;
  const ir::Element e = scalar->type().element();
  Value* one = op::Reshape(b, b.types().Tile(e, std::vector<int64_t>(shape.size(), 1)), scalar);
  return op::Broadcast(b, b.types().Tile(e, shape), one);
}

Values OnTiles(ir::Builder& b, const Block& body, const Values& args, absl::Span<const int64_t> shape) {
  ir::ValueMap map;
  for (int i = 0; i < body.num_args(); ++i) map[body.arg(i)] = args[static_cast<size_t>(i)];
  Values out;
  for (const Op* inside : body) {
    Values operands;
    for (int i = 0; i < inside->num_operands(); ++i) {
      Value* v = Mapped(map, inside->operand(i));
      operands.push_back(v == inside->operand(i) ? Spread(b, v, shape) : v);  // of outside
    }
    if (inside == body.back()) return operands;
    std::vector<Type> types;
    for (const Type t : ir::ResultTypesOf(*inside)) types.push_back(b.types().Tile(t.element(), shape));
    const Op* made = Copy(b, *inside, operands, types);
    for (int i = 0; i < made->num_results(); ++i) map[inside->result(i)] = made->result(i);
  }
  return out;
}

Value* Number(ir::Builder& b, Type type, const ir::Scalar& number) {
  uint8_t bytes[8];
  std::memcpy(bytes, &number.bits, sizeof(bytes));
  auto* d = b.module()->arena().New<ir::Dense>();
  d->elem = type.elem();
  d->splat = true;
  d->bytes =
      b.module()->arena().Copy(absl::Span<const uint8_t>(bytes, static_cast<size_t>(ir::StorageBytes(type.elem()))));
  return op::Constant(b, type, d);
}

Value* Choose(ir::Builder& b, Value* condition, Value* yes, Value* no) {
  return op::Select(b, Spread(b, condition, yes->type().shape()), yes, no);
}

}  // namespace tile::codegen
