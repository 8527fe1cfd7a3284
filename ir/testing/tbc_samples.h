// Modules for tests of the format, built from the operation table alone. Their structure is sound; they mean nothing.
#ifndef TILE_IR_TESTING_TBC_SAMPLES_H_
#define TILE_IR_TESTING_TBC_SAMPLES_H_

#include <memory>

#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::ir {

// One kernel per operation of the table. `full`: every optional operand, several operands and results where any number
// is allowed, attributes that differ from their defaults, regions with blocks; else as little as the format allows.
std::unique_ptr<Module> EveryOp(bool full);

// Types of every kind, globals, hints, an interface, debug records, names, nested loops.
std::unique_ptr<Module> EverythingElse();

// A kernel of about `num_ops` operations as compilers write them: arithmetic, loads, a loop now and then.
std::unique_ptr<Module> Typical(int num_ops);

// Uses every field; the payload is static.
Image SampleImage();

}  // namespace tile::ir

#endif  // TILE_IR_TESTING_TBC_SAMPLES_H_
