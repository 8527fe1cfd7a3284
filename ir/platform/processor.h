// What the processor can do, as it says itself.
//
//   if (platform::X86Level() >= 3) …        // AVX2 and FMA may be used
#ifndef TILE_IR_PLATFORM_PROCESSOR_H_
#define TILE_IR_PLATFORM_PROCESSOR_H_

namespace tile::platform {

// The highest N whose instructions of x86-64-vN, of the ABI of x86-64, the processor has and the system saves. 0 for other processors.
int X86Level();

}  // namespace tile::platform

#endif  // TILE_IR_PLATFORM_PROCESSOR_H_
