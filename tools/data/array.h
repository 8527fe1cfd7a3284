// Arrays as the tools read and write them: an element type, a shape and the bytes as they are in global memory.
//
// Row-major. i1 takes a byte (non-zero is true), i4 and f4E2M1FN are packed two to a byte, low nibble first (an odd
// last element leaves the high nibble 0), tf32 takes a 32-bit word. Hosts are little-endian.
//
// Limits: rank at most kMaxRank, at most kMaxBytes bytes; a dimension may be 0. Pointers are not elements of arrays.
// Types here are not thread-safe; views may be read from several threads.
//
//   absl::StatusOr<Array> a = Array::Make(Element::Number(Elem::kF32), {128, 128});   // not initialised
//   if (!a.ok()) return a.status();                                                   // too large, no memory
//   float* p = reinterpret_cast<float*>(a->bytes.data());                             // 64-byte aligned
#ifndef TILE_TOOLS_DATA_ARRAY_H_
#define TILE_TOOLS_DATA_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/element.h"

namespace tile::tools {

inline constexpr int kMaxRank = 32;
inline constexpr int64_t kMaxBytes = int64_t{1} << 40;
inline constexpr size_t kBufferAlignment = 64;

// Owned bytes, or a private copy-on-write mapping of a file. From 4 MiB on, memory comes in 2 MiB pages where the
// system has them. Moveable; data() is never null.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer() { Release(); }

  // kResourceExhausted if there is no memory.
  static absl::StatusOr<AlignedBuffer> Uninitialized(size_t size);
  static absl::StatusOr<AlignedBuffer> Zeroed(size_t size);
  // A private mapping of the first `size` > 0 bytes of an open file; writes stay in this process. While it lives, the
  // file must not shrink (the system answers a read beyond its new end with SIGBUS).
  static absl::StatusOr<AlignedBuffer> MapFile(int fd, size_t size);

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  absl::Span<const uint8_t> span() const { return {data_, size_}; }
  absl::Span<uint8_t> span() { return {data_, size_}; }

  // Narrows the buffer to a part of itself, which must be inside; the memory around it stays held. The result is
  // aligned only if `offset` is.
  void Narrow(size_t offset, size_t size);
  // The part at `offset`, aligned: narrowed in place where possible, else copied, with the source's pages given back on
  // the way, so that memory is not held twice.
  static absl::StatusOr<AlignedBuffer> TakePart(AlignedBuffer whole, size_t offset, size_t size);
  // Grows or shrinks; the contents stay, new bytes are not initialised. Not for mappings and narrowed buffers.
  absl::Status Resize(size_t size);
  // Tells the system that the first `size` bytes of a file mapping will not be read again.
  void DropPages(size_t size);

 private:
  enum class Kind : uint8_t { kNone, kHeap, kAnonymous, kFile };
  void Release();

  alignas(kBufferAlignment) static uint8_t empty_[kBufferAlignment];
  uint8_t* data_ = empty_;
  size_t size_ = 0;
  uint8_t* base_ = nullptr;  // what Release() frees
  size_t capacity_ = 0;      // from base_ on
  Kind kind_ = Kind::kNone;
};

// Shape and bytes of an array that somebody else owns.
struct ArrayView {
  ir::Element element;
  absl::Span<const int64_t> shape;
  absl::Span<const uint8_t> bytes;
  bool is_unsigned = false;

  int64_t count() const;  // of elements
};

struct Array {
  ir::Element element;
  std::vector<int64_t> shape;
  AlignedBuffer bytes;
  // How integers were declared where they came from (u8 in a file, u8 in a spec). Types are signless, so this only
  // decides how values are printed, compared and cast, and what a file calls them.
  bool is_unsigned = false;

  static absl::StatusOr<Array> Make(ir::Element element, std::vector<int64_t> shape);  // bytes not initialised
  int64_t count() const { return view().count(); }
  ArrayView view() const { return {element, shape, bytes.span(), is_unsigned}; }
  operator ArrayView() const { return view(); }  // NOLINT: a view of an array is what readers of it take
};

// Number of elements, or an error if a dimension is negative or a limit above is passed.
absl::StatusOr<int64_t> CountElements(absl::Span<const int64_t> shape);
// Bytes of so many elements in global memory, or an error if above kMaxBytes or the element is a pointer.
absl::StatusOr<int64_t> BytesOf(ir::Element element, int64_t count);

// The bits of element i: value bits at the bottom, zero above (i1: 0 or 1; tf32: the whole word). `bytes` must hold it.
uint64_t LoadBits(ir::Elem elem, const uint8_t* bytes, int64_t i);
void StoreBits(ir::Elem elem, uint8_t* bytes, int64_t i, uint64_t bits);
// Elements [first, first + n) as numbers; integers as told. i64 values above 2^53 are rounded.
void LoadDoubles(const ArrayView& array, int64_t first, int64_t n, double* out);
// One element as an integer; not for floats. A u64 above 2^63 wraps.
int64_t LoadInt(const ArrayView& array, int64_t i);

// "f32[128,128]"; "u8[4]" where integers are unsigned; "f32[]" for rank 0.
std::string TypeText(const ArrayView& array);
std::string ElementText(ir::Element element, bool is_unsigned);

// A type as specs and files name it: the spelling of elements.def in any case, also u8…u64, bool and the short forms
// f8e4m3, f8e5m2, f8e8m0, f8e5m3, f4. False if the text is none.
bool ParseElementName(absl::string_view text, ir::Element* element, bool* is_unsigned);

}  // namespace tile::tools

#endif  // TILE_TOOLS_DATA_ARRAY_H_
