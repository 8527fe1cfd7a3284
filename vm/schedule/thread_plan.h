// How many threads a launch takes, from what blocks took before. Nothing here looks at a clock: the scheduler measures.
//
// To start a thread costs as much as small kernels do in all. So a launch begins with as many as its blocks are worth, as
// the launch before it went, and starts the others when it takes much longer than was thought.
#ifndef TILE_VM_SCHEDULE_THREAD_PLAN_H_
#define TILE_VM_SCHEDULE_THREAD_PLAN_H_

#include <cstdint>

namespace tile::vm {

struct ThreadPlan {
  int first = 1;              // threads at the beginning, the caller's among them
  int all = 1;                // threads that there may be
  int64_t late_after_ns = 0;  // when the caller has worked so long, the others start
};

// Of `blocks` blocks on at most `threads` threads. `block_ns`: what a block is thought to take (ThoughtBlockNs); 0: nothing
// is known, and all threads begin.
ThreadPlan PlanThreads(int64_t block_ns, int64_t blocks, int threads);

// What the next launch thinks that a block takes, after one in which it took `measured_ns`. `before_ns`: what was thought
// before that, 0 if nothing. One launch counts at most four times as much as those before it: the system may have stopped
// the thread for a while.
int64_t ThoughtBlockNs(int64_t before_ns, int64_t measured_ns);

}  // namespace tile::vm

#endif  // TILE_VM_SCHEDULE_THREAD_PLAN_H_
