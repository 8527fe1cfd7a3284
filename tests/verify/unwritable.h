// Modules that break rules in ways that the text form cannot say, made by the builder: what other readers must not let
// pass.
#ifndef TILE_TESTS_VERIFY_UNWRITABLE_H_
#define TILE_TESTS_VERIFY_UNWRITABLE_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::ir {

struct UnwritableCase {
  std::string code;  // every diagnostic has this label
  std::string text;  // and this in its message
  std::function<void(Module&)> build;
};
inline std::ostream& operator<<(std::ostream& out, const UnwritableCase& c) { return out << c.code; }

std::vector<UnwritableCase> UnwritableCases();

}  // namespace tile::ir

#endif  // TILE_TESTS_VERIFY_UNWRITABLE_H_
