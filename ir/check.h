// TILE_CHECK(condition, "what is wrong"): ends the process with file, line and text if a condition does not hold, in
// every build. For mistakes in this program, never for what a user or a file may say.
#ifndef TILE_IR_CHECK_H_
#define TILE_IR_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace tile::ir::internal {

[[noreturn]] __attribute__((cold)) inline void CheckFailed(const char* file, int line, const char* condition,
                                                           const char* what) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", file, line, what, condition);
  std::abort();
}

}  // namespace tile::ir::internal

#define TILE_CHECK(condition, what)                                            \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      ::tile::ir::internal::CheckFailed(__FILE__, __LINE__, #condition, what); \
  } while (false)

#endif  // TILE_IR_CHECK_H_
