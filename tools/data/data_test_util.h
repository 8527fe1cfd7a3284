// What the tests of this folder share: small arrays from lists, files in the test's own folder.
#ifndef TILE_TOOLS_DATA_DATA_TEST_UTIL_H_
#define TILE_TOOLS_DATA_DATA_TEST_UTIL_H_

#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tools/data/array.h"

namespace tile::tools {

inline std::string TestPath(absl::string_view name) { return absl::StrCat(::testing::TempDir(), "/", name); }

inline void WriteTestFile(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

inline std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// An array whose elements have these bits.
inline Array Bits(ir::Elem elem, std::vector<int64_t> shape, std::initializer_list<uint64_t> bits) {
  Array a = *Array::Make(ir::Element::Number(elem), std::move(shape));
  EXPECT_EQ(a.count(), static_cast<int64_t>(bits.size()));
  int64_t i = 0;
  for (uint64_t b : bits) StoreBits(elem, a.bytes.data(), i++, b);
  return a;
}

inline Array Floats(std::vector<int64_t> shape, std::initializer_list<float> values) {
  Array a = *Array::Make(ir::Element::Number(ir::Elem::kF32), std::move(shape));
  EXPECT_EQ(a.count(), static_cast<int64_t>(values.size()));
  if (values.size() > 0) std::memcpy(a.bytes.data(), values.begin(), values.size() * 4);
  return a;
}

inline AlignedBuffer Buffer(absl::string_view bytes) {
  AlignedBuffer b = *AlignedBuffer::Uninitialized(bytes.size());
  if (!bytes.empty()) std::memcpy(b.data(), bytes.data(), bytes.size());
  return b;
}

inline std::string BytesText(const AlignedBuffer& b) {
  return std::string(reinterpret_cast<const char*>(b.data()), b.size());
}

// All elements as numbers, for comparisons.
inline std::vector<double> Numbers(const ArrayView& a) {
  std::vector<double> out(a.count());
  LoadDoubles(a, 0, a.count(), out.data());
  return out;
}

inline std::vector<int64_t> Shape(const Array& a) { return a.shape; }

}  // namespace tile::tools

#define EXPECT_OK(expr)                             \
  do {                                              \
    const absl::Status status_ = (expr);            \
    EXPECT_TRUE(status_.ok()) << status_.message(); \
  } while (0)

// The status fails with a message that contains `text`.
#define EXPECT_FAILS(status, text)                                                                \
  do {                                                                                            \
    const absl::Status status_ = (status);                                                        \
    EXPECT_FALSE(status_.ok());                                                                   \
    EXPECT_NE(std::string(status_.message()).find(text), std::string::npos) << status_.message(); \
  } while (0)

#endif  // TILE_TOOLS_DATA_DATA_TEST_UTIL_H_
