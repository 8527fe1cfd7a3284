// Which elements of a tile a program mixes with others, found by following its uses.
//
// A loaded tile may stick out of its tensor. Elements outside mostly do no harm: they are computed along and stored
// nowhere. They matter where a fold or a product runs over them, or where they steer the program. A value chosen by
// `select` counts as looked after.
#ifndef TILE_VM_PREPARE_RELIANCE_H_
#define TILE_VM_PREPARE_RELIANCE_H_

#include <cstdint>

#include "ir/module.h"

namespace tile::vm {

// Bit k: elements that are outside along dimension k of the tile take part in what is computed from those inside.
uint32_t DimensionsReliedOn(const ir::Value* tile);

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_RELIANCE_H_
