#include "tools/tilevm/run_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/escape.h"
#include "tools/cli/diagnostic_json.h"
#include "tools/cli/source_lines.h"
#include "tools/data/element_text.h"
#include "tools/data/json.h"
#include "tools/data/summary.h"

namespace tile::tools {
namespace {

std::string Quote(absl::string_view text) { return JsonQuote(ir::Escaped(text)); }

std::string OutputJson(const RunReport::Output& out) {
  const Array& a = out.array->array;
  const Statistics s = Measure(a);
  const auto element = [&](int64_t i) {
    if (i < 0) return std::string("null");
    return FormatElement(a.element.kind, LoadBits(a.element.kind, a.bytes.data(), i), a.is_unsigned);
  };
  std::vector<std::string> files;
  for (const std::string& f : out.files) files.push_back(Quote(f));
  return absl::StrCat("{\"name\":", Quote(out.array->name), ",\"type\":", Quote(ElementText(a.element, a.is_unsigned)),
                      ",\"shape\":[", absl::StrJoin(a.shape, ","), "],\"min\":", element(s.min_index),
                      ",\"max\":", element(s.max_index), ",\"mean\":", s.min_index < 0 ? "null" : JsonNumber(s.mean),
                      ",\"nan\":", s.nans, ",\"inf\":", s.infinities, ",\"files\":[", absl::StrJoin(files, ","), "]}");
}

std::string ExpectedJson(const RunReport::Expected& e) {
  const Comparison& c = e.comparison;
  return absl::StrCat("{\"name\":", Quote(e.name), ",\"count\":", c.count, ",\"differing\":", c.differing,
                      ",\"max_abs\":", JsonNumber(c.max_abs), ",\"max_rel\":", JsonNumber(c.max_rel),
                      ",\"max_ulp\":", c.max_ulp, "}");
}

// The members of any diagnostic, and what only a running kernel has.
std::string TrapJson(const runtime::Report& r) {
  PrintedDiagnostic d;
  const std::vector<PrintedDiagnostic> printed = ParseDiagnostics(WithSourceLines(r.ToString()));
  if (!printed.empty()) d = printed.front();
  d.message = absl::StrCat(r.message, r.elements);
  d.fix = r.fix;
  const std::string order = r.order.empty() ? "" : absl::StrCat(",\"order\":", Quote(r.order));
  const std::string others = r.others == 0 ? ""
                                           : absl::StrCat(",\"others\":{\"count\":", r.others, ",\"first\":[",
                                                          absl::StrJoin(r.first_other, ","), "],\"last\":[",
                                                          absl::StrJoin(r.last_other, ","), "]}");
  return absl::StrCat("{", DiagnosticMembers(d), ",\"where\":", Quote(r.where), ",\"kernel\":", Quote(r.kernel),
                      ",\"op\":", Quote(r.op), ",\"block\":[", absl::StrJoin(r.block, ","), "]", others, order, "}");
}

template <class T, class F>
std::string List(const std::vector<T>& items, F&& text) {
  return absl::StrCat("[", absl::StrJoin(items, ",", [&](std::string* out, const T& item) { out->append(text(item)); }),
                      "]");
}

}  // namespace

std::string JsonNumber(double x) { return std::isfinite(x) ? absl::StrFormat("%.9g", x) : "null"; }

std::string ToJson(const RunReport& report, const PreparedRun& run, const RunOutcome& outcome) {
  const bool trapped = !outcome.reports.empty();
  const bool differs = std::any_of(report.expected.begin(), report.expected.end(),
                                   [](const RunReport::Expected& e) { return !e.comparison.ok(); });
  std::string s = absl::StrCat("{\"kernel\":", Quote(report.kernel), ",\"grid\":[", absl::StrJoin(run.spec.grid, ","),
                               "],\"blocks\":", outcome.counts.blocks, ",\"orders\":", outcome.counts.orders,
                               ",\"ms\":", absl::StrFormat("%.3f", outcome.ms), ",\"result\":\"",
                               trapped   ? "trapped"
                               : differs ? "differs"
                                         : "ok",
                               "\"");
  if (!outcome.warnings.empty()) absl::StrAppend(&s, ",\"warnings\":", List(outcome.warnings, TrapJson));
  if (trapped) return absl::StrCat(s, ",\"reports\":", List(outcome.reports, TrapJson), "}");
  return absl::StrCat(s, ",\"outputs\":", List(report.outputs, OutputJson),
                      ",\"expect\":", List(report.expected, ExpectedJson), "}");
}

}  // namespace tile::tools
