// Products with block scales by tcgen05 (sm_100 and its relatives): mmaf_scaled, where there is an instruction for its types and for the elements that a
// scale serves. The rows of codegen/target/tcgen05_scaled_instructions.def say for which.
//
// Threads store the operands and the scales of each product to shared memory, and add what it leaves in columns to their sums. The thread that begins the
// product copies the scales to columns behind those of the sums (plan/tensor_memory.h) first.
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_TCGEN05_SCALED_H_
#define TILE_CODEGEN_PLAN_MMA_TCGEN05_SCALED_H_

#include <cstdint>
#include <string>

#include "codegen/plan/mma/staged_mma.h"

namespace tile::codegen {

const StagedMmaKind& Tcgen05ScaledKind();

// The version of PTX in which it is written, major * 10 + minor: targets of this kind may have older ones.
inline constexpr int kPtxOfScaledInColumns = 88;

// Why so many warps can't have such a product; "" if they can.
std::string WhyNotScaledInColumns(const Target& target, int num_warps, const ir::Op& mma);

// How the instruction is written.
struct Tcgen05ScaledForm {
  std::string instruction;  // "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32"
  uint32_t descriptor = 0;  // of the instruction, but for which of a column's bytes are scales
  int block = 0;            // elements along K that a scale serves
};
Tcgen05ScaledForm Tcgen05ScaledFormOf(const StagedMmaPlan& plan, const ir::Op& mma);
// The bits of the descriptor that say that scales begin with this byte of their columns.
uint32_t ScaleByteBits(int64_t byte);

// How threads hold an operand of such a product when they store it, as M x K or K x N: two neighbours along K of 4 bits are in one thread.
Layout StorableLayout(const Layout& own, ir::Type type, int operand, int num_warps);

// The columns of tensor memory that products of this kind take in the function; 0: there are none.
int64_t ColumnsOfScaled(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_TCGEN05_SCALED_H_
