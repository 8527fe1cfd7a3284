// What is on the command line for a kernel's argument.
//
//   3.5  -1  0x10  true  inf  nan        a scalar; read by ParseElement once the parameter's type is known
//   x.npy                                also x.npy:bf16: raw bytes or integers of that width, as that type
//   x.npz  x.npz:name                    the name may be left out if there is one array
//   x.safetensors  x.safetensors:name    likewise
//   x.png                                u8[h,w] or u8[h,w,c]
//   any other file                       its bytes, u8[n]; Value::raw() then says what to do where bytes are not wanted
//   FILE:f16[64,64]                      its bytes as that; one dimension may be `?`; `FILE:f16` is `FILE:f16[?]`
//   -                                    stdin: .npy, .npz, .png or .safetensors by its first bytes, else bytes; also
//                                        -:f16[64,64]
//   -.npy  -.npz:name  -.bin:f16[4] …    stdin, as that form
//   zeros:f32[4,4]  ones:…  arange:…     made up, see generate.h
//   full:f32[4]=3.5
//   rand:f32[4]  rand:i32[9]=0..10       with --seed
//   normal:f32[4]
//
// Types are those of ParseElementName: f32, bf16, i8, u8, bool, f8E4M3FN, f8e4m3, ... Names of files end with these
// extensions in any case. A file whose name looks like something else here is reached as ./NAME.
//
// Errors are kInvalidArgument or kNotFound (and the system's for files) and begin with the text. Thread-safe.
//
//   absl::StatusOr<Value> v = ParseValue("rand:f32[128,128]", {.seed = 7});
//   absl::StatusOr<Array> a = std::move(*v).TakeArray();
#ifndef TILE_TOOLS_DATA_VALUE_H_
#define TILE_TOOLS_DATA_VALUE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/data/array.h"
#include "tools/data/generate.h"

namespace tile::tools {

struct ValueOptions {
  uint64_t seed = 0;
  // Which value of the command this is: two `rand:` of one command differ.
  uint64_t stream = 0;
  // The type of .npy elements that are raw bytes of its width; usually the parameter's. See npy.h.
  std::optional<ir::Elem> raw_as = std::nullopt;
};

class Value {
 public:
  explicit Value(std::string scalar) : form_(std::move(scalar)) {}
  explicit Value(Array array) : form_(std::move(array)) {}
  explicit Value(Generator generator) : form_(std::move(generator)) {}

  // Of a file that is no array, without a type behind its name: what it is, and how to make an array of it. Else both are empty.
  struct Raw {
    std::string what, fix;
  };
  const Raw& raw() const { return raw_; }
  void set_raw(Raw raw) { raw_ = std::move(raw); }

  bool is_scalar() const { return std::holds_alternative<std::string>(form_); }
  const std::string& scalar() const { return std::get<std::string>(form_); }

  // The type and the sizes of an array.
  ir::Element element() const;
  absl::Span<const int64_t> shape() const;
  bool is_unsigned() const;
  std::string type_text() const;  // "f32[128,128]"
  int64_t bytes() const;
  // Hands the array over, or makes it; once. `made` counts elements as they are made.
  absl::StatusOr<Array> TakeArray(std::atomic<int64_t>* made = nullptr) &&;
  // Into memory of bytes() bytes that the caller has: a generated array then exists once only.
  void CopyTo(absl::Span<uint8_t> memory) const;

 private:
  std::variant<std::string, Array, Generator> form_;
  Raw raw_;
};

absl::StatusOr<Value> ParseValue(absl::string_view text, const ValueOptions& options = {});

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_VALUE_H_
