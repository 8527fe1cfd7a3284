#include "tests/gpu_sim/tensor/tensor_map.h"

#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

constexpr uint64_t kMark = 0x50614D726F736E54;  // says that a map was encoded
constexpr uint64_t kAlignment = 16, kMostSize = uint64_t{1} << 32, kMostStride = uint64_t{1} << 40;
constexpr uint32_t kMostBox = 256, kMostElementStride = 8;
// By CUtensorMapDataType: UINT8, UINT16, UINT32, INT32, UINT64, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32,
// TFLOAT32_FTZ.
constexpr int kTypeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int kFloat32Flushed = 10, kTFloat32 = 11, kTFloat32Flushed = 12;
constexpr int kMostSwizzle = 3;

struct Encoded {
  uint64_t mark, address;
  uint64_t sizes[5], strides[4];
  uint16_t box[5];
  uint8_t element_strides[5];
  uint8_t type, rank, interleave, swizzle, fill;
};
static_assert(sizeof(Encoded) <= kTensorMapBytes);

absl::Status Refused(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("cuTensorMapEncodeTiled: ", why));
}
absl::Status NotKnown(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("cuTensorMapEncodeTiled: the simulator does not know ", what));
}

absl::Status CheckDimension(const TensorMap& m, size_t d) {
  if (m.sizes[d] == 0 || m.sizes[d] > kMostSize) return Refused(absl::StrCat("size ", d, " is ", m.sizes[d]));
  if (m.box[d] == 0 || m.box[d] > kMostBox) return Refused(absl::StrCat("box ", d, " has ", m.box[d], " elements"));
  if (m.element_strides[d] == 0 || m.element_strides[d] > kMostElementStride)
    return Refused(absl::StrCat("element stride ", d, " is ", m.element_strides[d]));
  if (m.element_strides[d] != 1) return NotKnown("element strides");
  if (d == 0) return absl::OkStatus();
  const uint64_t stride = m.strides[d - 1];
  if (stride % kAlignment != 0 || stride >= kMostStride)
    return Refused(absl::StrCat("stride ", d, " is ", stride, " bytes, which is no multiple of 16 below 2^40"));
  return absl::OkStatus();
}

}  // namespace

int TensorMap::element_bytes() const { return kTypeBytes[type]; }
bool TensorMap::rounds_to_tf32() const { return type == kTFloat32; }

uint32_t TensorMap::box_bytes() const {
  auto bytes = static_cast<uint32_t>(element_bytes());
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) bytes *= box[d];
  return bytes;
}

absl::Status CheckTensorMap(const TensorMap& m) {
  if (m.type < 0 || m.type >= static_cast<int>(std::size(kTypeBytes)))
    return Refused(absl::StrCat("there is no data type ", m.type));
  if (m.type == kFloat32Flushed || m.type == kTFloat32Flushed) return NotKnown("types that flush subnormals");
  if (m.rank < 1 || m.rank > 5) return Refused(absl::StrCat("the rank is ", m.rank));
  if (m.address % kAlignment != 0) return Refused("the address is no multiple of 16");
  for (size_t d = 0; d < static_cast<size_t>(m.rank); ++d) {
    if (absl::Status s = CheckDimension(m, d); !s.ok()) return s;
  }
  if (m.interleave != 0) return NotKnown("interleaved tensors");
  if (m.swizzle < 0 || m.swizzle > kMostSwizzle) return NotKnown(absl::StrCat("swizzle ", m.swizzle));
  if (m.fill != 0) return NotKnown("a fill other than zeros");
  const uint32_t inner = m.box[0] * static_cast<uint32_t>(m.element_bytes());
  if (inner % kAlignment != 0)
    return Refused(absl::StrCat("a row of the box has ", inner, " bytes, no multiple of 16"));
  if (m.swizzle != 0 && inner > static_cast<uint32_t>(m.swizzle_bytes()))
    return Refused(absl::StrCat("a row of the box has ", inner, " bytes, more than the swizzle's ", m.swizzle_bytes()));
  if (m.swizzle != 0 && inner < static_cast<uint32_t>(m.swizzle_bytes()))
    return NotKnown("rows of a box that are shorter than the swizzle");
  return absl::OkStatus();
}

void EncodeTensorMap(const TensorMap& m, void* bytes) {
  Encoded e = {};
  e.mark = kMark;
  e.address = m.address;
  for (size_t d = 0; d < 5; ++d) {
    e.sizes[d] = m.sizes[d];
    e.box[d] = static_cast<uint16_t>(m.box[d]);
    e.element_strides[d] = static_cast<uint8_t>(m.element_strides[d]);
    if (d < 4) e.strides[d] = m.strides[d];
  }
  e.type = static_cast<uint8_t>(m.type);
  e.rank = static_cast<uint8_t>(m.rank);
  e.interleave = static_cast<uint8_t>(m.interleave);
  e.swizzle = static_cast<uint8_t>(m.swizzle);
  e.fill = static_cast<uint8_t>(m.fill);
  std::memset(bytes, 0, kTensorMapBytes);
  std::memcpy(bytes, &e, sizeof e);
}

// Types as tensormap.replace numbers them: U8, U16, U32, S32, U64, S64, F16, F32, F32.FTZ, F64, BF16, TF32, TF32.FTZ.
constexpr uint8_t kTypeOfReplaced[] = {0, 1, 2, 3, 4, 5, 6, 7, kFloat32Flushed, 8, 9, kTFloat32, kTFloat32Flushed};

absl::Status ReplaceInTensorMap(absl::string_view field, size_t dimension, uint64_t value, void* bytes) {
  Encoded e;
  std::memcpy(&e, bytes, sizeof e);
  if (e.mark != kMark && e.mark != 0) return absl::InvalidArgumentError("there is neither a tensor map nor zeros");
  e.mark = kMark;
  if (dimension > 4) return absl::InvalidArgumentError(absl::StrCat("there is no dimension ", dimension));
  if (field == "global_address") {
    e.address = value;
  } else if (field == "rank") {
    e.rank = static_cast<uint8_t>(value + 1);
  } else if (field == "box_dim") {
    e.box[dimension] = static_cast<uint16_t>(value);
  } else if (field == "global_dim") {
    e.sizes[dimension] = value;
  } else if (field == "global_stride") {
    if (dimension > 3) return absl::InvalidArgumentError(absl::StrCat("there is no stride ", dimension));
    e.strides[dimension] = value;
  } else if (field == "element_stride") {
    e.element_strides[dimension] = static_cast<uint8_t>(value);
  } else if (field == "elemtype") {
    if (value >= std::size(kTypeOfReplaced))
      return absl::InvalidArgumentError(absl::StrCat("there is no type ", value));
    e.type = kTypeOfReplaced[value];
  } else if (field == "interleave_layout") {
    e.interleave = static_cast<uint8_t>(value);
  } else if (field == "swizzle_mode") {
    e.swizzle = static_cast<uint8_t>(value);
  } else if (field == "fill_mode") {
    e.fill = static_cast<uint8_t>(value);
  } else {
    return absl::InvalidArgumentError(absl::StrCat("there is no field ", field));
  }
  std::memcpy(bytes, &e, sizeof e);
  return absl::OkStatus();
}

absl::StatusOr<TensorMap> DecodeTensorMap(const void* bytes) {
  Encoded e;
  std::memcpy(&e, bytes, sizeof e);
  if (e.mark != kMark) return absl::InvalidArgumentError("there is no tensor map that cuTensorMapEncodeTiled made");
  TensorMap m;
  m.address = e.address;
  for (size_t d = 0; d < 5; ++d) {
    m.sizes[d] = e.sizes[d];
    m.box[d] = e.box[d];
    m.element_strides[d] = e.element_strides[d];
    if (d < 4) m.strides[d] = e.strides[d];
  }
  m.type = e.type;
  m.rank = e.rank;
  m.interleave = e.interleave;
  m.swizzle = e.swizzle;
  m.fill = e.fill;
  // The mark may be there by a copy of a part only.
  if (absl::Status s = CheckTensorMap(m); !s.ok()) return s;
  return m;
}

}  // namespace tile::gpu_sim
