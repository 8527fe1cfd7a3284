// Text output, and how files come into being.

#include "tools/data/write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/files.h"

namespace tile::tools {
namespace {

using ir::Elem;

std::string Txt(const Array& a) {
  EXPECT_OK(WriteArray(TestPath("o.txt"), a));
  return ReadTestFile(TestPath("o.txt"));
}

TEST(WriteTest, Text) {
  EXPECT_EQ(Txt(Floats({}, {1.5})), "1.5\n");
  EXPECT_EQ(Txt(Floats({3}, {1, 0.1f, -2})), "1\n0.1\n-2\n");
  EXPECT_EQ(Txt(Floats({2, 2}, {1, 2, 3, 4})), "1 2\n3 4\n");
  EXPECT_EQ(Txt(Floats({2, 2, 1}, {1, 2, 3, 4})), "1\n2\n\n3\n4\n");
  EXPECT_EQ(Txt(Floats({0, 2}, {})), "");
  EXPECT_EQ(Txt(Bits(Elem::kI8, {1, 2}, {255, 1})), "-1 1\n");
}

TEST(WriteTest, UnknownExtension) {
  EXPECT_FAILS(CheckOutputPath("x.jpg"), "x.jpg: the extension does not say the form; .npy, .npz");
  EXPECT_FAILS(WriteArray("x", Floats({1}, {1})), "the extension does not say the form");
  for (const char* path : {"-", "-.txt", "a.NPY", "b.safetensors"}) EXPECT_OK(CheckOutputPath(path));
}

bool Exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

// The temporary name does not survive, whatever happens.
TEST(OutputFileTest, AllOrNothing) {
  const std::string path = TestPath("f.bin"), temp = absl::StrCat(path, ".tmp.", getpid());
  WriteTestFile(path, "old");
  {
    OutputFile out;
    ASSERT_TRUE(out.Open(path).ok());
    ASSERT_TRUE(out.Write(std::string(100000, 'x')).ok());
    EXPECT_TRUE(Exists(temp));
    EXPECT_EQ(ReadTestFile(path), "old");
  }
  EXPECT_FALSE(Exists(temp));
  EXPECT_EQ(ReadTestFile(path), "old");
  {
    OutputFile out;
    ASSERT_TRUE(out.Open(path).ok());
    ASSERT_TRUE(out.Write("new").ok());
    ASSERT_TRUE(out.Commit().ok());
  }
  EXPECT_FALSE(Exists(temp));
  EXPECT_EQ(ReadTestFile(path), "new");
}

TEST(OutputFileTest, KeepsLinksAndModes) {
  const std::string target = TestPath("target.bin"), link = TestPath("link.bin");
  WriteTestFile(target, "old");
  chmod(target.c_str(), 0640);
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteArray(link, Bits(Elem::kI8, {2}, {'h', 'i'})).ok());
  struct stat info;
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(ReadTestFile(target), "hi");
  ASSERT_EQ(stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(OutputFileTest, Failures) {
  EXPECT_FAILS(WriteArray(TestPath("no/such/dir/x.npy"), Floats({1}, {1})), "cannot be created");
  mkdir(TestPath("dir.npy").c_str(), 0777);
  EXPECT_FAILS(WriteArray(TestPath("dir.npy"), Floats({1}, {1})), "dir.npy: cannot be written: Is a directory");
  // A device is written, not replaced.
  const std::string null = TestPath("null.bin");
  ASSERT_EQ(symlink("/dev/null", null.c_str()), 0);
  ASSERT_TRUE(WriteArray(null, Floats({1}, {1})).ok());
  struct stat info;
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  const std::string full = TestPath("full.npy");
  ASSERT_EQ(symlink("/dev/full", full.c_str()), 0);
  EXPECT_FAILS(WriteArray(full, Floats({1}, {1})), "full.npy: cannot be written: No space left on device");
}

TEST(FilesTest, ReadsEveryKind) {
  EXPECT_FAILS(ReadWholeFile("/nonexistent").status(), "/nonexistent: cannot be opened: No such file");
  EXPECT_GT(ReadWholeFile("/proc/self/status")->size(), 100u);  // says it has size 0
  EXPECT_EQ(ReadWholeFile("/dev/null")->size(), 0u);
  const std::string large(3000001, 'x');
  WriteTestFile(TestPath("large"), large);
  EXPECT_EQ(BytesText(*ReadWholeFile(TestPath("large"))), large);
  const std::string fifo = TestPath("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(std::system(absl::StrCat("cat ", TestPath("large"), " > ", fifo, " &").c_str()), 0);
  EXPECT_EQ(BytesText(*ReadWholeFile(fifo)), large);
}

}  // namespace
}  // namespace tile::tools
