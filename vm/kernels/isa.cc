#include "vm/kernels/isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

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
#if defined(__x86_64__)
  switch (isa) {
    case Isa::kGeneric: return false;
    case Isa::kV2: return __builtin_cpu_supports("x86-64-v2");
    case Isa::kV3: return __builtin_cpu_supports("x86-64-v3");
    case Isa::kV4: return __builtin_cpu_supports("x86-64-v4");
  }
  return false;
#else
  return isa == Isa::kGeneric;
#endif
}

Isa BestIsa() {
  static const Isa best = Choose();
  return best;
}

}  // namespace tile::vm
