#include "vm/machine/code.h"

#include <algorithm>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "ir/escape.h"
#include "ir/platform/memory.h"
#include "vm/machine/checker.h"
#include "vm/machine/launch_state.h"

namespace tile::vm {
namespace {

Report MakeReport(const BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
                  absl::string_view fix) {
  Report r;
  r.code = std::string(code);
  r.message = std::string(message);
  r.fix = std::string(fix);
  r.kernel = std::string(b.code->function->name);
  for (int i = 0; i < 3; ++i) r.block[i] = b.id[i];
  if (op != nullptr) {
    r.op = op->info()->mnemonic;
    r.where = b.code->module->Where(op->loc, op->pos);
  } else {
    r.where = b.code->module->Where(b.code->function->loc, b.code->function->pos);
  }
  if (b.launch->order.kind != StartOrder::Kind::kLinear) r.order = tile::vm::ToString(b.launch->order);
  return r;
}

void Report_(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
             absl::string_view elements, absl::string_view fix) {
  Report r = MakeReport(b, op, code, message, fix);
  r.elements = std::string(elements);
  std::lock_guard<std::mutex> lock(b.launch->mutex);
  std::vector<Report>& all = b.launch->outcome->reports;
  const auto same = std::find_if(all.begin(), all.end(), [&r](const Report& other) { return other.SaysSame(r); });
  const auto number = static_cast<size_t>(same - all.begin());
  if (number == kMaxReports || (same != all.end() && b.reported[number])) return;
  b.reported[number] = true;
  if (same == all.end()) {
    all.push_back(std::move(r));
  } else {
    same->AddBlock(r);
  }
}

}  // namespace

void Code::AddGlobal(GlobalMemory memory) {
  global_numbers.try_emplace(memory.global, globals.size());
  globals.push_back(memory);
}

const Code::GlobalMemory* Code::FindGlobal(const ir::Global* global) const {
  const auto it = global_numbers.find(global);
  return it == global_numbers.end() ? nullptr : &globals[it->second];
}

Code::~Code() {
  for (const GlobalMemory& g : globals) platform::FreeAligned(g.data);
}

const Instr* Trap(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
                  absl::string_view fix) {
  Report_(b, op, code, message, "", fix);
  b.stop = Stop::kTrap;
  b.launch->stop.store(true, std::memory_order_relaxed);
  return nullptr;
}

void AddReport(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
               absl::string_view fix) {
  Report_(b, op, code, message, "", fix);
}

void ReportAssert(BlockState& b, const ir::Op* op, absl::string_view message, absl::string_view elements) {
  Report_(b, op, "vm.assert", message, elements, "");
}

void Warn(BlockState& b, const ir::Op* op, absl::string_view code, absl::FunctionRef<std::string()> message,
          absl::string_view fix) {
  std::lock_guard<std::mutex> lock(b.launch->mutex);
  Warning& w = b.launch->warnings[{op, std::string(code)}];
  // Of a block the first time counts, of blocks the first: the same for any number of threads.
  if (w.count++ > 0 && w.block <= b.index) return;
  w.block = b.index;
  w.report = MakeReport(b, op, code, message(), fix);
  w.report.warning = true;
}

void PrintText(BlockState& b, absl::string_view text) {
  std::lock_guard<std::mutex> lock(b.launch->mutex);
  if (b.launch->launch->print) {
    b.launch->launch->print(text);
  } else {
    ir::WritePrinted(text, stdout);
  }
}

const int64_t* GridOf(const BlockState& b) { return b.launch->launch->grid; }
Memory& MemoryOf(const BlockState& b) { return b.launch->memory; }

void RunInstrs(BlockState& b, const Instr* in) {
  if (b.checker == nullptr) {
    while (in != nullptr) in = in->fn(b, in);
    return;
  }
  while (in != nullptr && b.checker->Before(b, in)) {
    const Instr* next = in->fn(b, in);
    if (b.stop != Stop::kTrap) b.checker->After(b, in);
    if (b.launch->interrupts && next != nullptr && b.checker->IsStrong(b, in) &&
        b.launch->Draw() % (b.pauses + 4) < 3) {
      ++b.pauses;  // less and less, so that a lock is tried often while its owner stands still
      b.pc = next;
      b.stop = Stop::kPaused;
      return;
    }
    in = next;
  }
}

bool RunBody(BlockState& b, const Instr* first) {
  RunInstrs(b, first);
  if (b.stop != Stop::kYield) return false;
  b.stop = Stop::kNone;
  return true;
}

}  // namespace tile::vm
