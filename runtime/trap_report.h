// What a kernel did wrong, inside the Aborted status that says so: its message is the text for people, the report can be
// taken out again by programs.
//
//   absl::Status s = TrapStatus({"vm.assert", "k.tile:3:1", "k", {0, 0, 0}, "assert", "n must be even"});
//   s.message();                  // "k.tile:3:1: error[vm.assert]: n must be even\n  in kernel `k`, block (0, 0, 0), at assert"
//   FindTrapReport(s)->code;      // "vm.assert"
//
// Pure and thread-safe.
#ifndef TILE_RUNTIME_TRAP_REPORT_H_
#define TILE_RUNTIME_TRAP_REPORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace tile::runtime {

struct TrapReport {
  std::string code;     // stable
  std::string where;    // file:line:col
  std::string kernel;
  std::array<int64_t, 3> block = {0, 0, 0};
  std::string op;       // mnemonic; may be empty
  std::string message;

  std::string ToString() const;  // as the VM writes it
};

absl::Status TrapStatus(const TrapReport& report);
// Nothing if the status carries none.
std::optional<TrapReport> FindTrapReport(const absl::Status& status);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_TRAP_REPORT_H_
