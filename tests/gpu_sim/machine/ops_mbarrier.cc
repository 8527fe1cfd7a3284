// mbarrier: barriers in shared memory that also count the bytes of copies.
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/bulk.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/tensor/mbarrier.h"

namespace tile::gpu_sim {
namespace {

Step Done(Thread& t, const Instr& i, const absl::Status& s) { return s.ok() ? Step::kNext : Fault(t, i, s.message()); }

uint64_t* WordAt(Thread& t, const Instr& i) {
  return reinterpret_cast<uint64_t*>(Access(t, i, static_cast<AddressSpace>(i.imm), AddressOf(t, i.at), 8, 8));
}

Step Init(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  return word == nullptr ? Step::kFault : Done(t, i, Mbarrier(word).Init(Get<uint32_t>(t, i.a)));
}
Step Inval(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  return word == nullptr ? Step::kFault : Done(t, i, Mbarrier(word).Invalidate());
}
// The state that an arrival gives is the parity of the phase to which it belongs.
absl::Status KeepState(Thread& t, const Instr& i, const Mbarrier& barrier) {
  const absl::StatusOr<uint32_t> phase = barrier.Phase();
  if (phase.ok()) t.r[i.d] = *phase;
  return phase.status();
}
Step Arrive(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  if (word == nullptr) return Step::kFault;
  NoteArrival(t);
  const absl::Status s = KeepState(t, i, Mbarrier(word));
  return Done(t, i, s.ok() ? Mbarrier(word).Arrive(Get<uint32_t>(t, i.a)) : s);
}
Step ArriveExpectTx(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  if (word == nullptr) return Step::kFault;
  NoteArrival(t);
  absl::Status s = KeepState(t, i, Mbarrier(word));
  if (s.ok()) s = Mbarrier(word).ExpectTx(Get<uint32_t>(t, i.a));
  return Done(t, i, s.ok() ? Mbarrier(word).Arrive(1) : s);
}
Step ExpectTx(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  return word == nullptr ? Step::kFault : Done(t, i, Mbarrier(word).ExpectTx(Get<uint32_t>(t, i.a)));
}
// Copies and products for which the phase waits come now at the latest, or when a second wait is executed: the first may say that the phase
// has not ended. Of a phase that has ended nothing is missing.
Step Wait(Thread& t, const Instr& i) {
  uint64_t* word = WordAt(t, i);
  if (word == nullptr) return Step::kFault;
  absl::StatusOr<bool> done = Mbarrier(word).PhaseDone(Get<uint32_t>(t, i.a));
  if (done.ok() && !*done && !t.has_polled && t.block->launch->lateness != 0 && t.block->launch->IsLate()) {
    t.has_polled = true;
    return t.r[i.d] = 0, Step::kYield;
  }
  t.has_polled = false;
  if (done.ok() && !*done) {
    const auto at = static_cast<uint32_t>(AddressOf(t, i.at));
    if (absl::Status s = FinishCopiesOf(*t.block->cluster, at); !s.ok()) return Done(t, i, s);
    done = Mbarrier(word).PhaseDone(Get<uint32_t>(t, i.a));
  }
  if (!done.ok()) return Done(t, i, done.status());
  if (*done) ++t.block->launch->events;
  t.r[i.d] = *done;
  return *done ? Step::kNext : Step::kYield;
}

// mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], bytes
absl::Status DecodeArrive(Form& f, Instr* i) {
  const bool expects = f.Take("expect_tx");
  i->run = expects ? &ArriveExpectTx : &Arrive;
  i->d = f.Destination(0);
  i->at = f.Address(1);
  i->a = expects || f.num_operands() > 2 ? f.Source(2) : f.NumberSlot(1);
  return f.Finish();
}

absl::Status DecodeWait(Form& f, Instr* i) {
  f.Take("parity");  // else it has the state that an arrival gave, which is a parity here
  i->run = &Wait;
  i->d = f.Destination(0);
  i->at = f.Address(1);
  i->a = f.Source(2);
  if (f.num_operands() > 3) f.Source(3);  // how long it may wait
  return f.Finish();
}

absl::Status DecodeMbarrier(Form& f, Instr* i) {
  f.Ignore({"b64", "release", "acquire", "relaxed", "cta", "cluster"});
  i->imm = static_cast<int64_t>(TakeSpace(f));
  if (f.Take("arrive")) return DecodeArrive(f, i);
  if (f.Take("try_wait") || f.Take("test_wait")) return DecodeWait(f, i);
  const bool init = f.Take("init"), inval = !init && f.Take("inval");
  if (!init && !inval && !f.Take("expect_tx")) return f.Unknown("what it does");
  i->run = init ? &Init : inval ? &Inval : &ExpectTx;
  i->at = f.Address(0);
  if (!inval) i->a = f.Source(1);
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> MbarrierOps() {
  static constexpr OpRow kRows[] = {{"mbarrier", DecodeMbarrier}};
  return kRows;
}

}  // namespace tile::gpu_sim
