// Tokens and printing (semantics 7, 9.7).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

void CheckJoin(OpCheck& c) {
  c.Require(
      c.op.num_operands() >= 2, Rule::kJoinTwo, [&] { return absl::StrCat("joins ", c.op.num_operands(), " tokens"); },
      "use the token itself");
}

// The number of conversions of a C format, or -1 if one is unfinished or unknown.
int CountConversions(absl::string_view format) {
  constexpr absl::string_view kFlags = "-+ #0123456789.hlLqjzt", kEnds = "diuoxXeEfFgGaAcsSpn";
  int n = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i < format.size() && format[i] == '%') continue;
    while (i < format.size() && kFlags.find(format[i]) != absl::string_view::npos) ++i;
    if (i >= format.size() || kEnds.find(format[i]) == absl::string_view::npos) return -1;
    ++n;
  }
  return n;
}

void CheckPrint(OpCheck& c) {
  const int n = CountConversions(c.attr(Field::kFormat).as_string()), args = c.group(Field::kArgs).size();
  c.Require(
      n == args, Rule::kPrintFormat,
      [&] {
        return n < 0 ? std::string("a conversion of the format is unknown or unfinished")
                     : absl::StrCat("the format has ", n, " conversions for ", args, " operands");
      },
      "write %% for a percent sign");
}

}  // namespace

absl::Span<const OpRules> TokenRules() {
  static constexpr OpRules kRules[] = {{Opcode::kJoinTokens, CheckJoin}, {Opcode::kPrint, CheckPrint}};
  return kRules;
}

}  // namespace tile::ir::verify
