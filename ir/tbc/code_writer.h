// The code section of a module. Internal to ir/tbc.
#ifndef TILE_IR_TBC_CODE_WRITER_H_
#define TILE_IR_TBC_CODE_WRITER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/tbc/schema.h"
#include "ir/tbc/version.h"

namespace tile::ir {

struct CodeSection {
  flatbuffers::DetachedBuffer bytes;
  Requirements needs;
  std::vector<const Op*> ops;  // all of the module in the order of the file, for the debug section
};

// Error if the module holds what the format can't: an operand that is not defined before its use, a required attribute
// that is missing, a type of code generation, or more than a limit allows.
absl::StatusOr<CodeSection> WriteCode(const Module& module);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_CODE_WRITER_H_
