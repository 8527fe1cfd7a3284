// Are two modules the same program? Compared are structure, types, attributes, interfaces, globals and debug records;
// not compared are the names of values, positions in a text (`pos`) and the name of the file a module was read from.
//
//   EXPECT_EQ(FirstDifference(a, b), "");
//   // "@scale, op 3 (addf): attribute rounding: nearest_even, other: zero"
//
// Types are compared by structure, since the modules have contexts of their own. Ops count from 0 in textual order
// inside their function, values from 0 in order of definition. Takes time proportional to the modules. Reads only.
#ifndef TILE_IR_COMPARE_H_
#define TILE_IR_COMPARE_H_

#include <string>

#include "ir/module.h"

namespace tile::ir {

struct CompareOptions {
  bool debug = true;     // debug records and the locations that refer to them
  bool producer = true;  // Module::producer
};

// The first difference as text; empty if there is none.
std::string FirstDifference(const Module& a, const Module& b, const CompareOptions& options = {});

inline bool Equal(const Module& a, const Module& b, const CompareOptions& options = {}) {
  return FirstDifference(a, b, options).empty();
}

// The same type, though perhaps of another context. Encodings of code generation are compared as pointers.
bool Equal(Type a, Type b);

}  // namespace tile::ir

#endif  // TILE_IR_COMPARE_H_
