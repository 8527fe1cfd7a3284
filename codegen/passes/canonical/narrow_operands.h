// Products of elements that were widened from 16 bits multiply the 16 bits.
//
//   %x = ftof %a : bf16 -> f32 -> tf32                 %n = mmaf %a, %bt, %acc     // bf16; %bt = permute %b
//   %y = permute (ftof %b : bf16 -> f32 -> tf32)
//   %n = mmaf %x, %y, %acc
//
// tf32 has the exponent of bf16 and the mantissa of f16, so both are exact in it, and the products are the same numbers. As 16 bits they take half the
// registers and half the instructions, and copies bring them ahead. Both operands must come from one type. Products of f32 stay: they
// are not summed by a tensor core.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_NARROW_OPERANDS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_NARROW_OPERANDS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status NarrowOperands(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_NARROW_OPERANDS_H_
