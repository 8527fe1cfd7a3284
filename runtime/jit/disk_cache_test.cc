#include "runtime/jit/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

constexpr uint64_t kPlenty = 1 << 24;

DiskCache::Key KeyOf(int n) {
  const auto u = static_cast<uint8_t>(n);
  return ir::Sha256({&u, 1});
}

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = absl::StrCat(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : "/tmp", "/cache-XXXXXX");
    folder_ = absl::StrCat(mkdtemp(name.data()), "/a/b");
  }
  std::unique_ptr<DiskCache> Open(uint64_t most = kPlenty) {
    absl::StatusOr<std::unique_ptr<DiskCache>> cache = DiskCache::Open(folder_, most);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return cache.ok() ? *std::move(cache) : nullptr;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    DIR* d = opendir(folder_.c_str());
    while (const dirent* e = readdir(d)) {
      if (e->d_name[0] != '.') names.emplace_back(e->d_name);
    }
    closedir(d);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string OnlyFile() const { return absl::StrCat(folder_, "/", Files().at(0)); }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
  }
  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static void SetAge(const std::string& path, int seconds) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  std::string folder_;
};

TEST_F(DiskCacheTest, KeepsWhatWasPut) {
  auto cache = Open();
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt);
  const std::string binary("a\0b\xff", 4);
  ASSERT_TRUE(cache->Put(KeyOf(1), binary).ok());
  ASSERT_TRUE(cache->Put(KeyOf(2), "").ok());
  EXPECT_EQ(cache->Get(KeyOf(1)), binary);
  EXPECT_EQ(cache->Get(KeyOf(2)), "");
  EXPECT_EQ(cache->Get(KeyOf(3)), std::nullopt);
  ASSERT_TRUE(cache->Put(KeyOf(1), "new").ok());
  EXPECT_EQ(Open()->Get(KeyOf(1)), "new") << "another process finds it, too";
  EXPECT_EQ(Files().size(), 2);
  struct stat s;
  ASSERT_EQ(stat(folder_.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(OnlyFile().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, EveryTruncationIsMissedAndRemoved) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(KeyOf(1), "machine code").ok());
  const std::string path = OnlyFile(), whole = Read(path);
  for (size_t n = 0; n < whole.size(); ++n) {
    Write(path, whole.substr(0, n));
    EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt) << n;
    EXPECT_TRUE(Files().empty()) << n;
  }
  Write(path, whole + "x");
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt) << "longer";
  Write(path, whole);
  EXPECT_EQ(cache->Get(KeyOf(1)), "machine code") << "the loop above damaged nothing else";
}

TEST_F(DiskCacheTest, EveryFlippedBitIsMissedAndRemoved) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(KeyOf(1), "machine code").ok());
  const std::string path = OnlyFile(), whole = Read(path);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    Write(path, damaged);
    EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt) << bit;
    EXPECT_TRUE(Files().empty()) << bit;
  }
}

TEST_F(DiskCacheTest, AnotherKeysEntryIsNotTaken) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(KeyOf(1), "one").ok());
  const std::string one = OnlyFile();
  ASSERT_TRUE(cache->Put(KeyOf(2), "two").ok());
  const std::vector<std::string> both = Files();
  const std::string two = absl::StrCat(folder_, "/", both[0]) == one ? both[1] : both[0];
  ASSERT_EQ(rename(absl::StrCat(folder_, "/", two).c_str(), one.c_str()), 0);
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt);
}

TEST_F(DiskCacheTest, WhatIsNoFileIsMissed) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put(KeyOf(1), "one").ok());
  const std::string path = OnlyFile(), elsewhere = folder_ + "/../elsewhere";
  ASSERT_EQ(rename(path.c_str(), elsewhere.c_str()), 0);
  ASSERT_EQ(symlink(elsewhere.c_str(), path.c_str()), 0);
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt) << "links are not followed";
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(cache->Put(KeyOf(1), "one")), "jit.cache");
  EXPECT_EQ(Files().size(), 1) << "no temporary file is left";
}

TEST_F(DiskCacheTest, WhatWasNotUsedForLongGoesFirst) {
  const std::string contents(1000, 'x');
  {
    auto cache = Open();
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(cache->Put(KeyOf(i), contents).ok());
      for (const std::string& f : Files()) {
        struct stat s;
        ASSERT_EQ(stat(absl::StrCat(folder_, "/", f).c_str(), &s), 0);
        SetAge(absl::StrCat(folder_, "/", f),
               static_cast<int>(time(nullptr) - s.st_mtim.tv_sec) + 100);  // 0 is the oldest
      }
    }
    EXPECT_TRUE(cache->Get(KeyOf(1)).has_value());  // used now
  }
  auto cache = Open(3 * 1100);
  ASSERT_TRUE(cache->Put(KeyOf(4), contents).ok());
  EXPECT_EQ(cache->Get(KeyOf(0)), std::nullopt);
  EXPECT_EQ(cache->Get(KeyOf(2)), std::nullopt);
  for (const int i : {1, 3, 4}) EXPECT_EQ(cache->Get(KeyOf(i)), contents) << i;
}

TEST_F(DiskCacheTest, LimitHolds) {
  auto cache = Open(10000);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(cache->Put(KeyOf(i), std::string(1000 + 10 * i, 'x')).ok());
    uint64_t total = 0;
    for (const std::string& f : Files()) {
      struct stat s;
      ASSERT_EQ(stat(absl::StrCat(folder_, "/", f).c_str(), &s), 0);
      total += s.st_size;
    }
    ASSERT_LE(total, 10000);
    ASSERT_TRUE(cache->Get(KeyOf(i)).has_value()) << "the newest stays";
  }
  EXPECT_TRUE(cache->Put(KeyOf(200), std::string(10000, 'x')).ok());
  EXPECT_EQ(cache->Get(KeyOf(200)), std::nullopt) << "larger than the limit";
}

TEST_F(DiskCacheTest, FilesOfOthersStay) {
  auto cache = Open(2000);
  Write(folder_ + "/README", std::string(5000, 'x'));
  ASSERT_TRUE(cache->Put(KeyOf(1), std::string(1000, 'x')).ok());
  const std::string entry = Files()[0] == "README" ? Files()[1] : Files()[0];
  const std::string abandoned = absl::StrCat(folder_, "/", entry, ".tmp.1.0.0"),
                    fresh = absl::StrCat(folder_, "/", entry, ".tmp.2.0.0");
  Write(abandoned, "x");
  Write(fresh, "x");
  SetAge(abandoned, 7200);
  SetAge(folder_ + "/README", 7200);
  ASSERT_TRUE(cache->Put(KeyOf(2), std::string(1000, 'x')).ok());
  EXPECT_NE(access(abandoned.c_str(), F_OK), 0);
  EXPECT_EQ(access(fresh.c_str(), F_OK), 0) << "somebody is writing it";
  EXPECT_EQ(access((folder_ + "/README").c_str(), F_OK), 0);
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt);
  EXPECT_TRUE(cache->Get(KeyOf(2)).has_value());
}

TEST_F(DiskCacheTest, FolderThatCannotBeUsed) {
  Open();
  Write(folder_ + "/file", "x");
  for (const std::string& bad : {folder_ + "/file", folder_ + "/file/below", std::string("/proc/none/such")}) {
    const auto cache = DiskCache::Open(bad, kPlenty);
    EXPECT_EQ(ErrorCodeOf(cache.status()), "jit.cache") << bad;
    EXPECT_EQ(cache.status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(DiskCacheTest, FolderOfOthers) {
  Open();
  for (const mode_t mode : {0770, 0707}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(ErrorCodeOf(DiskCache::Open(folder_, kPlenty).status()), "jit.cache");
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  Open();
}

TEST_F(DiskCacheTest, FolderThatIsRemovedMeanwhile) {
  auto cache = Open();
  ASSERT_EQ(rmdir(folder_.c_str()), 0);
  EXPECT_EQ(cache->Get(KeyOf(1)), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(cache->Put(KeyOf(1), "one")), "jit.cache");
}

// Contents that tell which key they are of, and are long enough that a mixture would show.
std::string ContentsOf(int key, int version) {
  return std::string(20000 + 100 * version, static_cast<char>('a' + key)) + std::to_string(key);
}
bool IsOf(int key, const std::string& contents) {
  for (int v = 0; v < 8; ++v) {
    if (contents == ContentsOf(key, v)) return true;
  }
  return false;
}

// Puts and gets a few keys; the number of hits, or -1 if something else than what was put came out.
int Work(DiskCache& cache, unsigned seed, int rounds) {
  int hits = 0;
  for (int i = 0; i < rounds; ++i) {
    seed = seed * 1103515245 + 12345;
    const int key = static_cast<int>(seed >> 16) % 5;
    if ((seed >> 24) % 2 == 0) {
      if (!cache.Put(KeyOf(key), ContentsOf(key, static_cast<int>(seed >> 20) % 8)).ok()) return -1;
    } else if (const auto found = cache.Get(KeyOf(key))) {
      if (!IsOf(key, *found)) return -1;
      ++hits;
    }
  }
  return hits;
}

// The limit holds three of the five entries, so that entries go while others read them.
TEST_F(DiskCacheTest, ManyThreads) {
  auto cache = Open(70000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0, hits = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const int n = Work(*cache, static_cast<unsigned>(t), 300);
      n < 0 ? ++wrong : hits += n;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 50);
  for (const std::string& f : Files()) EXPECT_FALSE(absl::StrContains(f, ".tmp.")) << f;
}

TEST_F(DiskCacheTest, ManyProcesses) {
  Open();
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      absl::StatusOr<std::unique_ptr<DiskCache>> cache = DiskCache::Open(folder_, 70000);
      _exit(!cache.ok() || Work(**cache, static_cast<unsigned>(100 + p), 300) <= 0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

// A writer that dies at any moment leaves no entry that is not whole.
TEST_F(DiskCacheTest, KilledWriters) {
  auto cache = Open();
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (;;) Work(*cache, static_cast<unsigned>(i), 100);
    }
    usleep(1000 * (i + 1));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    for (int key = 0; key < 5; ++key) {
      const auto found = cache->Get(KeyOf(key));
      EXPECT_TRUE(!found || IsOf(key, *found));
    }
  }
}

}  // namespace
}  // namespace tile::runtime
