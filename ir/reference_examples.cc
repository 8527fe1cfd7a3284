// The examples of the operations: ir/examples, put here by the build.

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/reference.h"

namespace tile::ir {
namespace {

constexpr char kExamples[] =
#include "ir/examples.inc"
    ;

absl::flat_hash_map<std::string, std::string> ReadExamples() {
  absl::flat_hash_map<std::string, std::string> examples;  // by kernel
  std::string name, globals, body;
  for (absl::string_view line : absl::StrSplit(kExamples, '\n')) {
    if (absl::StartsWith(line, "global ")) {
      absl::StrAppend(&globals, line, "\n");
    } else if (absl::ConsumePrefix(&line, "entry @")) {
      name = std::string(line.substr(0, line.find('(')));
    } else if (line == "}") {
      absl::string_view read = body;
      absl::ConsumeSuffix(&read, "return\n");
      examples[name] = absl::StrCat(globals, read);
      name.clear(), globals.clear(), body.clear();
    } else if (!name.empty()) {
      absl::ConsumePrefix(&line, "  ");
      absl::StrAppend(&body, line, "\n");
    }
  }
  return examples;
}

}  // namespace

absl::string_view ExampleOf(Opcode opcode) {
  static const auto* examples = new absl::flat_hash_map<std::string, std::string>(ReadExamples());
  const auto it = examples->find(GetOp(opcode)->mnemonic);
  return it == examples->end() ? absl::string_view() : absl::string_view(it->second);
}

}  // namespace tile::ir
