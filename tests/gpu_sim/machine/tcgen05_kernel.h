// A kernel that multiplies by tcgen05, for tests of one block and of pairs, which change its text; and its runs with several orders and kinds of
// lateness.
//
//   const Outcomes o = RunAll(std::string(kProduct));     // o.right == o.all
#ifndef TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_KERNEL_H_
#define TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_KERNEL_H_

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/gpu_sim/machine/decode.h"
#include "tests/gpu_sim/machine/run.h"
#include "tests/gpu_sim/ptx/parser.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {

inline constexpr uint32_t kRows = 128, kColumns = 16, kDepth = 16;
inline constexpr int kSeeds = 6;

// D = A * B, 128 × 16 × 16 of f16. A thread copies its row of A, and 16 of them one of B, to shared memory: pieces of 16 bytes, eight rows
// behind each other, without a swizzle. A row of D is a thread's.
inline constexpr absl::string_view kProduct = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d) .maxntid 128, 1, 1
{
.reg .pred %p<4>;
.reg .b32 %r<48>;
.reg .b64 %rd<16>;
.shared .align 1024 .b8 tile[8192];
.shared .align 8 .b8 barrier[8];
.shared .align 4 .b8 place[4];
ld.param.b64 %rd1, [a];
ld.param.b64 %rd2, [b];
ld.param.b64 %rd3, [d];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 5;
cvt.u64.u32 %rd4, %r2;
add.s64 %rd1, %rd1, %rd4;
add.s64 %rd2, %rd2, %rd4;
shl.b64 %rd4, %rd4, 1;
add.s64 %rd3, %rd3, %rd4;
shl.b32 %r2, %r1, 4;
mov.u32 %r3, tile;
add.s32 %r4, %r3, %r2;
setp.lt.u32 %p1, %r1, 32;
setp.lt.u32 %p2, %r1, 16;
setp.eq.u32 %p3, %r1, 0;
ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd1];
st.shared.v4.b32 [%r4], {%r8, %r9, %r10, %r11};
ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd1+16];
st.shared.v4.b32 [%r4+2048], {%r8, %r9, %r10, %r11};
@%p2 ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd2];
@%p2 st.shared.v4.b32 [%r4+4096], {%r8, %r9, %r10, %r11};
@%p2 ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd2+16];
@%p2 st.shared.v4.b32 [%r4+4352], {%r8, %r9, %r10, %r11};
mov.u32 %r5, barrier;
mov.u32 %r6, place;
@%p3 mbarrier.init.shared::cta.b64 [%r5], 1;
@!%p1 bra allocated;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], 32;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
fence.proxy.async.shared::cta;
bar.sync 0;
ld.shared.b32 %r7, [%r6];
@!%p3 bra multiplied;
shr.u32 %r12, %r3, 4;
cvt.u64.u32 %rd5, %r12;
mov.b64 %rd6, 0x0000400800800000;
or.b64 %rd7, %rd5, %rd6;
mov.b64 %rd6, 0x0000400800100000;
add.s64 %rd5, %rd5, 256;
or.b64 %rd8, %rd5, %rd6;
mov.b32 %r13, 0x08040010;
setp.ne.u32 %p1, %r1, %r1;
tcgen05.mma.cta_group::1.kind::f16 [%r7], %rd7, %rd8, %r13, %p1;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];
multiplied:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0;
@!%p2 bra multiplied;
tcgen05.fence::after_thread_sync;
and.b32 %r14, %r1, 96;
shl.b32 %r14, %r14, 16;
add.s32 %r15, %r7, %r14;
tcgen05.ld.sync.aligned.32x32b.x16.b32 {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31}, [%r15];
tcgen05.wait::ld.sync.aligned;
st.global.v4.b32 [%rd3], {%r16, %r17, %r18, %r19};
st.global.v4.b32 [%rd3+16], {%r20, %r21, %r22, %r23};
st.global.v4.b32 [%rd3+32], {%r24, %r25, %r26, %r27};
st.global.v4.b32 [%rd3+48], {%r28, %r29, %r30, %r31};
tcgen05.fence::before_thread_sync;
bar.sync 0;
setp.lt.u32 %p1, %r1, 32;
@!%p1 bra end;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 32;
end:
ret;
}
)";

struct Outcome {
  absl::Status status;
  bool right = false;
};

// A[m][k] = (m + k) mod 7 - 3, B[n][k] = (2 n + k) mod 5 - 2.
inline int A(uint32_t m, uint32_t k) { return static_cast<int>((m + k) % 7) - 3; }
inline int B(uint32_t n, uint32_t k) { return static_cast<int>((2 * n + k) % 5) - 2; }

inline std::vector<uint16_t> Halves(uint32_t rows, int (*value)(uint32_t, uint32_t)) {
  std::vector<uint16_t> codes;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t k = 0; k < kDepth; ++k)
      codes.push_back(static_cast<uint16_t>(Encode(Format::kF16, value(r, k), Rounding::kNearestEven)));
  }
  return codes;
}

template <class T>
uint64_t Upload(DeviceMemory& memory, const std::vector<T>& values) {
  const uint64_t address = *memory.Allocate(values.size() * sizeof(T), 0);
  std::memcpy(memory.Find(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
  return address;
}

inline bool IsRight(const float* d, uint32_t rows) {
  for (uint32_t m = 0; m < rows; ++m) {
    for (uint32_t n = 0; n < kColumns; ++n) {
      int sum = 0;
      for (uint32_t k = 0; k < kDepth; ++k) sum += A(m, k) * B(n, k);
      if (d[m * kColumns + n] != static_cast<float>(sum)) return false;
    }
  }
  return true;
}

// By a cluster of these blocks, 128 rows each.
inline Outcome Run(const std::string& text, int seed, int lateness, bool ptxas_waits = false, uint32_t blocks = 1) {
  const auto parsed = ptx::Parse(text);
  if (!parsed.ok()) return {parsed.status()};
  DeviceMemory memory;
  const auto loaded = LoadModule(**parsed, &memory);
  if (!loaded.ok()) return {loaded.status()};
  const uint32_t rows = kRows * blocks;
  const uint64_t d = *memory.Allocate(4 * rows * kColumns, 0xEE);
  const uint64_t params[] = {Upload(memory, Halves(rows, A)), Upload(memory, Halves(kRows, B)), d};
  Launch launch;
  launch.program = loaded->programs[0].get();
  launch.memory = &memory;
  launch.block = {kRows, 1, 1};
  launch.grid[0] = launch.cluster[0] = blocks;
  launch.random.state = static_cast<uint64_t>(seed + 1) * 0x9E3779B97F4A7C15u;
  launch.lateness = lateness;
  launch.ptxas_waits = ptxas_waits;
  launch.params.resize(launch.program->param_bytes + 64);
  launch.param_base = reinterpret_cast<uint64_t>(launch.params.data());
  std::memcpy(launch.params.data(), params, sizeof params);
  Outcome outcome = {RunLaunch(&launch)};
  outcome.right = outcome.status.ok() && IsRight(reinterpret_cast<const float*>(memory.Find(d, 4)), rows);
  return outcome;
}

// All seeds with each kind of lateness; the number of right results, and the first error.
struct Outcomes {
  int right = 0, all = 0;
  std::string error;
};
inline Outcomes RunAll(const std::string& text, bool ptxas_waits = false, uint32_t blocks = 1) {
  Outcomes outcomes;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const int lateness : {0, 1, 2}) {
      const Outcome o = Run(text, seed, lateness, ptxas_waits, blocks);
      ++outcomes.all;
      outcomes.right += o.right ? 1 : 0;
      if (outcomes.error.empty()) outcomes.error = std::string(o.status.message());
    }
  }
  return outcomes;
}

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_TCGEN05_KERNEL_H_
