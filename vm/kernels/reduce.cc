#include "vm/kernels/reduce.h"

#include <optional>

#include "ir/neutral.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Opcode;

struct Row {
  Opcode op;
  Fold fold;  // of signed integers and floats
  Fold unsigned_fold;
  Fold signed_i1;    // of i1 read as 0 and -1
  Fold unsigned_i1;  // of i1 read as 0 and 1
};
constexpr Row kInts[] = {
    {Opcode::kAddi, Fold::kAdd, Fold::kAdd, Fold::kXor, Fold::kXor},
    {Opcode::kMuli, Fold::kMul, Fold::kMul, Fold::kAnd, Fold::kAnd},
    {Opcode::kMaxi, Fold::kMax, Fold::kMaxUnsigned, Fold::kAnd, Fold::kOr},
    {Opcode::kMini, Fold::kMin, Fold::kMinUnsigned, Fold::kOr, Fold::kAnd},
    {Opcode::kAndi, Fold::kAnd, Fold::kAnd, Fold::kAnd, Fold::kAnd},
    {Opcode::kOri, Fold::kOr, Fold::kOr, Fold::kOr, Fold::kOr},
    {Opcode::kXori, Fold::kXor, Fold::kXor, Fold::kXor, Fold::kXor},
};
struct FloatRow {
  Opcode op;
  Fold fold;
};
constexpr FloatRow kFloats[] = {
    {Opcode::kAddf, Fold::kAdd}, {Opcode::kMulf, Fold::kMul}, {Opcode::kMaxf, Fold::kMax}, {Opcode::kMinf, Fold::kMin}};

std::optional<FloatKind> KindOf(Elem e) {
  if (e == Elem::kF16) return FloatKind::kF16;
  if (e == Elem::kBF16) return FloatKind::kBF16;
  if (e == Elem::kF32) return FloatKind::kF32;
  if (e == Elem::kF64) return FloatKind::kF64;
  return std::nullopt;
}

ReduceKernels Find(const ReduceKey& key, Isa isa) {
  if (ir::IsInt(key.elem)) {
    const bool is_signed = key.signedness == ir::Signedness::kSigned;
    const int bits = ir::ElemInfoOf(key.elem).bits;
    for (const Row& row : kInts) {
      if (row.op != key.op) continue;
      const Fold i1 = is_signed ? row.signed_i1 : row.unsigned_i1;
      const Fold wide = is_signed ? row.fold : row.unsigned_fold;
      return TILE_VM_SELECT(isa, FindIntKernels)(bits == 1 ? i1 : wide, bits);
    }
    return {};
  }
  const std::optional<FloatKind> kind = KindOf(key.elem);
  if (!kind.has_value() || (key.flush_to_zero && *kind != FloatKind::kF32)) return {};
  for (const FloatRow& row : kFloats) {
    if (row.op != key.op) continue;
    if (row.fold == Fold::kMax || row.fold == Fold::kMin) {
      return TILE_VM_SELECT(isa, FindFloatOrderKernels)(row.fold, *kind, key.propagate_nan, key.flush_to_zero);
    }
    return TILE_VM_SELECT(isa, FindFloatKernels)(row.fold, *kind, key.flush_to_zero);
  }
  return {};
}

}  // namespace

uint64_t NeutralBits(const ReduceKey& key) {
  return ir::NeutralBits({key.op, key.elem, key.propagate_nan, key.signedness}).value_or(0);
}

ReduceFn FindReduce(const ReduceKey& key, Isa isa) { return Find(key, isa).reduce; }
ScanFn FindScan(const ReduceKey& key, Isa isa) { return Find(key, isa).scan; }

}  // namespace tile::vm
