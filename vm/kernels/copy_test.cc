#include "vm/kernels/copy.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/kernels/mma_testing.h"

namespace tile::vm {
namespace {

using Ints = std::vector<int64_t>;

Ints RowMajor(const Ints& extents) {
  Ints strides(extents.size());
  int64_t s = 1;
  for (size_t i = extents.size(); i-- > 0; s *= extents[i]) strides[i] = s;
  return strides;
}

// Memory that a box with these strides touches; `start` is its element 0, and there are some bytes on both sides.
struct Area {
  std::vector<uint8_t> bytes;
  int64_t start;
  Area(const Ints& extents, const Ints& strides, int elem_bytes) {
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < extents.size(); ++i) (strides[i] < 0 ? low : high) += strides[i] * (extents[i] - 1);
    bytes.resize((high - low + 1) * elem_bytes + 128 + 1);
    start = 64 - low * elem_bytes + 1;  // odd: no alignment is given
  }
};

void Check(const Ints& extents, const Ints& dst_strides, const Ints& src_strides, int elem_bytes, Isa isa,
           CopyHint hint = CopyHint::kNone) {
  SCOPED_TRACE(std::string(IsaName(isa)) + " bytes " + std::to_string(elem_bytes) + " extents " +
               testing::PrintToString(extents) + " dst " + testing::PrintToString(dst_strides) + " src " +
               testing::PrintToString(src_strides));
  Area src(extents, src_strides, elem_bytes), dst(extents, dst_strides, elem_bytes);
  Random random(extents.size() + elem_bytes);
  for (uint8_t& b : src.bytes) b = static_cast<uint8_t>(random.Bits());
  Area want = dst;
  const int64_t count = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, to = dst.start, from = src.start;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) {
      to += rest % extents[d] * dst_strides[d] * elem_bytes;
      from += rest % extents[d] * src_strides[d] * elem_bytes;
    }
    std::memcpy(&want.bytes[to], &src.bytes[from], elem_bytes);
  }
  CopyBox(&dst.bytes[dst.start], dst_strides.data(), &src.bytes[src.start], src_strides.data(), extents.data(),
          static_cast<int>(extents.size()), elem_bytes, hint, isa);
  ASSERT_EQ(dst.bytes, want.bytes);
}

class CopyTest : public testing::TestWithParam<Isa> {
 protected:
  void CheckAll(const Ints& extents, const Ints& dst_strides, const Ints& src_strides) {
    for (const int bytes : {1, 2, 4, 8}) {
      Check(extents, dst_strides, src_strides, bytes, GetParam());
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(CopyTest, Contiguous) {
  for (int64_t n = 1; n < 300; n += n < 70 ? 1 : 37) CheckAll({n}, {1}, {1});
  CheckAll({}, {}, {});
  CheckAll({1, 1}, {5, 7}, {-3, 0});
}
TEST_P(CopyTest, RowsOfMatrices) {
  for (const int64_t n : {1, 2, 3, 16, 33, 64}) {
    CheckAll({8, n}, {n, 1}, {1024, 1});
    CheckAll({8, n}, {n, 1}, {-1024, 1});
    CheckAll({8, n}, {4100, 1}, {n, 1});
    CheckAll({20, n}, {n, 1}, {4096, 1});
  }
}
TEST_P(CopyTest, Streaming) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const int64_t n : {1, 5, 64, 100, 1000})
      Check({4, n}, {n + 3, 1}, {2 * n, 1}, bytes, GetParam(), CopyHint::kStreaming);
  }
}
TEST_P(CopyTest, Transposes) {
  for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 5, 23}) {
    for (const int64_t columns : {1, 2, 4, 8, 16, 32, 64, 7, 41}) {
      CheckAll({rows, columns}, {columns, 1}, {1, rows});
      CheckAll({rows, columns}, {columns + 3, 1}, {1, rows + 5});
    }
  }
  CheckAll({16, 16}, {16, 1}, {1, -300});
}
TEST_P(CopyTest, PermutationsOfFourDimensions) {
  Ints p = {0, 1, 2, 3};
  const Ints shape = {4, 8, 2, 16}, strides = RowMajor(shape);
  do {
    Ints extents, src;
    for (const int64_t k : p) extents.push_back(shape[k]), src.push_back(strides[k]);
    CheckAll(extents, RowMajor(extents), src);
    CheckAll(extents, src, RowMajor(extents));
  } while (std::next_permutation(p.begin(), p.end()));
}
TEST_P(CopyTest, AnyStrides) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    Ints extents, dst, src;
    const int64_t rank = 1 + random.Below(4);
    for (int64_t d = 0; d < rank; ++d) {
      extents.push_back(1 + random.Below(d == 0 ? 20 : 6));
      dst.push_back(random.Below(13) - 6);  // often not injective: the last one wins
      src.push_back(random.Below(13) - 6);
    }
    CheckAll(extents, dst, src);
    // Injective, in any order and direction.
    Ints wide = RowMajor(extents);
    for (int64_t& s : wide) s = random.Below(2) ? s : -s;
    CheckAll(extents, wide, src);
  }
}
TEST_P(CopyTest, ManyDimensions) {
  const Ints extents(12, 2), strides = RowMajor(extents);
  CheckAll(extents, strides, Ints(strides.rbegin(), strides.rend()));
}

TEST_P(CopyTest, Fills) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const int64_t n : {0, 1, 3, 16, 100, 257}) {
      const uint64_t pattern = 0x123456789abcdef0;
      std::vector<uint8_t> got(n * bytes + 1), want = got;
      for (int64_t i = 0; i < n; ++i) std::memcpy(&want[i * bytes], &pattern, bytes);
      Fill(got.data(), &pattern, bytes, n, GetParam());
      EXPECT_EQ(got, want);
    }
  }
}

TEST_P(CopyTest, Broadcasts) {
  struct Case {
    Ints from, to;
  };
  for (const Case& c : {Case{{1}, {64}}, Case{{1, 16}, {8, 16}}, Case{{8, 1}, {8, 32}}, Case{{2, 1, 4}, {2, 8, 4}},
                        Case{{1, 4, 1, 2}, {2, 4, 8, 2}}, Case{{1, 1}, {16, 1}}}) {
    for (const int bytes : {1, 2, 4, 8}) {
      const int64_t count = std::accumulate(c.to.begin(), c.to.end(), int64_t{1}, std::multiplies<>());
      const int64_t given = std::accumulate(c.from.begin(), c.from.end(), int64_t{1}, std::multiplies<>());
      std::vector<uint8_t> src(given * bytes), got(count * bytes), want = got;
      Random random(count);
      for (uint8_t& b : src) b = static_cast<uint8_t>(random.Bits());
      const Ints strides = RowMajor(c.from);
      for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, at = 0;
        for (size_t d = c.to.size(); d-- > 0; rest /= c.to[d]) at += c.from[d] == 1 ? 0 : rest % c.to[d] * strides[d];
        std::memcpy(&want[i * bytes], &src[at * bytes], bytes);
      }
      Broadcast(got.data(), c.to.data(), src.data(), c.from.data(), static_cast<int>(c.to.size()), bytes, GetParam());
      EXPECT_EQ(got, want) << testing::PrintToString(c.from) << " to " << testing::PrintToString(c.to);
    }
  }
}

TEST_P(CopyTest, NibblesLowHalfFirst) {
  // f4 values 0.5 and 1.5 have codes 1 and 3: the byte is 0x31.
  const uint8_t codes[] = {1, 0xf3};
  uint8_t byte = 0;
  StoreNibbles(&byte, 0, codes, 2, GetParam());
  EXPECT_EQ(byte, 0x31);
}
TEST_P(CopyTest, NibblesAtAnyOffset) {
  Random random(5);
  for (const int64_t first : {0, 1, 2, 7}) {
    for (const int64_t n : {0, 1, 2, 3, 31, 32, 64, 150}) {
      std::vector<uint8_t> packed(120), elements(n), loaded(n + 1, 0xa5);
      for (uint8_t& b : packed) b = static_cast<uint8_t>(random.Bits());
      for (uint8_t& b : elements) b = static_cast<uint8_t>(random.Bits());
      std::vector<uint8_t> want = packed;
      for (int64_t i = 0; i < n; ++i) {
        uint8_t& b = want[(first + i) / 2];
        b = (first + i) % 2 ? (b & 15) | elements[i] << 4 : (b & 0xf0) | (elements[i] & 15);
      }
      StoreNibbles(packed.data(), first, elements.data(), n, GetParam());
      EXPECT_EQ(packed, want);
      LoadNibbles(loaded.data(), packed.data(), first, n, GetParam());
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(loaded[i], elements[i] & 15);
      EXPECT_EQ(loaded[n], 0xa5);
    }
  }
}

TEST_P(CopyTest, Expand) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const int64_t run : {1, 2, 16, 32, 100}) {
      for (const int64_t count : {1, 2, 3, 16, 64}) {
        const int64_t n = 3 * run * count;
        std::vector<uint8_t> source(static_cast<size_t>(count * bytes)), got(static_cast<size_t>(n * bytes) + 1, 0xaa);
        Random random(static_cast<uint64_t>(n));
        for (uint8_t& b : source) b = static_cast<uint8_t>(random.Bits());
        std::vector<uint8_t> want = got;
        for (int64_t i = 0; i < n; ++i) std::memcpy(&want[i * bytes], &source[i / run % count * bytes], bytes);
        Expand(got.data(), source.data(), bytes, n, run, count, GetParam());
        ASSERT_EQ(got, want) << bytes << " " << run << " " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CopyTest, testing::ValuesIn(SupportedIsas()),
                         [](const auto& info) { return IsaName(info.param); });

}  // namespace
}  // namespace tile::vm
