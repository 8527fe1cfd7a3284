// The prepared form of a kernel: a flat list of instructions over a frame of bytes. Structured control flow has become
// jumps, so that the state of a running block is a program counter and its frame: a block can stop anywhere and go on
// later, on another thread.
//
// Every value has a fixed place in the frame (prepare/value_plan.h decides which), constants are in the program. An instruction is a
// function over a block's frame with its parameters resolved: element types, sizes and kernels are chosen when the
// program is prepared (prepare.h), so that running does no type dispatch per element.
#ifndef TILE_VM_MACHINE_CODE_H_
#define TILE_VM_MACHINE_CODE_H_

#include <atomic>
#include <bitset>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "ir/arena.h"
#include "ir/module.h"
#include "vm/machine/combine.h"
#include "vm/machine/launch.h"
#include "vm/machine/memory.h"
#include "vm/machine/provenance.h"

namespace tile::vm {

struct BlockState;
struct Code;
struct Instr;
class Checker;

// Runs one instruction and returns the next one; null stops the block, for the reason in BlockState::stop.
using ExecFn = const Instr* (*)(BlockState& b, const Instr* in);

struct Instr {
  ExecFn fn = nullptr;
  const void* data = nullptr;     // parameters, in Code::arena
  const ir::Op* op = nullptr;     // for messages
  const Instr* target = nullptr;  // of jumps; set when all instructions are known
};

// Where a value is: an offset into the frame, or ~offset into the constants. Offsets into the frame are multiples of 64;
// an odd one, less 1, is that of a pointer to the value (Plan::forwarded).
struct Slot {
  int64_t offset = 0;
  bool constant() const { return offset < 0; }
  bool indirect() const { return offset > 0 && (offset & 1) != 0; }
  friend bool operator==(Slot, Slot) = default;
};

// What an instruction is to --check=full, which looks at every instruction before it runs.
enum class Role : uint8_t {
  kWork,   // the operation itself; of terminators: the jump
  kEnter,  // a loop is about to begin: its carried values have their first values
  kMove,   // only moves bytes of the frame: run over a shadow of the frame, it moves the shadow
  kOther,  // nothing to look at
};

// Where an operand, a result or a block argument is while its operation runs: `count` stored elements, of which element
// i of the tile is number (i / run) % count.
struct Place {
  Slot at;
  int64_t run = 1, count = 1;
  int32_t bytes = 0;  // of a stored element; 0: a token
  int32_t value = 0;  // number of the value; values that are one and the same share it
};

// The places of an operation, for --check=full.
struct OpPlaces {
  const ir::Op* op = nullptr;
  const OpPlaces* parent = nullptr;  // of the operation around it
  const Place* operands = nullptr;
  const Place* results = nullptr;
  const Place* args = nullptr;       // of region 0
  absl::Span<const Place> captured;  // reduce and scan: what the body uses from outside
  int32_t memory_op = -1;            // number among those that access memory
};

struct InstrNote {
  Role role = Role::kOther;
  const OpPlaces* places = nullptr;
};

// A tensor_view (and the views over it, which add nothing at run time).
struct ViewData {
  uint8_t* base;
  const Allocation* allocation;  // that base points into; null: unknown
  int64_t dims[];                // rank sizes, then rank strides in elements
  int64_t size(int d) const { return dims[d]; }
  int64_t stride(int rank, int d) const { return dims[rank + d]; }
};

enum class Stop : uint8_t {
  kNone,
  kDone,
  kTrap,
  kParked,  // waits for memory to change
  kPaused,  // interrupted after an access that other blocks may look at (LaunchState::interrupts)
  kYield
};

// Tiles that one load reads in one block after the other. While they are side by side in memory, the next one is
// fetched before its block begins.
struct FetchAhead {
  const uint8_t* expected = nullptr;              // where the next tile is, if they are
  const uint8_t *next = nullptr, *end = nullptr;  // what is still to be fetched

  // A tile was read. `more`: the thread goes on with the next block.
  void Saw(const uint8_t* tile, int64_t bytes, bool more) {
    const bool in_a_row = tile == expected;
    expected = tile + bytes;
    next = expected;
    end = in_a_row && more ? expected + bytes : next;
  }
};
inline constexpr int kMaxFetchAhead = 4;  // loads

// A block of the grid that runs or waits.
struct BlockState {
  uint8_t* frame = nullptr;
  const uint8_t* constants = nullptr;
  int32_t id[3] = {0, 0, 0};
  int64_t index = 0;  // in linear order
  const Code* code = nullptr;
  struct LaunchState* launch = nullptr;
  Checker* checker = nullptr;            // of --check=full; null otherwise
  struct BlockChecks* checks = nullptr;  // what the checker knows about this block
  bool checked = true;                   // bounds are checked

  const Instr* pc = nullptr;  // where a parked block goes on
  Stop stop = Stop::kNone;
  int64_t rounds = 0;  // of loops
  // Since the last iteration: did it change memory, and did it look at memory that others may change? Kept by the instruction that
  // prepare.cc puts after every access of a kernel whose blocks may wait.
  bool changed_memory = false, read_shared_memory = false;
  bool left_as_it_was = false;      // the update that just ran did not change what it found
  int unchanged_rounds = 0;         // iterations in a row that only looked and carried on the same values
  const ir::Op* waiting = nullptr;  // the loop in which it was parked

  std::vector<const Allocation*> homes;           // by set of origins: where the last access was (homes.h)
  std::vector<MadePointers> made;                 // by origin; empty if the code makes no pointers of numbers
  std::vector<const Allocation*> private_memory;  // shared arrays and alloca of this block, by address
  std::vector<void*> heap;                        // alloca, freed at the end
  uint64_t heap_bytes = 0;
  PendingAdds pending;  // of this block and those that its thread ran just before it
  FetchAhead ahead[kMaxFetchAhead];
  bool more = false;                  // its thread goes on with the next block
  uint32_t pauses = 0;                // how often it was interrupted
  std::bitset<kMaxReports> reported;  // by number in Outcome::reports: it is one of the report's blocks

  // For the next block: everything but the frame, and without giving up memory.
  void Reset() {
    stop = Stop::kNone;
    rounds = 0;
    pauses = 0;
    reported.reset();
    changed_memory = read_shared_memory = left_as_it_was = false;
    unchanged_rounds = 0;
    waiting = nullptr;
    private_memory.clear();
    heap.clear();
    heap_bytes = 0;
  }

  void* at(Slot s) const {
    if (s.indirect()) return *reinterpret_cast<void**>(frame + (s.offset - 1));
    return s.offset >= 0 ? frame + s.offset : const_cast<uint8_t*>(constants) + ~s.offset;
  }
  template <class T>
  T& get(Slot s) const {
    return *static_cast<T*>(at(s));
  }
};

// A shared array of the block, inside the frame.
struct SharedArray {
  int64_t offset;
  uint64_t bytes;
  const ir::Op* op;
};

struct Code {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
  ir::Arena arena;
  std::vector<Instr> instrs;
  std::vector<InstrNote> notes;  // one per instruction
  int32_t num_values = 0, num_memory_ops = 0;
  std::vector<uint8_t> constants;  // 64-byte aligned by use of AlignedConstants
  std::vector<Slot> params;        // of the entry
  std::vector<int> param_bytes;
  uint64_t frame_bytes = 0;
  std::vector<SharedArray> shared;
  std::vector<PointerOrigin> origins;
  std::vector<OriginSet> origin_sets;        // the first: kAnywhere
  bool makes_pointers = false;               // some origin is a kMade
  int num_fetch_ahead = 0;                   // loads that fetch ahead, at most kMaxFetchAhead
  bool must_park = false;                    // has a loop in which a block may wait for others
  mutable std::atomic<int64_t> block_ns{0};  // what a block took in the last launch; 0: none has run
  const uint8_t* aligned_constants() const {
    return reinterpret_cast<const uint8_t*>((reinterpret_cast<uintptr_t>(constants.data()) + 63) & ~uintptr_t{63});
  }

  // Globals of the module: their memory, alive as long as the program.
  struct GlobalMemory {
    const ir::Global* global;
    uint8_t* data;
    uint64_t bytes;
  };
  std::vector<GlobalMemory> globals;
  absl::flat_hash_map<const ir::Global*, size_t> global_numbers;  // in `globals`
  void AddGlobal(GlobalMemory memory);
  const GlobalMemory* FindGlobal(const ir::Global* global) const;  // null: none of the module
  ~Code();
};

// Stops the block with a report. Returns null, so that an instruction can `return Trap(…)`.
const Instr* Trap(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
                  absl::string_view fix = "");
// Reports, but lets the block go on.
void AddReport(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
               absl::string_view fix = "");
// The same of an assertion that failed in these elements, " (element [3] and 2 more)" or "". Blocks may differ in them.
void ReportAssert(BlockState& b, const ir::Op* op, absl::string_view message, absl::string_view elements);
// Says once per operation what is probably not meant. `message` makes the text of the first block's first time.
void Warn(BlockState& b, const ir::Op* op, absl::string_view code, absl::FunctionRef<std::string()> message,
          absl::string_view fix);
// The sink of print_tko.
void PrintText(BlockState& b, absl::string_view text);
// Grid size.
const int64_t* GridOf(const BlockState& b);
Memory& MemoryOf(const BlockState& b);

// Runs from `first` until the block stops.
void RunInstrs(BlockState& b, const Instr* first);
// The same for the body of reduce and scan. True if it yielded.
bool RunBody(BlockState& b, const Instr* first);

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_CODE_H_
