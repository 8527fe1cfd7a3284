// Matrix multiply-accumulate: vm/kernels/mma over the whole tile, batch by batch.
#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/kernels/mma.h"
#include "vm/prepare/prepare.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Value;

struct MmaData {
  MmaFn fn;
  MmaParams params;  // sizes; pointers are set per batch
  Slot a, b, c, out, scale_a, scale_b, scratch;
  bool scaled;
  int64_t batches;
  // Bytes from one batch to the next.
  int64_t step_a, step_b, step_c, step_scale_a, step_scale_b;
};

const Instr* RunMma(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const MmaData*>(in->data);
  MmaParams p = d.params;
  p.scratch = b.at(d.scratch);
  const auto at = [&](Slot s, int64_t batch, int64_t step) { return static_cast<char*>(b.at(s)) + batch * step; };
  for (int64_t i = 0; i < d.batches; ++i) {
    p.a = at(d.a, i, d.step_a);
    p.b = at(d.b, i, d.step_b);
    p.c = at(d.c, i, d.step_c);
    p.out = at(d.out, i, d.step_c);
    if (d.scaled) {
      p.scale_a = at(d.scale_a, i, d.step_scale_a);
      p.scale_b = at(d.scale_b, i, d.step_scale_b);
    }
    d.fn(p);
  }
  return in + 1;
}

void PrepareMma(Preparer& p, const Op& op, MmaKey key) {
  auto* d = p.New<MmaData>();
  const ir::MmaOp product(op);
  const Value *lhs = product.lhs(), *rhs = product.rhs(), *acc = product.acc();
  const absl::Span<const int64_t> a = lhs->type().shape(), b = rhs->type().shape();
  const size_t batch = a.size() - 2;
  const int64_t m = a[batch], k = a[batch + 1], n = b[batch + 1];
  d->params = MmaParams::Dense(m, n, k);
  d->batches = batch == 1 ? a[0] : 1;
  key.ab = lhs->type().elem();
  key.c = acc->type().elem();
  const int64_t ab = ir::StorageBytes(key.ab), c = ir::StorageBytes(key.c);
  d->step_a = m * k * ab;
  d->step_b = k * n * ab;
  d->step_c = m * n * c;
  if (const auto scaled = ir::As<ir::MmaScaledOp>(&op)) {
    const Value *sa = scaled->lhs_scale(), *sb = scaled->rhs_scale();
    key.scale = sa->type().elem();
    const int64_t groups = sa->type().shape().back();
    d->scaled = true;
    d->scale_a = p.dense(sa);
    d->scale_b = p.dense(sb);
    d->params.scale_block = k / groups;
    d->params.ld_scale_a = groups;
    d->params.ld_scale_b = n;
    d->step_scale_a = m * groups;
    d->step_scale_b = groups * n;
  }
  d->fn = FindMma(key);
  if (d->fn == nullptr) {
    return p.Refuse(op,
                    absl::StrCat("the VM has no product of ", ir::ElemInfoOf(key.ab).spelling, " in ",
                                 ir::ElemInfoOf(key.c).spelling,
                                 key.scale ? absl::StrCat(" with scales ", ir::ElemInfoOf(*key.scale).spelling) : ""));
  }
  d->a = p.dense(lhs);
  d->b = p.dense(rhs);
  d->c = p.dense(acc);
  d->out = p.result(op, 0);
  d->scratch = p.temp(MmaScratchBytes(key, m, n, k));
  p.Emit(op, RunMma, d);
}

}  // namespace

void PrepareMmaF(Preparer& p, const Op& op) { PrepareMma(p, op, MmaKey{}); }
void PrepareMmaScaled(Preparer& p, const Op& op) { PrepareMma(p, op, MmaKey{}); }

void PrepareMmaI(Preparer& p, const Op& op) {
  MmaKey key{};
  key.signedness_a = ir::MmaIOp(op).signedness_lhs();
  key.signedness_b = ir::MmaIOp(op).signedness_rhs();
  PrepareMma(p, op, key);
}

}  // namespace tile::vm
