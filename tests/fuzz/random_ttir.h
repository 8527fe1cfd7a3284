// Random programs in TTIR about memory: loads, stores and atomics through pointers that may lead to the same places, within
// loops, branches, functions and early returns; and what such a program does, one statement after the other.
//
//   const TtirProgram p = MakeTtirProgram(seed);
//   ir::ReadTtir(PrintTtir(p), …)                            // kernel @random
//   std::vector<int32_t> memory = StartOf(p), out(kTtirOut);
//   InterpretTtir(p, &memory, &out);                         // what both must hold after it ran
//
// Variables: kScalars of i32 and kTiles of kTileSize i32 each, all zero at first. Pointers: bases into one memory.
#ifndef TILE_TESTS_FUZZ_RANDOM_TTIR_H_
#define TILE_TESTS_FUZZ_RANDOM_TTIR_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tile::fuzz {

inline constexpr int kScalars = 3, kTiles = 3, kTileSize = 4, kBases = 3, kMemory = 128;
inline constexpr int kTtirOut = kScalars + kTiles * kTileSize;

struct TtirStmt {
  enum class Kind {
    kScalarOp,     // s[dst] = s[a] op (s[b] + constant)
    kTileOp,       // t[dst] = t[a] op (t[b] + splat s[c])
    kSum,          // s[dst] = sum of t[a]
    kGather,       // t[dst] = t[a] at (t[b] & 3): through memory of the block
    kLoad,         // t[dst] = memory at the place; where t[a] < constant if masked, else t[b]
    kStore,        // memory at the place = t[b], where t[a] < constant if masked
    kLoadScalar,   // volatile if op is 1, half a word if op is 2
    kStoreScalar,  // half a word if op is 2
    kAtomic,       // s[dst] = old value at the place, which is updated by s[b]
    kAtomicTile,   // t[dst] likewise
    kCas,          // s[dst] = old value; s[b] where it is s[c]
    kBarrier,
    kDescLoad,   // t[dst] = a block of a descriptor of 20 elements at (s[a] & 31) - 8
    kDescStore,  // t[b]
    kDescAdd,    // t[b]
    kFor,        // body, s[a] & 3 times
    kWalk,       // body, with a tile of pointers that moves by `stride`: loads t[dst], stores t[b] there
    kWhile,      // body, s[a] & 3 times, counted down
    kIf,         // body where s[a] < constant, else other
    kCall,       // a function: body with the variables as its own; gives s[dst]
    kReturn,     // where s[a] < constant: of a kernel or function
  };
  Kind kind = Kind::kBarrier;
  int dst = 0, a = 0, b = 0, c = 0, op = 0;
  int base = 0, stride = 1;  // a place: base + (s[c] & 31) + constant, and its neighbours at `stride`
  int constant = 0;
  bool masked = false;
  std::vector<TtirStmt> body, other;
};

struct TtirProgram {
  std::vector<TtirStmt> body;
  int offsets[kBases] = {};  // of the bases, in elements of the memory
};

// The same for equal seeds.
TtirProgram MakeTtirProgram(uint64_t seed);
// The kernel @random(%b0: !tt.ptr<i32>, %b1, %b2, %out).
std::string PrintTtir(const TtirProgram& p);
std::vector<int32_t> StartOf(const TtirProgram& p);
void InterpretTtir(const TtirProgram& p, std::vector<int32_t>* memory, std::vector<int32_t>* out);

}  // namespace tile::fuzz

#endif  // TILE_TESTS_FUZZ_RANDOM_TTIR_H_
