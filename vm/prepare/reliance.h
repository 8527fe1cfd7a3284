// Which elements of a tile a program mixes with others, found by following its uses.
//
// A loaded tile may stick out of its tensor. Elements outside mostly do no harm: they are computed along and stored
// nowhere. They matter where a fold or a product runs over them, or where they steer the program. A value chosen by
// `select` counts as looked after.
#ifndef TILE_VM_PREPARE_RELIANCE_H_
#define TILE_VM_PREPARE_RELIANCE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"

namespace tile::vm {

// Answers for the tiles of one function. What is followed for one tile is remembered for the others, so that all tiles
// together take time in proportion to the function.
class Reliance {
 public:
  // Bit k: elements that are outside along dimension k of the tile take part in what is computed from those inside.
  uint32_t Of(const ir::Value* tile);

 private:
  using Dims = uint32_t;  // a bit for each dimension of the value's tile

  // Elements outside along a dimension of a tile.
  struct Place {
    const ir::Value* value;
    int dim;
    bool relied_on;
    std::vector<int> before;  // places that reach this one
  };

  int NumberOf(const ir::Value* value, int dim);
  void Explore();
  // The place that is being followed takes part in a result,
  void Rely();
  // or its elements are outside along these dimensions of another value.
  void Reach(const ir::Value* value, Dims dims);
  void Follow(const ir::Op& op, int position, Dims dims);
  void Shape(const ir::Op& op, int position, Dims dims);
  void Fold(const ir::Op& op, Dims dims);
  void Product(const ir::Op& op, int position, Dims dims);
  void Control(const ir::Op& op, int position, Dims dims);

  std::vector<Place> places_;
  absl::flat_hash_map<std::pair<const ir::Value*, int>, int> numbers_;
  std::vector<int> work_;       // places that were not followed yet
  std::vector<int> relied_on_;  // places that were not marked yet
  int current_ = -1;            // the place that is being followed
};

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_RELIANCE_H_
