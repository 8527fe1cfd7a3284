// Where warps exchange what they loaded, they wait for it. In front of a loop of products that stands behind other loads, so that all are on
// their way together:
//
//   %x = load_view_tko …                       %x = load_view_tko …
//   %a = convert_layout %x                     %y = load_view_tko …
//   %y = load_view_tko …                       %a = convert_layout %x
//   %b = convert_layout %y                     %b = convert_layout %y
//   for %i … { … %a … %b … }                   for %i … { … %a … %b … }
//
// An exchange that nobody needs in between moves down to the loop. Behind layouts.
#ifndef TILE_CODEGEN_PASSES_LAYOUTS_SINK_CONVERSIONS_H_
#define TILE_CODEGEN_PASSES_LAYOUTS_SINK_CONVERSIONS_H_

#include "absl/status/status.h"
#include "codegen/passes/program.h"

namespace tile::codegen {

absl::Status SinkConversions(Program& p);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_LAYOUTS_SINK_CONVERSIONS_H_
