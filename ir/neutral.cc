#include "ir/neutral.h"

#include <cmath>

#include "ir/float.h"
#include "ir/op_views.h"

namespace tile::ir {

std::optional<uint64_t> NeutralBits(const FoldKind& fold) {
  const int bits = ElemInfoOf(fold.elem).bits;
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  const bool is_signed = fold.signedness == Signedness::kSigned;
  switch (fold.op) {
    case Opcode::kAddi:
    case Opcode::kOri:
    case Opcode::kXori: return 0;
    // Of i1, which has no 1 among its signed values, too.
    case Opcode::kMuli: return 1;
    case Opcode::kAndi: return ones;
    case Opcode::kMaxi: return is_signed ? uint64_t{1} << (bits - 1) : 0;
    case Opcode::kMini: return is_signed ? ones >> 1 : ones;
    case Opcode::kAddf: return FromDouble(fold.elem, -0.0);
    case Opcode::kMulf: return FromDouble(fold.elem, 1);
    // A NaN loses, or else wins against what is farthest away.
    case Opcode::kMaxf: return fold.propagate_nan ? FromDouble(fold.elem, -HUGE_VAL) : CanonicalNan(fold.elem);
    case Opcode::kMinf: return fold.propagate_nan ? FromDouble(fold.elem, HUGE_VAL) : CanonicalNan(fold.elem);
    default: return std::nullopt;
  }
}

FoldKind FoldKindOf(const Op& op) {
  FoldKind fold{op.opcode(), op.result(0)->type().elem()};
  if (const Attr* a = FindAttr(op, Field::kPropagateNan)) fold.propagate_nan = a->as_bool();
  if (const Attr* a = FindAttr(op, Field::kSignedness)) fold.signedness = a->as_enum<Signedness>();
  return fold;
}

}  // namespace tile::ir
