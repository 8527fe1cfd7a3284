// Branches, calls and ends.
#include <cstring>

#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/state.h"

namespace tile::gpu_sim {
namespace {

Step Bra(Thread& t, const Instr& i) { return t.pc = static_cast<uint32_t>(i.imm), Step::kNext; }
absl::Status DecodeBra(Form& f, Instr* i) {
  f.Ignore({"uni"});
  i->run = &Bra;
  i->imm = static_cast<int64_t>(f.Raw(0).number);
  return f.Finish();
}

Step Brx(Thread& t, const Instr& i) {
  const auto index = Get<uint32_t>(t, i.a);
  if (index >= i.count) return Fault(t, i, "the index is behind the end of the table of targets");
  t.pc = i.list[index];
  return Step::kNext;
}
absl::Status DecodeBrx(Form& f, Instr* i) {
  f.Ignore({"idx", "uni"});
  i->run = &Brx;
  i->a = f.Source(0);
  const ptx::Operand& table = f.Raw(1);
  if (table.kind == ptx::Operand::Kind::kInteger && table.number < f.kernel().tables.size()) {
    const ptx::TargetTable& t = f.kernel().tables[table.number];
    i->list = f.Slots(t.targets);
    i->count = static_cast<uint32_t>(t.targets.size());
  } else {
    f.Fail("no such table of targets");
  }
  return f.Finish();
}

// Slots of addresses from and to, and bytes.
struct Passed : Extra {
  struct Value {
    uint32_t from, to;
    uint64_t bytes;
  };
  std::vector<Value> values;
};
Step Pass(Thread& t, const Instr& i) {
  for (const Passed::Value& v : static_cast<const Passed*>(i.extra)->values) {
    const uint8_t* from = Access(t, i, AddressSpace::kGeneric, Get<uint64_t>(t, v.from), v.bytes, 1);
    uint8_t* to = Access(t, i, AddressSpace::kGeneric, Get<uint64_t>(t, v.to), v.bytes, 1);
    if (from == nullptr || to == nullptr) return Step::kFault;
    std::memcpy(to, from, v.bytes);
  }
  return Step::kNext;
}
Step Call(Thread& t, const Instr& i) {
  if (Pass(t, i) == Step::kFault) return Step::kFault;
  Put<uint32_t>(t, i.d, t.pc);
  t.pc = static_cast<uint32_t>(i.imm);
  return Step::kNext;
}
Step Return(Thread& t, const Instr& i) { return t.pc = Get<uint32_t>(t, i.a), Step::kNext; }

void TakePassed(Form& f, size_t operand, Instr* i) {
  uint32_t count = 0;
  const std::vector<ptx::Operand>& parts = f.Raw(operand).parts;
  const uint32_t* slots = f.Sources(operand, &count);
  auto* passed = f.NewExtra<Passed>(i);
  for (uint32_t k = 0; k + 2 < count; k += 3) passed->values.push_back({slots[k], slots[k + 1], parts[k + 2].number});
}
// As tests/gpu_sim/machine/link.h leaves them.
absl::Status DecodeCall(Form& f, Instr* i) {
  f.Ignore({"uni"});
  i->run = &Call;
  i->imm = static_cast<int64_t>(f.Raw(0).number);
  i->d = f.Destination(1);
  TakePassed(f, 2, i);
  return f.Finish();
}
absl::Status DecodeReceived(Form& f, Instr* i) {
  i->run = &Pass;
  TakePassed(f, 0, i);
  return f.Finish();
}
absl::Status DecodeRet(Form& f, Instr* i) {
  f.Ignore({"uni"});
  i->run = [](Thread&, const Instr&) { return Step::kExit; };
  if (f.num_operands() == 0) return f.Finish();  // of a kernel
  i->run = &Return;
  i->a = f.Source(0);
  return f.Finish();
}

Step Exit(Thread&, const Instr&) { return Step::kExit; }
absl::Status DecodeExit(Form& f, Instr* i) {
  f.Ignore({"uni"});
  i->run = &Exit;
  return f.Finish();
}

Step Trap(Thread& t, const Instr& i) { return Fault(t, i, "the kernel executes trap"); }
absl::Status DecodeTrap(Form& f, Instr* i) {
  i->run = &Trap;
  return f.Finish();
}

Step AssertFail(Thread& t, const Instr& i) { return Fault(t, i, "an assertion of the kernel fails"); }
absl::Status DecodeAssertFail(Form& f, Instr* i) {
  f.TakeAll();
  i->run = &AssertFail;
  return f.Finish();
}

Step Yield(Thread&, const Instr&) { return Step::kYield; }
absl::Status DecodeNanosleep(Form& f, Instr* i) {
  f.TakeType();
  f.Source(0);
  i->run = &Yield;
  return f.Finish();
}

Step Nothing(Thread&, const Instr&) { return Step::kNext; }
// A launch begins after the one before it has ended, and registers are no matter here.
absl::Status DecodeGriddepcontrol(Form& f, Instr* i) {
  f.Ignore({"wait", "launch_dependents"});
  i->run = &Nothing;
  return f.Finish();
}
absl::Status DecodePrintf(Form& f, Instr* i) {
  f.TakeAll();
  i->run = &Nothing;
  return f.Finish();
}
absl::Status DecodeSetmaxnreg(Form& f, Instr* i) {
  f.Ignore({"inc", "dec", "sync", "aligned"});
  f.TakeType();
  f.Number(0);
  i->run = &Nothing;
  return f.Finish();
}

}  // namespace

absl::Span<const OpRow> ControlOps() {
  static constexpr OpRow kRows[] = {
      {"bra", DecodeBra},
      {"brx", DecodeBrx},
      {"call", DecodeCall},
      {"received", DecodeReceived},
      {"ret", DecodeRet},
      {"exit", DecodeExit},
      {"trap", DecodeTrap},
      {"__assertfail", DecodeAssertFail},
      {"vprintf", DecodePrintf},
      {"nanosleep", DecodeNanosleep},
      {"griddepcontrol", DecodeGriddepcontrol},
      {"setmaxnreg", DecodeSetmaxnreg},
  };
  return kRows;
}

}  // namespace tile::gpu_sim
