// Lines of a text as debug information, so that a file made from it can name them: what `tilevm as -g` stores.
#ifndef TILE_IR_DEBUG_LINES_H_
#define TILE_IR_DEBUG_LINES_H_

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir {

// Gives each entry and operation that has no location yet that of the text it was read from: records for the file, for
// each entry as a subprogram, for each place. Operations without a place stay as they are. What the program means and
// its hash do not change.
void AddDebugLines(Module* module);

// What to say below a message at `where` (Module::Where) that can only name an operation by its number: how to get
// lines. Empty, or a line that begins with a line break.
absl::string_view NoteOnLines(absl::string_view where);

}  // namespace tile::ir

#endif  // TILE_IR_DEBUG_LINES_H_
