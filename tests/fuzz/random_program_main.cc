// Prints a random program (random_program.h) as tile code; its inputs are not part of it.
//
//   random_program --seed=N [--steps=N] [--last-only]
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "ir/text/printer.h"
#include "tests/fuzz/random_program.h"

int main(int argc, char** argv) {
  tile::fuzz::RandomOptions options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view a = argv[i];
    const bool good = a == "--last-only"                    ? (options.last_only = true)
                      : absl::ConsumePrefix(&a, "--seed=")  ? absl::SimpleAtoi(a, &options.seed)
                      : absl::ConsumePrefix(&a, "--steps=") ? absl::SimpleAtoi(a, &options.steps)
                                                            : false;
    if (!good) {
      std::fprintf(stderr, "usage: random_program --seed=N [--steps=N] [--last-only]\n");
      return 2;
    }
  }
  const tile::fuzz::RandomProgram p = tile::fuzz::MakeRandomProgram(options);
  std::printf("%s", tile::ir::Print(*p.module).c_str());
  return 0;
}
