// Test programs that say in comments what the parser or the verifier must report about them:
//
//   %0 = addf %x, %x flush_to_zero : tile<f16>   // error: addf.c10: needs f32
//
// The line must give exactly the diagnostics that its comments name (`error:` or `warning:`, several separated by `//`), the
// message holding the text behind the code. `error anywhere:` is about one that has no line, or one of another file.
#ifndef TILE_TESTS_HARNESS_ANNOUNCED_H_
#define TILE_TESTS_HARNESS_ANNOUNCED_H_

#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace tile {

struct Announced {
  int line = 0;  // 0: anywhere
  std::string severity, code, text;
};
std::vector<Announced> ParseAnnounced(const std::string& text);

// Fails the test for each diagnostic of the program `name` that was not announced, and the other way round.
void ExpectAnnounced(const std::string& name, std::vector<Announced> expected, const ir::Diagnostics& diagnostics);

}  // namespace tile

#endif  // TILE_TESTS_HARNESS_ANNOUNCED_H_
