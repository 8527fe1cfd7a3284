// Comparisons and select.
#include "vm/kernels/elementwise_loops.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

using ir::Elem;
using ir::Opcode;

// a > b is b < a, and a == b is b == a: fewer loops to compile.
consteval int SwapMask(int mask) { return mask == 1 ? 2 : mask == 2 ? 1 : mask; }

template <class I, Sign kSign, Predicate kPredicate, int kSplat>
consteval ElementwiseFn CmpiLoop() {
  if constexpr (kPredicate == kGt) return Swapped<CmpiLoop<I, kSign, kLt, SwapMask(kSplat)>()>;
  if constexpr (kPredicate == kGe) return Swapped<CmpiLoop<I, kSign, kLe, SwapMask(kSplat)>()>;
  if constexpr ((kPredicate == kEq || kPredicate == kNe) && kSplat == 1) {
    return Swapped<CmpiLoop<I, kSign, kPredicate, 2>()>;
  } else if constexpr (kPredicate < kGt) {
    return Binary<uint8_t, U<I>, U<I>, Cmpi<I, kSign, kPredicate>, kSplat>;
  }
}

template <class T, bool kOrdered, Predicate kPredicate, int kSplat>
consteval ElementwiseFn CmpfLoop() {
  if constexpr (kPredicate == kGt) return Swapped<CmpfLoop<T, kOrdered, kLt, SwapMask(kSplat)>()>;
  if constexpr (kPredicate == kGe) return Swapped<CmpfLoop<T, kOrdered, kLe, SwapMask(kSplat)>()>;
  if constexpr ((kPredicate == kEq || kPredicate == kNe) && kSplat == 1) {
    return Swapped<CmpfLoop<T, kOrdered, kPredicate, 2>()>;
  } else if constexpr (kPredicate < kGt) {
    return Binary<uint8_t, T, T, Cmpf<T, kOrdered, kPredicate>, kSplat>;
  }
}
template <class E, bool kOrdered, Predicate kPredicate, int kSplat>
consteval ElementwiseFn CmpfNarrow() {
  return NarrowedToBytes<E, 2, kSplat, CmpfLoop<float, kOrdered, kPredicate, kSplat>()>;
}

template <class T, int kSplat>
constexpr ElementwiseFn kSelect = Ternary<T, uint8_t, T, T, Select<T>, kSplat>;

// clang-format off
constexpr ElementwiseRow kRows[] = {
#define TILE_ROW_CMPI(I, kSign, kShort, kLong, mask)                                                    \
  TILE_ROW((CmpiLoop<I, kSign, kShort, mask>()), .op = Opcode::kCmpI, .in = Elem::k##I, .out = Elem::kI1,     \
           .signedness = ir::Signedness::kSign, .predicate = ir::ComparisonPredicate::kLong, .splat_mask = mask)
#define TILE_ROWS_CMPI(I, kSign, kShort, kLong) \
  TILE_ROW_CMPI(I, kSign, kShort, kLong, 0)     \
  TILE_ROW_CMPI(I, kSign, kShort, kLong, 1)     \
  TILE_ROW_CMPI(I, kSign, kShort, kLong, 2)
#define TILE_ALL_CMPI(I)                                  \
  TILE_ROWS_CMPI(I, kUnsigned, kEq, kEqual)               \
  TILE_ROWS_CMPI(I, kUnsigned, kNe, kNotEqual)            \
  TILE_ROWS_CMPI(I, kUnsigned, kLt, kLessThan)            \
  TILE_ROWS_CMPI(I, kUnsigned, kLe, kLessThanOrEqual)     \
  TILE_ROWS_CMPI(I, kUnsigned, kGt, kGreaterThan)         \
  TILE_ROWS_CMPI(I, kUnsigned, kGe, kGreaterThanOrEqual)  \
  TILE_ROWS_CMPI(I, kSigned, kLt, kLessThan)              \
  TILE_ROWS_CMPI(I, kSigned, kLe, kLessThanOrEqual)       \
  TILE_ROWS_CMPI(I, kSigned, kGt, kGreaterThan)           \
  TILE_ROWS_CMPI(I, kSigned, kGe, kGreaterThanOrEqual)
    TILE_ALL_CMPI(I8) TILE_ALL_CMPI(I16) TILE_ALL_CMPI(I32) TILE_ALL_CMPI(I64)

#define TILE_ROW_CMPF(Fn, T, Type, kOrder, kShort, kLong, mask)                                                   \
  TILE_ROW((Fn<T, ir::ComparisonOrdering::kOrder == ir::ComparisonOrdering::kOrdered, kShort, mask>()),             \
           .op = Opcode::kCmpF, .in = Elem::k##Type, .out = Elem::kI1, .predicate = ir::ComparisonPredicate::kLong, \
           .ordering = ir::ComparisonOrdering::kOrder, .splat_mask = mask)
#define TILE_ROWS_CMPF(Fn, T, Type, kOrder, kShort, kLong) \
  TILE_ROW_CMPF(Fn, T, Type, kOrder, kShort, kLong, 0)     \
  TILE_ROW_CMPF(Fn, T, Type, kOrder, kShort, kLong, 1)     \
  TILE_ROW_CMPF(Fn, T, Type, kOrder, kShort, kLong, 2)
#define TILE_ORDER_CMPF(Fn, T, Type, kOrder)                      \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kEq, kEqual)                \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kNe, kNotEqual)             \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kLt, kLessThan)             \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kLe, kLessThanOrEqual)      \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kGt, kGreaterThan)          \
  TILE_ROWS_CMPF(Fn, T, Type, kOrder, kGe, kGreaterThanOrEqual)
#define TILE_ALL_CMPF(Fn, T, Type) TILE_ORDER_CMPF(Fn, T, Type, kOrdered) TILE_ORDER_CMPF(Fn, T, Type, kUnordered)
    TILE_ALL_CMPF(CmpfLoop, float, F32) TILE_ALL_CMPF(CmpfLoop, double, F64)
    TILE_ALL_CMPF(CmpfNarrow, F16, F16) TILE_ALL_CMPF(CmpfNarrow, BF16, BF16)

#define TILE_ROW_SELECT(Type, mask) \
  TILE_ROW((kSelect<U<Type>, mask>), .op = Opcode::kSelect, .in = Elem::k##Type, .out = Elem::k##Type, \
           .splat_mask = mask)
#define TILE_ALL_SELECT(Type)                                                                               \
  TILE_ROW_SELECT(Type, 0) TILE_ROW_SELECT(Type, 1) TILE_ROW_SELECT(Type, 2) TILE_ROW_SELECT(Type, 3)       \
  TILE_ROW_SELECT(Type, 4) TILE_ROW_SELECT(Type, 5) TILE_ROW_SELECT(Type, 6)
    TILE_ALL_SELECT(I8) TILE_ALL_SELECT(I16) TILE_ALL_SELECT(I32) TILE_ALL_SELECT(I64)
};
// clang-format on

}  // namespace

TILE_TABLE(kCompareTable, kRows)

}  // namespace tile::vm::TILE_VM_ISA
