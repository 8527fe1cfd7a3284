// The pools of a code section as objects of a module: every string, type, constant, predicate and hint set once,
// however many operations refer to it. Internal to ir/tbc.
#ifndef TILE_IR_TBC_POOLS_READER_H_
#define TILE_IR_TBC_POOLS_READER_H_

#include <vector>

#include "ir/module.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

struct Pools {
  std::vector<int> names;                  // FindFieldName of each; -1: unknown to this reader
  std::vector<absl::string_view> strings;  // everything below lies in the arena of the module
  std::vector<Type> types;
  std::vector<const Dense*> constants;
  absl::Span<const int64_t> numbers;
  absl::Span<const Scalar> scalars;
  std::vector<const Predicate*> predicates;
  std::vector<const Hints*> hints;
};

bool ReadPools(const fbs::Code& code, Module* module, ReadContext* context, Pools* pools);

// Copies strings into the arena of the module.
bool ReadStrings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* from, absl::string_view what,
                 Module* module, ReadContext* context, std::vector<absl::string_view>* out);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_POOLS_READER_H_
