// Products of 8-bit floats whose instruction does not read the operands as they lie become products of f16, in which every such number is exact.
// Instructions that read stages take 8-bit floats along K only, f16 in any order. So the values of an attention, which lie along the head:
//
//   %p8 = ftof %p                                 %p8 = ftof %p
//   %v8 = load_view_tko …                         %v8 = load_view_tko …
//   %o = mmaf %p8, %v8, %acc                      %p16 = ftof %p8    %v16 = ftof %v8
//                                                 %o = mmaf %p16, %v16, %acc
//
// Threads widen what was copied to shared memory: where it lies (LoadedOperand::loaded_bits), or, if TMA brought it, to a place of its own
// (codegen/plan/staging/conversion_buffers.h). Without this, mma.sync would read such
// operands byte by byte. Not thread-safe with other changes of the module.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_PROMOTE_F8_OPERANDS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_PROMOTE_F8_OPERANDS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status PromoteF8Operands(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_PROMOTE_F8_OPERANDS_H_
