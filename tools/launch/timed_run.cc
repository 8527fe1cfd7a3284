#include "tools/launch/timed_run.h"

#include <memory>
#include <utility>

#include "tools/launch/unchecked.h"

namespace tile::tools {

void RunLog::Attach(runtime::RunOptions* options) {
  options->warn = [this](const runtime::Report& r) { warnings.push_back(r); };
  options->counts = &counts;
}

RunOutcome RunTimed(const DeviceKernel& kernel, const runtime::RunOptions& options, int64_t blocks, RunLog* log,
                    absl::FunctionRef<absl::Status(runtime::Stream*)> launch) {
  RunOutcome outcome;
  const absl::StatusOr<std::unique_ptr<runtime::Event>> start = kernel.device->CreateEvent(),
                                                        end = kernel.device->CreateEvent();
  for (const auto* event : {&start, &end}) {
    if (!event->ok()) outcome.status = event->status();
  }
  if (!outcome.status.ok()) return outcome;
  if (!kernel.is_gpu() && options.check == runtime::CheckLevel::kNone) {
    ExpectStrayAccesses(kernel.program->module->source_name, kernel.function->name);
  }
  *log = RunLog();
  log->counts.blocks = kernel.is_gpu() ? blocks : 0;
  runtime::Stream* stream = kernel.device->default_stream();
  absl::Status status = (*start)->Record(stream);
  if (status.ok()) status = launch(stream);
  // Also of a kernel that trapped.
  for (const absl::Status& s : {(*end)->Record(stream), stream->Synchronize()}) {
    if (status.ok()) status = s;
  }
  if (const absl::StatusOr<double> ms = (*end)->MillisecondsSince(start->get()); ms.ok()) outcome.ms = *ms;
  outcome.reports = runtime::ReportsOf(status);
  if (outcome.reports.empty()) outcome.status = status;
  outcome.warnings = std::exchange(log->warnings, {});
  outcome.counts = log->counts;
  if (kernel.is_gpu() && !outcome.ok()) outcome.counts.blocks = 0;  // not known
  return outcome;
}

}  // namespace tile::tools
