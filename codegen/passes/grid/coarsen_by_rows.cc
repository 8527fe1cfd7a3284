#include "codegen/passes/grid/coarsen_by_rows.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/passes/unused.h"
#include "ir/create_like.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;

using ir::Builder;
using ir::ComparisonPredicate;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr auto kSigned = ir::Signedness::kSigned;

class Halves {
 public:
  Halves(ir::Module* module, const CoarsenedTiles& growth) : module_(module), growth_(growth) {}

  void Run() {
    CopyNumbers();
    for (Op* seam : growth_.seams()) JoinSeam(seam);
    for (Op* branch : growth_.branches()) JoinBranch(branch);
    for (Op* loop : growth_.loops()) {
      if (growth_.IsNumber(ir::ForOp(*loop).lower_bound())) {
        JoinShort(loop);
      } else {
        JoinLong(loop);
      }
    }
    std::vector<Op*> numbers = growth_.numbers();
    std::reverse(numbers.begin(), numbers.end());
    for (Op* number : numbers) {
      if (IsUnused(*number)) number->Erase();
    }
  }

 private:
  using Pair = std::array<Value*, 2>;

  // Of both blocks; the same one twice where the place is not in it.
  Pair Of(Value* v) const {
    if (!growth_.IsNumber(v)) return {v, v};
    return {halves_[0].at(v), halves_[1].at(v)};
  }

  void CopyNumbers() {
    Value* id = growth_.place();
    ir::WriteBefore(module_, id->def()->next(), [&](Builder& b) {
      halves_[0][id] = op::Muli(b, id, op::Integer(b, id->type(), 2));
      halves_[1][id] = op::Addi(b, halves_[0][id], op::Integer(b, id->type(), 1));
    });
    for (Op* number : growth_.numbers()) {
      for (ir::ValueMap& half : halves_) ir::CopyBefore(module_, *number, number, &half);
    }
  }

  // A tile of this shape, true in the first block's part of this dimension.
  Value* Upper(Builder& b, Type like, int dim) {
    const int64_t n = like.shape()[static_cast<size_t>(dim)];
    const Type line = b.types().Tile(ir::Element::Number(ir::Elem::kI32), {n});
    Value* at = op::Iota(b, line);
    return Across(b, op::CmpI(b, ComparisonPredicate::kLessThan, at, op::Integer(b, line, n / 2), kSigned), like, dim);
  }

  // A line of values that lies along this dimension of the shape.
  static Value* Across(Builder& b, Value* line, Type like, int dim) {
    std::vector<int64_t> shape(static_cast<size_t>(like.rank()), 1);
    shape[static_cast<size_t>(dim)] = line->type().shape()[0];
    const ir::Element element = line->type().element();
    if (like.rank() > 1) line = op::Reshape(b, b.types().Tile(element, shape), line);
    const Type wide = b.types().Tile(element, like.shape());
    return line->type() == wide ? line : op::Broadcast(b, wide, line);
  }

  // A scalar, in all elements.
  static Value* Everywhere(Builder& b, Value* scalar, Type like) {
    const std::vector<int64_t> ones(static_cast<size_t>(like.rank()), 1);
    const ir::Element element = scalar->type().element();
    return op::Broadcast(b, b.types().Tile(element, like.shape()),
                         op::Reshape(b, b.types().Tile(element, ones), scalar));
  }

  // The number of each row's block.
  Value* ByRows(Builder& b, const Pair& numbers, Type like, int dim) {
    Value* upper = Upper(b, like, dim);
    Value* first = Everywhere(b, numbers[0], like);
    return op::Select(b, upper, first, Everywhere(b, numbers[1], like));
  }

  void JoinSeam(Op* seam) {
    Value* result = nullptr;
    const Type type = seam->result(0)->type();
    const Pair from = Of(seam->operand(0));
    ir::WriteBefore(module_, seam, [&](Builder& b) {
      Value* upper = Upper(b, type, growth_.DimOf(seam->result(0)));
      Value* first = op::Broadcast(b, type, from[0]);
      result = op::Select(b, upper, first, op::Broadcast(b, type, from[1]));
    });
    ir::ReplaceOp(seam, result);
  }

  void JoinBranch(Op* branch) {
    const Pair conditions = Of(branch->operand(0));
    ir::WriteBefore(module_, branch,
                    [&](Builder& b) { branch->set_operand(0, op::Andi(b, conditions[0], conditions[1])); });
    Op* end = branch->region(1)->back();
    ir::ValueMap copies;
    for (const Op* inside : *branch->region(0)) {
      if (inside != branch->region(0)->back()) ir::CopyBefore(module_, *inside, end, &copies);
    }
    ir::WriteBefore(module_, end, [&](Builder& b) {
      for (int i = 0; i < branch->num_results(); ++i) {
        Value* then = branch->region(0)->back()->operand(i);
        if (const auto copy = copies.find(then); copy != copies.end()) then = copy->second;
        const int dim = growth_.DimOf(branch->result(i));
        const Type line =
            b.types().Tile(ir::Element::Number(ir::Elem::kI1), {then->type().shape()[static_cast<size_t>(dim)]});
        Value* mask = Across(b, ByRows(b, conditions, line, 0), then->type(), dim);
        end->set_operand(i, op::Select(b, mask, then, end->operand(i)));
      }
    });
  }

  static void SetBounds(Op* loop, Value* from, Value* to) {
    loop->set_operand(0, from);
    loop->set_operand(1, to);
  }

  void JoinLong(Op* loop) {
    const ir::ForOp bounds(*loop);
    const Pair ends = Of(bounds.upper_bound());
    Value* from = bounds.lower_bound();
    Value *first = nullptr, *last = nullptr, *rest_from = nullptr;
    ir::WriteBefore(module_, loop, [&](Builder& b) {
      first = op::Mini(b, ends[0], ends[1], kSigned);
      last = op::Maxi(b, ends[0], ends[1], kSigned);
      rest_from = op::Maxi(b, from, first, kSigned);
    });
    ir::ValueMap copies;
    Op* rest = ir::CopyOp(module_, *loop, &copies);
    module_->InsertBefore(loop->block(), loop->next(), rest);
    for (int i = 0; i < loop->num_results(); ++i) ir::Replace(loop->result(i), rest->result(i));
    const ir::CarryingLoop carrying(*rest);
    for (int i = 0; i < carrying.num_carried(); ++i) rest->set_operand(carrying.init_at(i), loop->result(i));
    SetBounds(loop, from, first);
    SetBounds(rest, rest_from, last);
    Choose(*loop, rest, {from, from}, ends);
  }

  void JoinShort(Op* loop) {
    const ir::ForOp bounds(*loop);
    const Pair from = Of(bounds.lower_bound()), to = Of(bounds.upper_bound());
    Value *first = nullptr, *last = nullptr;
    ir::WriteBefore(module_, loop, [&](Builder& b) {
      // Of a block without iterations the bounds may be anything.
      const Pair any = {op::CmpI(b, ComparisonPredicate::kLessThan, from[0], to[0], kSigned),
                        op::CmpI(b, ComparisonPredicate::kLessThan, from[1], to[1], kSigned)};
      const Pair begins = {op::Select(b, any[0], from[0], from[1]), op::Select(b, any[1], from[1], from[0])};
      const Pair ends = {op::Select(b, any[0], to[0], to[1]), op::Select(b, any[1], to[1], to[0])};
      first = op::Mini(b, begins[0], begins[1], kSigned);
      last = op::Maxi(b, ends[0], ends[1], kSigned);
    });
    SetBounds(loop, first, last);
    Choose(*loop, loop, from, to);
  }

  // Rows keep what they have in iterations that are none of their block's. `known`: the loop that growth knows.
  void Choose(const Op& known, Op* loop, const Pair& from, const Pair& to) {
    const ir::CarryingLoop carrying(*loop);
    absl::flat_hash_map<int64_t, Value*> runs;  // by the number of rows
    for (int k = 0; k < carrying.num_carried(); ++k) {
      const Type type = carrying.arg(k)->type();
      const int dim = growth_.DimOf(known.result(k));
      Value*& of_rows = runs[type.shape()[static_cast<size_t>(dim)]];
      if (of_rows == nullptr) of_rows = Runs(loop, type.shape()[static_cast<size_t>(dim)], from, to);
      Op* latch = carrying.latch();
      ir::WriteBefore(module_, latch, [&](Builder& b) {
        latch->set_operand(k, op::Select(b, Across(b, of_rows, type, dim), latch->operand(k), carrying.arg(k)));
      });
    }
  }

  // In front of the iteration's end: of each row, whether its block has this one.
  Value* Runs(Op* loop, int64_t rows, const Pair& from, const Pair& to) {
    const ir::CarryingLoop carrying(*loop);
    const Type line = module_->types().Tile(carrying.index()->type().element(), {rows});
    Value *begin = nullptr, *end = nullptr, *runs = nullptr;
    ir::WriteBefore(module_, loop, [&](Builder& b) {
      if (from[0] != from[1]) begin = ByRows(b, from, line, 0);
      end = ByRows(b, to, line, 0);
    });
    ir::WriteBefore(module_, carrying.latch(), [&](Builder& b) {
      Value* now = Everywhere(b, carrying.index(), line);
      runs = op::CmpI(b, ComparisonPredicate::kLessThan, now, end, kSigned);
      if (begin == nullptr) return;
      runs = op::Andi(b, runs, op::CmpI(b, ComparisonPredicate::kGreaterThanOrEqual, now, begin, kSigned));
    });
    return runs;
  }

  ir::Module* const module_;
  const CoarsenedTiles& growth_;
  std::array<ir::ValueMap, 2> halves_;
};

}  // namespace

bool HalvesPay(const CoarsenedTiles& growth) {
  return std::all_of(growth.loops().begin(), growth.loops().end(), [&](const Op* loop) {
    if (!growth.IsNumber(ir::ForOp(*loop).lower_bound())) return true;
    // It goes on with what another one left.
    const ir::CarryingLoop short_one(*loop);
    return short_one.num_carried() > 0 && ir::ForOp::Is(short_one.init(0)->def());
  });
}

void GrowToHalves(ir::Module* module, CoarsenedTiles* growth) {
  growth->Grow(2);
  Halves(module, *growth).Run();
}

}  // namespace tile::codegen
