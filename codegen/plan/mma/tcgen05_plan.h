// Products by tcgen05 (sm_100 and its relatives): one thread begins them, both operands are in shared memory, the sums in tensor memory. The rows of
// codegen/target/tcgen05_instructions.def say for which types.
//
// An instruction multiplies 64 or 128 rows and up to 256 columns. Larger tiles are several of them, each with columns of tensor memory of its own.
// When all have ended, warps take the sums to registers: a warp reaches the 32 lanes of its number modulo four, so four warps have all rows of an
// instruction, and warpgroups share the tile along M and N.
//
//   128 rows: a lane is a row, a register a column.       64 rows: 16 lanes of each 32, as fragments of 8 columns.
//
// There are two kinds. With Tcgen05 sums stay in columns: they begin with zero, go around a loop that fetches ahead, and are read behind it. Products of loops
// that copy ahead are of the kind Tcgen05Once: each of them leaves what it multiplies in columns, and threads add that to sums in registers.
//
// Pure functions.
#ifndef TILE_CODEGEN_PLAN_MMA_TCGEN05_PLAN_H_
#define TILE_CODEGEN_PLAN_MMA_TCGEN05_PLAN_H_

#include <cstdint>
#include <string>

#include "codegen/plan/mma/staged_mma.h"

namespace tile::codegen {

const StagedMmaKind& Tcgen05Kind();
const StagedMmaKind& Tcgen05OnceKind();

// How warps take sums of a product to registers.
Layout ColumnSumsLayout(const StagedMmaPlan& plan);
// So many warpgroups share M and N of it.
struct ColumnGroups {
  int64_t m = 1, n = 1;
};
ColumnGroups GroupsOf(const MmaShape& s, int num_warps);
// Why they can't; "" if they can.
std::string SharingFault(const MmaShape& s, const ColumnGroups& groups);
// Warps that take few sums each.
int WarpsForSums(const MmaShape& s);

// Why its sums can't be in tensor memory while its loop runs; "" if they can.
std::string WhyNotInColumns(const ir::Op& mma);

// How the instruction is written.
struct Tcgen05Form {
  std::string instruction;  // "tcgen05.mma.cta_group::1.kind::f16"
  uint32_t descriptor = 0;  // of the instruction
};
// Whether its operands lie along K.
Tcgen05Form Tcgen05FormOf(const StagedMmaPlan& plan, const ir::Op& mma, bool lhs_along_k, bool rhs_along_k);

// The part of a descriptor of shared memory that does not depend on the address.
uint64_t Tcgen05OperandBits(const StagedTile& tile);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_TCGEN05_PLAN_H_
