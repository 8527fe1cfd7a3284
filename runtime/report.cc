#include "runtime/report.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tile::runtime {
namespace {

// Fields one after the other, each with its size before it: "9:vm.assert".
constexpr char kPayload[] = "tilevm/reports";

}  // namespace

absl::Status ReportStatus(absl::Span<const Report> reports) {
  return ReportStatus(reports, absl::StrJoin(reports, "\n", [](std::string* out, const Report& r) {
                        absl::StrAppend(out, r.ToString());
                      }));
}

absl::Status ReportStatus(absl::Span<const Report> reports, absl::string_view text) {
  std::string payload;
  const auto add = [&payload](absl::string_view field) { absl::StrAppend(&payload, field.size(), ":", field); };
  for (const Report& r : reports) {
    add(absl::StrCat(r.warning));
    for (const auto* block : {&r.block, &r.first_other, &r.last_other}) {
      for (const int64_t b : *block) add(absl::StrCat(b));
    }
    add(absl::StrCat(r.others));
    for (const std::string* field : {&r.code, &r.where, &r.kernel, &r.op, &r.message, &r.elements, &r.fix, &r.order})
      add(*field);
  }
  absl::Status status = absl::AbortedError(text);
  status.SetPayload(kPayload, absl::Cord(payload));
  return status;
}

std::vector<Report> ReportsOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return {};
  const std::string text(*payload);
  absl::string_view rest = text;
  const auto take = [&rest] {
    const size_t colon = rest.find(':');
    size_t size = 0;
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(0, colon), &size))
      size = 0;  // not of ReportStatus
    const absl::string_view field = rest.substr(std::min(rest.size(), colon + 1), size);
    rest.remove_prefix(std::min(rest.size(), colon + 1 + size));
    return std::string(field);
  };
  std::vector<Report> reports;
  while (!rest.empty()) {
    Report r;
    r.warning = take() == "1";
    for (auto* block : {&r.block, &r.first_other, &r.last_other}) {
      for (int64_t& b : *block) static_cast<void>(absl::SimpleAtoi(take(), &b));
    }
    static_cast<void>(absl::SimpleAtoi(take(), &r.others));
    for (std::string* field : {&r.code, &r.where, &r.kernel, &r.op, &r.message, &r.elements, &r.fix, &r.order})
      *field = take();
    reports.push_back(std::move(r));
  }
  return reports;
}

}  // namespace tile::runtime
