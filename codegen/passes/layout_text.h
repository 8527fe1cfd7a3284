// Layouts as annotations (Decision::kLayout), for texts: types show none. Internal to codegen/passes.
//
//   WriteLayouts(module);                          // as an annotation of each operation, from its results' types
//   ReadLayouts(module, &layouts, &diagnostics);   // into the types; the annotations go
#ifndef TILE_CODEGEN_PASSES_LAYOUT_TEXT_H_
#define TILE_CODEGEN_PASSES_LAYOUT_TEXT_H_

#include "codegen/plan/tile_layout.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::codegen {

void WriteLayouts(ir::Module* module);
void ReadLayouts(ir::Module* module, LayoutTable* layouts, ir::Diagnostics* diagnostics);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUT_TEXT_H_
