// Speed of elementwise kernels on tiles of 4096 elements, which stay in the cache. Bytes are those of operands and
// result.
//   bazel run -c opt //vm/kernels:elementwise_bench -- --benchmark_filter=f32
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "ir/float.h"
#include "ir/op_info.h"
#include "vm/kernels/elementwise.h"

namespace tile::vm {
namespace {

constexpr int kElements = 4096;

constexpr ir::Opcode kOps[] = {
    ir::Opcode::kAddf, ir::Opcode::kMulf, ir::Opcode::kMaxf, ir::Opcode::kDivf, ir::Opcode::kFma,
#define TILE_MATH1(Name, ...) ir::Opcode::k##Name,
#define TILE_MATH1_FTZ TILE_MATH1
#define TILE_MATH2 TILE_MATH1
#include "vm/kernels/elementwise.def"
};

void Run(benchmark::State& state, ElementwiseFn fn, ir::Elem elem, int operands, int splat_mask) {
  const int bytes = ir::StorageBytes(elem);
  std::vector<std::vector<uint8_t>> tiles(operands + 1, std::vector<uint8_t>(kElements * bytes));
  for (int o = 0; o < operands; ++o) {
    for (int i = 0; i < kElements; ++i) {
      const uint64_t bits = ir::FromDouble(elem, 0.01 + 8.0 * ((i * 37 + o * 11) % kElements) / kElements);
      __builtin_memcpy(&tiles[o][i * bytes], &bits, bytes);
    }
  }
  const void* pointers[3] = {};
  for (int o = 0; o < operands; ++o) pointers[o] = tiles[o].data();
  for (auto _ : state) {
    fn(tiles[operands].data(), pointers, kElements);
    benchmark::ClobberMemory();
  }
  const int full = operands - __builtin_popcount(splat_mask);
  state.SetItemsProcessed(state.iterations() * kElements);
  state.SetBytesProcessed(state.iterations() * kElements * bytes * (full + 1));
}

int RegisterAll() {
  using ir::Elem;
  for (Elem elem : {Elem::kF32, Elem::kF16, Elem::kBF16, Elem::kF64}) {
    for (ir::Opcode opcode : kOps) {
      const ir::OpInfo* op = ir::GetOp(opcode);
      const int operands = static_cast<int>(op->format->operands.size());
      for (int splat_mask : {0, 2}) {
        ElementwiseKey key;
        key.op = opcode;
        key.in = key.out = elem;
        key.splat_mask = splat_mask;
        const ElementwiseFn fn = FindElementwise(key);
        if (fn == nullptr) continue;
        benchmark::RegisterBenchmark(
            absl::StrCat(op->mnemonic, "/", ir::ElemInfoOf(elem).spelling, splat_mask ? "/splat" : "").c_str(),
            [=](benchmark::State& state) { Run(state, fn, elem, operands, splat_mask); });
      }
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = RegisterAll();

}  // namespace
}  // namespace tile::vm
