// Versions and features of the format: which bits a module needs, and the lowest version that has them all.
//
//   Requirements needs;
//   needs.NeedTileIr(1303, "exp in @k");            // sets a bit, remembers who needed it first
//   auto version = LowestVersion(needs, {0, 2});     // error: "exp in @k needs feature …, which came with 0.3"
#ifndef TILE_IR_TBC_VERSION_H_
#define TILE_IR_TBC_VERSION_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

struct TbcVersion {
  int major = 0, minor = 0;
  std::string ToString() const;  // "0.1"
  friend auto operator<=>(const TbcVersion&, const TbcVersion&) = default;
};

// The first version, and the newest that this code writes and reads in full.
inline constexpr TbcVersion kFirstTbcVersion = {0, 1};
inline constexpr TbcVersion kCurrentTbcVersion = {0, 2};

struct TbcFeature {
  int bit;
  const char* keyword;
  TbcVersion since;
  const char* meaning;
};
absl::Span<const TbcFeature> AllTbcFeatures();
// Bits that this reader knows.
uint64_t KnownTbcFeatures();
std::vector<std::string> TbcFeatureNames(uint64_t bits);  // unknown ones as "bit 17"

// Bit of the feature that an operation of this number needs because it came after 0.1; -1: none.
int TbcFeatureOfLaterOp(int opcode);

// What a module needs.
class Requirements {
 public:
  // `since`: Tile IR version * 100 as in the tables; 0: an extension. `who` says in an error what needs it.
  template <class Who>
  void NeedTileIr(int since, Who&& who) {
    if (since > 1301 || since == 0) Need(FeatureBit(since), who);
  }
  template <class Who>
  void Need(int bit, Who&& who) {
    if (bits_ >> bit & 1) return;
    bits_ |= uint64_t{1} << bit;
    who_[bit] = who();
  }
  uint64_t bits() const { return bits_; }
  const std::string& who(int bit) const { return who_[bit]; }

 private:
  static int FeatureBit(int since);
  uint64_t bits_ = 0;
  std::array<std::string, 64> who_;
};

// The lowest version in which all features exist. Error if it is newer than `target` ({0, 0}: no target), or if the
// target is none that this code can write.
absl::StatusOr<TbcVersion> LowestVersion(const Requirements& needs, TbcVersion target,
                                         absl::Span<const TbcFeature> features = AllTbcFeatures(),
                                         TbcVersion current = kCurrentTbcVersion);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_VERSION_H_
