// Unspecified values, for --check=full.
//
// A shadow of the frame holds one byte for each of its bytes: 0, or the origin of the unspecified value that is there.
// All bytes of an element have the same origin. Origins number the reasons (Origins), so that a message can tell where a
// value came from. The shadow is made when the first unspecified value turns up; until then nothing costs anything.
//
// How a result depends on its operands follows from the table of operations: elementwise ones element by element, those
// that move elements by running them over the shadow, reductions along their dimension, products by row and column.
#ifndef TILE_VM_CHECK_CHECK_POISON_H_
#define TILE_VM_CHECK_CHECK_POISON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/machine/code.h"

namespace tile::vm {

// Why a value is unspecified.
struct Origin {
  enum class Kind : uint8_t { kMany, kNeverWritten, kInactive, kOutside, kRead, kOutOfRange };
  Kind kind = Kind::kMany;
  const ir::Op* op = nullptr;
  std::string memory;  // kRead: name of what was read
};

class Origins {
 public:
  Origins();
  // The number of a reason: from 2 to 255; 255 stands for all that did not find room.
  uint8_t Number(Origin::Kind kind, const ir::Op* op, absl::string_view memory = "");
  const Origin& at(uint8_t number) const { return list_[number]; }
  // "it comes from load_ptr_tko at k.tile:3:5, which …".
  std::string Describe(uint8_t number, const ir::Module& module) const;
  // What would give the value a meaning.
  std::string Fix(uint8_t number) const;

 private:
  std::vector<Origin> list_;
};

// The shadow of one block's frame.
class FrameShadow {
 public:
  FrameShadow() = default;
  FrameShadow(uint8_t* frame, uint64_t bytes) : frame_(frame), bytes_(bytes) {}

  bool any() const { return shadow_ != nullptr; }
  uint8_t* data() { return shadow_.get(); }
  // The shadow of a place in the frame; null if there can't be anything.
  uint8_t* Of(const void* p) const {
    const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(p) - frame_);
    return shadow_ == nullptr || at >= bytes_ ? nullptr : shadow_.get() + at;
  }
  // Gives a range an origin; 0: specified.
  void Set(const void* p, int64_t bytes, uint8_t origin);
  void Copy(const void* p, int64_t bytes, const uint8_t* origins);

 private:
  uint8_t* frame_ = nullptr;
  uint64_t bytes_ = 0;
  std::unique_ptr<uint8_t[]> shadow_;
};

// The largest of n bytes; 0 if all are.
uint8_t Worst(const uint8_t* p, int64_t n);

// Index of the stored element that is element i of the tile.
inline int64_t StoredIndex(const Place& p, int64_t i) { return p.count == 1 ? 0 : (i / p.run) % p.count; }

// What the marks of a shadow stand for.
enum class Mark : uint8_t {
  kUnspecified,  // numbers of Origins
  kWrapped,      // of integers that wrapped around: numbers of check_wraps.h. What bounds a value drops them
};

// Moves marks from operands to results.
class Poison {
 public:
  // `origins`: of Mark::kUnspecified, else null.
  Poison(const Code& code, Origins* origins, Mark mark = Mark::kUnspecified);

  // Before an instruction: false after a trap, because it uses an unspecified value for what must be known.
  bool Before(BlockState& b, const Instr* in, const InstrNote& note, FrameShadow& shadow);
  // The part that moves marks, once there are any. False after a trap of the operation itself.
  bool Flow(BlockState& b, const Instr* in, const InstrNote& note, FrameShadow& shadow);
  // A marked element of an operand for which the mark matters.
  struct MarkedUse {
    int field, operand;  // of the format, of the operation
    int64_t element;
    uint8_t mark;
  };
  std::optional<MarkedUse> FindUse(const BlockState& b, const OpPlaces& o, const FrameShadow& shadow) const;
  // Whether Mark::kWrapped goes from an operand of this operation to a result.
  static bool PassesWrapOn(const ir::OpInfo& info);
  // The origin of an element of an operand (by its index in the tile); 0 if it is specified.
  static uint8_t OriginOf(const BlockState& b, const FrameShadow& shadow, const Place& p, int64_t element);
  // The operand field whose elements go to memory or are combined with it; -1: none.
  int stored_operand(const ir::Op& op) const { return rules_[static_cast<size_t>(op.info()->index)].stored; }
  const Instr* TrapOnUse(BlockState& b, const ir::Op* op, absl::string_view what, uint8_t origin) const;

 private:
  enum class Way : uint8_t { kNone, kElementwise, kMove, kPack, kFold, kMma, kMemory, kWhole, kClear };
  enum class Use : uint8_t { kNone, kAll, kAddress };
  struct Rule {
    Way way = Way::kNone;
    std::vector<Use> uses;                      // by operand field
    int stored = -1, inactive = -1, mask = -1;  // operand fields
  };
  static Rule RuleOf(const ir::OpInfo& info, Mark mark);

  bool CheckUses(BlockState& b, const OpPlaces& o, const FrameShadow& shadow);
  void Elementwise(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void OutOfRange(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void Move(BlockState& b, const Instr* in, const OpPlaces* o, const Rule* rule, FrameShadow& shadow);
  void Pack(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void Fold(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void Mma(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void Memory(BlockState& b, const OpPlaces& o, const Rule& rule, FrameShadow& shadow);
  void Whole(BlockState& b, const OpPlaces& o, FrameShadow& shadow);
  void Clear(BlockState& b, const OpPlaces& o, FrameShadow& shadow);

  const Code& code_;
  Origins* const origins_;
  const Mark mark_;
  std::vector<Rule> rules_;         // by OpInfo::index
  std::vector<uint8_t> constants_;  // the shadow of constants: zeros
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_POISON_H_
