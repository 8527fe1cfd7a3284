// Tile products, with OpenBLAS on one thread beside them.
//
//   bazel run //vm/kernels:mma_bench -- --benchmark_filter=128
#include <cblas.h>

#include <cstring>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "vm/kernels/mma.h"

extern "C" void openblas_set_num_threads(int);

namespace tile::vm {
namespace {
using ir::Elem;

void Report(benchmark::State& state, int64_t m, int64_t n, int64_t k) {
  const double ops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  state.counters["Gop/s"] =
      benchmark::Counter(ops * static_cast<double>(state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
}

// Operands of ones: every element type has that code, and it keeps the accumulator finite.
std::vector<uint8_t> Ones(Elem e, int64_t count) {
  uint64_t one = 1;
  switch (e) {
    case Elem::kF32:
    case Elem::kTF32: one = 0x3f800000; break;
    case Elem::kF64: one = 0x3ff0000000000000; break;
    case Elem::kF16: one = 0x3c00; break;
    case Elem::kBF16: one = 0x3f80; break;
    case Elem::kF8E4M3FN: one = 0x38; break;
    case Elem::kF8E5M2: one = 0x3c; break;
    default: break;
  }
  const size_t bytes = ir::StorageBytes(e);
  std::vector<uint8_t> v(count * bytes);
  for (int64_t i = 0; i < count; ++i) std::memcpy(&v[i * bytes], &one, bytes);
  return v;
}

void Mma(benchmark::State& state, Elem ab, Elem c, Isa isa, bool wide_rows) {
  const MmaKey key{ab, c};
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const int64_t gap = wide_rows ? 4096 : 0;  // rows in a matrix of 4096 columns
  const std::vector<uint8_t> a = Ones(ab, m * (gap ? gap : k)), b = Ones(ab, k * (gap ? gap : n));
  std::vector<uint8_t> acc(m * n * ir::StorageBytes(c));
  std::vector<uint8_t> scratch(MmaScratchBytes(key, m, n, k));
  MmaParams p = MmaParams::Dense(m, n, k);
  if (gap) p.lda = p.ldb = gap;
  p.a = a.data(), p.b = b.data(), p.c = p.out = acc.data(), p.scratch = scratch.data();
  const MmaFn mma = FindMma(key, isa);
  for (auto _ : state) {
    mma(p);
    benchmark::ClobberMemory();
  }
  Report(state, m, n, k);
}

void OpenBlas(benchmark::State& state) {
  openblas_set_num_threads(1);
  const int m = static_cast<int>(state.range(0)), n = static_cast<int>(state.range(1)),
            k = static_cast<int>(state.range(2));
  std::vector<float> a(m * k, 1.0f), b(k * n, 1.0f), c(m * n, 0.0f);
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a.data(), k, b.data(), n, 1.0f, c.data(), n);
    benchmark::ClobberMemory();
  }
  Report(state, m, n, k);
}

void Register() {
  const std::vector<std::vector<int64_t>> shapes = {{128, 128, 64}, {128, 128, 32}, {64, 64, 32},  {256, 256, 256},
                                                    {16, 16, 16},   {16, 128, 64},  {1, 128, 128}, {512, 512, 512}};
  const auto add = [&](benchmark::internal::Benchmark* b) {
    for (const auto& s : shapes) b->Args(s);
  };
  add(benchmark::RegisterBenchmark("sgemm/openblas", OpenBlas));
  struct Pair {
    Elem ab, c;
  };
  for (const Pair pair : {Pair{Elem::kF32, Elem::kF32}, Pair{Elem::kF64, Elem::kF64}, Pair{Elem::kTF32, Elem::kF32},
                          Pair{Elem::kF16, Elem::kF32}, Pair{Elem::kF16, Elem::kF16}, Pair{Elem::kBF16, Elem::kF32},
                          Pair{Elem::kF8E4M3FN, Elem::kF32}, Pair{Elem::kI8, Elem::kI32}}) {
    for (const Isa isa : {Isa::kGeneric, Isa::kV2, Isa::kV3, Isa::kV4}) {
      if (!IsaSupported(isa)) continue;
      for (const bool wide : {false, true}) {
        const std::string name = std::string(ir::ElemInfoOf(pair.ab).spelling) + "_" + ir::ElemInfoOf(pair.c).spelling +
                                 "/" + IsaName(isa) + (wide ? "/in_place" : "");
        add(benchmark::RegisterBenchmark(name.c_str(),
                                         [=](benchmark::State& s) { Mma(s, pair.ab, pair.c, isa, wide); }));
      }
    }
  }
}
[[maybe_unused]] const bool registered = (Register(), true);

}  // namespace
}  // namespace tile::vm
