// Tables of instructions, by the word before the first dot; a file each.
#ifndef TILE_TESTS_GPU_SIM_MACHINE_OPS_H_
#define TILE_TESTS_GPU_SIM_MACHINE_OPS_H_

#include "absl/types/span.h"
#include "tests/gpu_sim/machine/form.h"

namespace tile::gpu_sim {

absl::Span<const OpRow>
ArithmeticOps();                    // add, sub, mul, mad, fma, div, rem, min, max, abs, neg: by type to the next three
absl::Span<const OpRow> BitOps();   // and, or, xor, not, shl, shr, shf, lop3, prmt, bfe, bfi, popc, clz, …
absl::Span<const OpRow> MathOps();  // rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, testp, copysign
absl::Span<const OpRow> CompareOps();        // setp, set, selp, slct
absl::Span<const OpRow> MoveOps();           // mov, cvt, cvta, mapa, isspacep
absl::Span<const OpRow> MemoryOps();         // ld, st, prefetch, membar
absl::Span<const OpRow> AtomicOps();         // atom, red
absl::Span<const OpRow> ControlOps();        // bra, brx, ret, exit, trap, nanosleep, …
absl::Span<const OpRow> BarrierOps();        // bar, barrier
absl::Span<const OpRow> WarpOps();           // shfl, vote, match, redux, elect
absl::Span<const OpRow> MatrixOps();         // mma, ldmatrix, wgmma
absl::Span<const OpRow> CopyOps();           // cp.async, cp.async.bulk
absl::Span<const OpRow> MbarrierOps();       // mbarrier
absl::Span<const OpRow> TensormapOps();      // tensormap, fence
absl::Span<const OpRow> Tcgen05Ops();        // tcgen05
absl::Span<const OpRow> LaunchControlOps();  // clusterlaunchcontrol

// add, sub, mul, … of one kind of type, with the operation's word.
absl::Status DecodeInteger(Form& f, Instr* i, Type type);
absl::Status DecodeCarry(Form& f, Instr* i);             // those with .cc, and addc, subc, madc
absl::Status DecodeFloat(Form& f, Instr* i, Type type);  // f32, f64
absl::Status DecodeFloatPair(Form& f, Instr* i);         // f32x2
absl::Status DecodeHalf(Form& f, Instr* i, Type type);   // f16, bf16 and pairs

}  // namespace tile::gpu_sim

#endif  // TILE_TESTS_GPU_SIM_MACHINE_OPS_H_
