#include "ir/platform/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace tile::platform {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Zeros for what the processor does not know.
Registers Cpuid(uint32_t leaf) {
  Registers r;
  __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool Has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

// XCR0: the registers that the system saves when it changes threads.
uint32_t SavedRegisters() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

// Not __builtin_cpu_supports: clang's library for Windows lacks what it reads.
int X86Level() {
  constexpr uint32_t kXmmYmm = 0x6, kZmmMasks = 0xE0;
  const Registers basic = Cpuid(1), more = Cpuid(7), extended = Cpuid(0x80000001);
  const bool v2 = Has(basic.ecx, bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT) &&
                  Has(extended.ecx, bit_LAHF_LM);
  if (!v2) return 1;
  const uint32_t saved = Has(basic.ecx, bit_OSXSAVE) ? SavedRegisters() : 0;
  const bool v3 = Has(saved, kXmmYmm) && Has(basic.ecx, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
                  Has(more.ebx, bit_AVX2 | bit_BMI | bit_BMI2) && Has(extended.ecx, bit_LZCNT);
  if (!v3) return 2;
  const bool v4 =
      Has(saved, kZmmMasks) && Has(more.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  return v4 ? 4 : 3;
}

}  // namespace tile::platform

#else

namespace tile::platform {

int X86Level() { return 0; }

}  // namespace tile::platform

#endif
