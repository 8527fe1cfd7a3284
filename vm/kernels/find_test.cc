#include "vm/kernels/find.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

std::vector<Isa> Isas() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::kGeneric, Isa::kV2, Isa::kV3, Isa::kV4}) {
    if (IsaSupported(isa)) all.push_back(isa);
  }
  return all;
}

// One number among many others, at each place of some pieces and at odd addresses.
template <class T>
void FindsOne(T other, T number, uint64_t limit, bool or_zero, bool expected) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  for (const Isa isa : Isas()) {
    for (const int64_t n : {1, 7, 64, 4096, 5000}) {
      for (int64_t at = 0; at < n; at += n < 100 ? 1 : 331) {
        std::vector<char> bytes(static_cast<size_t>(n * kSize + 1));
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(bytes.data() + 1 + i * kSize, i == at ? &number : &other, sizeof(T));
        EXPECT_EQ(AnyFrom(bytes.data() + 1, kSize, n, limit, or_zero, isa), expected) << n << " " << at;
        EXPECT_FALSE(AnyFrom(bytes.data() + 1, kSize, at, limit, or_zero, isa));
      }
    }
  }
}

TEST(Find, MagnitudesFromALimitOn) {
  FindsOne<uint16_t>(0xfbff, 0x7c00, 0x7c00, false, true);  // -65504, infinity
  FindsOne<uint16_t>(0x3c00, 0xfc00, 0x7c00, true, true);
  FindsOne<uint32_t>(0, 0xff800000, 0x7f800000, false, true);
  FindsOne<uint32_t>(0x7f7fffff, 0x7f800000, 0x7f800001, false, false);
  FindsOne<uint64_t>(0xffefffffffffffff, 0xfff8000000000000, 0x7ff0000000000000, false, true);
}

TEST(Find, ZerosOfBothSigns) {
  FindsOne<uint16_t>(0x8001, 0x8000, 0x7c00, true, true);
  FindsOne<uint32_t>(1, 0, 0x7f800000, true, true);
  FindsOne<uint32_t>(1, 0x7f7fffff, 0x7f800000, true, false);
  FindsOne<uint64_t>(1, 0x8000000000000000, 0x7ff0000000000000, true, true);
}

TEST(Find, ZerosAreCounted) {
  for (const Isa isa : Isas()) {
    for (const int64_t n : {0, 1, 63, 64, 65, 16320, 16321, 40000}) {
      std::vector<uint8_t> bytes(static_cast<size_t>(n), 0);
      EXPECT_EQ(CountZeros(bytes.data(), n, isa), n);
      for (int64_t i = 0; i < n; i += 3) bytes[static_cast<size_t>(i)] = 128;
      EXPECT_EQ(CountZeros(bytes.data(), n, isa), n - (n + 2) / 3);
    }
  }
}

}  // namespace
}  // namespace tile::vm
