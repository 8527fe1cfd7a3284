// How a tool or an application calls a kernel. It says which parameters form an array argument (pointer, sizes,
// strides) and which are scalars. The launch rule has integer expressions for the grid, the shapes and initial values
// of outputs, and zeroed workspace. With an interface a module can be run on files: `tilevm run k.tile x.npy -o y.npy`.
//
// Text form:
//   entry @scale(%x: tile<ptr<f32>>, %n: tile<i64>, %y: tile<ptr<f32>>, %f: tile<f32>) interface {
//     in x: f32[%n] at %x
//     out y: f32[x.shape[0]] at %y init zero
//     scalar f = %f
//     grid ceildiv(x.shape[0], 1024)
//   } { … }
//
// Everything is plain data, checked by ir/verify/verify_interface.cc. Loop-free: evaluating costs time proportional to its size.
#ifndef TILE_IR_INTERFACE_H_
#define TILE_IR_INTERFACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/element.h"

namespace tile::ir {

enum class Direction : uint8_t { kIn, kOut, kInOut };

// One node of an expression in postfix order.
enum class ExprOp : uint8_t {
  kConst,   // value
  kShape,   // size of dimension b of array a
  kStride,  // stride of dimension b of array a, in elements
  kAlign,   // largest power of two, at most 4096, that divides the address of array a
  kScalar,  // integer value of scalar argument a
  kNumSms,  // multiprocessors of the device; threads of the VM
  kAdd,
  kSub,
  kMul,
  kDiv,
  kCeilDiv,
  kMod,  // rounded down, up; remainder of the first. By zero: an error
  kMin,
  kMax,
  kLess,
  kEqual,   // 1 or 0
  kSelect,  // c, a, b: c != 0 ? a : b
};
inline constexpr int kNumExprOps = static_cast<int>(ExprOp::kSelect) + 1;

struct ExprNode {
  ExprOp op = ExprOp::kConst;
  int32_t a = 0, b = 0;
  int64_t value = 0;
  friend bool operator==(const ExprNode&, const ExprNode&) = default;
};
using Expr = std::vector<ExprNode>;  // at most kMaxExprNodes
inline constexpr int kMaxExprNodes = 256;

// What fills one size or stride of an array: a parameter of the kernel that receives it, a constant, both, or (size of
// an output) an expression that gives it.
struct DimBinding {
  int param = -1;                   // parameter index, -1: none
  std::optional<int64_t> constant;  // the size must be this
  Expr size;                        // outputs: the size when the caller gives no array; empty: must be given
  friend bool operator==(const DimBinding&, const DimBinding&) = default;
};

enum class InitKind : uint8_t { kUndefined, kZero, kValue };

struct ArrayArg {
  std::string name;
  Direction direction = Direction::kIn;
  Element element;  // of the array; normally the pointee of the pointer
  int pointer_param = -1;
  std::vector<DimBinding> shape;
  std::vector<DimBinding> strides;       // empty: row-major and not passed; else one per dimension (param or constant)
  InitKind init = InitKind::kUndefined;  // outputs
  uint64_t init_bits = 0;                // kValue
  friend bool operator==(const ArrayArg&, const ArrayArg&) = default;
};

struct ScalarArg {
  std::string name;
  int param = -1;
  Expr value;                            // value unless the caller gives one; empty: must be given. Integers only
  std::optional<uint64_t> default_bits;  // the same for any element type: bits of the element
  friend bool operator==(const ScalarArg&, const ScalarArg&) = default;
};

// Memory that only lives for the launch, zeroed before it.
struct Workspace {
  std::string name;
  int pointer_param = -1;
  Element element;
  Expr count;  // elements
  friend bool operator==(const Workspace&, const Workspace&) = default;
};

struct Interface {
  std::vector<ArrayArg> arrays;  // positional inputs bind to in and inout arrays in this order
  std::vector<ScalarArg> scalars;
  std::vector<Workspace> workspaces;
  std::vector<Expr> grid;  // 0 (no launch rule) to 3 expressions
  friend bool operator==(const Interface&, const Interface&) = default;
};

}  // namespace tile::ir

#endif  // TILE_IR_INTERFACE_H_
