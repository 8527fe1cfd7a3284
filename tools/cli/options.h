// Command lines of the tools: each command has a table of options, from which arguments are parsed and help is written.
//
//   const Command kRun = {"run", "K [INPUTS…]", "runs a kernel", {{"grid", 'g', "X[,Y[,Z]]", "…"}, {"time", 0, nullptr, "…"}},
//                         "examples…", &Main};
//   absl::StatusOr<Options> o = Options::Parse(kRun, args);
//   o->has("time"), o->value("grid"), o->values("arg"), o->positional();
//
// `--name VALUE`, `--name=VALUE`, `-n VALUE`; `--` ends the options; `-` alone is an argument (stdin). Thread-safe.
#ifndef TILE_TOOLS_CLI_OPTIONS_H_
#define TILE_TOOLS_CLI_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tile::tools {

// Exit codes of every tool.
enum ExitCode : int {
  kOk = 0,
  kRejected = 1,     // an input is wrong
  kUsage = 2,        // the command line is wrong
  kDiffers = 3,      // results differ from what was expected
  kTrapped = 4,      // the kernel made a mistake while running; wins over kDiffers
  kEnvironment = 5,  // something on this machine is in the way: no such device, an output that cannot be written
  kInternal = 70,
};

// What they mean, for help; ends with a line break.
extern const char kExitCodes[];

struct OptionSpec {
  const char* name;
  char letter;        // 0: none
  const char* value;  // what the value is called in the help; null: a flag
  const char* help;
  bool repeats = false;
};

class Options;

struct Command {
  const char* name;
  const char* arguments;  // for the usage line
  const char* summary;    // one line
  std::vector<OptionSpec> options;
  const char* details;  // examples and more, printed below the options
  int (*run)(const Options&);
  // What its arguments may be, for completion; null: files.
  std::vector<std::string> (*words)() = nullptr;
};

// A tool: its commands, what is said above their list, and the command that takes what names none of them.
struct Tool {
  const char* name;
  const char* intro;
  std::vector<const Command*> commands;
  const Command* otherwise = nullptr;
};

class Options {
 public:
  static absl::StatusOr<Options> Parse(const Command& command, const std::vector<std::string>& args);

  bool has(absl::string_view name) const { return values_.contains(name); }
  // The last one given; empty if there is none.
  std::string value(absl::string_view name) const;
  std::vector<std::string> values(absl::string_view name) const;
  const std::vector<std::string>& positional() const { return positional_; }
  const std::vector<std::string>& command_line() const { return command_line_; }

  // A number, or an InvalidArgument that names the option. `missing` if it is not given.
  absl::StatusOr<int64_t> Integer(absl::string_view name, int64_t missing, int64_t least, int64_t most) const;
  absl::StatusOr<double> Number(absl::string_view name, double missing) const;

 private:
  absl::flat_hash_map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_, command_line_;
};

extern const OptionSpec kHelpOption;  // every command has it

// "-o, --output FILE".
std::string OptionFlags(const OptionSpec& option);
// What the value of an option may be, where its table lists that: {"none", "bounds", "full"}. Empty: anything.
std::vector<std::string> ValueWords(const OptionSpec& option);

// Help of one command and of the whole tool.
std::string HelpOf(const Tool& tool, const Command& command);
std::string HelpOf(const Tool& tool);

}  // namespace tile::tools

#endif  // TILE_TOOLS_CLI_OPTIONS_H_
