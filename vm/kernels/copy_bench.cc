// Copies; bytes read and written a second. The matrix benchmarks move a matrix through tiles as a kernel does: load,
// permute, store, tile by tile.
//
//   bazel run //vm/kernels:copy_bench
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "benchmark/benchmark.h"
#include "vm/kernels/copy.h"

namespace tile::vm {
namespace {

constexpr int64_t kSide = 8192;

// Of columns [begin, end) of tiles of the source.
void TransposeMatrix(float* out, const float* in, int64_t tile, int64_t begin, int64_t end, float* a, float* b,
                     CopyHint hint) {
  const int64_t extents[] = {tile, tile}, dense[] = {tile, 1}, turned[] = {1, tile}, matrix[] = {kSide, 1};
  for (int64_t i = 0; i < kSide / tile; ++i) {
    for (int64_t j = begin; j < end; ++j) {
      CopyBox(a, dense, in + i * tile * kSide + j * tile, matrix, extents, 2, 4);
      CopyBox(b, dense, a, turned, extents, 2, 4);
      CopyBox(out + j * tile * kSide + i * tile, matrix, b, dense, extents, 2, 4, hint);
    }
  }
}

void BM_TransposeMatrix(benchmark::State& state) {
  const int64_t tile = state.range(0), threads = state.range(2);
  const CopyHint hint = state.range(1) ? CopyHint::kStreaming : CopyHint::kNone;
  const std::unique_ptr<float[]> in(new float[kSide * kSide]), out(new float[kSide * kSide]);
  std::memset(in.get(), 1, kSide * kSide * 4), std::memset(out.get(), 1, kSide * kSide * 4);
  const int64_t share = kSide / tile / threads;
  std::vector<float> scratch(2 * threads * tile * tile);
  for (auto _ : state) {
    std::vector<std::thread> others;
    const auto part = [&](int64_t t) {
      float* a = scratch.data() + 2 * t * tile * tile;
      TransposeMatrix(out.get(), in.get(), tile, t * share, (t + 1) * share, a, a + tile * tile, hint);
    };
    for (int64_t t = 1; t < threads; ++t) others.emplace_back(part, t);
    part(0);
    for (std::thread& t : others) t.join();
  }
  state.SetBytesProcessed(state.iterations() * 8 * kSide * kSide);
}
BENCHMARK(BM_TransposeMatrix)
    ->ArgNames({"tile", "streaming", "threads"})
    ->ArgsProduct({{32, 64, 128}, {0, 1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void BM_TransposeTile(benchmark::State& state) {
  const int64_t n = state.range(0), bytes = state.range(1);
  const int64_t extents[] = {n, n}, dense[] = {n, 1}, turned[] = {1, n};
  std::vector<char> a(n * n * bytes), b(n * n * bytes);
  for (auto _ : state) {
    CopyBox(b.data(), dense, a.data(), turned, extents, 2, static_cast<int>(bytes));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * n * n * bytes);
}
BENCHMARK(BM_TransposeTile)->ArgNames({"side", "bytes"})->ArgsProduct({{16, 64, 128}, {1, 2, 4, 8}});

void BM_LoadTile(benchmark::State& state) {
  // One tile of a matrix in the cache: what a call costs.
  const int64_t n = state.range(0);
  const int64_t extents[] = {n, n}, dense[] = {n, 1}, matrix[] = {1024, 1};
  std::vector<float> a(n * 1024), b(n * n);
  for (auto _ : state) {
    CopyBox(b.data(), dense, a.data(), matrix, extents, 2, 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 8 * n * n);
}
BENCHMARK(BM_LoadTile)->Arg(4)->Arg(16)->Arg(64)->Arg(128);

void BM_CopyLarge(benchmark::State& state) {
  const int64_t n = int64_t{1} << 26, tile = 1 << 14;
  const CopyHint hint = state.range(0) ? CopyHint::kStreaming : CopyHint::kNone;
  const std::unique_ptr<float[]> a(new float[n]), b(new float[n]);
  std::memset(a.get(), 1, n * 4), std::memset(b.get(), 1, n * 4);
  const int64_t one = 1;
  for (auto _ : state) {
    for (int64_t i = 0; i < n; i += tile) CopyBox(b.get() + i, &one, a.get() + i, &one, &tile, 1, 4, hint);
  }
  state.SetBytesProcessed(state.iterations() * 8 * n);
}
BENCHMARK(BM_CopyLarge)->ArgName("streaming")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tile::vm
