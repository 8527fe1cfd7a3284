// Names of what the tables hold, shared by the two files of the reference.
#ifndef TILE_IR_REFERENCE_INTERNAL_H_
#define TILE_IR_REFERENCE_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/op_info.h"

namespace tile::ir {

const char* KindName(const AttrInfo& a);               // "flag", or the enumeration: "Rounding"
std::vector<const char*> TraitNames(uint16_t traits);  // {"pure", "elementwise"}
absl::string_view ExampleLineOf(Opcode opcode);        // "absf f32: [1.5, -2] = [1.5, 2]"; empty: it has a kernel

}  // namespace tile::ir

#endif  // TILE_IR_REFERENCE_INTERNAL_H_
