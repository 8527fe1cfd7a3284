// The code section as functions and globals of a module. Internal to ir/tbc.
#ifndef TILE_IR_TBC_CODE_READER_H_
#define TILE_IR_TBC_CODE_READER_H_

#include "ir/module.h"
#include "ir/tbc/context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

// Where each thing came from, by its number in the file; for the debug section.
struct CodeIndex {
  std::vector<Value*> values;
  std::vector<Op*> ops;
};

// What it guarantees: known operations, operands that are visible where they are used, as many operands, results, regions
// and attributes of the right kind as the format asks for, and every limit. Types and the rules of operations are the
// verifier's. `index` may be null.
bool ReadCode(const fbs::Code& code, Module* module, ReadContext* context, CodeIndex* index);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_CODE_READER_H_
