#include "vm/kernels/isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ir/platform/processor.h"

namespace tile::vm {
namespace {

constexpr Isa kAll[] = {Isa::kV4, Isa::kV3, Isa::kV2, Isa::kGeneric};  // best first

Isa Choose() {
  Isa best = Isa::kGeneric;
#if defined(__x86_64__)
  best = Isa::kV2;
#endif
  for (Isa isa : kAll) {
    if (IsaSupported(isa)) {
      best = isa;
      break;
    }
  }
  const char* wanted = std::getenv("TILEVM_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (Isa isa : kAll) {
    if (std::strcmp(wanted, IsaName(isa)) == 0 && IsaSupported(isa)) return isa;
  }
  std::fprintf(stderr, "warning: TILEVM_ISA=%s is not one that this CPU can run; using %s\n", wanted, IsaName(best));
  return best;
}

}  // namespace

const char* IsaName(Isa isa) {
  constexpr const char* kNames[] = {"generic", "v2", "v3", "v4"};
  return kNames[static_cast<int>(isa)];
}

bool IsaSupported(Isa isa) {
  const int level = platform::X86Level();
  if (isa == Isa::kGeneric) return level == 0;
  return level >= static_cast<int>(isa) + 1;  // v2 is the first
}

Isa BestIsa() {
  static const Isa best = Choose();
  return best;
}

}  // namespace tile::vm
