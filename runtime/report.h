// What kernels did wrong, inside the Aborted status that says so: its message is the text for people, the reports can be
// taken out again by programs. All devices trap with such a status.
//
//   absl::Status s = ReportStatus({report, another});
//   s.message();             // what ToString says of each, one after the other
//   ReportsOf(s)[0].code;    // "vm.assert"
//
// Pure and thread-safe.
#ifndef TILE_RUNTIME_REPORT_H_
#define TILE_RUNTIME_REPORT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/run_report.h"

namespace tile::runtime {

using Report = ir::RunReport;

absl::Status ReportStatus(absl::Span<const Report> reports);
// With another text, for a fault that is not about a place of the program.
absl::Status ReportStatus(absl::Span<const Report> reports, absl::string_view text);

// None if the status carries none.
std::vector<Report> ReportsOf(const absl::Status& status);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_REPORT_H_
