#include "vm/check/check_memory.h"

#include <random>

#include "gtest/gtest.h"

namespace tile::vm {
namespace {

// Any sequence of accesses leaves the history that one cell a byte would have, in runs and in cells.
TEST(Chunk, AgreesWithACellPerByte) {
  std::mt19937 random(3);
  for (const int accesses : {20, 2000}) {
    Chunk chunk;
    std::vector<Cell> bytes(Chunk::kBytes);
    for (int i = 1; i <= accesses; ++i) {
      const int shift = static_cast<int>(random() % 4);
      const uint64_t elements = Chunk::kBytes >> shift;
      const uint64_t first = random() % elements,
                     n = 1 + random() % std::min<uint64_t>(elements - first, i % 3 == 0 ? 4096 : 8);
      const uint64_t offset = first << shift, end = (first + n) << shift;
      uint64_t seen = offset;
      chunk.Update(offset, end - offset, shift, [&](const Cell& old, uintptr_t at) {
        // Stretches come in order and hold one history each.
        EXPECT_GE(at, seen);
        EXPECT_LT(at, end);
        EXPECT_EQ(old, bytes[at]);
        seen = at;
        return Cell{static_cast<uint32_t>(i), old.write};
      });
      for (uint64_t k = offset; k < end; ++k) bytes[k] = {static_cast<uint32_t>(i), bytes[k].write};
      if (i % 97 != 0 && i != accesses) continue;
      for (uint64_t k = 0; k < Chunk::kBytes; ++k) ASSERT_EQ(chunk.At(k), bytes[k]) << "byte " << k << " after " << i;
    }
  }
}

TEST(Region, RemembersWhatWasWritten) {
  Allocation a;
  a.begin = 5000;
  a.bytes = 10000;
  a.initialized = false;
  ShadowMemory memory;
  memory.Add(a);
  Region* r = memory.Find(5000, 10000);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(memory.Find(4999, 1), nullptr);
  EXPECT_EQ(memory.Find(14999, 2), nullptr);
  EXPECT_EQ(r->OriginOf(5000), kNeverWritten);
  r->SetOrigins(6000, 8000, nullptr);
  EXPECT_EQ(r->OriginOf(5999), kNeverWritten);
  EXPECT_EQ(r->OriginOf(6000), 0);
  EXPECT_EQ(r->OriginOf(13999), 0);
  EXPECT_EQ(r->OriginOf(14000), kNeverWritten);
  const std::vector<uint8_t> seven(100, 7);
  r->SetOrigins(8150, 100, seven.data());
  std::vector<uint8_t> got(102);
  r->GetOrigins(8149, 102, got.data());
  EXPECT_EQ(got.front(), 0);
  EXPECT_EQ(got.back(), 0);
  EXPECT_EQ(std::vector<uint8_t>(got.begin() + 1, got.end() - 1), seven);
  memory.Remove(a);
  EXPECT_EQ(memory.Find(5000, 1), nullptr);
}

}  // namespace
}  // namespace tile::vm
