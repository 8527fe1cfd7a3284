// Which slices of its operands an operation needs for a slice of its result. Internal to codegen/passes.
//
//   std::vector<int> dims;
//   std::string why = OperandDims(op, /*dim=*/0, /*slices=*/8, &dims);   // "": dims[i] is the dimension of operand i
//
// A slice is one of `slices` equal parts along one dimension. Which rule an operation follows says op_rules.def.
#ifndef TILE_CODEGEN_ANALYSIS_SLICE_DIMS_H_
#define TILE_CODEGEN_ANALYSIS_SLICE_DIMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::codegen {

inline constexpr int kWhole = -1;  // the operand is needed whole, or is no tile

std::string OperandDims(const ir::Op& op, int dim, int64_t slices, std::vector<int>* dims);

// Of a matrix product: rows come from rows of the left operand and its scales, columns from columns of the right ones.
std::vector<int> ProductDims(const ir::Op& mma, int dim);

// Of reduce, along its own dimension: the loop carries what it has so far.
std::string WhyNotCarried(const ir::Op& reduce);

ir::Type SlicedType(ir::TypeContext& types, ir::Type t, int dim, int64_t slices);

// Weak: nobody else touches the elements at the same time.
bool IsWeak(const ir::Op& op);
bool IsAccessOfMemory(const ir::Op& op);
// An access that is done once, in its place: an update, or one that other threads may see.
inline bool IsOrdered(const ir::Op& op) { return IsAccessOfMemory(op) && !IsWeak(op); }
// The tile that an access writes to memory or updates it with; null: it only reads, or is none.
const ir::Value* WrittenTile(const ir::Op& op);
// What an access gives besides its token is needed.
bool GivesTile(const ir::Op& op);

// A scan along this dimension of its result: slices need what those before them add up to.
bool ScansAlong(const ir::Op& op, int dim);

// Dimension k of the tile never leaves the tensor.
bool StaysInside(const ir::Op& access, int k);

// The predicate of an assume for slices of `length` along `dim`; null: it says nothing about them.
const ir::Predicate* SlicedPredicate(ir::Module* module, const ir::Op& assume, int dim, int64_t length);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ANALYSIS_SLICE_DIMS_H_
