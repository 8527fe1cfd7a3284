#include "codegen/passes/split_rounds.h"

#include <cstring>
#include <utility>
#include <vector>

#include "codegen/facts.h"
#include "codegen/staging.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Type;
using ir::Value;

constexpr int64_t kLeastBytes = 32;  // along K: what the largest instructions take

bool OnlyUse(const Value* v) { return v->uses() != nullptr && v->uses()->next == nullptr; }

// Dimension of the load's tile along K.
int DimOfK(const StagedTile& t) { return t.k_major ? t.contiguous : t.other; }

// A part may begin behind the end of the tensor, where the whole tile sticks out: code generation must not take for inside what
// an index inside of the index space would be (emit/tile_box.cc: where sizes are multiples of the tile's).
bool TestsParts(const StagedTile& t, int parts) {
  const Type view = t.load->operand("view")->type(), tensor = view.tensor();
  const auto k = static_cast<size_t>(DimOfK(t));
  const auto d = view->dim_map.empty() ? k : static_cast<size_t>(view->dim_map[k]);
  uint64_t divisor = 1;
  if (tensor->shape[d] != ir::kDynamic) {
    divisor = PowerOfTwoIn(static_cast<uint64_t>(tensor->shape[d]));
  } else {
    const Op* maker = t.load->operand("view")->def()->operand(0)->def();
    size_t open = 0;
    for (size_t i = 0; i < d; ++i) open += tensor->shape[i] == ir::kDynamic;
    if (maker != nullptr && maker->opcode() == Opcode::kMakeTensorView) {
      divisor = Facts().Divisor(maker->group("dynamic_shape")[open]);
    }
  }
  return divisor < static_cast<uint64_t>(t.k / parts) || divisor >= static_cast<uint64_t>(t.k);
}

bool IsOne(const Value* v) {
  const Op* def = v->def();
  if (def == nullptr || def->opcode() != Opcode::kConstant) return false;
  const ir::Dense& d = def->attr("value").dense();
  uint64_t bits = 0;
  std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
  return bits == 1;
}

// Operations in front of another one.
class Writer {
 public:
  Writer(ir::Module* module, Op* where) : module_(module), where_(where) {}

  Type Scalar(ir::Elem e) { return module_->types().Scalar(e); }
  Value* Make(Opcode code, std::vector<Value*> operands, Type result,
              std::vector<std::pair<absl::string_view, ir::Attr>> attrs = {}) {
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
  Value* Number(int64_t n, Type type) {
    const auto size = static_cast<size_t>(ir::StorageBytes(type.elem()));
    uint8_t bytes[8];
    std::memcpy(bytes, &n, 8);
    const ir::Dense dense{type.elem(), true, module_->arena().Copy(absl::Span<const uint8_t>(bytes, size))};
    return Make(Opcode::kConstant, {}, type, {{"value", ir::Attr::Of(module_->arena().New<ir::Dense>(dense))}});
  }
  // As an integer of another width.
  Value* Resized(Value* v, ir::Elem to, ir::Signedness sign) {
    const int from_bits = ir::ElemInfoOf(v->type().elem()).bits, to_bits = ir::ElemInfoOf(to).bits;
    if (from_bits == to_bits) return v;
    if (from_bits > to_bits) return Make(Opcode::kTrunci, {v}, Scalar(to));
    return Make(Opcode::kExti, {v}, Scalar(to), {{"signedness", ir::Attr::Enum(sign)}});
  }

 private:
  ir::Module* module_;
  Op* where_;
};

// The type with sizes as those of the tile that it is made from: sizes of 1 come and go, the others keep their order.
Type Reshaped(ir::TypeContext& types, Type old, absl::Span<const int64_t> from) {
  std::vector<int64_t> real, shape;
  for (int64_t n : from) {
    if (n != 1) real.push_back(n);
  }
  size_t at = 0;
  for (int64_t n : old.shape()) shape.push_back(n == 1 ? 1 : real[at++]);
  return types.Tile(old.element(), shape);
}

void SplitOperand(ir::Module* module, Op* mma, int i, int parts, Value* part) {
  const StagedTile tile = *StageOperand(*mma, i);
  Op* load = const_cast<Op*>(tile.load);
  const auto k = static_cast<size_t>(DimOfK(tile));
  ir::TypeContext& types = module->types();
  Writer w(module, load);
  Value* view = load->operand("view");
  const Type old = view->type();
  std::vector<int64_t> shape(old.shape().begin(), old.shape().end());
  shape[k] /= parts;
  Value* smaller = w.Make(Opcode::kMakePartitionView, {view->def()->operand(0)},
                          types.PartitionView(shape, old.tensor(), old->dim_map, old->padding));
  const int index = load->group_begin(load->info()->format->operand_index("index")) + static_cast<int>(k);
  Value* at = load->operand(index);
  Value* scaled = w.Make(Opcode::kMuli, {at, w.Number(parts, at->type())}, at->type());
  Value* moved =
      w.Make(Opcode::kAddi, {scaled, w.Resized(part, at->type().elem(), ir::Signedness::kUnsigned)}, at->type());
  // Operations from the load to the product, with the smaller tile.
  std::vector<Op*> chain;
  for (Value* v = mma->operand(i); v->def() != load; v = v->def()->operand(0)) chain.push_back(v->def());
  load->set_operand(0, smaller);
  load->set_operand(index, moved);
  load->result("tile")->set_type(types.Tile(old.element(), shape));
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const auto from = (*it)->operand(0)->type().shape();
    Value* result = (*it)->result(0);
    if ((*it)->opcode() == Opcode::kPermute) {
      std::vector<int64_t> to;
      for (int64_t d : (*it)->attr("permutation").ints()) to.push_back(from[static_cast<size_t>(d)]);
      result->set_type(types.Tile(result->type().element(), to));
    } else {
      result->set_type(Reshaped(types, result->type(), from));
    }
  }
}

}  // namespace

bool CanSplitRounds(const Op& mma, int parts) {
  const Op* loop = mma.parent();
  if (loop == nullptr || loop->opcode() != Opcode::kFor || !IsOne(loop->operand(2)) || loop->num_results() != 1)
    return false;
  const ir::Block* body = loop->region(0);
  const Value *acc = mma.operand("acc"), *result = mma.result(0);
  if (acc != body->arg(1) || !OnlyUse(acc) || !OnlyUse(result) || body->back()->opcode() != Opcode::kContinue ||
      body->back()->operand(0) != result) {
    return false;
  }
  const Op* loads[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::optional<StagedTile> t = StageOperand(mma, i);
    if (!t || t->k / parts * t->element_bits < kLeastBytes * 8) return false;
    const Op* maker = t->load->operand("view")->def();
    if (maker == nullptr || maker->opcode() != Opcode::kMakePartitionView) return false;
    if (!TestsParts(*t, parts)) return false;
    // The index is multiplied by the number of parts.
    for (const Value* index : t->load->group("index")) {
      if (ir::ElemInfoOf(index->type().elem()).bits < 32) return false;
    }
    loads[i] = t->load;
  }
  for (const Op* op : *body) {
    if (op == &mma || op == loads[0] || op == loads[1] || op == body->back()) continue;
    if (!op->info()->has(ir::kPure) || op->num_regions() > 0) return false;
  }
  return true;
}

void SplitRounds(ir::Module* module, Op* mma, int parts) {
  Op* loop = mma->parent();
  ir::Block* body = loop->region(0);
  const ir::Signedness sign =
      loop->attr("unsigned_cmp").as_bool() ? ir::Signedness::kUnsigned : ir::Signedness::kSigned;
  Value* iv = body->arg(0);
  const Type old = iv->type();
  // 64 bits, in which the product with a small number does not overflow unless the loop would never end.
  Writer before(module, loop);
  const Type wide = before.Scalar(ir::Elem::kI64);
  for (int i = 0; i < 2; ++i) {
    Value* bound = before.Resized(loop->operand(i), ir::Elem::kI64, sign);
    loop->set_operand(i, before.Make(Opcode::kMuli, {bound, before.Number(parts, wide)}, wide));
  }
  loop->set_operand(2, before.Number(1, wide));
  Writer w(module, body->front());
  iv->set_type(wide);
  Value* shift = w.Number(__builtin_ctz(static_cast<unsigned>(parts)), wide);
  Value* round = w.Make(Opcode::kShri, {iv, shift}, wide, {{"signedness", ir::Attr::Enum(sign)}});
  Value* part = w.Make(Opcode::kAndi, {iv, w.Number(parts - 1, wide)}, wide);
  Value* step = w.Resized(round, old.elem(), sign);
  std::vector<std::pair<Op*, int>> uses;
  ir::Walk(body, [&](Op* op) {
    if (op == round->def() || op == part->def()) return;
    for (int i = 0; i < op->num_operands(); ++i) {
      if (op->operand(i) == iv && op != step->def()) uses.emplace_back(op, i);
    }
  });
  for (const auto& [op, i] : uses) op->set_operand(i, step);
  for (int i = 0; i < 2; ++i) SplitOperand(module, mma, i, parts, part);
}

}  // namespace tile::codegen
