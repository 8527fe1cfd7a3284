// Operands of products that a load brings as they are: which load, and along which dimension memory is contiguous.
//
//   if (std::optional<LoadedOperand> a = LoadedOperandOf(mma, 0)) a->k_major
//
// It follows from the program, so any pass may ask. Where and how such an operand lies in shared memory is a decision:
// plan/staging/staging.h. Pure functions.
#ifndef TILE_CODEGEN_PLAN_STAGING_LOADED_OPERAND_H_
#define TILE_CODEGEN_PLAN_STAGING_LOADED_OPERAND_H_

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace tile::codegen {

struct LoadedOperand {
  const ir::Op* load = nullptr;  // what fills it: a load_view_tko, or a load_ptr_tko (PointerCopyOf)
  const ir::Op* rounded =
      nullptr;  // an ftof that gives the operand's type, of the same size or from 8 to 16 bits, done where elements lie
  bool lhs = false;
  bool k_major = false;           // neighbours along K are neighbours in memory; else those along M or N
  int element_bits = 0;           // of the operand
  int loaded_bits = 0;            // of what the load brings, which threads may widen where it lies
  int64_t mn = 0, k = 0;          // elements
  int contiguous = 0, other = 0;  // which dimensions of the load's tile; -1: it has size 1

  int64_t inner() const { return k_major ? k : mn; }  // elements along the contiguous dimension
  int64_t rows() const { return k_major ? mn : k; }   // along the other
  int64_t bytes() const { return inner() * rows() * element_bits / 8; }
  int64_t slot_bytes() const;  // that it takes in a stage, a multiple of 128
  bool widens() const { return loaded_bits < element_bits; }
  // TMA brings it in the operand's type: as it lies in memory, or rounded to the nearest tf32.
  bool tma_converts() const;
};

// Operand 0 or 1 of a product, if it comes from a load whose tile can be moved to shared memory in rows of 16 bytes or
// more. For a load through pointers that must have been decided (plan/staging/pointer_copy.h). Between load and product
// there may be permutations, reshapes that drop dimensions of size 1, and one conversion of floats that keeps their
// size or widens 8 bits to 16. Before and after the load moves into a fetch.
std::optional<LoadedOperand> LoadedOperandOf(const ir::Op& mma, int operand);
// The same of a value that is a left operand, or a right one.
std::optional<LoadedOperand> LoadedOperandOf(const ir::Value* v, bool lhs);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_STAGING_LOADED_OPERAND_H_
