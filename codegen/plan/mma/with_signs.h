// Types in the text of a matrix instruction.
#ifndef TILE_CODEGEN_PLAN_MMA_WITH_SIGNS_H_
#define TILE_CODEGEN_PLAN_MMA_WITH_SIGNS_H_

#include <string>

#include "ir/module.h"

namespace tile::codegen {

// The operand types of an instruction, each % replaced by the signedness of an operand. `swapped`: the right one comes first.
std::string WithSigns(const ir::Op& op, const char* types, bool swapped);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_MMA_WITH_SIGNS_H_
