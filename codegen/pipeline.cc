#include "codegen/pipeline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/gpu/ops.h"
#include "codegen/gpu/schedule/run.h"
#include "codegen/llvm/machine.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/verify_program.h"
#include "codegen/plan/schedule.h"
#include "ir/clone.h"

namespace tile::codegen {
namespace {

enum class Level : uint8_t { kTile, kGpu, kLlvm, kPtx };
enum class Optional : uint8_t { kNever, kWhole, kEach };

struct Pass {
  const char* name;
  Level level;
  Optional optional;
  absl::Status (*run)(Compilation&);
};

constexpr Pass kPasses[] = {
#define TILE_PASS(Function, level, optional, name, text) \
  {name, Level::k##level, Optional::k##optional, [](Compilation& c) { return Function(c); }},
#define TILE_TOOL(...)
#include "codegen/passes.def"
};

constexpr bool IsOfProgram(Level level) { return level == Level::kTile || level == Level::kGpu; }

constexpr PassInfo kInfos[] = {
#define TILE_PASS(Function, level, optional, name, text)                      \
  {name, text, IsOfProgram(Level::k##level), Level::k##level == Level::kTile, \
   Optional::k##optional != Optional::kNever},
#define TILE_TOOL(name, text) {name, text, false, false, false},
#include "codegen/passes.def"
};

std::string TextOf(const Compilation& c, Level level) {
  switch (level) {
    case Level::kTile:
    case Level::kGpu: return PrintGpu(*c.module);
    case Level::kLlvm: return c.llvm->Text();
    case Level::kPtx: return c.result.ptx;
  }
  return "";
}

// Of a program at the GPU level the schedule runs, too, and does what the program before did.
std::string FaultsOf(const Pass& pass, const Compilation& c) {
  const std::optional<Schedule> schedule = ScheduleOf(*c.function);
  std::string faults = ProgramFaults(c.target, *c.module, schedule ? &*schedule : nullptr);
  if (!faults.empty() || pass.level != Level::kGpu || !IsExpanded(*c.function)) return faults;
  const ir::Function* before = c.before == nullptr ? nullptr : c.before->functions[0].get();
  return schedule::ScheduleFaults(*c.function, before, c.options.schedule_seeds);
}

// The program that LLVM gets is judged by LLVM.
absl::Status VerifyBehind(const Pass& pass, const Compilation& c) {
  if (!IsOfProgram(pass.level)) return absl::OkStatus();
  const std::string faults = FaultsOf(pass, c);
  if (faults.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("error[codegen.internal]: the program of @", c.function->name,
                                          " is wrong behind pass ", pass.name, ": ", faults));
}

absl::Status Run(const Pass& pass, Compilation& c) {
  if (c.options.verify_each && pass.level == Level::kGpu && c.before == nullptr && !IsExpanded(*c.function))
    c.before = ir::CloneModule(*c.module);
  TimedPass time(&c.trace(), pass.name);
  const bool asks = pass.optional == Optional::kWhole;
  if (!asks || c.trace().TakesStep(pass.name, absl::StrCat("@", c.function->name))) {
    if (absl::Status s = pass.run(c); !s.ok()) return s;
  }
  time.Done();
  c.trace().Text(pass.name, [&] { return TextOf(c, pass.level); });
  return c.options.verify_each ? VerifyBehind(pass, c) : absl::OkStatus();
}

bool IsAtGpuLevel(absl::string_view name) {
  return std::any_of(std::begin(kPasses), std::end(kPasses),
                     [&](const Pass& pass) { return pass.level == Level::kGpu && name == pass.name; });
}

}  // namespace

absl::Span<const PassInfo> AllPasses() { return kInfos; }

absl::Status RunProgramPasses(Compilation& c) {
  const std::string& start = c.options.start_after;
  bool runs = start.empty();
  for (const Pass& pass : kPasses) {
    if (pass.level != Level::kTile) break;
    if (!runs) {
      runs = start == pass.name;
    } else if (absl::Status s = Run(pass, c); !s.ok()) {
      return s;
    } else if (!c.applies) {
      return absl::OkStatus();
    }
  }
  return runs || IsAtGpuLevel(start) ? absl::OkStatus()
                                     : absl::NotFoundError(absl::StrCat("no pass over the program is called ", start));
}

absl::Status RunMachinePasses(Compilation& c) {
  const std::string& start = c.options.start_after;
  bool runs = !IsAtGpuLevel(start);
  for (const Pass& pass : kPasses) {
    if (pass.level == Level::kTile) continue;
    if (!runs) {
      runs = start == pass.name;
    } else if (absl::Status s = Run(pass, c); !s.ok()) {
      return s;
    }
  }
  return absl::OkStatus();
}

absl::Status RunPass(Compilation& c, absl::string_view name) {
  for (const Pass& pass : kPasses) {
    if (name == pass.name) return Run(pass, c);
  }
  return absl::NotFoundError(absl::StrCat("there is no pass ", name));
}

}  // namespace tile::codegen
