// A kernel ready to run: instructions with functions instead of names, and slots instead of operands.
//
// A thread has an array of 64-bit slots: first its registers, of whatever width, then the constants of the program: immediates,
// addresses of variables and parameters, special registers. So every operand is a slot. A value takes the low bits of its slot; the
// others are anything.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_PROGRAM_H_
#define TILE_TESTS_GPU_SIM_MACHINE_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tile::gpu_sim {

struct Thread;
struct Warp;
struct Instr;

// What a thread does after an instruction.
enum class Step : uint8_t {
  kNext,      // goes on; a branch has set pc
  kYield,     // goes on later: others should run, as this one polls
  kBlocked,   // executes the instruction again later
  kTogether,  // waits until the other threads of the warp (or warpgroup) are here; then `together` runs for all
  kExit,
  kFault,  // Launch::fault says what
};

// What instructions with many operands have besides.
struct Extra {
  virtual ~Extra() = default;
};

// [%r1+16]
struct Place {
  uint32_t slot = 0;
  bool narrow = false;  // in a register of 32 bits
  int64_t offset = 0;
};

struct Instr {
  using Run = Step (*)(Thread&, const Instr&);
  // For these lanes at once; of wgmma: of the first warp of the group, all lanes.
  using Together = absl::Status (*)(Warp&, const Instr&, uint32_t lanes);

  Run run = nullptr;
  Together together = nullptr;
  int32_t guard = -1;  // slot of a predicate
  bool guard_negated = false;
  bool of_group = false;  // together: four warps
  int line = 0;
  uint32_t d = 0, a = 0, b = 0, c = 0;  // slots
  int64_t imm = 0;                      // target, flags
  Place at;                             // of memory
  const uint32_t* list = nullptr;       // slots of a vector operand
  uint32_t count = 0;
  const uint32_t* uses = nullptr;  // registers that it reads or writes, but for the guard
  uint32_t num_uses = 0;
  const Extra* extra = nullptr;
};

enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kClusterRank,
  kClusterSize,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterX,
  kNclusterY,
  kNclusterZ,
  kClusterBlockX,
  kClusterBlockY,
  kClusterBlockZ,
  kClusterBlocksX,
  kClusterBlocksY,
  kClusterBlocksZ,
  kLaneMaskLt,
  kLaneMaskLe,
  kLaneMaskGt,
  kLaneMaskGe,
  kLaneMaskEq,
  kDynamicShared,
  kSmId,
};

struct Program {
  std::string name;
  uint32_t num_registers = 0, num_slots = 0;
  std::vector<Instr> code;
  std::vector<uint64_t> constants;  // of slots num_registers…
  struct Address {
    enum class Space : uint8_t { kParam, kShared } space;
    uint32_t constant;  // its value is the offset in that space, to which the space's base is added
  };
  std::vector<Address> addresses;
  struct SpecialUse {
    Special what;
    uint32_t constant;
  };
  std::vector<SpecialUse> specials;
  struct Param {
    uint64_t offset, bytes;
  };
  std::vector<Param> params;
  uint64_t param_bytes = 0;
  uint64_t shared_bytes = 0;  // static; dynamic memory follows at dynamic_shared
  uint64_t dynamic_shared = 0;
  uint64_t local_bytes = 0;
  unsigned max_threads = 1024;
  bool requires_threads = false;
  bool reads_by_async_proxy = false;  // shared memory, by TMA or tcgen05
  std::deque<std::vector<uint32_t>> lists;
  std::vector<std::unique_ptr<Extra>> extras;
};

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_PROGRAM_H_
