// Finds the kernel of an operation in the tables of the chosen instruction set.
#include "vm/kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ir/float.h"
#include "vm/kernels/elementwise_table.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;

// All rows of an instruction set, by ascending key.
std::vector<ElementwiseRow> Collect(Isa isa) {
  std::vector<ElementwiseRow> rows;
  for (const ElementwiseTable* t :
       {&TILE_VM_SELECT(isa, kIntegerTable), &TILE_VM_SELECT(isa, kCompareTable), &TILE_VM_SELECT(isa, kFloatTable),
        &TILE_VM_SELECT(isa, kMathTable), &TILE_VM_SELECT(isa, kConvertTable)}) {
    rows.insert(rows.end(), t->rows, t->rows + t->count);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return rows;
}

// Made once and never destroyed.
const std::vector<ElementwiseRow>& RowsOf(Isa isa) {
  static const auto& best = *new std::vector<ElementwiseRow>(Collect(BestIsa()));
  if (isa == BestIsa()) return best;
  static const auto& others = *new std::array<std::vector<ElementwiseRow>, 4>{Collect(Isa::kGeneric), Collect(Isa::kV2),
                                                                              Collect(Isa::kV3), Collect(Isa::kV4)};
  return others[static_cast<int>(isa)];
}

Elem IntOfBytes(int bytes) {
  return bytes == 1 ? Elem::kI8 : bytes == 2 ? Elem::kI16 : bytes == 4 ? Elem::kI32 : Elem::kI64;
}

// Every value of `from` is one of `to`.
bool IsExact(Elem from, Elem to) {
  const ir::FloatFormat &f = ir::FloatFormatOf(from), &t = ir::FloatFormatOf(to);
  const auto lowest = [](const ir::FloatFormat& x) { return (x.has_zero ? 1 : 0) - x.bias - x.mantissa_bits; };
  return ir::ToDouble(from, f.largest() << f.unused) <= ir::ToDouble(to, t.largest() << t.unused) &&
         f.mantissa_bits <= t.mantissa_bits && lowest(f) >= lowest(t) && t.has_zero && (t.has_sign || !f.has_sign) &&
         (t.has_infinity || !f.has_infinity) && (t.has_nan || !f.has_nan);
}

ir::ComparisonPredicate Mirrored(ir::ComparisonPredicate p) {
  using enum ir::ComparisonPredicate;
  switch (p) {
    case kLessThan: return kGreaterThan;
    case kLessThanOrEqual: return kGreaterThanOrEqual;
    case kGreaterThan: return kLessThan;
    case kGreaterThanOrEqual: return kLessThanOrEqual;
    default: return p;
  }
}

// Keys with the same results as one key, the one that has the row. False if the key means nothing.
bool Canonicalize(ElementwiseKey& k) {
  using ir::Rounding;
  if (k.op != Opcode::kOffset) k.pointee_bytes = 0;
  switch (k.op) {
    case Opcode::kExp:
    case Opcode::kTanh:
    case Opcode::kSqrt:
      if (k.rounding == Rounding::kApprox || k.rounding == Rounding::kFull) k.rounding = Rounding::kNearestEven;
      break;
    case Opcode::kDivf:
      if (k.rounding == Rounding::kFull) k.rounding = Rounding::kNearestEven;
      break;
    case Opcode::kSelect:
      if (k.in != k.out) return false;
      k.in = k.out = IntOfBytes(ir::StorageBytes(k.in));
      break;
    case Opcode::kCmpI:
      if (k.predicate == ir::ComparisonPredicate::kEqual || k.predicate == ir::ComparisonPredicate::kNotEqual) {
        k.signedness = ir::Signedness::kUnsigned;
      }
      if (k.in == Elem::kI1) {
        // As bytes 0 and 1; as signed, true is the smaller.
        k.in = Elem::kI8;
        if (k.signedness == ir::Signedness::kSigned) k.predicate = Mirrored(k.predicate);
        k.signedness = ir::Signedness::kUnsigned;
      }
      break;
    case Opcode::kFToF:
      if (k.in == k.out || !ir::IsFloat(k.in) || !ir::IsFloat(k.out)) return false;
      if (IsExact(k.in, k.out)) k.rounding = Rounding::kNearestEven;
      break;
    case Opcode::kFToI:
      k.rounding = Rounding::kNearestEven;
      k.saturating = k.saturating && k.out == Elem::kI1;
      if (k.out == Elem::kI1 && !k.saturating) k.signedness = ir::Signedness::kUnsigned;
      break;
    case Opcode::kBitcast:
    case Opcode::kIntToPtr:
    case Opcode::kPtrToInt:
    case Opcode::kPtrToPtr: {
      const Elem from = k.op == Opcode::kIntToPtr ? Elem::kI64 : Elem::kPtr;
      const Elem to = k.op == Opcode::kPtrToInt ? Elem::kI64 : Elem::kPtr;
      const bool number = ir::IsNum(k.in) && ir::IsNum(k.out);
      if (k.op == Opcode::kBitcast ? !number : k.in != from || k.out != to) return false;
      if (ir::MemoryBits(k.in) != ir::MemoryBits(k.out) || (k.in == Elem::kI1) != (k.out == Elem::kI1)) return false;
      k.op = Opcode::kBitcast;
      k.in = k.out = IntOfBytes(ir::StorageBytes(k.in));
      break;
    }
    default: break;
  }
  return true;
}

}  // namespace

ElementwiseFn FindElementwise(const ElementwiseKey& key, Isa isa) {
  // What does not fit the packed key has no row.
  if (key.splat_mask < 0 || key.splat_mask > 7 || key.pointee_bytes < 0 || key.pointee_bytes > 8) return nullptr;
  ElementwiseKey canonical = key;
  if (!Canonicalize(canonical)) return nullptr;
  const uint64_t packed = PackElementwiseKey(canonical);
  const std::vector<ElementwiseRow>& rows = RowsOf(isa);
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), packed, [](const ElementwiseRow& r, uint64_t k) { return r.key < k; });
  return row != rows.end() && row->key == packed ? row->fn : nullptr;
}

ElementwiseFn FindElementwise(const ElementwiseKey& key) { return FindElementwise(key, BestIsa()); }

}  // namespace tile::vm
