#include "ir/diagnostic.h"

#include "absl/strings/str_cat.h"

namespace tile::ir {

std::string Diagnostic::ToString() const {
  std::string s =
      absl::StrCat(where, ": ", severity == Severity::kError ? "error" : "warning", "[", code, "]: ", message);
  if (!excerpt.empty()) absl::StrAppend(&s, "\n", excerpt);
  if (!fix.empty()) absl::StrAppend(&s, "\n  fix: ", fix);
  return s;
}

void Diagnostics::Add(Severity severity, absl::string_view code, absl::string_view where, absl::string_view message,
                      absl::string_view fix, absl::string_view excerpt) {
  if (severity == Severity::kError) {
    if (full()) return;
    ++errors_;
  } else if (list_.size() >= 2 * limit_) {
    return;
  }
  list_.push_back(
      {severity, std::string(code), std::string(where), std::string(message), std::string(fix), std::string(excerpt)});
}

void Diagnostics::Error(absl::string_view code, absl::string_view where, absl::string_view message,
                        absl::string_view fix, absl::string_view excerpt) {
  Add(Severity::kError, code, where, message, fix, excerpt);
}

void Diagnostics::Warning(absl::string_view code, absl::string_view where, absl::string_view message,
                          absl::string_view fix) {
  Add(Severity::kWarning, code, where, message, fix, "");
}

std::string Diagnostics::ToString() const {
  std::string s;
  for (const Diagnostic& d : list_) absl::StrAppend(&s, d.ToString(), "\n");
  return s;
}

absl::Status Diagnostics::ToStatus() const {
  if (ok()) return absl::OkStatus();
  std::string s;
  for (const Diagnostic& d : list_) {
    if (d.severity == Severity::kError) absl::StrAppend(&s, s.empty() ? "" : "\n", d.ToString());
  }
  return absl::InvalidArgumentError(s);
}

}  // namespace tile::ir
