// Memory that is given back all at once, with the module that owns it. Objects placed here are never destroyed, so they
// must not own anything. Not thread-safe.
#ifndef TILE_IR_ARENA_H_
#define TILE_IR_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* Allocate(size_t bytes, size_t align) {
    uintptr_t p = (next_ + align - 1) & ~(uintptr_t{align} - 1);
    if (next_ == 0 || p + bytes > end_) {
      const size_t size = bytes + align > kBlock ? bytes + align : kBlock;
      blocks_.push_back(std::make_unique<char[]>(size));
      next_ = reinterpret_cast<uintptr_t>(blocks_.back().get());
      end_ = next_ + size;
      p = (next_ + align - 1) & ~(uintptr_t{align} - 1);
    }
    next_ = p + bytes;
    return reinterpret_cast<void*>(p);
  }

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  // Value-initialised array; null for n = 0.
  template <class T>
  T* NewArray(size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (n == 0) return nullptr;
    T* p = static_cast<T*>(Allocate(n * sizeof(T), alignof(T)));
    for (size_t i = 0; i < n; ++i) new (p + i) T();
    return p;
  }

  template <class T>
  absl::Span<const T> Copy(absl::Span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from.empty()) return {};
    T* p = static_cast<T*>(Allocate(from.size() * sizeof(T), alignof(T)));
    std::memcpy(static_cast<void*>(p), from.data(), from.size() * sizeof(T));
    return {p, from.size()};
  }

  absl::string_view Copy(absl::string_view from) {
    if (from.empty()) return {};
    char* p = static_cast<char*>(Allocate(from.size(), 1));
    std::memcpy(p, from.data(), from.size());
    return {p, from.size()};
  }

 private:
  static constexpr size_t kBlock = 16 << 10;
  uintptr_t next_ = 0, end_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace tile::ir

#endif  // TILE_IR_ARENA_H_
