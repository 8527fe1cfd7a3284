// Limits that every reader of programs keeps (.tbc, text, Tile IR bytecode). They bound time and memory on hostile
// input and are part of the format's promise (schemas/FORMAT.md, "Limits"): a limit may be raised, never lowered.
#ifndef TILE_IR_LIMITS_H_
#define TILE_IR_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace tile::ir {

inline constexpr int64_t kMaxFileBytes = (int64_t{1} << 31) - 1;  // of a .tbc: FlatBuffers' offsets are 32 bits
inline constexpr int64_t kMaxOps = int64_t{1} << 22;              // of a module
inline constexpr int64_t kMaxValues = int64_t{1} << 24;           // of a module: results and block arguments
inline constexpr int64_t kMaxOperands = 65535;                    // of one op; also results and block arguments
inline constexpr int kMaxNesting = 64;                            // regions inside regions
inline constexpr int kMaxRank = 16;                               // of tiles, tensors and views
inline constexpr int64_t kMaxTileElements = int64_t{1} << 24;     // of a tile, also of one that a view gives
inline constexpr int64_t kMaxConstantBytes = int64_t{1} << 30;    // of one constant or global as stored
inline constexpr int64_t kMaxTypes = int64_t{1} << 18;            // of a module
inline constexpr int64_t kMaxListItems = 4096;                    // of an attribute: numbers, scalars, groups, hints
inline constexpr int64_t kMaxNameBytes = 64 << 10;                // of a name (symbol, argument, file, hint)
inline constexpr int64_t kMaxArguments = 4096;                    // of a kernel or an interface
inline constexpr int64_t kMaxFunctions = 65536;                   // of a module; also of globals and of images

}  // namespace tile::ir

#endif  // TILE_IR_LIMITS_H_
