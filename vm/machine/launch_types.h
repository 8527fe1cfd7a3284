// How a launch is checked, and what it may touch: what the runtime is given (runtime/device.h), and the VM as it is. Values.
#ifndef TILE_VM_MACHINE_LAUNCH_TYPES_H_
#define TILE_VM_MACHINE_LAUNCH_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace tile::vm {

enum class CheckLevel : uint8_t {
  kDefault,  // kBounds on the CPU; code for GPUs has no checks
  kNone,     // no checks: a wild access is a wild access
  kBounds,   // every access is in a bound buffer, is aligned; indices and divisors are sane
  kFull,     // all that check_full.h lists, in several orders of the blocks (orders.h). One thread
};

// What the program reads where it gave no value: elements outside of a tensor without padding, elements that a mask
// leaves out, fresh storage (unspecified.h).
enum class Unspecified : uint8_t {
  kZero,    // as hardware has it
  kOnes,    // all bits set: NaN in floats
  kRandom,  // any bits, the same in every run
};

// An address of the device. On the CPU it is a pointer.
class Address {
 public:
  constexpr Address() = default;
  constexpr Address(uint64_t bits) : bits_(bits) {}                              // NOLINT(google-explicit-constructor)
  Address(const void* pointer) : bits_(reinterpret_cast<uintptr_t>(pointer)) {}  // NOLINT(google-explicit-constructor)
  constexpr operator uint64_t() const { return bits_; }                          // NOLINT(google-explicit-constructor)
  void* pointer() const { return reinterpret_cast<void*>(bits_); }

 private:
  uint64_t bits_ = 0;
};

// Memory of the caller that a launch may touch.
struct Buffer {
  std::string name;
  Address address;
  uint64_t bytes = 0;
  ir::Element element;
  std::vector<int64_t> shape;  // for messages; may be empty
  bool initialized = true;     // false: reading it before writing is reported by --check=full
};

// An array argument as the interface describes it, for --check=full. Its elements are in a buffer of the launch, which other
// arrays may share.
struct ArrayArgument {
  std::string name;
  Address address;
  ir::Element element;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; empty: row-major
  // in: the kernel must not write to it; out: it must write every element; inout: it may do both.
  ir::Direction direction = ir::Direction::kInOut;
  bool initialized = true;  // false, of an out: no element has a value before the kernel writes it
};

// Which bytes of memory somebody has written, for --check=full: a byte for each, 0: nobody. Reading such a byte before it is
// written is reported. A launch that ends well sets those that it wrote; what the linear order wrote counts. `address` to
// `address + bytes` lies in one buffer of the launch.
struct WrittenBytes {
  Address address;
  uint64_t bytes = 0;
  uint8_t* written = nullptr;
};

// The array that a pointer parameter was made from, where the caller knows it: accesses through the parameter are held to it, and
// messages call it by its name.
struct PointerArgument {
  int param = 0;
  std::string name;
  ir::Element element;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements, of any sign; empty: row-major
};

}  // namespace tile::vm

#endif  // TILE_VM_MACHINE_LAUNCH_TYPES_H_
