// NaN and infinity that a kernel makes of finite numbers, for --check=full.
//
// A softmax of a row that is masked as a whole computes -inf - -inf; a sum of squares in f16 becomes infinite. The
// values are defined, so it is a warning. It is given only if they are left in a buffer and nothing else explains them.
// No element that the launch loaded was NaN or infinite. No operation had an argument for which it is not defined (the
// logarithm of a negative number, 0 / 0). No constant and no bit pattern is NaN.
//
//   NaN        from infinities of the kernel's own: inf - inf, 0 * inf, inf / inf
//   infinity   from a finite number that does not fit a 16-bit type
//
// Products of matrices, reductions and scans are not looked at: the operation before or after them is. Not thread-safe.
#ifndef TILE_VM_CHECK_CHECK_FLOATS_H_
#define TILE_VM_CHECK_CHECK_FLOATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vm/check/check_memory.h"
#include "vm/check/check_races.h"
#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {

class Floats {
 public:
  explicit Floats(LaunchState& state);

  // Before an instruction, by its number.
  void Before(const BlockState& b, size_t instr, const InstrNote& note);
  // A load of the operation reads this memory.
  void SeeLoaded(const ir::Op& load, const Access& access);
  // After the launch.
  void Report(ShadowMemory& memory, const Races& races);

 private:
  enum class Kind : uint8_t {
    kNone,
    kSum,
    kDifference,
    kProduct,
    kQuotient,
    kNotNegative,
    kNotInfinite,
    kBits,
    kNarrow,
    kUnknown
  };
  // How the first such value was made.
  struct Birth {
    const ir::Op* op = nullptr;
    std::string text;
  };
  static Kind KindOf(const ir::Op& op);
  void SeeArithmetic(const BlockState& b, Kind kind, const OpPlaces& o);
  void SeeNarrowed(const BlockState& b, const OpPlaces& o);
  bool HasConstantNan() const;
  void ReportRegion(Region& region, const Races& races);

  LaunchState& state_;
  std::vector<Kind> kinds_;  // by instruction
  Birth nan_, infinity_;
  bool explained_nan_ = false;  // NaN may be meant
  bool loaded_ = false;         // something that is not finite
};

}  // namespace tile::vm

#endif  // TILE_VM_CHECK_CHECK_FLOATS_H_
