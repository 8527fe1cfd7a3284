// What the parts of the reader share: where an error goes and how much may be allocated. Internal to ir/tbc.
//
// The parts return false after Fail, which keeps the first error. Sizes in a file are bounded by the file, but
// FlatBuffers lets many offsets point to one place: Charge counts every copy, so that a small file can't fill the
// memory.
#ifndef TILE_IR_TBC_READ_CONTEXT_H_
#define TILE_IR_TBC_READ_CONTEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "flatbuffers/flatbuffers.h"

namespace tile::ir {

class ReadContext {
 public:
  // `name`: of the file, for errors.
  ReadContext(absl::string_view name, size_t file_bytes)
      : name_(name), budget_((int64_t{1} << 20) + 64 * static_cast<int64_t>(file_bytes)) {}

  // Said once more when an error may come from a newer file than this reader: "the file is of version 0.3 …".
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  const std::string& origin() const { return origin_; }

  template <class... Parts>
  bool Fail(absl::string_view code, const Parts&... parts) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(name_, ": error[tbc.", code, "]: ", parts...));
    return false;
  }
  const absl::Status& status() const { return status_; }

  bool Charge(int64_t bytes) {
    budget_ -= bytes;
    return budget_ >= 0 || Fail("limit", "the parts of this file add up to far more than its size");
  }

  // The elements of a vector; none if it is absent. Fails if they are not aligned (FlatBuffers checks the length only).
  template <class T>
  bool Items(const flatbuffers::Vector<T>* v, absl::Span<const T>* out) {
    return View(v, out);
  }
  template <class T>
  bool Items(const flatbuffers::Vector<const T*>* v, absl::Span<const T>* out) {
    return View(v, out);
  }

 private:
  template <class V, class T>
  bool View(const V* v, absl::Span<const T>* out) {
    *out = {};
    if (v == nullptr || v->size() == 0) return true;
    if (reinterpret_cast<uintptr_t>(v->Data()) % alignof(T) != 0) return Fail("format", "a vector is not aligned");
    *out = {reinterpret_cast<const T*>(v->Data()), v->size()};
    return true;
  }

  const std::string name_;
  std::string origin_;
  int64_t budget_;
  absl::Status status_;
};

}  // namespace tile::ir

#endif  // TILE_IR_TBC_READ_CONTEXT_H_
