// From arrays and scalars to a launch: evaluates the kernel interface of ir/interface.h.
//
//   Arguments args = Arguments::For(*interface);
//   args.arrays[0] = {true, {1000}, {}, address_of_x};          // given by the caller
//   args.scalars[0] = bits;
//   Resolve(*function, &args, env);                               // sizes of outputs, values of scalars, all checked
//   …allocate args.arrays[i] that are not given, args.workspaces…
//   auto grid = EvaluateGrid(*function, args, env);
//   auto words = MakeParams(*function, args, env);                // one 64-bit word per kernel parameter
//
// Pure functions; thread-safe. Errors are InvalidArgument and name the argument as the caller knows it.
#ifndef TILE_RUNTIME_LAUNCH_RULE_H_
#define TILE_RUNTIME_LAUNCH_RULE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tile::runtime {

struct ArrayValue {
  bool given = false;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements; empty: row-major
  uint64_t address = 0;
};

struct Arguments {
  std::vector<ArrayValue> arrays;                // as Interface::arrays
  std::vector<std::optional<uint64_t>> scalars;  // bits of the element, as Interface::scalars
  std::vector<int64_t> workspace_elements;       // filled in by Resolve, as Interface::workspaces
  std::vector<uint64_t> workspaces;              // addresses, by the caller

  static Arguments For(const ir::Interface& interface);
};

struct Environment {
  int64_t num_sms = 1;
};

// Row-major strides of a shape.
std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape);

// Fills in what the caller left open and checks the rest: ranks, fixed sizes, sizes that share a parameter, sizes that
// fit their parameter's type.
absl::Status Resolve(const ir::Function& f, Arguments* args, const Environment& env);

// One to three expressions; the dimensions left out are 1. Error if the interface has no launch rule.
absl::StatusOr<std::array<int64_t, 3>> EvaluateGrid(const ir::Function& f, const Arguments& args,
                                                    const Environment& env);

// Words of all parameters, from resolved arguments with addresses.
absl::StatusOr<std::vector<uint64_t>> MakeParams(const ir::Function& f, const Arguments& args, const Environment& env);

// An expression as the text form writes it, for messages and `tilevm info`.
std::string ExprToString(const ir::Interface& interface, const ir::Expr& e);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_LAUNCH_RULE_H_
