// Accesses through tiles of pointers that are a block of a tensor become accesses through views, for which there are TMA, tests of a
// few bounds in place of a mask, and stages of several iterations.
//
// Before, as frontends write descriptors and block pointers:       After:
//   %at = offset (broadcast (offset %base, %i * %s)), …              %t = make_tensor_view %base, shape = [%n, %m], strides = [%s, 1]
//   %in = andi (%i + iota <u %n), (%j + iota <u %m)                  %v = make_strided_view %t : tile=(32x64), traversal_strides=[1,64]
//   %x = load_ptr_tko weak %at, %in, zero                            %x = load_view_tko weak %v[%i, %j / 64] {signed_index = true}
//
// Along a dimension in which blocks begin at multiples of their size the view's steps are those, else 1. A block that may begin in
// front of the tensor and reach into it needs an index with a sign: views have none, so the access is marked (Decision::kSignedIndex).
#ifndef TILE_CODEGEN_PASSES_CANONICAL_RAISE_VIEWS_H_
#define TILE_CODEGEN_PASSES_CANONICAL_RAISE_VIEWS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

// Of every weak load and store whose mask says of each dimension of the block that it is inside of the tensor, and nothing else.
absl::Status RaiseViews(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_RAISE_VIEWS_H_
