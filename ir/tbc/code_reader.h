// The code section as functions and globals of a module. Internal to ir/tbc.
#ifndef TILE_IR_TBC_CODE_READER_H_
#define TILE_IR_TBC_CODE_READER_H_

#include <vector>

#include "ir/module.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

// What it guarantees: known operations, operands that are visible where they are used, as many operands, results,
// regions and attributes of the right kind as the format asks for, and every limit. Types and the rules of operations
// are the verifier's. `ops` receives all operations in the order of the file.
bool ReadCode(const fbs::Code& code, Module* module, ReadContext* context, std::vector<Op*>* ops);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_CODE_READER_H_
