// Promises of the program, for --check=full: assume, no-wrap flags, inbounds, and divisors.
#ifndef TILE_VM_CHECK_CHECK_PROMISES_H_
#define TILE_VM_CHECK_CHECK_PROMISES_H_

#include "vm/check/check_poison.h"

namespace tile::vm {

// Whether an operation promises anything, so that most instructions cost one look.
bool MakesPromises(const ir::Op& op);

// Before an instruction whose operation MakesPromises: false after a trap, because a promise is broken. Elements without
// a specified value break none. Codes: vm.assume, vm.overflow, vm.inbounds, vm.division_by_zero, vm.division_overflow.
bool CheckPromises(BlockState& b, const OpPlaces& o, const FrameShadow& shadow);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_PROMISES_H_
