// Litmus tests: few accesses by several blocks, run very often, and what came out, counted. A test is a .tile file with
// a kernel @litmus whose blocks are the threads of the test; comments say what must not come out:
//
//   // blocks: 2                          so many blocks make one test; a launch runs many tests side by side
//   // scopes: device sys                 SCOPE in the code stands for each of these
//   // forbidden: flag=1 word=0           never in one round: these arrays hold these numbers at its place
//   // total: counter                     this array must hold the number of rounds times blocks everywhere
//   // size: x=256                        elements of a round; others have one
//   // of test: lock=1 counter=64         elements of a test, for all rounds
//   // weaker NAME: OLD => NEW; OLD => NEW    a twin in which the forbidden may come out
//
// A line that begins with three spaces continues the one above. Parameters of the kernel are arrays, zero at first (those
// that are named as forbidden or total: of i32), then %rounds, %tests. Round i of test t has the place t * rounds + i.
#ifndef TILE_TESTS_GPU_LITMUS_H_
#define TILE_TESTS_GPU_LITMUS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/harness/op_file.h"

namespace tile::ops {

struct LitmusTest {
  std::string name;  // "device", "device, weaker relaxed"
  bool weaker = false;
  std::string text;
  int64_t blocks = 0;
  std::vector<std::pair<std::string, int64_t>> forbidden;
  std::string total;                                 // empty: none
  std::map<std::string, int64_t> of_round, of_test;  // elements of arrays
};

// All forms of a file. Errors are InvalidArgument and name the line.
absl::StatusOr<std::vector<LitmusTest>> ParseLitmus(absl::string_view text);

struct LitmusCounts {
  int64_t runs = 0;                         // rounds of all tests
  int64_t forbidden = 0;                    // rounds, or lost counts of `total`
  std::map<std::string, int64_t> outcomes;  // "flag=1 word=1"

  // "flag=0 word=0: 12, flag=1 word=1: 500"
  std::string ToString() const;
};

// The arguments of one launch, and what to make of them afterwards.
absl::StatusOr<Arguments> LitmusArguments(const LitmusTest& test, const ir::Function& function, int64_t rounds,
                                          int64_t tests);
void CountOutcomes(const LitmusTest& test, const Arguments& arguments, int64_t rounds, int64_t tests,
                   LitmusCounts* counts);

}  // namespace tile::ops

#endif  // TILE_TESTS_GPU_LITMUS_H_
