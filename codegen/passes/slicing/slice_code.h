// Tile code that loops over slices are written with. Internal to codegen/passes.
//
//   Op* part = Copy(b, reduce, operands, ir::ResultTypesOf(reduce));   // at the end of the builder's block
//   CopyBody(b, reduce, part);
//   Values sums = OnTiles(b, *reduce.region(0), {x, acc}, shape);  // x and acc are tiles of this shape
#ifndef TILE_CODEGEN_PASSES_SLICING_SLICE_CODE_H_
#define TILE_CODEGEN_PASSES_SLICING_SLICE_CODE_H_

#include <vector>

#include "ir/ops.h"

namespace tile::codegen {

using Values = std::vector<ir::Value*>;

// The operation with other operands and types (ir/create_like.h). Regions are not copied.
ir::Op* Copy(ir::Builder& b, const ir::Op& from, const Values& operands, const std::vector<ir::Type>& results);

// The body of a reduce or scan, for a copy of it. `turned`: elements and accumulators change places.
void CopyBody(ir::Builder& b, const ir::Op& from, ir::Op* to, bool turned = false);
// The body on tiles instead of scalars: element, accumulator, element, accumulator, … .
Values OnTiles(ir::Builder& b, const ir::Block& body, const Values& args, absl::Span<const int64_t> shape);

// A tile of this shape, all of one number.
ir::Value* Spread(ir::Builder& b, ir::Value* scalar, absl::Span<const int64_t> shape);
ir::Value* Number(ir::Builder& b, ir::Type type, const ir::Scalar& number);
// Elements of one of two tiles, by a scalar i1.
ir::Value* Choose(ir::Builder& b, ir::Value* condition, ir::Value* yes, ir::Value* no);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SLICING_SLICE_CODE_H_
