#include "ir/tbc/version.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tile::ir {
namespace {

enum Bit {
#define TBC_FEATURE(bit, Name, ...) k##Name = bit,
#include "ir/tbc/features.def"
};

constexpr TbcFeature kFeatures[] = {
#define TBC_FEATURE(bit, Name, keyword, major, minor, meaning) {bit, keyword, {major, minor}, meaning},
#include "ir/tbc/features.def"
};

struct LaterOps {
  int first, bit;
};
constexpr LaterOps kLaterOps[] = {
#define TBC_LATER_OPS(first, Feature) {first, k##Feature},
#include "ir/tbc/features.def"
};

}  // namespace

int TbcFeatureOfLaterOp(int opcode) {
  // Tile IR's numbers and those of this project rise each for themselves.
  const auto own = [](int number) { return number >= 0x8000; };
  LaterOps found = {-1, -1};
  for (const LaterOps& row : kLaterOps) {
    if (own(row.first) == own(opcode) && row.first <= opcode && row.first > found.first) found = row;
  }
  return found.bit;
}

std::string TbcVersion::ToString() const { return absl::StrCat(major, ".", minor); }

absl::Span<const TbcFeature> AllTbcFeatures() { return kFeatures; }

uint64_t KnownTbcFeatures() {
  uint64_t bits = 0;
  for (const TbcFeature& f : kFeatures) bits |= uint64_t{1} << f.bit;
  return bits;
}

std::vector<std::string> TbcFeatureNames(uint64_t bits) {
  std::vector<std::string> names;
  for (int bit = 0; bit < 64; ++bit) {
    if (!(bits >> bit & 1)) continue;
    names.push_back(absl::StrCat("bit ", bit));
    for (const TbcFeature& f : kFeatures) {
      if (f.bit == bit) names.back() = f.keyword;
    }
  }
  return names;
}

int Requirements::FeatureBit(int since) {
  switch (since) {
    case 0: return kExtensions;
    case 1302: return kTileIr1302;
    case 1303: return kTileIr1303;
    case 1304: return kTileIr1304;
    default: return kTileIr1305;
  }
}

absl::StatusOr<TbcVersion> LowestVersion(const Requirements& needs, TbcVersion target,
                                         absl::Span<const TbcFeature> features, TbcVersion current) {
  if (target != TbcVersion{} && (target < kFirstTbcVersion || current < target)) {
    return absl::InvalidArgumentError(absl::StrCat("target version ", target.ToString(),
                                                   " can't be written; choose one of ", kFirstTbcVersion.ToString(),
                                                   " to ", current.ToString()));
  }
  TbcVersion lowest = kFirstTbcVersion;
  for (const TbcFeature& f : features) {
    if (!(needs.bits() >> f.bit & 1)) continue;
    if (target != TbcVersion{} && target < f.since) {
      return absl::InvalidArgumentError(
          absl::StrCat("target version ", target.ToString(), " can't hold this module: ", needs.who(f.bit),
                       " needs the feature ", f.keyword, ", which came with ", f.since.ToString()));
    }
    lowest = std::max(lowest, f.since);
  }
  return lowest;
}

}  // namespace tile::ir
