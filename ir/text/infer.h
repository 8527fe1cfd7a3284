// Types that a program may leave out, because they follow from what stands beside them: results from operands, the
// element and shape of a number from the operation it is an operand of. All of it is read from the constraints column
// of ops.def, but for the few operations whose rule the column cannot say (kFollows in infer.cc).
//
// Thread-safe.
#ifndef TILE_IR_TEXT_INFER_H_
#define TILE_IR_TEXT_INFER_H_

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ir/op_info.h"

namespace tile::ir::text {

// An operation that is being read: its operands by field, and its attributes.
struct OpenOp {
  const OpInfo& info;
  absl::Span<Value* const> operands;
  absl::Span<const uint32_t> ends;  // one per operand field: end of the field's operands
  absl::Span<const Attr> attrs;
  absl::Span<const int64_t> list_shape;  // of a constant written as lists; empty: it is one number

  absl::Span<Value* const> field(int f) const {
    const uint32_t begin = f == 0 ? 0 : ends[f - 1];
    return operands.subspan(begin, ends[f] - begin);
  }
  // Type of the first operand of the field; none if it is absent.
  Type type(int f) const {
    const auto values = field(f);
    return values.empty() || values[0] == nullptr ? Type() : values[0]->type();
  }
};

// The types of n results, from those written (perhaps none). Empty and false if they do not follow.
bool InferResults(const OpenOp& op, Module& module, absl::Span<const Type> written, size_t n,
                  std::vector<Type>* results);

// True if results follow from operands of the right types, so that it is the operands which are wrong if they do not.
bool ResultsFollow(const OpInfo& info);

// What the operands of one field have to be like.
struct OperandRule {
  int shape_group = -1;         // fields of one group have one shape; -1: nothing is said
  int element_group = -1;       // the same of elements
  std::optional<Elem> element;  // the only element that the constraints allow
  bool integer = false;         // any integer goes
  bool pointer = false;         // holds pointers
  bool stretches = false;       // what is smaller is repeated to the group's shape
  bool of_view = false;         // has element and shape of the view's tiles
};
const std::vector<OperandRule>& OperandRulesOf(const OpInfo& info);

// The shape that is wanted in this field: that of the view's tiles, that of the pointers, else the common one of the
// group's tiles, in which a size of 1 gives way to any other. Nothing if there is no tile.
std::optional<std::vector<int64_t>> StretchedShape(const OpenOp& op, int field);
// A scalar or a tile with sizes of 1 that can be repeated to this shape, and does not have it.
bool Stretches(Type t, absl::Span<const int64_t> shape);
// The element of a number in this field, whose own operand is null; nothing if it does not follow.
std::optional<Element> ElementOfNumber(const OpenOp& op, int field);

}  // namespace tile::ir::text

#endif  // TILE_IR_TEXT_INFER_H_
