// The examples of the operations: kernels of ir/examples, put here by the build. An operation on one or two tiles of one type needs
// a line in its comment in ir/ops.def only, from which its kernel is made:
//
//   ///     remi i32: [7, -7], [3, 3] signed = [1, -1]
//
//   %x = constant <i32: [7, -7]> : tile<2xi32>
//   %y = constant <i32: [3, 3]> : tile<2xi32>
//   %r = remi %x, %y signed  // = [1, -1]

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/reference.h"
#include "ir/reference_internal.h"

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

// The kernel of a line. What is not as the line should be gives a kernel that no parser takes, so that a test fails.
std::string ExampleOfLine(absl::string_view line) {
  const auto before = [&](absl::string_view end) {
    const size_t at = std::min(line.find(end), line.size());
    const absl::string_view part = line.substr(0, at);
    line.remove_prefix(std::min(at + end.size(), line.size()));
    return part;
  };
  const absl::string_view mnemonic = before(" "), element = before(": ");
  std::string constants, operands;
  for (const char* name : {"%x", "%y"}) {
    if (!absl::ConsumePrefix(&line, "[")) break;
    const absl::string_view elements = before("]");
    absl::StrAppend(&constants, name, " = constant <", element, ": [", elements, "]> : tile<",
                    std::count(elements.begin(), elements.end(), ',') + 1, "x", element, ">\n");
    absl::StrAppend(&operands, operands.empty() ? "" : ", ", name);
    absl::ConsumePrefix(&line, ", ");
  }
  const absl::string_view attributes = before(" = ");
  return absl::StrCat(constants, "%r = ", mnemonic, " ", operands, attributes, "  // = ", line, "\n");
}

absl::flat_hash_map<std::string, std::string> AllExamples() {
  absl::flat_hash_map<std::string, std::string> examples = ReadExamples();
  for (const OpInfo& op : AllOps()) {
    if (const absl::string_view line = ExampleLineOf(op.opcode); !line.empty()) {
      examples[op.mnemonic] = ExampleOfLine(line);
    }
  }
  return examples;
}

}  // namespace

absl::string_view ExampleOf(Opcode opcode) {
  static const auto* examples = new absl::flat_hash_map<std::string, std::string>(AllExamples());
  const auto it = examples->find(GetOp(opcode)->mnemonic);
  return it == examples->end() ? absl::string_view() : absl::string_view(it->second);
}

}  // namespace tile::ir
