#include "codegen/target/target.h"

#include "absl/strings/str_cat.h"

namespace tile::codegen {
namespace {

constexpr Target kTargets[] = {
#define TILE_TARGET(sm, arch, ptx, shared, features) {sm, arch, ptx, shared, features},
#include "codegen/target/targets.def"
};

}  // namespace

absl::Span<const Target> AllTargets() { return kTargets; }

const Target* FindTarget(int sm) {
  for (const Target& t : kTargets) {
    if (t.sm == sm) return &t;
  }
  return nullptr;
}

std::string TargetsWith(Feature f) {
  std::string out;
  for (const Target& t : kTargets) {
    if (t.has(f)) absl::StrAppend(&out, out.empty() ? "" : ", ", "sm_", t.sm);
  }
  return out;
}

}  // namespace tile::codegen
