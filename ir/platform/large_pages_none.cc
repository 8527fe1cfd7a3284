// macOS on Arm has pages of one size. Windows gives large ones to privileged programs alone.
#include "ir/platform/memory.h"

namespace tile::platform {

void PreferLargePages(void* /*memory*/, size_t /*bytes*/) {}

}  // namespace tile::platform
