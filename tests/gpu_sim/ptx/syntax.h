// A PTX module as it is written: variables, kernels and device functions, whose registers and labels are resolved to numbers. What an
// instruction means is left to the machine (machine/decode.h).
//
//   @!%p1 ld.global.v2.b32 {%r1, %r2}, [%rd4+16];
//
// is an Instruction with guard (register of %p1, negated), words {"ld", "global", "v2", "b32"} and two operands: a kList of two
// registers and a kAddress with one part (%rd4) and the offset 16.
#ifndef TILE_TESTS_GPU_SIM_PTX_SYNTAX_H_
#define TILE_TESTS_GPU_SIM_PTX_SYNTAX_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tile::gpu_sim::ptx {

struct Operand {
  enum class Kind : uint8_t {
    kRegister,  // number: of the register in its kernel
    kInteger,   // number
    kFloat32,   // number: bits
    kFloat64,   // number: bits
    kLabel,     // number: of the instruction
    kSymbol,    // text: a variable, parameter, special register (%tid.x), or `_`
    kList,      // {a, b} or, of a call, (a, b); parts
    kAddress,   // [a+8], [map, {x, y}]; parts, number: offset
    kPair,      // p|q; parts
  };
  Kind kind = Kind::kSymbol;
  bool negated = false;  // !%p1
  uint64_t number = 0;
  absl::string_view text = {};  // as it is written, of what is one word
  std::vector<Operand> parts = {};
};

struct Instruction {
  int line = 0;
  int guard = -1;  // register
  bool guard_negated = false;
  absl::string_view opcode;              // "ld.global.v2.b32"
  std::vector<absl::string_view> words;  // {"ld", "global", "v2", "b32"}
  std::vector<Operand> operands;
};

enum class Space : uint8_t { kGlobal, kConst, kShared, kLocal, kParam };

struct Variable {
  int line = 0;
  std::string name;
  Space space = Space::kGlobal;
  bool is_extern = false;
  uint64_t alignment = 1;
  uint64_t bytes = 0;            // 0 for dynamic shared memory
  std::vector<uint8_t> initial;  // empty: zeros
};

// A register of 128 bits is followed by one of 64, its upper half.
struct Register {
  std::string name;
  int bits = 0;  // 1: a predicate
};

// branch targets of brx.idx
struct TargetTable {
  std::string name;
  std::vector<uint32_t> targets;
};

struct Kernel {
  int line = 0;
  std::string name;
  std::vector<Variable> params;
  std::vector<Variable> results;    // of a device function
  std::vector<Variable> variables;  // .shared, .local and .param inside of the body
  std::vector<Register> registers;
  std::vector<TargetTable> tables;
  std::vector<Instruction> code;
  unsigned max_threads = 1024;    // .maxntid, .reqntid
  bool requires_threads = false;  // .reqntid
  unsigned cluster = 0;           // blocks; .reqnctapercluster
};

struct Module {
  std::string source;  // tokens point into it
  std::deque<std::string>
      names;           // of parameters: those of a scope are told apart from others; operands point into it, too
  std::string target;  // "sm_90a"
  std::vector<Variable> variables;
  std::vector<Kernel> kernels;
  std::vector<Kernel> functions;
};

}  // namespace tile::gpu_sim::ptx

#endif  // TILE_TESTS_GPU_SIM_PTX_SYNTAX_H_
