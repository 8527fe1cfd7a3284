// Reductions and scans; bytes read and written a second.
//
//   bazel run //vm/kernels:reduce_bench
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "vm/kernels/reduce.h"

namespace tile::vm {
namespace {
using ir::Elem;
using ir::Opcode;

struct Shape {
  int64_t outer, n, inner;
};
constexpr Shape kShapes[] = {{4096, 4096, 1}, {128, 64, 1}, {1, 1 << 14, 1}, {1, 1 << 24, 1}, {1, 64, 128}};

void Run(benchmark::State& state, const ReduceKey& key, Isa isa, const Shape& s, bool is_scan) {
  const int64_t count = s.outer * s.n * s.inner, bytes = ir::StorageBytes(key.elem);
  const std::vector<uint8_t> in(count * bytes);
  std::vector<uint8_t> out(count * bytes);
  const ReduceFn reduce = FindReduce(key, isa);
  const ScanFn scan = FindScan(key, isa);
  for (auto _ : state) {
    if (is_scan) {
      scan(out.data(), in.data(), s.outer, s.n, s.inner, false, 0);
    } else {
      reduce(out.data(), in.data(), s.outer, s.n, s.inner, 0);
    }
    benchmark::ClobberMemory();
  }
  const int64_t touched = is_scan ? 2 * count : count + s.outer * s.inner;
  state.SetBytesProcessed(state.iterations() * touched * bytes);
}

void Register() {
  struct Op {
    Opcode op;
    Elem elem;
    const char* name;
  };
  for (const Op& op : {Op{Opcode::kAddf, Elem::kF32, "addf_f32"}, Op{Opcode::kAddf, Elem::kF16, "addf_f16"},
                       Op{Opcode::kAddf, Elem::kF64, "addf_f64"}, Op{Opcode::kMaxf, Elem::kF32, "maxf_f32"},
                       Op{Opcode::kMaxf, Elem::kF16, "maxf_f16"}, Op{Opcode::kAddi, Elem::kI32, "addi_i32"},
                       Op{Opcode::kAddi, Elem::kI64, "addi_i64"}, Op{Opcode::kAddi, Elem::kI8, "addi_i8"}}) {
    for (const Isa isa : {Isa::kGeneric, Isa::kV2, Isa::kV3, Isa::kV4}) {
      if (!IsaSupported(isa)) continue;
      for (const bool is_scan : {false, true}) {
        for (const Shape& s : kShapes) {
          const std::string name = std::string(is_scan ? "scan/" : "reduce/") + op.name + "/" + IsaName(isa) + "/" +
                                   std::to_string(s.outer) + "/" + std::to_string(s.n) + "/" + std::to_string(s.inner);
          benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
            Run(state, {.op = op.op, .elem = op.elem}, isa, s, is_scan);
          });
        }
      }
    }
  }
}
[[maybe_unused]] const bool registered = (Register(), true);

}  // namespace
}  // namespace tile::vm
