// Integer arithmetic and bit operations.
#include "vm/kernels/elementwise_loops.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

using ir::Elem;
using ir::Opcode;

#define TILE_TYPES(Row, Name) Row(Name, I1) Row(Name, I8) Row(Name, I16) Row(Name, I32) Row(Name, I64)
#define TILE_KEY(Name, I) .op = Opcode::k##Name, .in = Elem::k##I, .out = Elem::k##I

// clang-format off
constexpr ElementwiseRow kRows[] = {
#define TILE_ROW_INT1(Name, I) TILE_ROW((Unary<U<I>, U<I>, Name<I>>), TILE_KEY(Name, I))
#define TILE_INT1(Name) TILE_TYPES(TILE_ROW_INT1, Name)

#define TILE_ROW_INT2(Name, I)                                        \
  TILE_ROW((Loop2<Opcode::k##Name, U<I>, Name<I>, 0>()), TILE_KEY(Name, I), .splat_mask = 0) \
  TILE_ROW((Loop2<Opcode::k##Name, U<I>, Name<I>, 1>()), TILE_KEY(Name, I), .splat_mask = 1) \
  TILE_ROW((Loop2<Opcode::k##Name, U<I>, Name<I>, 2>()), TILE_KEY(Name, I), .splat_mask = 2)
#define TILE_INT2(Name) TILE_TYPES(TILE_ROW_INT2, Name)

#define TILE_ROW_SIGN(Name, I, kSign, mask)                                               \
  TILE_ROW((Loop2<Opcode::k##Name, U<I>, Name<I, kSign>, mask>()), TILE_KEY(Name, I),     \
           .signedness = ir::Signedness::kSign, .splat_mask = mask)
#define TILE_ROW_INT2_SIGN(Name, I)   \
  TILE_ROW_SIGN(Name, I, kUnsigned, 0) \
  TILE_ROW_SIGN(Name, I, kUnsigned, 1) \
  TILE_ROW_SIGN(Name, I, kUnsigned, 2) \
  TILE_ROW_SIGN(Name, I, kSigned, 0)   \
  TILE_ROW_SIGN(Name, I, kSigned, 1)   \
  TILE_ROW_SIGN(Name, I, kSigned, 2)
#define TILE_INT2_SIGN(Name) TILE_TYPES(TILE_ROW_INT2_SIGN, Name)

#include "vm/kernels/elementwise.def"

#define TILE_ROW_DIVI(I, kSign, kDiv, kRounding, mask)                                   \
  TILE_ROW((Loop2<Opcode::kDivi, U<I>, Divi<I, kSign, kDiv>, mask>()), TILE_KEY(Divi, I), \
           .rounding = ir::Rounding::kRounding, .signedness = ir::Signedness::kSign, .splat_mask = mask)
#define TILE_ROWS_DIVI(I, kSign, kDiv, kRounding)  \
  TILE_ROW_DIVI(I, kSign, kDiv, kRounding, 0)      \
  TILE_ROW_DIVI(I, kSign, kDiv, kRounding, 1)      \
  TILE_ROW_DIVI(I, kSign, kDiv, kRounding, 2)
#define TILE_ALL_DIVI(Name, I)                        \
  TILE_ROWS_DIVI(I, kUnsigned, kToZero, kZero)       \
  TILE_ROWS_DIVI(I, kUnsigned, kUp, kPositiveInf)    \
  TILE_ROWS_DIVI(I, kSigned, kToZero, kZero)         \
  TILE_ROWS_DIVI(I, kSigned, kDown, kNegativeInf)    \
  TILE_ROWS_DIVI(I, kSigned, kUp, kPositiveInf)
    TILE_TYPES(TILE_ALL_DIVI, Divi)

#define TILE_ROW_OFFSET(I, bytes, mask)                                                                  \
  TILE_ROW((Binary<uint64_t, uint64_t, U<I>, Offset<I, bytes>, mask>), .op = Opcode::kOffset, .in = Elem::k##I, \
           .out = Elem::kPtr, .pointee_bytes = bytes, .splat_mask = mask)
#define TILE_ROWS_OFFSET(I, bytes) \
  TILE_ROW_OFFSET(I, bytes, 0) TILE_ROW_OFFSET(I, bytes, 1) TILE_ROW_OFFSET(I, bytes, 2)
#define TILE_ALL_OFFSET(Name, I) \
  TILE_ROWS_OFFSET(I, 1) TILE_ROWS_OFFSET(I, 2) TILE_ROWS_OFFSET(I, 4) TILE_ROWS_OFFSET(I, 8)
    TILE_TYPES(TILE_ALL_OFFSET, Offset)
};
// clang-format on

}  // namespace

TILE_TABLE(kIntegerTable, kRows)

}  // namespace tile::vm::TILE_VM_ISA
