// Device images: machine code of a kernel beside its tile code, and all that is needed to choose, prepare and launch
// it. Plain data, filled in by code generation, stored by WriteTbc, read back by ReadTbcImages, used by the runtime.
//
// Expressions (ir/interface.h, postfix) speak of the kernel's parameters, not of its interface, so that images work for
// kernels without one:
//   kScalar a         value of integer parameter a
//   kAlign a          largest power of two, at most 4096, that divides the pointer in parameter a
//   kShape -1, b      size b (0 x, 1 y, 2 z) of the grid of the launch, in tile blocks
//   kShape -2, b      size b of the hardware grid; in sizes of workspaces only
//   kStride           not allowed
//   kNumSms and the operators as they are
#ifndef TILE_IR_TBC_IMAGE_H_
#define TILE_IR_TBC_IMAGE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ir/interface.h"
#include "ir/tbc/sha256.h"

namespace tile::ir {

enum class ImageKind : uint8_t { kCubin, kPtx };

// Bits of Image::flags. A runtime rejects an image with a bit that it does not know and tries the next one.
enum ImageFlag : uint64_t {
  kCooperativeLaunch = 1,   // all blocks must be resident at once
  kProgrammaticLaunch = 2,  // may overlap with the end of the kernel before (griddepcontrol)
  kTileAbi = 4,             // after its parameters the code receives grid, trap record, workspace: runtime/cuda/ABI.md
  kPersistentGrid = 8,      // one row of at most as many blocks as the device runs at once; the code walks the grid
};
inline constexpr uint64_t kKnownImageFlags = kCooperativeLaunch | kProgrammaticLaunch | kTileAbi | kPersistentGrid;

// The image may be used if the condition is not 0.
struct ImageRequirement {
  Expr condition;
  std::string text;  // for people: "rows of %a are 16-byte aligned"
  friend bool operator==(const ImageRequirement&, const ImageRequirement&) = default;
};

// Device memory that the runtime provides for the launch.
struct ImageWorkspace {
  Expr bytes;
  uint32_t alignment = 256;
  bool zeroed = false;
  friend bool operator==(const ImageWorkspace&, const ImageWorkspace&) = default;
};

// A tensor map that the host encodes before the launch. Numbers of swizzle, interleave, l2_promotion and fill are those
// of the driver's enumerations.
struct TmaDescriptor {
  Elem element = Elem::kF32;
  uint32_t base_param = 0;    // kernel parameter with the address
  Expr offset;                // bytes; empty: 0
  std::vector<Expr> sizes;    // elements, innermost first
  std::vector<Expr> strides;  // bytes, every dimension but the innermost
  std::vector<uint32_t> box;
  std::vector<uint32_t> element_strides;  // empty: all 1
  uint8_t swizzle = 0, interleave = 0, l2_promotion = 0, fill = 0;
  friend bool operator==(const TmaDescriptor&, const TmaDescriptor&) = default;
};

// One parameter of the machine code.
struct ImageParam {
  enum class Kind : uint8_t {
    kKernelParam,    // parameter `index` of the kernel, as it is
    kWorkspace,      // address of workspace `index`
    kTmaDescriptor,  // descriptor `index`, 128 bytes by value
    kValue32,        // `value`
    kValue64,        // `value`
  };
  Kind kind = Kind::kKernelParam;
  uint32_t index = 0;
  Expr value;
  friend bool operator==(const ImageParam&, const ImageParam&) = default;
};

// An operand of a print.
struct ImageOperand {
  Elem element = Elem::kI32;
  std::vector<int64_t> shape;  // of the tile; empty: a scalar
  friend bool operator==(const ImageOperand&, const ImageOperand&) = default;
};

// A place in the code that may report something at run time: an assertion or a print (runtime/cuda/ABI.md).
struct ImageSite {
  std::string code;     // stable, as the VM's: "vm.assert"; empty: a print
  std::string where;    // "file:line:col"
  std::string op;       // mnemonic
  std::string message;  // what is wrong; the format of a print
  std::vector<ImageOperand> operands;
  friend bool operator==(const ImageSite&, const ImageSite&) = default;
};

struct Image {
  ImageKind kind = ImageKind::kCubin;
  std::string arch;     // "sm_90a"
  uint32_t kernel = 0;  // position in Module::functions
  std::string symbol;   // name in the payload
  std::vector<ImageRequirement> requirements;
  uint32_t threads = 0;       // per block, all in x; 0: as the code says
  uint32_t shared_bytes = 0;  // dynamic shared memory per block
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  std::vector<Expr> grid;          // 3 expressions; empty: the grid of the launch
  std::vector<ImageParam> params;  // empty: the kernel's parameters
  std::vector<ImageWorkspace> workspaces;
  std::vector<TmaDescriptor> tma;
  uint32_t driver_floor = 0;         // CUDA version, 12040 for 12.4; 0: any
  uint32_t registers = 0;            // per thread; 0: not known
  uint64_t flags = 0;                // ImageFlag
  Sha256Digest code_hash = {};       // of the code section it was compiled from
  uint32_t static_shared_bytes = 0;  // of the code itself, per block, for people; 0: not known
  std::vector<ImageSite> sites;
  absl::Span<const uint8_t> payload;  // not owned; lies in the bytes the image was read from
};

}  // namespace tile::ir

#endif  // TILE_IR_TBC_IMAGE_H_
