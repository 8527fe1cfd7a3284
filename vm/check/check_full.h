// --check=full: what the other levels can't see, because a wrong kernel may well give the right result once.
//
//   vm.uninitialized    an unspecified value steers the program (a condition, mask, index, address, size, bound, printed or
//                       asserted value, operand of an atomic update), or is left in a buffer      check_poison.h
//   vm.assume, vm.overflow, vm.inbounds, vm.division_by_zero, vm.division_overflow
//                       a broken promise                                                           check_promises.h
//   vm.not_written      elements of an `out` array that the kernel did not write, at the end       check_arrays.h
//   vm.write_to_input   a store to an `in` array
//   vm.bool_value       a byte other than 0 and 1 in an array of bools that is read, or left by the kernel
//   vm.outside_view     an access outside of an array, or between its elements, in the rest of its memory   check_views.h
//   vm.index_wrap       (a warning) an address or index from integers that wrapped around          check_wraps.h
//   vm.order            a result that depends on the order of blocks; with only rounding or places, a warning
//                                                                                              check_results.h
//   vm.not_finite       (a warning) NaN or infinity made of finite numbers                         check_floats.h
//   vm.not_associative  the body of a reduce or scan                                           vm/eval/grouping.h
//   vm.race, vm.missing_token, vm.duplicate_store
//                       accesses that nothing orders                                               check_races.h
//
// Costs: at most 16 bytes for each byte of memory that the kernel touches, one or two for each byte of tiles, and a few
// dozen for each memory operation that a block executes. orders.h tells what trying several orders adds.
#ifndef TILE_VM_CHECK_CHECK_FULL_H_
#define TILE_VM_CHECK_CHECK_FULL_H_

#include <memory>

#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {

// Other blocks may look at what the operation does without a race.
bool IsStrongAccess(const ir::Op& op);

// A checker for one launch, whose buffers are in state.memory. The launch runs on one thread.
std::unique_ptr<Checker> MakeFullChecker(LaunchState& state);

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_FULL_H_
