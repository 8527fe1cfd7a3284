#include "codegen/program_text.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/verify_program.h"
#include "codegen/plan/schedule.h"
#include "ir/diagnostic.h"

namespace tile::codegen {
namespace {

constexpr absl::string_view kHead = "// ---- after ";

// By the first line; "" if it does not say.
absl::string_view PassOf(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, kHead)) return "";
  return text.substr(0, text.find_first_of(":\n"));
}

}  // namespace

std::string HeadOf(absl::string_view pass, absl::string_view of) {
  return absl::StrCat(kHead, pass, ": ", of, " ----\n");
}

absl::StatusOr<std::unique_ptr<ProgramText>> ReadProgramText(absl::string_view text, absl::string_view file_name,
                                                             absl::string_view pass, const Target& target) {
  const absl::string_view written = PassOf(text);
  if (!written.empty() && written != pass) {
    return absl::InvalidArgumentError(absl::StrCat(file_name, ":1:1: error[codegen.text]: this is the text of pass ",
                                                   written, ", not of ", pass, "\n  fix: --start-after=", written));
  }
  auto program = std::make_unique<ProgramText>();
  ir::Diagnostics diagnostics;
  program->module = ParseGpu(text, file_name, &program->layouts, &diagnostics);
  if (program->module == nullptr) return diagnostics.ToStatus();
  const ir::Module& module = *program->module;
  if (module.functions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file_name, ": error[codegen.text]: there is no kernel"));
  }
  const std::optional<Schedule> schedule = ScheduleOf(*module.functions[0]);
  const std::string faults = ProgramFaults(target, module, schedule ? &*schedule : nullptr);
  if (!faults.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": error[codegen.text]: this is no program that ", pass, " would leave: ", faults));
  }
  return program;
}

}  // namespace tile::codegen
