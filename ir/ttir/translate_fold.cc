// Operations that combine many elements: reduce, scan, histogram.

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/neutral.h"
#include "ir/ttir/choose_arms.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

// "tt.reduce"(%x, %y) <{axis = 1}> ({ ^bb0(%a, %b, %c, %d): … }): accumulators before elements. Ours: element and accumulator
// of each operand in turn.
bool Translator::Fold(const Node& n, const OpRow& row) {
  const std::vector<Val> operands = in_;
  const size_t count = operands.size();
  const int64_t axis = n.number("axis", -1);
  if (n.regions.size() != 1 || n.regions[0].blocks.size() != 1)
    return Fail(n, "ttir.syntax", "needs a region of one block");
  const NodeBlock& body = n.regions[0].blocks[0];
  if (count == 0 || body.args.size() != 2 * count || body.ops.empty()) {
    return Fail(n, "ttir.type", "needs two arguments of its region for each operand");
  }
  if (EffectOf(n.regions[0]) != kNone) return Unsupported(n, "accesses memory in its region", "do it outside");
  for (const Node& op : body.ops) {
    if (op.name == "tt.assert" || op.name == "tt.print") {
      return Unsupported(op, "stands in a function that combines elements", "assert and print outside of it");
    }
  }
  std::vector<Type> args, results;
  for (size_t i = 0; i < count; ++i) {
    const Type t = operands[i].type.tile;
    if (!operands[i].is_tile() || axis < 0 || axis >= t.rank() || t.element().is_pointer()) {
      return WrongType(n, "folds tensors of numbers along one of their dimensions");
    }
    args.insert(args.end(), 2, b_.types().Scalar(t.element()));
    std::vector<int64_t> shape(t.shape().begin(), t.shape().end());
    if (row.op == Opcode::kReduce) shape.erase(shape.begin() + axis);
    results.push_back(b_.types().Tile(t.element(), shape));
  }
  std::vector<Value*> values;
  std::vector<Scalar> identities;
  for (const Val& v : operands) {
    values.push_back(v.tile());
    identities.push_back({v.type.tile.elem(), 0});
  }
  Builder::NamedAttrs attrs = {
      {"dim", Attr::Int(AttrKind::kInt, axis)},
      {"identities", Attr::Scalars(module_.arena().Copy(absl::Span<const Scalar>(identities)))}};
  if (row.op == Opcode::kScan) attrs.push_back({"reverse", Attr::Int(AttrKind::kBool, n.number("reverse", 0) != 0)});
  Op* op = b_.Create(row.op, {values}, results, attrs);
  Block* block = b_.AddRegion(op, 0, args);
  const size_t mark = OpenScope();
  {
    Builder::Scope scope(b_, block);
    for (size_t i = 0; i < count; ++i) {
      const int at = static_cast<int>(2 * i);
      Bind(body.args[i].name, {TileVal(block->arg(at + 1))});
      Bind(body.args[count + i].name, {TileVal(block->arg(at))});
    }
    if (!TranslateOps(body.ops)) return false;
    const Node& end = body.ops.back();
    if (end.name != "tt.reduce.return" && end.name != "tt.scan.return") {
      return Fail(end, "ttir.syntax", "does not end a reduction");
    }
    std::vector<Type> expected;
    for (size_t i = 0; i < count; ++i) expected.push_back(args[2 * i]);
    if (!EndRegion(end, Opcode::kYield, 0, expected, kNone)) return false;
    ChooseArms(&module_, block);
  }
  CloseScope(mark);
  // Where a fold begins does not count for its result, but compilers may make use of it.
  for (size_t i = 0; i < count; ++i) {
    const Op* last = block->back()->operand(static_cast<int>(i))->def();
    if (last == nullptr || last->block() != block || last->num_operands() != 2 || last->num_results() != 1) continue;
    const Value *e = block->arg(static_cast<int>(2 * i)), *a = block->arg(static_cast<int>(2 * i + 1));
    const bool both =
        (last->operand(0) == e && last->operand(1) == a) || (last->operand(0) == a && last->operand(1) == e);
    // Nothing is verified yet: a sum of floats may be one of integers.
    if (last->info()->family == Family::kFloat && !IsFp(last->result(0)->type().elem())) continue;
    const auto neutral = both ? NeutralBits(FoldKindOf(*last)) : std::nullopt;
    if (neutral) identities[i].bits = *neutral;
  }
  op->set_attr("identities", Attr::Scalars(module_.arena().Copy(absl::Span<const Scalar>(identities))));
  std::vector<Val> out;
  for (int i = 0; i < op->num_results(); ++i) out.push_back(TileVal(op->result(i)));
  return Define(n, out);
}

// How many elements equal 0, 1, …: compare all with all, and add.
bool Translator::Histogram(const Node& n, const OpRow&) {
  Type t;
  if (!Output(n, &t)) return false;
  if (in_.empty() || in_.size() > 2 || !in(0).is_tile() || (in_.size() == 2 && !in(1).is_tile())) {
    return WrongType(n, "takes a tensor and a mask");
  }
  Value* v = tile(0);
  if (v->type().rank() != 1 || !IsInt(v->type().elem()) || t.rank() != 1 || t.elem() != Elem::kI32) {
    return WrongType(n, "counts integers of a tensor of rank 1 in i32");
  }
  const int64_t size = v->type()->shape[0], bins = t->shape[0];
  if (size * bins > kMaxTileElements) {
    return Unsupported(n, absl::StrCat("compares ", size, " elements with ", bins, " bins"),
                       absl::StrCat("count fewer at once: at most ", kMaxTileElements, " comparisons"));
  }
  const std::vector<int64_t> column = {size, 1}, row = {1, bins}, all = {size, bins};
  Value* numbers = ops::Iota(b_, b_.types().Tile(Element::Number(Elem::kI64), {bins}));
  Value* places = ToI64(v);
  if (in_.size() == 2) places = ops::Select(b_, tile(1), places, ops::Integer(b_, places->type(), 0));
  places = IndexAlong(places, 0, bins);
  Value* equal = ops::CmpI(b_, ComparisonPredicate::kEqual, BroadcastTo(Reshape(places, column), all),
                           BroadcastTo(Reshape(numbers, row), all), Signedness::kSigned);
  if (in_.size() == 2) equal = ops::Andi(b_, equal, BroadcastTo(Reshape(tile(1), column), all));
  Value* ones = ops::Exti(b_, b_.types().Tile(Element::Number(Elem::kI32), all), equal, Signedness::kUnsigned);
  const auto add = [&](const ops::Values& e, const ops::Values& a) -> ops::Values {
    return {ops::Addi(b_, a[0], e[0])};
  };
  return Define(n, ops::Reduce(b_, {ones}, 0, {{Elem::kI32, 0}}, add)[0]);
}

}  // namespace tile::ir::ttir
