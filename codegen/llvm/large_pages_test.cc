#include "codegen/llvm/large_pages.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// Whether the system was asked for large pages for a part of the heap.
bool HeapIsOfLargePages() {
  std::ifstream maps("/proc/self/smaps");
  bool heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[heap]") != std::string::npos) heap = true;
    if (line.rfind("VmFlags:", 0) != 0) continue;
    std::istringstream flags(line);
    for (std::string flag; heap && flags >> flag;) {
      if (flag == "hg") return true;
    }
    heap = false;
  }
  return false;
}

TEST(LargePages, AreAskedForTheHeap) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "malloc is the sanitizer's";
#endif
  struct stat folder;
  if (stat("/sys/kernel/mm/transparent_hugepage", &folder) != 0) GTEST_SKIP() << "the system has no large pages";
  ASSERT_FALSE(HeapIsOfLargePages());
  TakeLargePages();
  EXPECT_TRUE(HeapIsOfLargePages());
}

}  // namespace
}  // namespace tile::codegen
