// Memory of arrays. Small buffers come from the heap; large ones from the system, aligned to 2 MiB so that huge pages
// fit, and never touched here: pages appear when they are written.

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/data/array.h"

namespace tile::tools {
namespace {

constexpr size_t kHuge = size_t{2} << 20;
constexpr size_t kLarge = size_t{4} << 20;

absl::Status NoMemory(size_t size) {
  return absl::ResourceExhaustedError(absl::StrCat("no memory for ", size, " bytes"));
}

// So many bytes at a multiple of 2 MiB, or null: takes more and gives back what sticks out.
uint8_t* MapHuge(size_t size) {
  void* p = mmap(nullptr, size + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  uint8_t* start = static_cast<uint8_t*>(p);
  uint8_t* aligned = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(start) + kHuge - 1) & ~(kHuge - 1));
  if (aligned > start) munmap(start, aligned - start);
  if (aligned < start + kHuge) munmap(aligned + size, start + kHuge - aligned);
  madvise(aligned, size, MADV_HUGEPAGE);  // a wish
  return aligned;
}

}  // namespace

alignas(kBufferAlignment) uint8_t AlignedBuffer::empty_[kBufferAlignment];

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  if (this == &other) return *this;
  Release();
  data_ = std::exchange(other.data_, empty_);
  size_ = std::exchange(other.size_, 0);
  base_ = std::exchange(other.base_, nullptr);
  capacity_ = std::exchange(other.capacity_, 0);
  kind_ = std::exchange(other.kind_, Kind::kNone);
  return *this;
}

void AlignedBuffer::Release() {
  if (kind_ == Kind::kHeap) std::free(base_);
  if (kind_ == Kind::kAnonymous || kind_ == Kind::kFile) munmap(base_, capacity_);
  data_ = empty_;
  size_ = capacity_ = 0;
  base_ = nullptr;
  kind_ = Kind::kNone;
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::Uninitialized(size_t size) {
  AlignedBuffer b;
  if (size == 0) return b;
  if (size > static_cast<size_t>(kMaxBytes)) return NoMemory(size);
  if (size >= kLarge) {
    b.capacity_ = (size + kHuge - 1) & ~(kHuge - 1);
    b.base_ = MapHuge(b.capacity_);
    b.kind_ = Kind::kAnonymous;
  } else {
    b.capacity_ = (size + kBufferAlignment - 1) & ~(kBufferAlignment - 1);
    b.base_ = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, b.capacity_));
    b.kind_ = Kind::kHeap;
  }
  if (b.base_ == nullptr) {
    b.kind_ = Kind::kNone;
    return NoMemory(size);
  }
  b.data_ = b.base_;
  b.size_ = size;
  return b;
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::Zeroed(size_t size) {
  absl::StatusOr<AlignedBuffer> b = Uninitialized(size);
  if (b.ok() && b->kind_ == Kind::kHeap) std::memset(b->data_, 0, size);
  return b;
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::MapFile(int fd, size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (p == MAP_FAILED) return absl::ErrnoToStatus(errno, "cannot be mapped");
  madvise(p, size, MADV_WILLNEED);
  AlignedBuffer b;
  b.data_ = b.base_ = static_cast<uint8_t*>(p);
  b.size_ = b.capacity_ = size;
  b.kind_ = Kind::kFile;
  return b;
}

void AlignedBuffer::Narrow(size_t offset, size_t size) {
  data_ += offset;
  size_ = size;
}

void AlignedBuffer::DropPages(size_t size) {
  constexpr size_t kPage = 4096;
  if (kind_ != Kind::kFile) return;
  size = std::min(size & ~(kPage - 1), capacity_ & ~(kPage - 1));
  if (size > 0) madvise(base_, size, MADV_DONTNEED);
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::TakePart(AlignedBuffer whole, size_t offset, size_t size) {
  if (size == 0) return AlignedBuffer();
  if ((reinterpret_cast<uintptr_t>(whole.data_) + offset) % kBufferAlignment == 0) {
    whole.Narrow(offset, size);
    return whole;
  }
  if (whole.kind_ != Kind::kFile) {  // in memory already: move it down
    std::memmove(whole.base_, whole.data_ + offset, size);
    whole.data_ = whole.base_;
    whole.size_ = size;
    return whole;
  }
  absl::StatusOr<AlignedBuffer> part = Uninitialized(size);
  if (!part.ok()) return part;
  constexpr size_t kChunk = size_t{8} << 20;
  for (size_t done = 0; done < size; done += kChunk) {
    std::memcpy(part->data_ + done, whole.data_ + offset + done, std::min(kChunk, size - done));
    whole.DropPages(whole.data_ - whole.base_ + offset + done);
  }
  return part;
}

absl::Status AlignedBuffer::Resize(size_t size) {
  if (size <= capacity_) {
    size_ = size;
    return absl::OkStatus();
  }
  if (size > static_cast<size_t>(kMaxBytes)) return NoMemory(size);
  // Doubling keeps growth linear; large blocks move by their page tables.
  const size_t capacity = std::max((size + kHuge - 1) & ~(kHuge - 1), 2 * capacity_);
  if (kind_ == Kind::kAnonymous) {
    void* p = mremap(base_, capacity_, capacity, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) return NoMemory(size);
    data_ = base_ = static_cast<uint8_t*>(p);
    capacity_ = capacity;
    size_ = size;
    return absl::OkStatus();
  }
  absl::StatusOr<AlignedBuffer> larger = Uninitialized(capacity);
  if (!larger.ok()) return larger.status();
  std::memcpy(larger->data_, data_, size_);
  *this = *std::move(larger);
  size_ = size;
  return absl::OkStatus();
}

}  // namespace tile::tools
