#include "codegen/target/target.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tile::codegen {
namespace {

constexpr Target kTargets[] = {
#define TILE_TARGET(sm, arch, ptx, shared, reserve, features) {sm, arch, ptx, shared, reserve, features},
#include "codegen/target/targets.def"
};

}  // namespace

std::string Target::name() const { return std::string(absl::StripSuffix(absl::StripPrefix(arch, "sm_"), "a")); }

bool Target::is_family() const { return absl::EndsWith(arch, "f"); }

absl::Span<const Target> AllTargets() { return kTargets; }

const Target* FindTarget(int sm) {
  for (const Target& t : kTargets) {
    if (t.sm == sm) return &t;
  }
  return nullptr;
}

const Target* FindTarget(absl::string_view name) {
  absl::ConsumePrefix(&name, "sm_");
  for (const Target& t : kTargets) {
    if (name == t.name() || name == absl::StripPrefix(t.arch, "sm_")) return &t;
  }
  return nullptr;
}

const Target* TargetOfGpu(int sm) {
  if (const Target* own = FindTarget(sm)) return own;
  const Target* best = nullptr;
  for (const Target& t : kTargets) {
    const bool runs = t.sm / 10 == sm / 10 && t.sm < sm && !absl::EndsWith(t.arch, "a");
    if (runs && (best == nullptr || t.sm > best->sm)) best = &t;
  }
  return best;
}

std::string TargetNames() {
  std::string names;
  for (const Target& t : kTargets) absl::StrAppend(&names, names.empty() ? "" : ", ", t.name());
  return names;
}

std::string TargetsWith(Feature f) {
  std::string out;
  for (const Target& t : kTargets) {
    if (t.has(f)) absl::StrAppend(&out, out.empty() ? "" : ", ", "sm_", t.name());
  }
  return out;
}

}  // namespace tile::codegen
