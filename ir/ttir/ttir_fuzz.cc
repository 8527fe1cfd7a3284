// Any text gives an error or a module that can be judged, and what the verifier accepts can be printed and read back.
#include <cstdio>
#include <cstdlib>

#include "ir/compare.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

void Check(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void Run(absl::string_view text) {
  Diagnostics diags;
  const std::unique_ptr<Module> m = ReadTtir(text, "fuzz.ttir", &diags);
  Check((m == nullptr) == !diags.ok(), "rejected without a reason, or read with an error");
  if (m == nullptr) return;
  Verify(*m, &diags);
  if (!diags.ok()) return;
  const std::unique_ptr<Module> again = Parse(Print(*m), "printed.tile", &diags);
  Check(again != nullptr, diags.ToString());
  Check(FirstDifference(*m, *again).empty(), FirstDifference(*m, *again));
}

}  // namespace
}  // namespace tile::ir

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tile::ir::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
