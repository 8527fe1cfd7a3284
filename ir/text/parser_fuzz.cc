// Whatever the parser accepts can be printed, and the printed text is a fixed point: it reads back to the same program.
// What it does not accept can be judged in part; text that is read whole is judged as Verify judges the program.
#include <cstdio>
#include <cstdlib>

#include "ir/compare.h"
#include "ir/text/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

void Check(bool ok, const std::string& what, const std::string& text) {
  if (ok) return;
  std::fprintf(stderr, "%s\n%s\n", what.c_str(), text.c_str());
  std::abort();
}

void Run(absl::string_view text) {
  Diagnostics diags;
  const std::unique_ptr<Module> m = Parse(text, "fuzz.tile", &diags);
  Diagnostics round;
  const std::unique_ptr<Module> judged = ParseAndVerify(text, "fuzz.tile", &round);
  Check((judged == nullptr) == !round.ok(), "rejected without a reason, or accepted with an error", round.ToString());
  Check(round.num_errors() >= diags.num_errors(), "an error of the parser is lost", diags.ToString());
  if (m == nullptr) {
    Check(!diags.ok(), "rejected without a reason", "");
    return;
  }
  Diagnostics rules;
  Verify(*m, &rules);
  Check(rules.num_errors() == round.num_errors(), rules.ToString(), round.ToString());
  const std::string once = Print(*m);
  const std::unique_ptr<Module> again = Parse(once, "printed.tile", &diags);
  Check(again != nullptr, diags.ToString(), once);
  Check(FirstDifference(*m, *again).empty(), FirstDifference(*m, *again), once);
  Check(Print(*again) == once, "printed differently the second time", once);
  PrintOptions kept;
  kept.keep_names = true;
  const std::string named = Print(*m, kept);
  const std::unique_ptr<Module> third = Parse(named, "named.tile", &diags);
  Check(third != nullptr && Print(*third) == once, diags.ToString() + "names change the program", named);
  for (const auto& f : m->functions) {
    Walk(f->body(), [](Op* op) { Check(PrintOp(*op).find('\n') == std::string::npos, "PrintOp breaks the line", ""); });
  }
}

}  // namespace
}  // namespace tile::ir

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tile::ir::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
