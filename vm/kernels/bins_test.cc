#include "vm/kernels/bins.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "vm/kernels/addresses.h"
#include "vm/kernels/mma_testing.h"

namespace tile::vm {
namespace {

class BinsTest : public testing::TestWithParam<Isa> {
 protected:
  const BinKernels& bins() const { return FindBinKernels(GetParam()); }
  const AddressKernels& addresses() const { return FindAddressKernels(GetParam()); }
};

template <class Index>
void CheckIndices(const BinKernels& k, int64_t n, int64_t size, Index lowest, Index highest) {
  Random random(static_cast<uint64_t>(n + size));
  std::vector<Index> indices(static_cast<size_t>(n));
  const auto span = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) + 1;
  bool outside = false;
  std::vector<Bin> want, got(indices.size());
  for (Index& i : indices) {
    i = static_cast<Index>(static_cast<uint64_t>(lowest) + (span == 0 ? random.Bits() : random.Bits() % span));
    const bool in = i >= 0 && static_cast<int64_t>(i) < size;
    want.push_back(static_cast<Bin>(in ? i : size));
    outside |= !in;
  }
  EXPECT_EQ(k.of_indices(got.data(), indices.data(), sizeof(Index), n, size), outside);
  EXPECT_EQ(got, want) << sizeof(Index) << " bytes, " << size;
}

TEST_P(BinsTest, OfIndices) {
  for (int64_t n : {0, 1, 63, 1000}) {
    for (int64_t size : {1, 100, 127, 128, 129, 255, 256, 4096}) {
      CheckIndices<int8_t>(bins(), n, size, -128, 127);
      CheckIndices<int16_t>(bins(), n, size, INT16_MIN, INT16_MAX);
      CheckIndices<int32_t>(bins(), n, size, INT32_MIN, INT32_MAX);
      CheckIndices<int64_t>(bins(), n, size, INT64_MIN, INT64_MAX);
      CheckIndices<int16_t>(bins(), n, size, -2, 300);
      CheckIndices<int32_t>(bins(), n, size, 0, static_cast<int32_t>(size) - 1);
      CheckIndices<int32_t>(bins(), n, size, 0, static_cast<int32_t>(size));
      CheckIndices<int64_t>(bins(), n, size, -1, size - 1);
    }
  }
}

template <class T>
void CheckAdd(const BinKernels& k, int copies, int64_t n, int64_t size, bool one_value) {
  Random random(static_cast<uint64_t>(n * 7 + size));
  std::vector<Bin> bins;
  std::vector<T> values, want(static_cast<size_t>(size)), tables(static_cast<size_t>(copies * BinStride(size)));
  for (int64_t i = 0; i < n; ++i) {
    bins.push_back(static_cast<Bin>(random.Bits() % static_cast<uint64_t>(size + 1)));
    values.push_back(static_cast<T>(random.Bits()));
    if (bins.back() < size) want[bins.back()] += one_value ? values[0] : values.back();
  }
  k.add(tables.data(), copies, bins.data(), values.data(), one_value, n, size, sizeof(T));
  k.sum(tables.data(), copies, size, sizeof(T));
  const std::vector<T> got(tables.begin(), tables.begin() + size);
  EXPECT_EQ(got, want) << size;
  for (size_t i = static_cast<size_t>(BinStride(size)); i < tables.size(); ++i) ASSERT_EQ(tables[i], 0u);
}

TEST_P(BinsTest, Add) {
  for (int copies : {1, kCopies}) {
    for (int64_t n : {0, 1, 2, 3, 4, 5, 1000}) {
      for (int64_t size : {1, 15, 16, 17, 256, 1024}) {
        for (bool one_value : {false, true}) {
          CheckAdd<uint32_t>(bins(), copies, n, size, one_value);
          CheckAdd<uint64_t>(bins(), copies, n, size, one_value);
        }
      }
    }
  }
}

// Masks of ones, of zeros, that end somewhere, and mixed ones.
std::vector<std::vector<uint8_t>> Masks(size_t n) {
  std::vector<std::vector<uint8_t>> masks = {std::vector<uint8_t>(n, 1), std::vector<uint8_t>(n, 0)};
  masks.push_back(masks[0]);
  for (size_t i = n / 2; i < n; ++i) masks.back()[i] = 0;
  masks.emplace_back();
  for (size_t i = 0; i < n; ++i) masks.back().push_back(i / 3 % 2);
  return masks;
}

TEST_P(BinsTest, RangeAndBinsOfAddresses) {
  for (int64_t n : {1, 5, 64, 100, 1000}) {
    for (uint64_t base : {uint64_t{1} << 32, ~uint64_t{0} << 60}) {
      for (int bytes : {4, 8}) {
        Random random(static_cast<uint64_t>(n));
        std::vector<uint64_t> at;
        for (int64_t i = 0; i < n; ++i) at.push_back(base + random.Bits() % 500 * static_cast<uint64_t>(bytes));
        std::vector<std::vector<uint8_t>> masks = Masks(at.size());
        masks.emplace_back();  // none
        for (const std::vector<uint8_t>& mask : masks) {
          AddressRange want = {INT64_MAX, INT64_MIN, 0};
          std::vector<Bin> bins_wanted, bins_got(at.size());
          for (size_t i = 0; i < at.size(); ++i) {
            const bool active = mask.empty() || mask[i] != 0;
            bins_wanted.push_back(static_cast<Bin>(active ? (at[i] - base) / static_cast<uint64_t>(bytes) : 500));
            if (!active) continue;
            want.lowest = std::min(want.lowest, static_cast<int64_t>(at[i]));
            want.highest = std::max(want.highest, static_cast<int64_t>(at[i]));
            want.low_bits |= at[i];
          }
          const uint8_t* m = mask.empty() ? nullptr : mask.data();
          const AddressRange got = addresses().range(at.data(), m, n);
          EXPECT_EQ(got.lowest, want.lowest);
          EXPECT_EQ(got.highest, want.highest);
          EXPECT_EQ(got.low_bits, want.low_bits);
          bins().of_addresses(bins_got.data(), at.data(), m, n, base, bytes, 500);
          EXPECT_EQ(bins_got, bins_wanted);
        }
      }
    }
  }
}

TEST_P(BinsTest, GatherAndScatter) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const int64_t n : {1, 7, 64, 200}) {
      Random random(static_cast<uint64_t>(n + bytes));
      std::vector<uint8_t> memory(4096), tile(static_cast<size_t>(n * bytes));
      for (uint8_t& b : memory) b = static_cast<uint8_t>(random.Bits());
      for (uint8_t& b : tile) b = static_cast<uint8_t>(random.Bits());
      std::vector<uint64_t> at;  // some of them equal: the last lane's element stays
      for (int64_t i = 0; i < n; ++i) {
        at.push_back(reinterpret_cast<uintptr_t>(memory.data()) + random.Bits() % 500 * static_cast<uint64_t>(bytes));
      }
      std::vector<std::vector<uint8_t>> masks = Masks(at.size());
      masks.emplace_back();  // none
      for (const std::vector<uint8_t>& mask : masks) {
        const uint8_t* m = mask.empty() ? nullptr : mask.data();
        std::vector<uint8_t> got = tile, want = tile;
        for (size_t i = 0; i < at.size(); ++i) {
          const auto size = static_cast<size_t>(bytes);
          if (m == nullptr || m[i] != 0) std::memcpy(&want[i * size], reinterpret_cast<const void*>(at[i]), size);
        }
        addresses().gather(got.data(), at.data(), m, n, bytes);
        EXPECT_EQ(got, want);
        const std::vector<uint8_t> before = memory;
        for (size_t i = 0; i < at.size(); ++i) {
          const auto size = static_cast<size_t>(bytes);
          if (m == nullptr || m[i] != 0) std::memcpy(reinterpret_cast<void*>(at[i]), &tile[i * size], size);
        }
        const std::vector<uint8_t> after = memory;
        std::memcpy(memory.data(), before.data(), memory.size());
        addresses().scatter(tile.data(), at.data(), m, n, bytes);
        EXPECT_EQ(memory, after);
      }
    }
  }
}

TEST_P(BinsTest, Following) {
  constexpr int64_t kLanes = 200;
  // The lane at which the row ends: by its address, or by the mask.
  for (int64_t end = 0; end <= kLanes; ++end) {
    for (uint64_t wrong : {1, 4, 8}) {
      std::vector<uint64_t> at;
      for (int64_t i = -1; i < kLanes; ++i) at.push_back(4096 + static_cast<uint64_t>(i) * 4 + (i >= end ? wrong : 0));
      std::vector<uint8_t> mask(kLanes, 1);
      EXPECT_EQ(addresses().following(at.data() + 1, nullptr, kLanes, 4), end);
      EXPECT_EQ(addresses().following(at.data() + 1, mask.data(), kLanes, 4), end);
      const int64_t masked = end / 2 + 3;
      if (masked >= kLanes) continue;
      mask[static_cast<size_t>(masked)] = 0;
      EXPECT_EQ(addresses().following(at.data() + 1, mask.data(), kLanes, 4), std::min(end, masked));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BinsTest, testing::ValuesIn(SupportedIsas()),
                         [](const auto& info) { return IsaName(info.param); });

}  // namespace
}  // namespace tile::vm
