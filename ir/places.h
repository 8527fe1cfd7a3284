// Keeps the lines of a text when it becomes another form, so that a mistake found in a .tbc still names the line it was
// written on.
//
//   std::unique_ptr<Module> m = Parse(text, "kernel.tile", &diagnostics);
//   KeepPlaces(m.get());
//   WriteTbc(*m);      // its debug section says where each operation stood in kernel.tile
#ifndef TILE_IR_PLACES_H_
#define TILE_IR_PLACES_H_

#include "ir/module.h"

namespace tile::ir {

// Operations, entries and globals that were read from text and have no debug location get one: Module::source_name with line
// and column, without a scope. Nothing happens to others.
void KeepPlaces(Module* module);

}  // namespace tile::ir

#endif  // TILE_IR_PLACES_H_
