// The release of the toolchain: what `tilevm --version` prints. The format has its own version (ir/tbc/version.h).
#ifndef TILE_IR_RELEASE_H_
#define TILE_IR_RELEASE_H_

namespace tile::ir {

inline constexpr char kRelease[] = "0.1.0";

}  // namespace tile::ir

#endif  // TILE_IR_RELEASE_H_
