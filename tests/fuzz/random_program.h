// Random tile programs whose results are well defined: every engine must give the same. A program is made from its seed
// alone; it loads, computes, moves, reduces, multiplies, branches, loops, updates and stores, with all element types.
//
//   RandomProgram p = MakeRandomProgram({.seed = 7});
//   ops::Arguments arguments = MakeArguments(p);              // memory with contents, parameters, grid
//   engine(*p.module, "random", &arguments);                  // tests/harness: the VM, or a GPU
//   Difference(p, expected, arguments) == "";
//
// What makes results well defined: indices, shift amounts and divisors are brought into range; blocks write different
// memory, or update it in ways that commute; accesses of one block to memory that it writes are ordered by tokens.
// Floats are of two kinds. Exact ones go through correctly rounded operations only, and through sums and products over
// many elements only if they are whole numbers so small that every order gives the same; they must be equal bit by bit,
// NaN to any NaN. Inexact ones (the result of sin, say) go to arrays of their own, which are judged by their error.
//
// Thread-safe: no state but what is returned.
#ifndef TILE_TESTS_FUZZ_RANDOM_PROGRAM_H_
#define TILE_TESTS_FUZZ_RANDOM_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "tests/harness/op_file.h"

namespace tile::fuzz {

// Programs from this seed on are mostly products of matrices in memory, as matrix multiplication is written.
inline constexpr uint64_t kProductSeeds = 1000000;
// From this seed on the sums of those products begin with zero.
inline constexpr uint64_t kZeroSeeds = 2000000;
// From this seed on they are loops of several products with work between them (tests/fuzz/random_loop.h), small enough for an interpreter of PTX.
inline constexpr uint64_t kLoopSeeds = 3000000;
// From this seed on factors are also computed from tiles that the loop loads.
inline constexpr uint64_t kComputedSeeds = 4000000;
// From this seed on the loop that walks over tiles and the one along K are one (tests/fuzz/random_flat.cc).
inline constexpr uint64_t kFlatSeeds = 5000000;
// From this seed on blocks keep the right factor of a product, and use its result turned, as gradients of attention do.
inline constexpr uint64_t kKeptSeeds = 6000000;
// From this seed on programs begin with loops that carry large tiles, which are reduced or stored behind them (tests/fuzz/random_carried.cc).
inline constexpr uint64_t kCarriedSeeds = 7000000;
// From this seed on they are loops of products with block scales (tests/fuzz/random_scaled.cc).
inline constexpr uint64_t kScaledSeeds = 8000000;
// From this seed on their tiles have at least 128 rows, as tensor memory has lanes.
inline constexpr uint64_t kTallScaledSeeds = 8500000;
// From this seed on programs are of any kind again, and most loads through pointers have groups of neighbours with one address.
inline constexpr uint64_t kRepeatedSeeds = 9000000;
// From this seed on they are loops of products again, most of whose factors are converted from bytes, or loaded as integers and
// cast to floats. Tables in memory say which tiles some iterations take.
inline constexpr uint64_t kCastSeeds = 10000000;
// From this seed on they are loops of products, with products of what a loop gave behind it: nothing is brought ahead for those.
inline constexpr uint64_t kBehindSeeds = 11000000;
// From this seed on programs are of any kind again, and most rows that they reduce were widened from 16 bits.
inline constexpr uint64_t kWidenedSeeds = 12000000;
// From this seed on programs begin with products of large tiles that are divided by their largest elements, by rows or columns
// (tests/fuzz/random_normalised.cc).
inline constexpr uint64_t kNormalisedSeeds = 13000000;
// From this seed on they are loops of products again, most of whose factors are widened: from bytes to 16 bits, from 16 bits to tf32.
inline constexpr uint64_t kWidenedFactorSeeds = 14000000;
// From this seed on they are recurrences: each iteration multiplies what the last one's product became.
inline constexpr uint64_t kRecurrentSeeds = 15000000;
// From this seed on they are loops whose products share what stays: scores of it and what comes, and their turned weights times it.
inline constexpr uint64_t kStayingSeeds = 16000000;

struct RandomOptions {
  uint64_t seed = 0;
  // At most so many steps at the top level of the program, which are those of the whole program; -1: all. With
  // `last_only` just what the last of them made is stored, and what does not lead there is left out: for finding the
  // step that an engine gets wrong.
  int steps = -1;
  bool last_only = false;
};

enum class Fill : uint8_t {
  kBits,   // any bits, edge values often
  kSmall,  // whole numbers from -4 to 4
  kTiny,   // from -2 to 2
  kScale,  // 1, 2 and 4
  kZero,
  kUnwritten,  // a pattern; the program does not read it
};

struct RandomArray {
  std::string name;
  ir::Elem elem = ir::Elem::kI32;
  int64_t count = 0;
  Fill fill = Fill::kBits;
  double tolerance = 0;  // of the norm of the error; 0: bit by bit
};

struct RandomProgram {
  std::unique_ptr<ir::Module> module;  // verified; one kernel, @random, with an interface
  int64_t grid[3] = {1, 1, 1};
  std::vector<RandomArray> arrays;  // the first parameters
  std::vector<uint64_t> scalars;    // bits of the parameters behind them
  uint64_t seed = 0;
  int steps = 0;  // at the top level
};

// Aborts with the program and what is wrong if the verifier rejects it: a mistake of the generator.
RandomProgram MakeRandomProgram(const RandomOptions& options);

// Of an array of bools every byte but 0 is true. kBits has 0 and 1 only: full checks report other bytes that are read.
enum class Bools : uint8_t { kBytes, kBits };
ops::Arguments MakeArguments(const RandomProgram& program, Bools bools = Bools::kBytes);
// Makes 1 of the bytes of bools that are still as MakeArguments made them, so that what began with kBytes is as what began with kBits.
void SettleBools(const RandomProgram& program, ops::Arguments* arguments);

// What differs in the memories after two runs, and by how much; empty if nothing does. Bools are compared as bytes.
std::string Difference(const RandomProgram& program, const ops::Arguments& expected, const ops::Arguments& actual);

}  // namespace tile::fuzz

#endif  // TILE_TESTS_FUZZ_RANDOM_PROGRAM_H_
