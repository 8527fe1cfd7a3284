// Locations of TTIR as debug records: Python's file, line and column of every operation, and through which calls it came.
#ifndef TILE_IR_TTIR_PLACES_H_
#define TILE_IR_TTIR_PLACES_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/ttir/tree.h"

namespace tile::ir::ttir {

class Places {
 public:
  // Both must outlive it.
  Places(const Tree* tree, Module* module) : tree_(*tree), module_(*module), made_(tree->locations.size()) {}

  // The record of a location; 0 if it says nothing. Locations that lead back to themselves, or further than 64 steps, say
  // nothing.
  LocId Of(LocRef loc) { return Find(loc, 0); }
  // The record of a place in a function that is called at another; each may be 0.
  LocId Within(LocId callee, LocId caller);

 private:
  struct Made {
    bool done = false;
    LocId id = 0;
  };
  LocId Find(LocRef loc, int depth);
  LocId Make(const Location& loc, int depth);
  LocId Record(const DebugRecord& r);

  using Key = std::pair<std::pair<absl::string_view, uint64_t>, uint64_t>;
  const Tree& tree_;
  Module& module_;
  std::vector<Made> made_;
  absl::flat_hash_map<absl::string_view, absl::string_view> files_;  // names in the module's memory
  absl::flat_hash_map<Key, LocId> known_;
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_PLACES_H_
