// The memory that pointers may lead to in one launch: what their origins (provenance.h) are.
//
// A parameter's home is the array that the caller named for it (Launch::pointers), else the allocation that its word points
// into. An array may be part of its memory, as a slice of a tensor is of its storage: what is outside of the array and inside
// of that memory is a warning, and an error of --check=full. BlockState::homes holds, for each set of origins, the memory
// that the last access was in, so that a check mostly compares one range.
#ifndef TILE_VM_MACHINE_HOMES_H_
#define TILE_VM_MACHINE_HOMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vm/machine/code.h"

namespace tile::vm {

struct LaunchState;

// Before the launch, once its memory is known.
void FindHomes(LaunchState* state);
// Before a block runs.
void ResetHomes(BlockState& b);

// The memory that these origins allow and that holds the bytes, or null.
const Allocation* FindHome(BlockState& b, int set, uintptr_t address, uint64_t bytes);
// Memory around an array of these origins that holds the bytes, and that array; null if there is none.
struct Around {
  const Allocation *memory = nullptr, *array = nullptr;
};
Around FindAround(const BlockState& b, int set, uintptr_t address, uint64_t bytes);
// What a tensor view with this base is over; null if that is not known.
const Allocation* HomeOfBase(BlockState& b, int set, uintptr_t base);
// All arrays of these origins with the memory that they are in, for messages.
std::vector<Around> HomesOf(const BlockState& b, int set);
// The parameter of these origins that is a null pointer; -1 if none is.
int NullParameter(const BlockState& b, int set);
// "x": what messages call a parameter.
std::string NameOfParameter(const BlockState& b, int param);

// What an operation of kind PointerOrigin::kMade made, n pointers.
// `sets`: those that have it.
void NoteMade(BlockState& b, int origin, absl::Span<const int> sets, const uint64_t* pointers, int64_t n);

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_HOMES_H_
