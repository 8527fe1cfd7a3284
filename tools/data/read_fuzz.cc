// Any bytes through every reader of whole files.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "tools/data/npy.h"
#include "tools/data/npz.h"
#include "tools/data/png_image.h"
#include "tools/data/safetensors.h"

namespace tile::tools {
namespace {

void Check(const absl::StatusOr<Array>& array) {
  if (!array.ok()) return;
  // What was read is there in full, and says so.
  const absl::StatusOr<int64_t> size = BytesOf(array->element, array->count());
  if (!size.ok() || *size != static_cast<int64_t>(array->bytes.size())) __builtin_trap();
  uint64_t sum = 0;
  for (uint8_t b : array->bytes.span()) sum += b;
  if (sum == UINT64_MAX) __builtin_trap();
}

AlignedBuffer Copy(const uint8_t* data, size_t size) {
  absl::StatusOr<AlignedBuffer> bytes = AlignedBuffer::Uninitialized(size);
  if (!bytes.ok()) return AlignedBuffer();
  if (size > 0) std::memcpy(bytes->data(), data, size);
  return *std::move(bytes);
}

}  // namespace
}  // namespace tile::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tile::tools;  // NOLINT: one function
  Check(ReadNpy(Copy(data, size), "x", tile::ir::Elem::kBF16));
  Check(ReadNpz(Copy(data, size), "x", "", tile::ir::Elem::kF4E2M1FN));
  Check(ReadSafetensors(Copy(data, size), "x", "a"));
  Check(ReadPng(Copy(data, size).span(), "x"));
  return 0;
}
