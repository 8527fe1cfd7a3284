// A program on its way to the GPU, turned back into tile code: the same program without its schedule. What engines run and the
// verifier judges between passes.
//
//   std::unique_ptr<ir::Module> plain = TileCodeOf(module);
//
// Types lose their layouts and operations what was decided about them. A convert_layout gives its operand, and what a fetch_ahead or
// copy_ahead would bring is loaded in its place. Accesses by an index with a sign go through pointers (signed_index.h). An alloc_shared in a region moves to the beginning of the kernel, where tile code
// wants it: on the GPU its place says from where on no thread uses the memory for what it held in the iteration before.
#ifndef TILE_CODEGEN_PASSES_TILE_CODE_H_
#define TILE_CODEGEN_PASSES_TILE_CODE_H_

#include <memory>

#include "ir/module.h"

namespace tile::codegen {

std::unique_ptr<ir::Module> TileCodeOf(const ir::Module& module);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_TILE_CODE_H_
