// What changes nothing when an operation combines it with a number: where a fold begins before it has seen an element.
//
//   NeutralBits({Opcode::kMaxf, Elem::kF32});   // NaN: a maximum that lets numbers win
#ifndef TILE_IR_NEUTRAL_H_
#define TILE_IR_NEUTRAL_H_

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace tile::ir {

struct FoldKind {
  Opcode op;
  Elem elem;
  bool propagate_nan = false;                   // of maxf, minf
  Signedness signedness = Signedness::kSigned;  // of maxi, mini
};

// Nullopt of operations other than addition, multiplication, minimum, maximum and those on bits.
std::optional<uint64_t> NeutralBits(const FoldKind& fold);
// The same of an operation with such attributes.
FoldKind FoldKindOf(const Op& op);

}  // namespace tile::ir

#endif  // TILE_IR_NEUTRAL_H_
