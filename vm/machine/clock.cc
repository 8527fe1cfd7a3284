#include "vm/machine/clock.h"

#include <time.h>

namespace tile::vm {
namespace {

int64_t Ask(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

}  // namespace

int64_t SteadyNs() { return Ask(CLOCK_MONOTONIC); }
int64_t ThreadNs() { return Ask(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace tile::vm
