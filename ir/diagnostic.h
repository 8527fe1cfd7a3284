// What is wrong with an input, where, and how to fix it. Readers and the verifier collect diagnostics and go on as far as
// they can; the tool prints them as
//   file:line:col: error[code]: what is wrong
//     fix: how to fix it
//
//   Diagnostics d;
//   d.Error("addi.types", module.Where(op->loc, op->pos), "lhs is tile<4xf32>, addi takes integers");
//   if (!d.ok()) return d.ToStatus();             // InvalidArgument with all of them, one a line
//
// Not thread-safe.
#ifndef TILE_IR_DIAGNOSTIC_H_
#define TILE_IR_DIAGNOSTIC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tile::ir {

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;   // stable, e.g. "atomic_rmw_tko.c3"
  std::string where;  // "file:line:col"
  std::string message;
  std::string fix;      // may be empty
  std::string excerpt;  // source line with a caret below, may be empty

  std::string ToString() const;
};

class Diagnostics {
 public:
  // Collecting stops after `limit` errors: hostile input must not fill memory.
  explicit Diagnostics(size_t limit = 100) : limit_(limit) {}

  void Error(absl::string_view code, absl::string_view where, absl::string_view message, absl::string_view fix = "",
             absl::string_view excerpt = "");
  void Warning(absl::string_view code, absl::string_view where, absl::string_view message, absl::string_view fix = "");

  bool ok() const { return errors_ == 0; }
  size_t num_errors() const { return errors_; }
  bool full() const { return errors_ >= limit_; }
  const std::vector<Diagnostic>& list() const { return list_; }
  std::string ToString() const;   // one after the other, each ending in a newline
  absl::Status ToStatus() const;  // OkStatus if there is no error

 private:
  void Add(Severity severity, absl::string_view code, absl::string_view where, absl::string_view message,
           absl::string_view fix, absl::string_view excerpt);
  size_t limit_;
  size_t errors_ = 0;
  std::vector<Diagnostic> list_;
};

}  // namespace tile::ir

#endif  // TILE_IR_DIAGNOSTIC_H_
