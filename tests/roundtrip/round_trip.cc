#include "tests/roundtrip/round_trip.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "ir/clone.h"
#include "ir/compare.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace tile {
namespace {

absl::Span<const uint8_t> Bytes(const std::string& s) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(s.data()), s.size());
}

}  // namespace

std::string RoundTripFault(const ir::Module& module, bool verified) {
  const std::string text = ir::Print(module);
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> from_text = ir::Parse(text, "printed", &diagnostics);
  if (from_text == nullptr) return absl::StrCat("the printed text is no program: ", diagnostics.ToString());
  if (std::string d = ir::FirstDifference(module, *from_text); !d.empty()) return absl::StrCat("from text: ", d);
  if (ir::Print(*from_text) != text) return "printed again, the text differs";

  const std::unique_ptr<ir::Module> named = ir::Parse(ir::Print(module, {.keep_names = true}), "named", &diagnostics);
  if (named == nullptr) return absl::StrCat("the text with its names is no program: ", diagnostics.ToString());
  if (std::string d = ir::FirstDifference(module, *named); !d.empty()) return absl::StrCat("from text with names: ", d);

  if (verified) {  // values may be used before their definition in others
    const std::unique_ptr<ir::Module> clone = ir::CloneModule(module);
    if (std::string d = ir::FirstDifference(module, *clone); !d.empty()) return absl::StrCat("the clone: ", d);
    if (ir::Print(*clone, {.keep_names = true}) != ir::Print(module, {.keep_names = true}))
      return "the clone prints otherwise";
  }

  const absl::StatusOr<std::string> bytes = ir::WriteTbc(module);
  if (!bytes.ok()) return verified ? bytes.status().ToString() : "";
  const absl::StatusOr<std::unique_ptr<ir::Module>> from_bytes = ir::ReadTbc(Bytes(*bytes), "written");
  if (!from_bytes.ok()) return verified ? from_bytes.status().ToString() : "";
  if (std::string d = ir::FirstDifference(module, **from_bytes); !d.empty()) return absl::StrCat("from tbc: ", d);
  if (ir::Print(**from_bytes) != text) return "text, tbc, text: the text differs";

  const absl::StatusOr<std::string> again = ir::WriteTbc(**from_bytes);
  if (!again.ok()) return again.status().ToString();
  if (*again != *bytes) return "written again, the bytes differ";
  const absl::StatusOr<std::string> through_text = ir::WriteTbc(*from_text);
  if (!through_text.ok()) return through_text.status().ToString();
  return *through_text == *bytes ? "" : "tbc, text, tbc: the bytes differ";
}

}  // namespace tile
