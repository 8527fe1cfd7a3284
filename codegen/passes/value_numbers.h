// A number for what each value is: values that are computed alike, by the same operations from the same values, have one number.
//
//   ValueNumbers numbers;
//   numbers.Of(v) == numbers.Of(w)                    // one is as good as the other
//   numbers.OfLoaded(*load)                           // equal for two loads that bring the same (MayLoadOnce holds for both: equivalence.h)
//
// Each value is looked at once, when it or what follows from it is first asked for. Values that change afterwards keep their numbers:
// ask for none that are made of changed ones. Not thread-safe.
#ifndef TILE_CODEGEN_PASSES_VALUE_NUMBERS_H_
#define TILE_CODEGEN_PASSES_VALUE_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::codegen {

class ValueNumbers {
 public:
  int64_t Of(const ir::Value* v);
  // Places, masks and all else are the same, and both wait for the same but for other weak loads, behind which memory is what it was.
  int64_t OfLoaded(const ir::Op& load);

  // A number that no value has so far, and a value that is to have it.
  int64_t Fresh() { return next_++; }
  void Take(const ir::Value* v, int64_t number) { numbers_[v] = number; }

 private:
  struct Known {
    const ir::Op* op;
    std::vector<int64_t> operands;
    int64_t first;  // number of the first result
  };
  int64_t Find(const ir::Op& op, std::vector<int64_t> operands);
  void Number(const ir::Op& op);
  const ir::Value* WaitsFor(const ir::Op& load);

  int64_t next_ = 0;
  absl::flat_hash_map<const ir::Value*, int64_t> numbers_;
  absl::flat_hash_map<size_t, std::vector<Known>> known_;          // by hash
  absl::flat_hash_map<const ir::Value*, const ir::Value*> waits_;  // of loads' tokens, for what the loads wait
};

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_VALUE_NUMBERS_H_
