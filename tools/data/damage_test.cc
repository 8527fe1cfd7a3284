// Every truncation and every flipped bit of small files of each form must be read or refused, never crash or hang. The
// sanitizer builds look at memory meanwhile.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/npy.h"
#include "tools/data/npz.h"
#include "tools/data/png_image.h"
#include "tools/data/safetensors.h"
#include "tools/data/write.h"

namespace tile::tools {
namespace {

using ir::Elem;

absl::StatusOr<Array> Read(absl::string_view extension, absl::string_view bytes) {
  if (extension == ".npy") return ReadNpy(Buffer(bytes), "x", Elem::kBF16);
  if (extension == ".npz") return ReadNpz(Buffer(bytes), "x", "");
  if (extension == ".png") return ReadPng(Buffer(bytes).span(), "x");
  return ReadSafetensors(Buffer(bytes), "x", "");
}

// Uses what was read: all of its bytes are there.
void Check(const absl::StatusOr<Array>& a) {
  if (!a.ok()) {
    EXPECT_EQ(a.status().message().substr(0, 1), "x") << a.status().message();
    return;
  }
  ASSERT_EQ(static_cast<int64_t>(a->bytes.size()), *BytesOf(a->element, *CountElements(a->shape)));
  volatile uint8_t sum = 0;
  for (uint8_t b : a->bytes.span()) sum = sum + b;
}

class DamageTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Sample() const {
    const std::string path = TestPath(absl::StrCat("sample", GetParam()));
    EXPECT_OK(WriteArray(path, Bits(Elem::kI8, {2, 3}, {1, 2, 3, 4, 5, 6}), "array"));
    const std::string bytes = ReadTestFile(path);
    EXPECT_OK(Read(GetParam(), bytes).status());
    return bytes;
  }
};

TEST_P(DamageTest, EveryTruncation) {
  const std::string good = Sample();
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Read(GetParam(), good.substr(0, n)).ok()) << n;
  Check(Read(GetParam(), good + "x"));
}

TEST_P(DamageTest, EveryByte) {
  const std::string good = Sample();
  for (size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bad = good;
      bad[at] = static_cast<char>(value);
      Check(Read(GetParam(), bad));
    }
  }
}

// Two damaged places, chosen the same way in each run.
TEST_P(DamageTest, PairsOfBytes) {
  const std::string good = Sample();
  uint64_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (int k = 0; k < 2; ++k) {
      state = state * 6364136223846793005 + 1442695040888963407;
      bad[(state >> 33) % bad.size()] = static_cast<char>(state >> 25);
    }
    Check(Read(GetParam(), bad));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DamageTest, testing::Values(".npy", ".npz", ".safetensors", ".png"),
                         [](const auto& info) { return std::string(info.param + 1); });

}  // namespace
}  // namespace tile::tools
