// Writes a program as tile code (docs/text.md). Equal programs give equal text: names of values are made from the
// program, so text → any format → text changes nothing after the first time. Never fails: a program that breaks rules
// is written as far as it goes, for diagnostics and debugging.
//
//   std::string text = Print(module);
//   std::string line = PrintOp(*op);      // "%2 = addf %a, %b : tile<128xf32>"
//
// Reads only; any number of threads may print one module.
#ifndef TILE_IR_TEXT_PRINTER_H_
#define TILE_IR_TEXT_PRINTER_H_

#include <string>

#include "ir/module.h"

namespace tile::ir {

struct PrintOptions {
  bool debug = true;        // debug records and the loc(#n) that refer to them
  bool keep_names = false;  // names that the text of the program gave (Value::name) instead of made ones
  bool numbers = false;     // a comment behind each operation: its number in the entry, from 1
};

std::string Print(const Module& module, const PrintOptions& options = {});

// One operation on one line, as its author knows it: with the names of its text; bodies as { … }. Takes time
// proportional to its function, whose names must be unique.
std::string PrintOp(const Op& op);
// "%acc": the name that PrintOp uses.
std::string PrintValue(const Value& value);

}  // namespace tile::ir

#endif  // TILE_IR_TEXT_PRINTER_H_
