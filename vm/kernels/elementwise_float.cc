// Float arithmetic on f32 and f64, and on f16 and bf16 by way of f32.
#include "vm/kernels/elementwise_loops.h"

namespace tile::vm::TILE_VM_ISA {
namespace {

using ir::Elem;
using ir::Opcode;

// --- f32 with subnormals as zeros -----------------------------------------------------------------------------------

template <float (*kOp)(float)>
TILE_VM_INLINE float Ftz1(float a) {
  return Flush(kOp(Flush(a)));
}
template <float (*kOp)(float, float)>
TILE_VM_INLINE float Ftz2(float a, float b) {
  return Flush(kOp(Flush(a), Flush(b)));
}
template <float (*kOp)(float, float, float)>
TILE_VM_INLINE float Ftz3(float a, float b, float c) {
  return Flush(kOp(Flush(a), Flush(b), Flush(c)));
}

// --- fma ------------------------------------------------------------------------------------------------------------

template <class T, auto kOp, int kSplat>
consteval ElementwiseFn Loop3() {
  if constexpr ((kSplat & 3) == 1) {  // The factors may change places.
    return Swapped3<Ternary<T, T, T, T, kOp, kSplat ^ 3>>;
  } else {
    return Ternary<T, T, T, T, kOp, kSplat>;
  }
}

// --- rows -----------------------------------------------------------------------------------------------------------

// clang-format off
#define TILE_F(Name, E) .op = Opcode::k##Name, .in = Elem::k##E, .out = Elem::k##E
#define TILE_MODE(kMode) .rounding = ir::Rounding::kMode

// One loop in all forms: as it is, with the other roundings of the hardware, and for f16 and bf16.
#define TILE_ROW_MODES(fn, Name, E, ...)                                                             \
  TILE_ROW((Rounded<kTowardZero, fn>), TILE_F(Name, E), TILE_MODE(kZero), __VA_ARGS__)               \
  TILE_ROW((Rounded<kNegativeInf, fn>), TILE_F(Name, E), TILE_MODE(kNegativeInf), __VA_ARGS__)       \
  TILE_ROW((Rounded<kPositiveInf, fn>), TILE_F(Name, E), TILE_MODE(kPositiveInf), __VA_ARGS__)
#define TILE_ROW_NARROW_MODE(fn, Name, E, operands, mask, kHere, kThere)                                 \
  TILE_ROW((Narrowed<E, operands, mask, Rounded<kHere, fn>, kHere>), TILE_F(Name, E), TILE_MODE(kThere), \
           .splat_mask = mask)
#define TILE_ROW_NARROW(fn, Name, E, operands, mask) \
  TILE_ROW((Narrowed<E, operands, mask, fn>), TILE_F(Name, E), .splat_mask = mask)
#define TILE_ROW_NARROW_MODES(fn, Name, E, operands, mask)                            \
  TILE_ROW_NARROW_MODE(fn, Name, E, operands, mask, kTowardZero, kZero)               \
  TILE_ROW_NARROW_MODE(fn, Name, E, operands, mask, kNegativeInf, kNegativeInf)       \
  TILE_ROW_NARROW_MODE(fn, Name, E, operands, mask, kPositiveInf, kPositiveInf)

constexpr ElementwiseRow kRows[] = {
#define TILE_SIGN_BIT(Name)                                                                             \
  TILE_ROW((Unary<uint16_t, uint16_t, Name##16>), TILE_F(Name, F16))                                    \
  TILE_ROW((Unary<uint16_t, uint16_t, Name##16>), TILE_F(Name, BF16))                                   \
  TILE_ROW((Unary<float, float, Name<float>>), TILE_F(Name, F32))                                       \
  TILE_ROW((Unary<double, double, Name<double>>), TILE_F(Name, F64))

#define TILE_FLOAT1(Name)                                          \
  TILE_ROW((Unary<float, float, Name<float>>), TILE_F(Name, F32))    \
  TILE_ROW((Unary<double, double, Name<double>>), TILE_F(Name, F64)) \
  TILE_ROW_NARROW((Unary<float, float, Name<float>>), Name, F16, 1, 0)  \
  TILE_ROW_NARROW((Unary<float, float, Name<float>>), Name, BF16, 1, 0)

#define TILE_FTZ1(Name) (Unary<float, float, Ftz1<Name<float>>>)
#define TILE_FLOAT1_ROUND(Name)                                                         \
  TILE_FLOAT1(Name)                                                                     \
  TILE_ROW(TILE_FTZ1(Name), TILE_F(Name, F32), .flush_to_zero = true)                   \
  TILE_ROW_MODES((Unary<float, float, Name<float>>), Name, F32, .flush_to_zero = false) \
  TILE_ROW_MODES(TILE_FTZ1(Name), Name, F32, .flush_to_zero = true)                     \
  TILE_ROW_MODES((Unary<double, double, Name<double>>), Name, F64, .flush_to_zero = false) \
  TILE_ROW_NARROW_MODES((Unary<float, float, Name<float>>), Name, F16, 1, 0)            \
  TILE_ROW_NARROW_MODES((Unary<float, float, Name<float>>), Name, BF16, 1, 0)

#define TILE_L2(Name, T, mask) (Loop2<Opcode::k##Name, T, Name<T>, mask>())
#define TILE_FTZ2(Name, mask) (Loop2<Opcode::k##Name, float, Ftz2<Name<float>>, mask>())
#define TILE_FLOAT2_MASK(Name, mask)                                                \
  TILE_ROW(TILE_L2(Name, float, mask), TILE_F(Name, F32), .splat_mask = mask)       \
  TILE_ROW(TILE_L2(Name, double, mask), TILE_F(Name, F64), .splat_mask = mask)      \
  TILE_ROW_NARROW(TILE_L2(Name, float, mask), Name, F16, 2, mask)                   \
  TILE_ROW_NARROW(TILE_L2(Name, float, mask), Name, BF16, 2, mask)
#define TILE_FLOAT2(Name) TILE_FLOAT2_MASK(Name, 0) TILE_FLOAT2_MASK(Name, 1) TILE_FLOAT2_MASK(Name, 2)

#define TILE_FLOAT2_ROUND_MASK(Name, mask)                                                                        \
  TILE_FLOAT2_MASK(Name, mask)                                                                                    \
  TILE_ROW(TILE_FTZ2(Name, mask), TILE_F(Name, F32), .flush_to_zero = true, .splat_mask = mask)                   \
  TILE_ROW_MODES(TILE_L2(Name, float, mask), Name, F32, .flush_to_zero = false, .splat_mask = mask)               \
  TILE_ROW_MODES(TILE_FTZ2(Name, mask), Name, F32, .flush_to_zero = true, .splat_mask = mask)                     \
  TILE_ROW_MODES(TILE_L2(Name, double, mask), Name, F64, .flush_to_zero = false, .splat_mask = mask)              \
  TILE_ROW_NARROW_MODES(TILE_L2(Name, float, mask), Name, F16, 2, mask)                                           \
  TILE_ROW_NARROW_MODES(TILE_L2(Name, float, mask), Name, BF16, 2, mask)
#define TILE_FLOAT2_ROUND(Name) \
  TILE_FLOAT2_ROUND_MASK(Name, 0) TILE_FLOAT2_ROUND_MASK(Name, 1) TILE_FLOAT2_ROUND_MASK(Name, 2)

#define TILE_NAN2(Name, T, nan, mask) (Loop2<Opcode::k##Name, T, Name<T, nan>, mask>())
#define TILE_FLOAT2_NAN_MASK(Name, nan, mask)                                                                         \
  TILE_ROW(TILE_NAN2(Name, float, nan, mask), TILE_F(Name, F32), .propagate_nan = nan, .splat_mask = mask)            \
  TILE_ROW(TILE_NAN2(Name, double, nan, mask), TILE_F(Name, F64), .propagate_nan = nan, .splat_mask = mask)           \
  TILE_ROW((Narrowed<F16, 2, mask, TILE_NAN2(Name, float, nan, mask)>), TILE_F(Name, F16), .propagate_nan = nan,      \
           .splat_mask = mask)                                                                                        \
  TILE_ROW((Narrowed<BF16, 2, mask, TILE_NAN2(Name, float, nan, mask)>), TILE_F(Name, BF16), .propagate_nan = nan,    \
           .splat_mask = mask)                                                                                        \
  TILE_ROW((Loop2<Opcode::k##Name, float, Ftz2<Name<float, nan>>, mask>()), TILE_F(Name, F32), .flush_to_zero = true, \
           .propagate_nan = nan, .splat_mask = mask)
#define TILE_FLOAT2_NAN(Name)                                                                               \
  TILE_FLOAT2_NAN_MASK(Name, false, 0) TILE_FLOAT2_NAN_MASK(Name, false, 1) TILE_FLOAT2_NAN_MASK(Name, false, 2) \
  TILE_FLOAT2_NAN_MASK(Name, true, 0) TILE_FLOAT2_NAN_MASK(Name, true, 1) TILE_FLOAT2_NAN_MASK(Name, true, 2)

#define TILE_FTZ3(Op, mask) (Loop3<float, Ftz3<Op>, mask>())
#define TILE_FLOAT3_ROUND_MASK(Name, mask)                                                                             \
  TILE_ROW((Loop3<float, Name<float>, mask>()), TILE_F(Name, F32), .splat_mask = mask)                                 \
  TILE_ROW((Loop3<double, Name<double>, mask>()), TILE_F(Name, F64), .splat_mask = mask)                               \
  TILE_ROW(TILE_FTZ3(Name<float>, mask), TILE_F(Name, F32), .flush_to_zero = true, .splat_mask = mask)                 \
  TILE_ROW_MODES((Loop3<float, Name##AnyRounding<float>, mask>()), Name, F32, .flush_to_zero = false,                  \
                 .splat_mask = mask)                                                                                   \
  TILE_ROW_MODES(TILE_FTZ3(Name##AnyRounding<float>, mask), Name, F32, .flush_to_zero = true, .splat_mask = mask)      \
  TILE_ROW_MODES((Loop3<double, Name##AnyRounding<double>, mask>()), Name, F64, .flush_to_zero = false,                \
                 .splat_mask = mask)                                                                                   \
  TILE_ROW_NARROW((Loop3<float, Name##Odd, mask>()), Name, F16, 3, mask)                                               \
  TILE_ROW_NARROW((Loop3<float, Name##Odd, mask>()), Name, BF16, 3, mask)                                              \
  TILE_ROW_NARROW_MODES((Loop3<float, Name##AnyRounding<float>, mask>()), Name, F16, 3, mask)                          \
  TILE_ROW_NARROW_MODES((Loop3<float, Name##AnyRounding<float>, mask>()), Name, BF16, 3, mask)
#define TILE_FLOAT3_ROUND(Name)                                                                                \
  TILE_FLOAT3_ROUND_MASK(Name, 0) TILE_FLOAT3_ROUND_MASK(Name, 1) TILE_FLOAT3_ROUND_MASK(Name, 2)              \
  TILE_FLOAT3_ROUND_MASK(Name, 3) TILE_FLOAT3_ROUND_MASK(Name, 4) TILE_FLOAT3_ROUND_MASK(Name, 5)              \
  TILE_FLOAT3_ROUND_MASK(Name, 6)

#include "vm/kernels/elementwise.def"

#define TILE_DIVF_APPROX(mask)                                                                                       \
  TILE_ROW((Binary<float, float, float, DivfApprox<float>, mask>), TILE_F(Divf, F32), TILE_MODE(kApprox),            \
           .splat_mask = mask)                                                                                       \
  TILE_ROW((Binary<float, float, float, Ftz2<DivfApprox<float>>, mask>), TILE_F(Divf, F32), TILE_MODE(kApprox),      \
           .flush_to_zero = true, .splat_mask = mask)
    TILE_DIVF_APPROX(0) TILE_DIVF_APPROX(1) TILE_DIVF_APPROX(2)
};
// clang-format on

}  // namespace

TILE_TABLE(kFloatTable, kRows)

}  // namespace tile::vm::TILE_VM_ISA
