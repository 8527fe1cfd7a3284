// reduce and scan. A body of one known operation runs as a kernel over the whole tile; any other body runs once per
// position along the dimension, over a batch of lanes at a time (prepare/value_plan.h). Where lanes are few, those of arg-max and its like
// are cut into parts (fold_select.h).
#include <cstring>
#include <vector>

#include "ir/op_views.h"
#include "vm/eval/fold.h"
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

struct KernelData {
  ReduceFn reduce;
  ScanFn scan;
  Slot in, out;
  int64_t outer, n, inner;
  bool reverse;
  uint64_t neutral;
  int bytes;
  bool flush;  // a step flushes subnormals, but the first element takes part in none
};

const Instr* RunKernel(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const KernelData*>(in->data);
  const auto* from = static_cast<const uint8_t*>(b.at(d.in));
  auto* to = static_cast<uint8_t*>(b.at(d.out));
  const auto row = static_cast<size_t>(d.inner * d.bytes), line = row * static_cast<size_t>(d.n);
  if (d.n == 1) {
    std::memmove(to, from, row * static_cast<size_t>(d.outer));
    return in + 1;
  }
  if (d.reduce != nullptr) {
    d.reduce(to, from, d.outer, d.n, d.inner, d.neutral);
    return in + 1;
  }
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
  return in + 1;
}

// The one operation of the body, if it combines the two arguments and nothing else.
const Op* OnlyOperation(const ir::Block* body) {
  const Op* op = body->front();
  if (body->num_args() != 2 || op == nullptr || op->next() != body->back()) return nullptr;
  const Op* yield = body->back();
  if (yield->opcode() != Opcode::kYield || yield->operand(0) != op->result(0) || op->num_operands() != 2)
    return nullptr;
  const Value *element = body->arg(0), *accumulator = body->arg(1);
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

void PrepareFold(Preparer& p, const Op& op, bool scan) {
  const ir::Type t = op.operand(0)->type();
  const auto dim = static_cast<size_t>(ir::FoldOp(op).dim());
  int64_t outer = 1, inner = 1;
  for (size_t k = 0; k < dim; ++k) outer *= t.shape()[k];
  for (size_t k = dim + 1; k < t.shape().size(); ++k) inner *= t.shape()[k];
  const int64_t n = t.shape()[dim];
  const bool reverse = scan && ir::ScanOp(op).reverse();
  const ir::Block* body = op.region(0);
  if (const Op* only = OnlyOperation(body)) {
    const ReduceFn reduce = scan ? nullptr : FindReduce(KeyOf(*only));
    const ScanFn scan_fn = scan ? FindScan(KeyOf(*only)) : nullptr;
    if (reduce != nullptr || scan_fn != nullptr) {
      auto* d = p.New<KernelData>();
      const ReduceKey key = KeyOf(*only);
      *d = {reduce,  scan_fn,          p.dense(op.operand(0)),     p.result(op, 0),  outer, n, inner,
            reverse, NeutralBits(key), ir::StorageBytes(key.elem), key.flush_to_zero};
      p.Emit(op, RunKernel, d);
      return;
    }
  }
  auto* d = p.New<BodyData>();
  auto* streams = p.NewArray<Stream>(static_cast<size_t>(op.num_operands()));
  for (int i = 0; i < op.num_operands(); ++i) {
    streams[i].source = p.dense(op.operand(i));
    streams[i].element = p.raw(body->arg(2 * i));
    streams[i].accumulator = p.raw(body->arg(2 * i + 1));
    streams[i].result = p.result(op, i);
    streams[i].bytes = ir::StorageBytes(op.operand(i)->type().elem());
  }
  const int64_t parts = p.plan().parts(&op);
  *d = {op.num_operands(), streams, outer * parts, n / parts, inner, p.plan().batch(&op), parts, scan, reverse};
  const int run = p.Emit(op, RunBodies, d);
  p.PrepareBlock(body);
  p.SetTarget(run, p.next_instr());
}

}  // namespace

void PrepareReduce(Preparer& p, const Op& op) { PrepareFold(p, op, false); }
void PrepareScan(Preparer& p, const Op& op) { PrepareFold(p, op, true); }

}  // namespace tile::vm
