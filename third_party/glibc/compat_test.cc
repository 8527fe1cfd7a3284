// The functions of compat.c, which this program's own definitions are, also where glibc has them.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <set>
#include <vector>

#include "gtest/gtest.h"

extern "C" {
extern char __libc_single_threaded;
void arc4random_buf(void* buffer, size_t size);
uint32_t arc4random(void);
}

constexpr int64_t kSecond = 1000000000;

namespace {

// glibc's is true before the first thread is made.
TEST(Compat, NeverSingleThreaded) { EXPECT_EQ(__libc_single_threaded, 0); }

TEST(Compat, FunctionsAreThoseOfCompat) {
  void* libc = dlopen("libc.so.6", RTLD_NOW);
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(dlsym(libc, "arc4random"), reinterpret_cast<void*>(&arc4random));
  EXPECT_NE(dlsym(libc, "arc4random_buf"), reinterpret_cast<void*>(&arc4random_buf));
  EXPECT_NE(dlsym(libc, "mallinfo2"), reinterpret_cast<void*>(&mallinfo2));
  EXPECT_NE(dlsym(libc, "pthread_cond_clockwait"), reinterpret_cast<void*>(&pthread_cond_clockwait));
}

TEST(Compat, RandomNumbersDiffer) {
  std::set<uint32_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(arc4random());
  EXPECT_GT(seen.size(), 990u);
}

// More than 256 bytes may come in parts. Nothing beyond the buffer is written.
TEST(Compat, RandomBytesFillTheBuffer) {
  for (size_t size : {0, 1, 255, 256, 257, 1000}) {
    std::vector<std::set<unsigned char>> values(size);
    for (int round = 0; round < 20; ++round) {
      std::vector<unsigned char> bytes(size + 1, 0xa5);
      arc4random_buf(bytes.data(), size);
      EXPECT_EQ(bytes[size], 0xa5);
      for (size_t i = 0; i < size; ++i) values[i].insert(bytes[i]);
    }
    for (size_t i = 0; i < size; ++i) EXPECT_GT(values[i].size(), 10u) << "byte " << i << " of " << size;
  }
}

int64_t Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

class Wait : public testing::Test {
 protected:
  Wait() { pthread_mutex_lock(&mutex_); }
  ~Wait() override { pthread_mutex_unlock(&mutex_); }
  int Until(clockid_t clock, int64_t at) {
    const timespec until = {at / kSecond, at % kSecond};
    return pthread_cond_clockwait(&condition_, &mutex_, clock, &until);
  }
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

TEST_F(Wait, EndsAtItsTime) {
  for (clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    const int64_t end = Now(clock) + kSecond / 50;
    int status;
    do status = Until(clock, end);
    while (status == 0);
    EXPECT_EQ(status, ETIMEDOUT);
    EXPECT_GE(Now(clock), end);
  }
}

TEST_F(Wait, ATimeThatIsOverEndsAtOnce) {
  EXPECT_EQ(Until(CLOCK_MONOTONIC, 0), ETIMEDOUT);
  EXPECT_EQ(Until(CLOCK_MONOTONIC, Now(CLOCK_MONOTONIC)), ETIMEDOUT);
}

// After a second as a spurious wakeup, not as the end of time, however far that is.
TEST_F(Wait, AFarTimeIsNotOver) {
  const int64_t start = Now(CLOCK_MONOTONIC);
  const timespec never = {INT64_MAX, 999999999};
  EXPECT_EQ(pthread_cond_clockwait(&condition_, &mutex_, CLOCK_MONOTONIC, &never), 0);
  EXPECT_GE(Now(CLOCK_MONOTONIC) - start, kSecond / 2);
}

TEST_F(Wait, NoTime) {
  const timespec wrong = {0, kSecond};
  EXPECT_EQ(pthread_cond_clockwait(&condition_, &mutex_, CLOCK_MONOTONIC, &wrong), EINVAL);
}

TEST(Compat, CountsMemory) {
  const size_t before = mallinfo2().uordblks;
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(malloc(1000));
  EXPECT_GE(mallinfo2().uordblks, before + 1000000);
  for (void* block : blocks) free(block);
}

}  // namespace
