// A program once more, in memory of its own: what a compiler changes while the program of its caller stays as it is.
//
//   std::unique_ptr<Module> copy = CloneModule(module);              // all of it
//   std::unique_ptr<Module> copy = CloneModule(module, *function);   // with this kernel only
//   Function* again = CloneFunction(*function, "name", &module);     // into the same module, or into a clone of it
//
// A clone is equal to its original (ir/compare.h) and prints as it does. It also keeps what is no part of the program: positions
// in the text and names of values. It refers to nothing of the original, except that encodings of types stay the pointers
// they were. Values must be defined before their use, as the verifier wants it.
#ifndef TILE_IR_CLONE_H_
#define TILE_IR_CLONE_H_

#include <memory>

#include "ir/module.h"

namespace tile::ir {

std::unique_ptr<Module> CloneModule(const Module& module);
std::unique_ptr<Module> CloneModule(const Module& module, const Function& only);

// Debug records and globals are not copied: `into` must have those of the function's module.
Function* CloneFunction(const Function& function, absl::string_view name, Module* into);

}  // namespace tile::ir

#endif  // TILE_IR_CLONE_H_
