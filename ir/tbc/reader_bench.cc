// Budget: loading a 200-op kernel (BM_Load/200: map, read and verify) takes at most 100 µs, of which 40 µs are the
// reader's. BM_Load is the median of twenty rounds.
//   bazel run //ir/tbc:reader_bench
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "ir/tbc/file.h"
#include "ir/tbc/mapped_file.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/testing/tbc_samples.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

std::string Sample(const benchmark::State& state) { return *WriteTbc(*Typical(static_cast<int>(state.range(0)))); }

absl::Span<const uint8_t> Bytes(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

void SetRates(benchmark::State& state, const std::string& bytes) {
  state.counters["ops/s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}

void BM_Read(benchmark::State& state) {
  const std::string bytes = Sample(state);
  for (auto _ : state) benchmark::DoNotOptimize(ReadTbc(Bytes(bytes), "bench"));
  SetRates(state, bytes);
}
BENCHMARK(BM_Read)->Arg(20)->Arg(200)->Arg(20000);

// From the file's name to a program that may run.
void BM_Load(benchmark::State& state) {
  const std::string bytes = Sample(state);
  const char* folder = std::getenv("TMPDIR");
  const std::string path = absl::StrCat(folder == nullptr ? "/tmp" : folder, "/reader_bench.", getpid(), ".tbc");
  if (!(std::ofstream(path, std::ios::binary) << bytes).flush()) state.SkipWithError("no temporary file");
  for (auto _ : state) {
    const auto file = MappedFile::Open(path);
    const auto module = ReadTbc(file->bytes(), path);
    Diagnostics diagnostics;
    Verify(**module, &diagnostics);
    if (!diagnostics.list().empty()) state.SkipWithError("not verified");
  }
  unlink(path.c_str());
  SetRates(state, bytes);
}
BENCHMARK(BM_Load)->Arg(200)->MinTime(0.05)->Repetitions(20)->ReportAggregatesOnly();

// The structural verification alone.
void BM_Open(benchmark::State& state) {
  const std::string bytes = Sample(state);
  for (auto _ : state) {
    ReadContext context("bench", bytes.size());
    OpenFile file;
    if (!file.Open(Bytes(bytes), &context)) state.SkipWithError("rejected");
  }
  SetRates(state, bytes);
}
BENCHMARK(BM_Open)->Arg(200);

void BM_Write(benchmark::State& state) {
  const auto module = Typical(static_cast<int>(state.range(0)));
  std::string bytes;
  for (auto _ : state) bytes = *WriteTbc(*module);
  SetRates(state, bytes);
}
BENCHMARK(BM_Write)->Arg(200);

void BM_Hash(benchmark::State& state) {
  const std::string bytes = Sample(state);
  for (auto _ : state) benchmark::DoNotOptimize(Sha256(Bytes(bytes)));
  SetRates(state, bytes);
}
BENCHMARK(BM_Hash)->Arg(200);

}  // namespace
}  // namespace tile::ir
