#include "tests/gpu_sim/tensor/tensor_memory.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

TensorMemory::Request Columns(uint32_t n, int group = 1) { return {n, group, 7}; }

void Says(const absl::Status& s, absl::string_view text) {
  EXPECT_FALSE(s.ok());
  EXPECT_TRUE(absl::StrContains(s.message(), text)) << s;
}

TEST(TensorMemory, PlacesAreFreeAndAligned) {
  TensorMemory m;
  EXPECT_EQ(*m.Places(Columns(256)), (std::vector<uint32_t>{0, 256}));
  m.Take(256, Columns(256), 0xFF);
  EXPECT_EQ(*m.Places(Columns(128)), (std::vector<uint32_t>{0, 128}));
  m.Take(0, Columns(256), 0xFF);
  EXPECT_TRUE(m.Places(Columns(32))->empty());
  EXPECT_TRUE(m.Free(256, 256, 1).ok());
  EXPECT_EQ(m.Places(Columns(32))->size(), 8u);
}

TEST(TensorMemory, SizesArePowersOfTwo) {
  TensorMemory m;
  for (const uint32_t n : {0u, 16u, 48u, 1024u}) Says(m.Places(Columns(n)).status(), "power of two");
}

TEST(TensorMemory, CellsOfFreshColumnsAreGarbage) {
  TensorMemory m;
  m.Take(32, Columns(32), 0x5A);
  EXPECT_EQ(**m.Row(127, 63, 1), 0x5A5A5A5Au);
  **m.Row(3, 40, 1) = 1;
  EXPECT_TRUE(m.Free(32, 32, 1).ok());
  m.Take(32, Columns(32), 0x7F);
  EXPECT_EQ(**m.Row(3, 40, 1), 0x7F7F7F7Fu);
}

TEST(TensorMemory, OnlyAllocatedCells) {
  TensorMemory m;
  m.Take(32, Columns(32), 0);
  EXPECT_TRUE(m.Row(0, 32, 32).ok());
  Says(m.Row(0, 31, 2).status(), "allocated are columns 32 to 63 (line 7)");
  Says(m.Row(0, 40, 32).status(), "columns 40 to 71");
  Says(m.Row(128, 32, 1).status(), "lane 128");
  Says(m.Row(0, 511, 2).status(), "columns 511 to 512");
}

TEST(TensorMemory, FreesWhatWasAllocated) {
  TensorMemory m;
  m.Take(64, Columns(64), 0);
  Says(m.CheckEnd(), "columns 64 to 127 (line 7)");
  Says(m.Free(64, 32, 1), "no alloc gave");
  Says(m.Free(0, 64, 1), "no alloc gave");
  Says(m.Free(64 | 16 << 16, 64, 1), "no alloc gave");
  EXPECT_TRUE(m.Free(64, 64, 1).ok());
  Says(m.Free(64, 64, 1), "no columns are allocated");
  EXPECT_TRUE(m.CheckEnd().ok());
}

TEST(TensorMemory, NoAllocWithoutPermit) {
  TensorMemory m;
  EXPECT_TRUE(m.Relinquish(1).ok());
  Says(m.Places(Columns(32)).status(), "relinquish_alloc_permit");
}

TEST(TensorMemory, OneGroupInAKernel) {
  TensorMemory m;
  EXPECT_TRUE(m.Places(Columns(32, 2)).ok());
  Says(m.Places(Columns(32, 1)).status(), "cta_group::1");
  Says(m.Relinquish(1), "cta_group::2");
}

}  // namespace
}  // namespace tile::gpu_sim
