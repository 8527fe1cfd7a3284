// Which instruction set the kernels use.
//
// A kernel source is compiled once per instruction set (isa.bzl), each time into its own namespace
// tile::vm::TILE_VM_ISA, and the best one that the CPU has is picked at run time:
//
//   // kernel.cc, compiled three times
//   namespace tile::vm::TILE_VM_ISA {
//   void Copy(void* r, const void* a, int64_t n) {…}
//   }
//   // caller.cc, compiled once
//   TILE_VM_DECLARE_PER_ISA(void Copy(void* r, const void* a, int64_t n))
//   auto* copy = TILE_VM_SELECT(BestIsa(), Copy);
//
// The one-definition rule bites here: an inline function or template that is not in that namespace and is not inlined
// would be kept once by the linker, maybe with AVX-512 instructions, and then run on a CPU without them. So kernel
// sources use no function of std:: or ir:: at run time; helpers live in the namespace and are TILE_VM_INLINE. The test
// NAME_symbols_test looks at the symbols of the archives.
#ifndef TILE_VM_KERNELS_ISA_H_
#define TILE_VM_KERNELS_ISA_H_

#ifndef TILE_VM_ISA  // Not a kernel source.
#define TILE_VM_ISA generic
#endif

#define TILE_VM_INLINE inline __attribute__((always_inline))

namespace tile::vm {

enum class Isa { kGeneric, kV2, kV3, kV4 };

// "generic", "v2", "v3", "v4".
const char* IsaName(Isa isa);

// The CPU can run kernels compiled for it, and this build has them: v2 (SSE4.2), v3 (AVX2, FMA, F16C), v4 (AVX-512) on
// x86-64, generic elsewhere.
bool IsaSupported(Isa isa);

// The best supported one, or the one that the environment variable TILEVM_ISA names; naming one that can't be used
// gives a message on stderr and the best. Decided at the first call. x86-64-v2 is the least that is needed.
// Thread-safe.
Isa BestIsa();

}  // namespace tile::vm

#if defined(__x86_64__)

#define TILE_VM_DECLARE_PER_ISA(...) \
  namespace v2 {                     \
  __VA_ARGS__;                       \
  }                                  \
  namespace v3 {                     \
  __VA_ARGS__;                       \
  }                                  \
  namespace v4 {                     \
  __VA_ARGS__;                       \
  }
#define TILE_VM_SELECT(isa, name) \
  ((isa) == ::tile::vm::Isa::kV4 ? v4::name : (isa) == ::tile::vm::Isa::kV3 ? v3::name : v2::name)

#else

#define TILE_VM_DECLARE_PER_ISA(...) \
  namespace generic {                \
  __VA_ARGS__;                       \
  }
#define TILE_VM_SELECT(isa, name) (static_cast<void>(isa), generic::name)

#endif

#endif  // TILE_VM_KERNELS_ISA_H_
