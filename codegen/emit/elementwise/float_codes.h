// Values of the float types as LLVM IR. LLVM knows half, bfloat, float and double; the smaller ones are codes in an i8.
// float is the hub: it holds every value of every type but f64, and what comes from there (or from a large integer) is
// brought to it rounded to odd, so that the result is rounded once in the end. The same values as vm/kernels/scalar_convert.h.
//
//   llvm::Value* x = ToFloat(e, ir::Elem::kF8E4M3FN, code);
//   llvm::Value* h = FromFloat(e, ir::Elem::kF16, x, ir::Rounding::kNearestEven, OutOfRange::kSaturate);
//
// Instructions of the GPU are used where they do just this, else a dozen integer ones. Subnormals are values like any.
#ifndef TILE_CODEGEN_EMIT_ELEMENTWISE_FLOAT_CODES_H_
#define TILE_CODEGEN_EMIT_ELEMENTWISE_FLOAT_CODES_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// What a finite value out of the range of an 8- or 4-bit float becomes. kInfinity: NaN if there is none, the largest
// value if neither. The others follow IEEE.
enum class OutOfRange { kSaturate, kInfinity };

// An 8-bit float as f16, which holds all of its numbers; HasHalf: an instruction gives it, or it is there already.
bool HasHalf(const Emitter& e, ir::Elem from);
llvm::Value* HalfOf(Emitter& e, ir::Elem from, llvm::Value* v);
// Two of them, i16 of two codes, as <2 x half>.
llvm::Value* HalvesOf(Emitter& e, ir::Elem from, llvm::Value* codes);
// Of four in an i32, the lower two or the upper two.
llvm::Value* HalvesOfWord(Emitter& e, ir::Elem from, llvm::Value* word, bool upper);

// The codes of two floats, the first in the low byte, rounded to nearest even and saturated, but infinities: to 8-bit floats that the
// target has an instruction for (kF8Convert).
llvm::Value* PairToF8(Emitter& e, ir::Elem to, llvm::Value* low, llvm::Value* high);
// The same of a multiple of four floats, as words of four codes. Infinities are rare: all are tested together, and a basic block of its own
// serves them.
Registers FoursToF8(Emitter& e, ir::Elem to, Operands in);

// A register of a float type as float: exact, f64 rounded to odd.
llvm::Value* ToFloat(Emitter& e, ir::Elem from, llvm::Value* v);

// Rounded to a float type. Nearest even and zero are for f16, bf16 and tf32, also negative_inf and positive_inf for f16
// and bf16, nearest_away for tf32; zero and positive_inf for f8E8M0FNU. Smaller types take the nearest; f64 is exact.
llvm::Value* FromFloat(Emitter& e, ir::Elem to, llvm::Value* x, ir::Rounding rounding, OutOfRange out_of_range);

// a * b + c, of floats, rounded once.
llvm::Value* Fma(Emitter& e, llvm::Value* a, llvm::Value* b, llvm::Value* c);

// i1: the float, half, … is NaN.
llvm::Value* IsNan(Emitter& e, llvm::Value* v);

// f rounded toward zero, and whether it is not exact, as what rounding to odd gives: the last bit is set then.
llvm::Value* SetLastBitIf(Emitter& e, llvm::Value* inexact, llvm::Value* f);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_ELEMENTWISE_FLOAT_CODES_H_
