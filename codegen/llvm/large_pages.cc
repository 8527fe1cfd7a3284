#include "codegen/llvm/large_pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace tile::codegen {

void TakeLargePages() {
#ifdef __GLIBC__
  constexpr uintptr_t kPage = uintptr_t{2} << 20;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 32 << 20);  // address space; memory is taken as it is used
  // More than is free at the end of the heap, so that it grows now.
  void* const more = std::malloc(size_t{120} << 10);
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(more) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  if (more != nullptr && end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(more);
#endif
}

}  // namespace tile::codegen
