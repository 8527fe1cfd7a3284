// The operation table as text, one line an operation or enumeration, and what of it a later table must keep so that
// files can still be read. schemas/released/ has the list of every released version.
//
//   op 0002 addf | lhs rhs | flush_to_zero:Flag rounding:Enum:Rounding=0 | result |
//   enum Signedness | unsigned=0 signed=1
#ifndef TILE_IR_TBC_OP_LIST_H_
#define TILE_IR_TBC_OP_LIST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::ir {

// The table of this build.
std::string ListOps();

// Why files written with the table `released` could be misread with the table `current`; empty if they can't. Allowed
// are new operations, new values of enumerations, and in an operation new optional or variadic operands, new attributes
// that may be absent, new optional results at the end.
std::vector<std::string> OpListProblems(absl::string_view released, absl::string_view current);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_OP_LIST_H_
