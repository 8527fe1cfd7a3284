// Test files of operations: a module of tile code whose comments say how its kernels are called and what comes out, so
// that one file serves every engine that runs tile code.
//
//   // run: @addf x=[1.5, -0.0, nan] y=[2, 0.0, 1]
//   // expect: out=[3.5, 0.0, nan]
//   // with: f32 => f16
//   // run: @addf x=[65504, 1, 1] y=[16, 1, 1]
//   // expect: out=[inf, 2, 2]
//
//   run: @kernel NAME=VALUE… grid=4,1,1     a call. A list is the memory of a pointer parameter, a number a scalar
//                                           parameter. Names are those of the parameters, or of the kernel's interface,
//                                           which also fills sizes, strides (row-major) and defaults
//   expect: NAME=[…]                        what a list holds afterwards. One that `run` does not name is memory that
//                                           holds nothing before. Behind the list may stand `ulp=2`, `gpu_ulp=9` (of a
//                                           GPU, whose library is less exact), `any_order`, or
//                                           `in_order`: holds for engines that fold strictly in order, as the VM does
//   expect-trap: vm.assert: part of text    the first report of the run
//   expect-full: vm.overflow: part of text  the same under full checks; unchecked, the expected values come out
//   expect-print: "a\n"                     what is printed, escaped as in C
//   expect-refused: part of text            the engine says that it cannot run the kernel
//   with: OLD => NEW; OLD => NEW            the code with OLD replaced throughout. Holds until the next `with`, which
//                                           starts from the file as it is. `expect` behind it repeats the last run
//
// A comment line that begins with three spaces continues the line above. Elements: as tools/data/element_text.h; `0x…` of a
// float type are bits, `nan` any NaN, `_` no matter what, `5*8` eight times 5, `0..15` counts. Brackets may nest.
// Values must be equal bit by bit, -0 and 0 are not.
#ifndef TILE_TESTS_HARNESS_OP_FILE_H_
#define TILE_TESTS_HARNESS_OP_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "tools/data/array.h"

namespace tile::ops {

// NAME=VALUE of a line.
struct Field {
  std::string name;
  bool is_list = false;
  std::vector<std::string> values;  // one for a scalar
  std::vector<int64_t> shape;       // of a list
};

struct Expectation {
  Field field;
  uint64_t ulp = 0;
  uint64_t gpu_ulp = 0;  // on a GPU, whose library may be less exact than the VM; what `ulp` says, if that is more
  bool any_order = false;
  bool in_order = false;  // holds for engines that reduce and scan strictly in order
};

struct Call {
  int line = 0;
  std::string kernel;
  int64_t grid[3] = {1, 1, 1};
  std::vector<Field> fields;
  std::vector<Expectation> expected;
  std::string trap, full_trap, refused;  // empty: none
  std::optional<std::string> printed;
};

// The module in one of its forms.
struct Variant {
  std::string name;  // "f32 => f16"; empty: the file as it is
  std::string text;
  std::vector<Call> calls;
};

// Errors are InvalidArgument and name the line.
absl::StatusOr<std::vector<Variant>> ParseOpFile(absl::string_view text);

// What a kernel is launched with. The memories hold the results afterwards.
struct Memory {
  std::string name;
  tools::Array array;
  bool initialized = true;
};
struct Param {
  int memory = -1;    // pointer to this memory, or
  uint64_t bits = 0;  // a scalar
};
struct Arguments {
  int64_t grid[3] = {1, 1, 1};
  std::vector<Memory> memories;
  std::vector<Param> params;
};
absl::StatusOr<Arguments> Bind(const ir::Function& function, const Call& call);

struct Answer {
  absl::Status refused;              // the engine cannot run this
  std::vector<std::string> reports;  // "vm.assert: message"
  std::string printed;
};
// Runs the kernel on the arguments.
using Engine = std::function<Answer(const ir::Module&, absl::string_view kernel, Arguments*)>;

// Runs the call; says what is not as expected, or nothing. `full_checks`: promises are checked. `results`, if not null,
// receives the memories.
std::string RunCall(const ir::Module& module, const Call& call, bool full_checks, const Engine& engine,
                    std::vector<Memory>* results = nullptr);

}  // namespace tile::ops

#endif  // TILE_TESTS_HARNESS_OP_FILE_H_
