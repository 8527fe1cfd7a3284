// Branches and ends.
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
  for (const ptx::TargetTable& t : f.kernel().tables) {
    if (t.name != table.text) continue;
    i->list = f.Slots(t.targets);
    i->count = static_cast<uint32_t>(t.targets.size());
  }
  if (i->list == nullptr) f.Fail("no such table of targets");
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
      {"ret", DecodeExit},
      {"exit", DecodeExit},
      {"trap", DecodeTrap},
      {"nanosleep", DecodeNanosleep},
      {"griddepcontrol", DecodeGriddepcontrol},
      {"setmaxnreg", DecodeSetmaxnreg},
  };
  return kRows;
}

}  // namespace tile::gpu_sim
