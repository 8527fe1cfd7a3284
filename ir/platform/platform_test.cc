#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "ir/platform/library.h"
#include "ir/platform/memory.h"
#include "ir/platform/processor.h"

namespace tile::platform {
namespace {

TEST(Memory, PagesAreZeroAndCanBeWritten) {
  constexpr size_t kBytes = 3 << 20;
  auto* pages = static_cast<uint8_t*>(MapPages(kBytes));
  ASSERT_NE(pages, nullptr);
  for (size_t i = 0; i < kBytes; i += 4096) ASSERT_EQ(pages[i], 0) << i;
  std::memset(pages, 1, kBytes);
  EXPECT_EQ(pages[kBytes - 1], 1);
  UnmapPages(pages, kBytes);
}

TEST(Memory, MorePagesThanThereAreIsNull) { EXPECT_EQ(MapPages(std::numeric_limits<size_t>::max() / 2), nullptr); }

TEST(Memory, Alignment) {
  for (const size_t alignment : {size_t{1}, size_t{8}, size_t{256}, size_t{4096}, size_t{1} << 20}) {
    for (const size_t bytes : {size_t{0}, size_t{1}, alignment + 1}) {
      void* p = AllocateAligned(alignment, bytes);
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
      std::memset(p, 1, bytes);
      FreeAligned(p);
    }
  }
  FreeAligned(nullptr);
  EXPECT_EQ(AllocateAligned(64, std::numeric_limits<size_t>::max() / 2), nullptr);
}

TEST(Memory, LargePagesKeepContents) {
  constexpr size_t kBytes = 8 << 20;
  auto* pages = static_cast<uint8_t*>(MapPages(kBytes));
  ASSERT_NE(pages, nullptr);
  pages[kBytes - 1] = 7;
  PreferLargePages(pages, kBytes);
  EXPECT_EQ(pages[kBytes - 1], 7);
  UnmapPages(pages, kBytes);
}

TEST(Memory, PhysicalMemory) {
  EXPECT_GT(PhysicalMemory(), uint64_t{1} << 26);
  EXPECT_LT(PhysicalMemory(), uint64_t{1} << 50);
}

TEST(Library, NameThatNobodyHasIsAbsent) {
  LibraryError error;
  EXPECT_EQ(OpenLibrary("libtilevm_that_nobody_has.so.1", &error), nullptr);
  EXPECT_TRUE(error.is_absent);
  EXPECT_NE(error.reason, "");
}

TEST(Library, FileThatIsNoLibraryIsNotAbsent) {
  const std::string path = testing::TempDir() + "/text.so";
  FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("text", file);
  std::fclose(file);
  LibraryError error;
  EXPECT_EQ(OpenLibrary(path, &error), nullptr);
  EXPECT_FALSE(error.is_absent) << error.reason;
  std::remove(path.c_str());
}

#if defined(__x86_64__)
TEST(Processor, LevelIsThatOfTheCompilersLibrary) {
  EXPECT_EQ(X86Level() >= 2, __builtin_cpu_supports("x86-64-v2") != 0);
  EXPECT_EQ(X86Level() >= 3, __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ(X86Level() >= 4, __builtin_cpu_supports("x86-64-v4") != 0);
}
#else
TEST(Processor, OthersHaveNoLevel) { EXPECT_EQ(X86Level(), 0); }
#endif

}  // namespace
}  // namespace tile::platform
