#include "ir/testing/damage.h"

#include <cstdlib>
#include <ctime>
#include <new>

#include "absl/strings/str_cat.h"

namespace {

thread_local int64_t allocated_bytes = 0;

void* Count(size_t bytes, size_t alignment) {
  allocated_bytes += static_cast<int64_t>(bytes);
  bytes = bytes == 0 ? 1 : bytes;
  void* p = alignment == 0 ? std::malloc(bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) std::abort();  // a request of far too much
  return p;
}

}  // namespace

// The array forms call these. So would the nothrow ones, but not under a sanitizer.
void* operator new(size_t bytes) { return Count(bytes, 0); }
void* operator new(size_t bytes, std::align_val_t alignment) { return Count(bytes, static_cast<size_t>(alignment)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Count(bytes, 0); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace tile::ir {
namespace {

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

Cost::Cost() : allocated_(allocated_bytes), seconds_(CpuSeconds()) {}
int64_t Cost::allocated() const { return allocated_bytes - allocated_; }
double Cost::cpu_seconds() const { return CpuSeconds() - seconds_; }

std::string Damage::ToString() const {
  return flip == 0 ? absl::StrCat("cut to ", at) : absl::StrCat("byte ", at, " changed by 0x", absl::Hex(flip));
}

void ForEachDamage(absl::string_view file, absl::Span<const uint8_t> flips,
                   const std::function<bool(const Damage&)>& check) {
  for (size_t n = 0; n < file.size(); ++n) {
    const Exact cut(file.substr(0, n));
    if (!check({cut.bytes(), n, 0})) return;
  }
  const Exact whole(file);
  for (size_t i = 0; i < file.size(); ++i) {
    for (const uint8_t flip : flips) {
      whole.data()[i] ^= flip;
      if (!check({whole.bytes(), i, flip})) return;
      whole.data()[i] ^= flip;
    }
  }
}

}  // namespace tile::ir
