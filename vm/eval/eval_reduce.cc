// reduce and scan. Operands that one known operation folds, each by itself, go through kernels over whole tiles. Any other body
// runs once per position along the dimension, over many lanes at a time: elementwise operations as calls of their kernels
// (fold_program.h); anything else, and everything under --check=full, as instructions (prepare/value_plan.h has the batch).
#include <cstring>
#include <vector>

#include "ir/op_views.h"
#include "vm/eval/fold.h"
#include "vm/eval/fold_program.h"
#include "vm/eval/grouping.h"
#include "vm/kernels/reduce.h"
#include "vm/machine/memory_access.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

// --- known bodies ---------------------------------------------------------------------------------------------------

void FoldByKernel(BlockState& b, const KernelData& d) {
  const auto* from = static_cast<const uint8_t*>(b.at(d.in));
  auto* to = static_cast<uint8_t*>(b.at(d.out));
  const auto row = static_cast<size_t>(d.inner * d.bytes), line = row * static_cast<size_t>(d.n);
  if (d.n == 1) {
    std::memmove(to, from, row * static_cast<size_t>(d.outer));
    return;
  }
  if (d.reduce != nullptr) return d.reduce(to, from, d.outer, d.n, d.inner, d.neutral);
  // The two may be one.
  std::vector<uint8_t> first;
  const size_t first_row = d.reverse ? line - row : 0;
  for (int64_t o = 0; d.flush && o < d.outer; ++o) {
    const uint8_t* at = from + static_cast<size_t>(o) * line + first_row;
    first.insert(first.end(), at, at + row);
  }
  d.scan(to, from, d.outer, d.n, d.inner, d.reverse, d.neutral);
  for (int64_t o = 0; d.flush && o < d.outer; ++o) {
    std::memcpy(to + static_cast<size_t>(o) * line + first_row, first.data() + static_cast<size_t>(o) * row, row);
  }
}

const Instr* RunKernel(BlockState& b, const Instr* in) {
  FoldByKernel(b, *static_cast<const KernelData*>(in->data));
  return in + 1;
}

// The operation that yields operand `s` of the fold, if it combines the element and the accumulator of this operand.
const Op* OnlyOperation(const ir::Block* body, int s) {
  const Op* yield = body->back();
  if (yield == nullptr || yield->opcode() != Opcode::kYield) return nullptr;
  const Op* op = yield->operand(s)->def();
  if (op == nullptr || op->block() != body || op->num_operands() != 2) return nullptr;
  const Value *element = body->arg(2 * s), *accumulator = body->arg(2 * s + 1);
  const bool straight = op->operand(0) == element && op->operand(1) == accumulator;
  const bool swapped = op->operand(0) == accumulator && op->operand(1) == element;
  if (!straight && !(swapped && op->info()->has(ir::kCommutative))) return nullptr;
  const auto rounded = ir::As<ir::RoundingOp>(op);
  if (rounded && rounded->rounding() != ir::Rounding::kNearestEven) return nullptr;
  return op;
}

ReduceKey KeyOf(const Op& op) {
  ReduceKey key{};
  key.op = op.opcode();
  key.elem = op.result(0)->type().elem();
  const auto number = [&](ir::Field field) {
    const ir::Attr* a = ir::FindAttr(op, field);
    return a == nullptr ? 0 : a->as_int();
  };
  key.propagate_nan = number(ir::Field::kPropagateNan) != 0;
  key.flush_to_zero = number(ir::Field::kFlushToZero) != 0;
  key.signedness = static_cast<ir::Signedness>(number(ir::Field::kSignedness));
  return key;
}

// --- any body -------------------------------------------------------------------------------------------------------

// The first elements of whole lines as accumulators, the same one for all parts of a line.
template <class T>
void BeginLines(const BodyData& d, const T* tile, T* batch, int64_t first) {
  for (int64_t lane = first; lane < first + d.batch; ++lane) {
    const int64_t line = lane / d.inner / d.parts, element = d.reverse ? d.n - 1 : 0;
    batch[lane - first] = tile[(line * d.parts * d.n + element) * d.inner + lane % d.inner];
  }
}

// Combines neighbouring parts, the right one as the element, until one is left: [outer, parts, inner] accumulators become
// [outer, inner]. The body works on the whole batch; what is after the pairs is of no use.
bool CombineParts(BlockState& b, const Instr* in, const BodyData& d) {
  for (int64_t pairs = d.outer / 2; pairs >= d.outer / d.parts; pairs /= 2) {
    for (int s = 0; s < d.streams; ++s) {
      const auto size = static_cast<size_t>(d.inner * d.stream[s].bytes);
      auto* element = static_cast<uint8_t*>(b.at(d.stream[s].element));
      auto* accumulator = static_cast<uint8_t*>(b.at(d.stream[s].accumulator));
      for (int64_t i = 0; i < pairs; ++i) {
        std::memcpy(element + static_cast<size_t>(i) * size, accumulator + static_cast<size_t>(2 * i + 1) * size, size);
        std::memmove(accumulator + static_cast<size_t>(i) * size, accumulator + static_cast<size_t>(2 * i) * size,
                     size);
      }
    }
    if (!RunBody(b, in + 1)) return false;
  }
  return true;
}

const Instr* RunBodies(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const BodyData*>(in->data);
  if (b.checker == nullptr && (d.kernels != nullptr || d.program != nullptr)) {
    if (d.kernels == nullptr) RunFold(b, *d.program);
    for (int s = 0; d.kernels != nullptr && s < d.streams; ++s) FoldByKernel(b, d.kernels[s]);
    return in->target;
  }
  const int64_t lanes = d.outer * d.inner;
  for (int64_t first = 0; first < lanes; first += d.batch) {
    if (b.checker != nullptr && !CheckGrouping(b, in, d, first)) return nullptr;
    for (int s = 0; s < d.streams; ++s) {
      const Stream& stream = d.stream[s];
      WithWord(stream.bytes, [&](auto word) {
        using T = decltype(word);
        BeginLines(d, static_cast<const T*>(b.at(stream.source)), static_cast<T*>(b.at(stream.accumulator)), first);
      });
    }
    for (int64_t step = 0; step < d.n; ++step) {
      const int64_t i = d.reverse ? d.n - 1 - step : step;
      // The accumulator begins with the first element, which a part that comes later still has to meet.
      const bool meets = step > 0 || d.parts > 1;
      for (int s = 0; meets && s < d.streams; ++s) {
        const Stream& stream = d.stream[s];
        MoveLanes<true>(d, stream.bytes, b.at(stream.source), b.at(stream.element), first, i);
      }
      if (meets && !RunBody(b, in + 1)) return nullptr;
      for (int s = 0; d.scan && s < d.streams; ++s) {
        const Stream& stream = d.stream[s];
        MoveLanes<false>(d, stream.bytes, b.at(stream.result), b.at(stream.accumulator), first, i);
      }
    }
    if (d.parts > 1 && !CombineParts(b, in, d)) return nullptr;
    for (int s = 0; !d.scan && s < d.streams; ++s) {
      const Stream& stream = d.stream[s];
      std::memcpy(static_cast<char*>(b.at(stream.result)) + first * stream.bytes, b.at(stream.accumulator),
                  static_cast<size_t>(d.batch / d.parts * stream.bytes));
    }
  }
  return in->target;
}

BodyData ShapeOf(const Op& op, bool scan) {
  const ir::Type t = op.operand(0)->type();
  const auto dim = static_cast<size_t>(ir::FoldOp(op).dim());
  BodyData d{};
  d.streams = op.num_operands();
  d.outer = d.inner = d.parts = 1;
  for (size_t k = 0; k < dim; ++k) d.outer *= t.shape()[k];
  for (size_t k = dim + 1; k < t.shape().size(); ++k) d.inner *= t.shape()[k];
  d.n = t.shape()[dim];
  d.scan = scan;
  d.reverse = scan && ir::ScanOp(op).reverse();
  return d;
}

// Additions and multiplications of floats show their order: that of the kernel is the body's, index by index, only here.
bool FoldsInOrder(const ReduceKey& key, const BodyData& d) {
  const bool shows = ir::IsFloat(key.elem) && (key.op == Opcode::kAddf || key.op == Opcode::kMulf);
  const bool narrow = key.elem != ir::Elem::kF32 && key.elem != ir::Elem::kF64;
  return !shows || (!narrow && (d.scan || d.inner > 1));
}

// A kernel for each operand; null if some operand has none.
const KernelData* MakeKernels(Preparer& p, const Op& op, const BodyData& d) {
  const ir::Block* body = op.region(0);
  int operations = 0;
  for (const Op* inner = body->front(); inner != body->back(); inner = inner->next()) ++operations;
  if (operations != d.streams) return nullptr;
  auto* kernels = p.NewArray<KernelData>(static_cast<size_t>(d.streams));
  for (int s = 0; s < d.streams; ++s) {
    const Op* only = OnlyOperation(body, s);
    if (only == nullptr) return nullptr;
    const ReduceKey key = KeyOf(*only);
    const ReduceFn reduce = d.scan ? nullptr : FindReduce(key);
    const ScanFn scan = d.scan ? FindScan(key) : nullptr;
    if ((reduce == nullptr && scan == nullptr) || (d.streams > 1 && !FoldsInOrder(key, d))) return nullptr;
    kernels[s].reduce = reduce;
    kernels[s].scan = scan;
    kernels[s].neutral = NeutralBits(key);
    kernels[s].bytes = ir::StorageBytes(key.elem);
    kernels[s].flush = key.flush_to_zero;
  }
  for (int s = 0; s < d.streams; ++s) {
    kernels[s].in = p.dense(op.operand(s));
    kernels[s].out = p.result(op, s);
    kernels[s].outer = d.outer;
    kernels[s].n = d.n;
    kernels[s].inner = d.inner;
    kernels[s].reverse = d.reverse;
  }
  return kernels;
}

void PrepareFold(Preparer& p, const Op& op, bool scan) {
  auto* d = p.New<BodyData>();
  *d = ShapeOf(op, scan);
  d->kernels = MakeKernels(p, op, *d);
  if (d->kernels != nullptr && d->streams == 1) {
    p.Emit(op, RunKernel, d->kernels);
    return;
  }
  const ir::Block* body = op.region(0);
  auto* streams = p.NewArray<Stream>(static_cast<size_t>(d->streams));
  for (int i = 0; i < d->streams; ++i) {
    streams[i].source = d->kernels != nullptr ? d->kernels[i].in : p.dense(op.operand(i));
    streams[i].element = p.raw(body->arg(2 * i));
    streams[i].accumulator = p.raw(body->arg(2 * i + 1));
    streams[i].result = p.result(op, i);
    streams[i].bytes = ir::StorageBytes(op.operand(i)->type().elem());
  }
  d->stream = streams;
  if (d->kernels == nullptr) d->program = MakeFoldProgram(p, op, *d);
  d->parts = p.plan().parts(&op);
  d->outer *= d->parts;
  d->n /= d->parts;
  d->batch = p.plan().batch(&op);
  const int run = p.Emit(op, RunBodies, d);
  p.PrepareBlock(body);
  p.SetTarget(run, p.next_instr());
}

}  // namespace

void PrepareReduce(Preparer& p, const Op& op) { PrepareFold(p, op, false); }
void PrepareScan(Preparer& p, const Op& op) { PrepareFold(p, op, true); }

}  // namespace tile::vm
