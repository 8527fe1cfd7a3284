// Operations that only move elements: broadcast, cat, permute, extract, insert, pack, unpack.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/kernels/copy.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;
using ir::Value;

std::vector<int64_t> RowMajor(absl::Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= shape[k];
  }
  return strides;
}

struct MoveData {
  Slot in, out;
  int rank, bytes;
  int64_t out_offset;  // bytes
  const int64_t *extent, *in_stride, *out_stride;
};

const Instr* RunMove(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const MoveData*>(in->data);
  CopyBox(static_cast<char*>(b.at(d.out)) + d.out_offset, d.out_stride, b.at(d.in), d.in_stride, d.extent, d.rank,
          d.bytes);
  return in + 1;
}

MoveData* NewMove(Preparer& p, Slot in, Slot out, int bytes, absl::Span<const int64_t> extent,
                  absl::Span<const int64_t> in_stride, absl::Span<const int64_t> out_stride) {
  auto* d = p.New<MoveData>();
  d->in = in;
  d->out = out;
  d->rank = static_cast<int>(extent.size());
  d->bytes = bytes;
  d->extent = p.code().arena.Copy(extent).data();
  d->in_stride = p.code().arena.Copy(in_stride).data();
  d->out_stride = p.code().arena.Copy(out_stride).data();
  return d;
}

struct RepeatData {
  Slot out, in;
  int64_t n, run, count;
  int bytes;
};

// A broadcast whose element i is element (i / run) % count of its source.
const Instr* RunRepeat(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const RepeatData*>(in->data);
  Expand(b.at(d.out), b.at(d.in), d.bytes, d.n, d.run, d.count);
  return in + 1;
}

int BytesOf(const Value* v) { return static_cast<int>(StoredElementBytes(v->type())); }

struct SliceData {
  Slot small, large, base;  // base: what an insert copies first, if it does not work in place
  bool insert;
  int rank, bytes;
  int64_t bytes_large;
  const Slot* index;
  const int64_t *slices, *extent, *small_stride, *large_stride;
};

// Slice number (i0, …) starts at i_k * extent_k of the large tile.
const Instr* RunSlice(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const SliceData*>(in->data);
  int64_t offset = 0;
  for (int k = 0; k < d.rank; ++k) {
    const auto i = b.get<uint32_t>(d.index[k]);
    if (i >= d.slices[k]) {
      return Trap(
          b, in->op, "vm.index_out_of_bounds",
          absl::StrCat("slice ", static_cast<int32_t>(i), " of dimension ", k, ", which has ", d.slices[k], " slices"));
    }
    offset += i * d.extent[k] * d.large_stride[k];
  }
  char* large = static_cast<char*>(b.at(d.large));
  if (!d.insert) {
    CopyBox(b.at(d.small), d.small_stride, large + offset * d.bytes, d.large_stride, d.extent, d.rank, d.bytes);
    return in + 1;
  }
  const void* base = b.at(d.base);
  if (base != large) std::memcpy(large, base, static_cast<size_t>(d.bytes_large));
  CopyBox(large + offset * d.bytes, d.large_stride, b.at(d.small), d.small_stride, d.extent, d.rank, d.bytes);
  return in + 1;
}

void PrepareSlice(Preparer& p, const Op& op, const Value* small, const Value* large, ir::OperandRange index) {
  auto* d = p.New<SliceData>();
  const absl::Span<const int64_t> s = small->type().shape(), l = large->type().shape();
  d->rank = static_cast<int>(s.size());
  d->bytes = BytesOf(small);
  auto* slots = p.NewArray<Slot>(index.size());
  auto* slices = p.NewArray<int64_t>(s.size());
  for (size_t k = 0; k < s.size(); ++k) {
    slots[k] = p.raw(index[k]);
    slices[k] = l[k] / s[k];
  }
  d->index = slots;
  d->slices = slices;
  d->extent = p.code().arena.Copy(s).data();
  d->small_stride = p.code().arena.Copy<int64_t>(RowMajor(s)).data();
  d->large_stride = p.code().arena.Copy<int64_t>(RowMajor(l)).data();
  d->bytes_large = large->type().num_elements() * d->bytes;
  if (op.opcode() == ir::Opcode::kInsert) {
    d->insert = true;
    d->small = p.dense(small);
    d->base = p.dense(large);
    d->large = p.result(op, 0);
  } else {
    d->small = p.result(op, 0);
    d->large = p.dense(large);
  }
  p.Emit(op, RunSlice, d);
}

// --- pack and unpack ------------------------------------------------------------------------------------------------

struct PackData {
  Slot in, out;
  int64_t n;  // elements of the wider form
  int bits;   // 1 or 4: that many to a byte; else whole bytes
  int bytes;
  bool unpack;
};

const Instr* RunPack(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const PackData*>(in->data);
  const auto* from = static_cast<const uint8_t*>(b.at(d.in));
  auto* to = static_cast<uint8_t*>(b.at(d.out));
  if (d.bits >= 8) {
    std::memcpy(to, from, static_cast<size_t>(d.n * d.bytes));
    return in + 1;
  }
  const int per_byte = 8 / d.bits;
  const int mask = (1 << d.bits) - 1;
  if (d.unpack) {
    for (int64_t i = 0; i < d.n; ++i)
      to[i] = static_cast<uint8_t>((from[i / per_byte] >> (i % per_byte * d.bits)) & mask);
    return in + 1;
  }
  for (int64_t i = 0; i < d.n; i += per_byte) {
    int byte = 0;
    for (int k = 0; k < per_byte && i + k < d.n; ++k) byte |= (from[i + k] & mask) << (k * d.bits);
    to[i / per_byte] = static_cast<uint8_t>(byte);
  }
  return in + 1;
}

void PrepareBytes(Preparer& p, const Op& op, const Value* wide, bool unpack) {
  auto* d = p.New<PackData>();
  const Elem e = wide->type().elem();
  d->n = wide->type().num_elements();
  d->bits = e == Elem::kI1 ? 1 : ir::IsSubByte(e) ? 4 : 8;
  d->bytes = ir::StorageBytes(e);
  d->unpack = unpack;
  d->in = p.dense(op.operand(0));
  d->out = p.result(op, 0);
  p.Emit(op, RunPack, d);
}

}  // namespace

// The same elements in the same order: the same storage.
void PrepareReshape(Preparer&, const Op&) {}

void PrepareBroadcast(Preparer& p, const Op& op) {
  const Value *from = op.operand(0), *to = op.result(0);
  if (p.plan().storage(from) == p.plan().storage(to)) return;  // stays compact
  const absl::Span<const int64_t> f = from->type().shape(), t = to->type().shape();
  if (const Form form = BroadcastForm(f, t); form.count > 0) {
    auto* d = p.New<RepeatData>();
    *d = {p.result(op, 0), p.dense(from), p.plan().elements(to), form.run, form.count, BytesOf(to)};
    p.Emit(op, RunRepeat, d);
    return;
  }
  std::vector<int64_t> in_stride = RowMajor(f);
  for (size_t k = 0; k < f.size(); ++k) {
    if (f[k] != t[k]) in_stride[k] = 0;
  }
  p.Emit(op, RunMove, NewMove(p, p.dense(from), p.result(op, 0), BytesOf(to), t, in_stride, RowMajor(t)));
}

void PreparePermute(Preparer& p, const Op& op) {
  const Value *from = op.operand(0), *to = op.result(0);
  if (p.plan().storage(from) == p.plan().storage(to)) return;  // one element everywhere
  const std::vector<int64_t> source = RowMajor(from->type().shape());
  std::vector<int64_t> in_stride;
  for (int64_t d : ir::PermuteOp(op).permutation()) in_stride.push_back(source[static_cast<size_t>(d)]);
  const absl::Span<const int64_t> t = to->type().shape();
  p.Emit(op, RunMove, NewMove(p, p.dense(from), p.result(op, 0), BytesOf(to), t, in_stride, RowMajor(t)));
}

void PrepareCat(Preparer& p, const Op& op) {
  const Value* to = op.result(0);
  const std::vector<int64_t> out_stride = RowMajor(to->type().shape());
  const auto dim = static_cast<size_t>(ir::CatOp(op).dim());
  int64_t at = 0;
  for (int i = 0; i < 2; ++i) {
    const absl::Span<const int64_t> shape = op.operand(i)->type().shape();
    MoveData* d = NewMove(p, p.dense(op.operand(i)), p.result(op, 0), BytesOf(to), shape, RowMajor(shape), out_stride);
    d->out_offset = at * out_stride[dim] * d->bytes;
    at += shape[dim];
    p.Emit(op, RunMove, d);
  }
}

void PrepareExtract(Preparer& p, const Op& op) {
  PrepareSlice(p, op, op.result(0), ir::ExtractOp(op).source(), ir::ExtractOp(op).indices());
}

void PrepareInsert(Preparer& p, const Op& op) {
  PrepareSlice(p, op, ir::InsertOp(op).source(), ir::InsertOp(op).destination(), ir::InsertOp(op).indices());
}

void PreparePack(Preparer& p, const Op& op) { PrepareBytes(p, op, op.operand(0), false); }
void PrepareUnpack(Preparer& p, const Op& op) { PrepareBytes(p, op, op.result(0), true); }

}  // namespace tile::vm
