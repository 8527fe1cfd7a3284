#include "tests/harness/on_vm.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::ops {
namespace {

Answer Run(const ir::Module& module, absl::string_view kernel, Arguments* arguments, vm::CheckLevel level,
           int threads) {
  Answer answer;
  auto program = vm::Program::Prepare(module, kernel);
  if (!program.ok()) {
    answer.refused = program.status();
    return answer;
  }
  vm::Launch launch;
  std::copy(arguments->grid, arguments->grid + 3, launch.grid);
  launch.check = level;
  launch.threads = threads;
  launch.max_rounds = 1 << 20;
  launch.print = [&](absl::string_view text) { absl::StrAppend(&answer.printed, text); };
  for (Memory& m : arguments->memories) {
    launch.buffers.push_back(
        {m.name, m.array.bytes.data(), m.array.bytes.size(), m.array.element, m.array.shape, m.initialized});
  }
  for (const Param& p : arguments->params) {
    launch.params.push_back(p.memory < 0 ? p.bits : uint64_t{launch.buffers[static_cast<size_t>(p.memory)].address});
  }
  const vm::Outcome outcome = (*program)->Run(launch);
  answer.refused = outcome.status;
  for (const vm::Report& r : outcome.reports) {
    answer.reports.push_back(absl::StrCat(r.code, ": ", r.message, " at ", r.where));
  }
  return answer;
}

}  // namespace

Engine OnVm(vm::CheckLevel level, int threads) {
  return [level, threads](const ir::Module& module, absl::string_view kernel, Arguments* arguments) {
    return Run(module, kernel, arguments, level, threads);
  };
}

}  // namespace tile::ops
