// What headers and libraries of Debian 12 use and glibc 2.28 lacks, for programs that install.sh's folder links. Hidden: each program has
// its own. Functions that glibc 2.33 made real (stat, fstat, lstat, mknod) are in libc_nonshared.a, as glibc 2.28 has them.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// glibc 2.32. The C++ library counts references without atomic instructions where it says that there is one thread. "No" is always right.
char __libc_single_threaded = 0;

// glibc 2.36, of the C++ library's random_device and of LLVM's names of temporary files. getrandom (glibc 2.25) fails only if a signal comes
// before the kernel has random numbers, or in a kernel older than 3.17.
void arc4random_buf(void* buffer, size_t size) {
  char* at = buffer;
  while (size > 0) {
    ssize_t got = getrandom(at, size, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) {
      at += got;
      size -= (size_t)got;
    }
  }
}

uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}

// glibc 2.30, of std::condition_variable's wait_for and wait_until. The older function takes the time of day, which may be set: a wait lasts
// at most a second and then ends as a spurious wakeup, which callers expect anyway.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  enum { kSecond = 1000000000 };
  struct timespec now, end;
  if (until->tv_nsec < 0 || until->tv_nsec >= kSecond || clock_gettime(clock, &now) != 0) return EINVAL;
  // Seconds first: nanoseconds of a far end exceed 64 bits.
  int64_t seconds = (int64_t)until->tv_sec - now.tv_sec, left = kSecond;
  if (seconds < -1) left = 0;
  if (seconds >= -1 && seconds <= 1) left = seconds * kSecond + until->tv_nsec - now.tv_nsec;
  if (left < 0) left = 0;
  if (left > kSecond) left = kSecond;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += (end.tv_nsec + left) / kSecond;
  end.tv_nsec = (end.tv_nsec + left) % kSecond;
  int status = pthread_cond_timedwait(condition, mutex, &end);
  if (status != ETIMEDOUT) return status;
  clock_gettime(clock, &now);
  return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec) ? ETIMEDOUT : 0;
}

// glibc 2.33, of LLVM's count of memory. The older function has numbers of 32 bits.
struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  struct mallinfo old = mallinfo();
#pragma GCC diagnostic pop
  struct mallinfo2 info = {(unsigned)old.arena,    (unsigned)old.ordblks, (unsigned)old.smblks,  (unsigned)old.hblks,
                           (unsigned)old.hblkhd,   (unsigned)old.usmblks, (unsigned)old.fsmblks, (unsigned)old.uordblks,
                           (unsigned)old.fordblks, (unsigned)old.keepcost};
  return info;
}
