// Commands over programs as such: as, dis, verify, import, export.
#include <unistd.h>

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ir/debug_lines.h"
#include "ir/escape.h"
#include "ir/foreign_names.h"
#include "ir/reference.h"
#include "ir/tbc/writer.h"
#include "ir/text/printer.h"
#include "ir/tileir/writer.h"
#include "tools/cli/output.h"
#include "tools/cli/report.h"
#include "tools/data/json.h"
#include "tools/module/load.h"
#include "tools/tilevm/commands.h"

namespace tile::tools {
namespace {

// "kernel.tile" -> "kernel.tbc".
std::string WithExtension(const std::string& path, absl::string_view extension) {
  const size_t slash = path.find_last_of('/'), dot = path.find_last_of('.');
  const bool has = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return absl::StrCat(has ? path.substr(0, dot) : path, extension);
}

bool OneInput(const Options& options, int* exit) {
  if (options.positional().size() == 1) return true;
  *exit = Fail(kUsage, "usage", options.positional().empty() ? "no input file" : "more than one input file");
  return false;
}

int WriteTbcFile(const Options& options, const ir::Module& module) {
  ir::WriteOptions write;
  write.strip_debug = options.has("strip");
  if (options.has("target-version")) {
    const std::vector<std::string> parts = absl::StrSplit(options.value("target-version"), '.');
    uint32_t major = 0, minor = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &major) || !absl::SimpleAtoi(parts[1], &minor) ||
        (major == 0 && minor == 0) || major > 65535 || minor > 65535) {
      return Fail(kUsage, "usage",
                  absl::StrCat("--target-version ", options.value("target-version"), ": expected MAJOR.MINOR"));
    }
    write.target_version = {static_cast<int>(major), static_cast<int>(minor)};
  }
  absl::StatusOr<std::string> bytes = ir::WriteTbc(module, write);
  const std::string& in = options.positional()[0];
  if (!bytes.ok()) return FailAt(NameOf(in), kRejected, "tbc.write", bytes.status());
  const std::string out = options.has("output") ? options.value("output") : in == "-" ? "-" : WithExtension(in, ".tbc");
  if (out == in && out != "-") {
    return FailAt(in, kUsage, "output.same", "the output would replace the input", "name another file with -o");
  }
  return WriteOutput(out, *bytes, true);
}

int As(const Options& options) {
  int exit = kOk;
  if (!OneInput(options, &exit)) return exit;
  if (options.has("debug") && options.has("strip")) {
    return Fail(kUsage, "usage", "-g keeps lines, --strip leaves them out", "give one of them");
  }
  auto loaded = Load(options.positional()[0], &exit);
  if (loaded == nullptr) return exit;
  if (options.has("debug")) ir::AddDebugLines(loaded->module.get());
  return WriteTbcFile(options, *loaded->module);
}

int Import(const Options& options) {
  int exit = kOk;
  if (!OneInput(options, &exit)) return exit;
  auto loaded = Load(options.positional()[0], &exit);
  if (loaded == nullptr) return exit;
  if (!loaded->form->imported) {
    return FailAt(NameOf(options.positional()[0]), kRejected, "import.form",
                  absl::StrCat("this is ", loaded->form->noun, ", not ", ir::ImportedForms()),
                  "`tilevm as` turns text into .tbc");
  }
  return WriteTbcFile(options, *loaded->module);
}

int Export(const Options& options) {
  int exit = kOk;
  if (!OneInput(options, &exit)) return exit;
  const std::vector<std::string> parts = absl::StrSplit(options.value("version"), '.');
  int major = 0, minor = 0;
  if (options.has("version") && (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &major) ||
                                 !absl::SimpleAtoi(parts[1], &minor) || major != 13 || minor < 1 || minor > 5)) {
    return Fail(kUsage, "usage", absl::StrCat("--version ", options.value("version"), ": expected 13.1 to 13.5"));
  }
  auto loaded = Load(options.positional()[0], &exit);
  if (loaded == nullptr) return exit;
  absl::StatusOr<std::string> bytes = options.has("version") ? ir::WriteTileIr(*loaded->module, major * 100 + minor)
                                                             : ir::WriteOldestTileIr(*loaded->module);
  const std::string& in = options.positional()[0];
  if (!bytes.ok()) return FailAt(NameOf(in), kRejected, "tileir.write", bytes.status());
  const std::string out = options.has("output") ? options.value("output")
                          : in == "-"           ? "-"
                                                : WithExtension(in, ".tilebc");
  if (out == in && out != "-") {
    return FailAt(in, kUsage, "output.same", "the output would replace the input", "name another file with -o");
  }
  return WriteOutput(out, *bytes, true);
}

std::vector<std::string> OpNames() {
  std::vector<std::string> names;
  for (const ir::OpInfo& op : ir::AllOps()) names.emplace_back(op.mnemonic);
  return names;
}

int Ops(const Options& options) {
  if (options.has("json")) {
    PrintJson(ir::OpTableJson());
    return kOk;
  }
  if (options.positional().empty()) {
    std::fputs(ir::OpListText().c_str(), stdout);
    return kOk;
  }
  for (const std::string& name : options.positional()) {
    const ir::OpInfo* op = ir::FindOp(name);
    if (op != nullptr) {
      std::fputs(ir::OpReferenceText(*op).c_str(), stdout);
      continue;
    }
    // A part of a name stands for all that contain it.
    if (const std::string list = ir::OpListText(ir::OpsNamedLike(name)); !list.empty()) {
      std::fputs(list.c_str(), stdout);
      continue;
    }
    const std::string advice = ir::OpAdvice(name);
    return Fail(kRejected, "ops.unknown", absl::StrCat("there is no operation `", name, "`"),
                absl::StrCat(advice,
                             advice.empty()                ? ""
                             : absl::EndsWith(advice, "?") ? " "
                                                           : "; ",
                             "`tilevm ops` lists them"));
  }
  return kOk;
}

int Dis(const Options& options) {
  int exit = kOk;
  if (!OneInput(options, &exit)) return exit;
  // Not verified: a program that breaks rules is what one wants to look at.
  auto loaded = Load(options.positional()[0], &exit, {.verify = false});
  if (loaded == nullptr) return exit;
  ir::PrintOptions print;
  print.debug = options.has("debug");
  print.numbers = options.has("numbers");
  return WriteOutput(options.has("output") ? options.value("output") : "-", ir::Print(*loaded->module, print), false);
}

int VerifyFiles(const Options& options) {
  if (options.positional().empty()) return Fail(kUsage, "usage", "no input file");
  int result = kOk;
  std::vector<std::string> files;
  for (const std::string& path : options.positional()) {
    int exit = kOk;
    const bool ok = Load(path, &exit) != nullptr;
    if (options.has("json")) {
      files.push_back(absl::StrCat("{\"file\":", JsonQuote(ir::Escaped(NameOf(path))),
                                   ",\"ok\":", ok ? "true" : "false",
                                   ",\"diagnostics\":", DiagnosticsJson(TakeDiagnostics()), "}"));
    } else if (ok && !options.has("quiet")) {
      std::printf("%s: ok\n", ir::Escaped(NameOf(path)).c_str());
    }
    if (!ok) result = std::max(result, exit);
  }
  if (options.has("json")) {
    PrintJson(absl::StrCat("{\"result\":\"", result == kOk ? "ok" : "rejected", "\",\"files\":[",
                           absl::StrJoin(files, ","), "]}"));
  }
  return result;
}

const std::vector<OptionSpec>& WriteOptionSpecs() {
  static const auto* specs = new std::vector<OptionSpec>{
      {"output", 'o', "FILE", "where to write (default: the input's name with .tbc; - for stdout)"},
      {"strip", 0, nullptr, "leave out debug information"},
      {"target-version", 0, "X.Y", "write for readers of this version of the format"},
  };
  return *specs;
}

const std::vector<OptionSpec>& AsOptionSpecs() {
  static const auto* specs = [] {
    auto* all = new std::vector<OptionSpec>(WriteOptionSpecs());
    all->push_back({"debug", 'g', nullptr, "keep the lines of the text as debug information"});
    return all;
  }();
  return *specs;
}

}  // namespace

const Command kAsCommand = {
    "as",
    "FILE [-o FILE]",
    "assembles text into a .tbc file",
    AsOptionSpecs(),
    "With -g a trap names the line of the text, also in an application; without, the operation's number.\n\n"
    "examples:\n  tilevm as kernel.tile\n  tilevm as -g kernel.tile\n  tilevm as - -o kernel.tbc < kernel.tile\n",
    &As};

const Command kImportCommand = {"import",
                                "FILE [-o FILE]",
                                "turns NVIDIA Tile IR bytecode (13.1 to 13.5) or Triton's TTIR into a .tbc file",
                                WriteOptionSpecs(),
                                "example:\n  tilevm import matmul.tilebc -o matmul.tbc\n",
                                &Import};

const Command kExportCommand = {
    "export",
    "FILE [-o FILE]",
    "writes a program as NVIDIA Tile IR bytecode",
    {{"output", 'o', "FILE", "where to write (default: the input's name with .tilebc; - for stdout)"},
     {"version", 0, "13.N", "version of the bytecode, 13.1 to 13.5 (default: the lowest that holds the program)"}},
    "Operations that NVIDIA's bytecode does not have are named in the error.\n\nexample:\n  tilevm export kernel.tbc "
    "-o "
    "kernel.tilebc\n",
    &Export};

const Command kOpsCommand = {"ops",
                             "[NAME…]",
                             "the operations: all of them, or what one means",
                             {{"json", 0, nullptr, "the whole table as JSON, for programs in other languages"}},
                             "example:\n  tilevm ops atomic_rmw_tko\n",
                             &Ops,
                             &OpNames};

const Command kDisCommand = {
    "dis",
    "FILE [-o FILE]",
    "prints a .tbc, Tile IR bytecode or TTIR file as text",
    {{"output", 'o', "FILE", "where to write (default: stdout)"},
     {"debug", 'g', nullptr, "with debug information, so that `as` gives back the same file"},
     {"numbers", 'n', nullptr, "number the operations, as messages about a file without lines do"}},
    "example:\n  tilevm dis kernel.tbc | less\n",
    &Dis};

const Command kVerifyCommand = {"verify",
                                "FILES…",
                                "checks programs and names every mistake",
                                {{"quiet", 'q', nullptr, "print nothing for files without mistakes"},
                                 {"json", 0, nullptr, "print one JSON object about all files, see below"}},
                                R"(--json prints one object on stdout; the same diagnostics go to stderr as text:
  result: "ok" or "rejected"
  files: a list of file, ok, diagnostics: a list of severity ("error", "warning"), code, file, line, col, message, fix,
    details (the source line with a caret); null where there is none

Every command with --json that fails prints an object with result ("rejected", "usage", "environment", "internal") and
diagnostics, of this form, instead of its own.

examples:
  tilevm verify kernels/*.tile
  tilevm verify --json kernel.tile | jq '.files[].diagnostics[] | [.line, .code, .message]'
)",
                                &VerifyFiles};

}  // namespace tile::tools
