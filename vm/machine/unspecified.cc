#include "vm/machine/unspecified.h"

#include <cstring>

#include "vm/machine/launch_state.h"

namespace tile::vm {
namespace {

// splitmix64
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void FillRandom(uint64_t state, uint8_t* to, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += 8) {
    const uint64_t word = NextRandom(&state);
    std::memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

void Fill(const BlockState& b, uint64_t which, uint8_t* to, uint64_t bytes) {
  switch (b.launch->launch->unspecified) {
    case Unspecified::kZero: std::memset(to, 0, bytes); break;
    case Unspecified::kOnes: std::memset(to, 0xFF, bytes); break;
    case Unspecified::kRandom:
      FillRandom(static_cast<uint64_t>(b.index) * 0xd1342543de82ef95 + which * 0x2545f4914f6cdd1d, to, bytes);
      break;
  }
}

}  // namespace

void FillUnspecified(const BlockState& b, const Instr* in, void* to, int64_t elements, ir::Elem elem) {
  auto* bytes = static_cast<uint8_t*>(to);
  const uint64_t size = static_cast<uint64_t>(elements) * static_cast<uint64_t>(ir::StorageBytes(elem));
  Fill(b, static_cast<uint64_t>(in - b.code->instrs.data()), bytes, size);
  // In a tile a truth value is 0 or 1, and four bits are in a byte of their own.
  if (b.launch->launch->unspecified == Unspecified::kZero) return;
  const uint8_t mask = elem == ir::Elem::kI1 ? 1 : ir::IsSubByte(elem) ? 15 : 0xFF;
  for (uint64_t i = 0; mask != 0xFF && i < size; ++i) bytes[i] &= mask;
}

void FillUnspecifiedMemory(const BlockState& b, uint64_t which, void* to, uint64_t bytes) {
  Fill(b, ~which, static_cast<uint8_t*>(to), bytes);
}

}  // namespace tile::vm
