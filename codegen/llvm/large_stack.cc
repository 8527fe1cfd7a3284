#include "codegen/llvm/large_stack.h"

#include <sys/resource.h>

#include <algorithm>

namespace tile::codegen {

void TakeLargeStack() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) return;
  // The system asks for the limit each time the stack grows, so this holds from now on.
  limit.rlim_cur = std::min<rlim_t>(kStackBytes, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace tile::codegen
