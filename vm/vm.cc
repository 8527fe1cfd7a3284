#include "vm/vm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "ir/escape.h"
#include "vm/check.h"
#include "vm/check_full.h"
#include "vm/launch_state.h"
#include "vm/prepare.h"
#include "vm/scheduler.h"

namespace tile::vm {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 24) - 1;  // of one dimension, semantics 11.2

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
  return r;
}

void Report_(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
             absl::string_view fix) {
  Report r = MakeReport(b, op, code, message, fix);
  std::lock_guard<std::mutex> lock(b.launch->mutex);
  if (b.launch->outcome->reports.size() < kMaxReports) b.launch->outcome->reports.push_back(std::move(r));
}

// Takes their bytes from `left`.
absl::Status AddGlobals(const ir::Module& module, uint64_t* left, Code* code) {
  for (const auto& g : module.globals) {
    const uint64_t element = static_cast<uint64_t>(ir::StorageBytes(g->value.elem));
    const uint64_t bytes = ir::IsSubByte(g->value.elem) ? (static_cast<uint64_t>(g->count) + 1) / 2
                                                        : static_cast<uint64_t>(g->count) * element;
    const uint64_t alignment = std::max<uint64_t>(64, std::min<uint64_t>(g->alignment, 1 << 20));
    const uint64_t size = (bytes + alignment) / alignment * alignment;
    if (size > *left) {
      return absl::ResourceExhaustedError(absl::StrCat(module.Where(g->loc, g->pos), ": error[vm.out_of_memory]: global `",
                                                       g->name, "` takes ", size, " bytes; the limit leaves ", *left));
    }
    *left -= size;
    auto* data = static_cast<uint8_t*>(std::aligned_alloc(alignment, size));
    if (data == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("no memory for global `", g->name, "` of ", bytes, " bytes"));
    }
    code->globals.push_back({g.get(), data, bytes});
    const uint8_t* value = g->value.bytes.data();
    for (int64_t i = 0; i < g->count; ++i) {
      const uint8_t* from = g->value.splat ? value : value + static_cast<uint64_t>(i) * element;
      if (ir::IsSubByte(g->value.elem)) {
        if (i % 2 == 0) data[i / 2] = 0;
        data[i / 2] = static_cast<uint8_t>(data[i / 2] | ((*from & 15) << (i % 2 * 4)));
      } else {
        std::memcpy(data + static_cast<uint64_t>(i) * element, from, element);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

Code::~Code() {
  for (const GlobalMemory& g : globals) std::free(g.data);
}

std::string Report::ToString() const {
  std::string s =
      absl::StrCat(where, warning ? ": warning[" : ": error[", code, "]: ", message, "\n  in kernel `", kernel, "`");
  if (block[0] >= 0) absl::StrAppend(&s, ", block (", block[0], ", ", block[1], ", ", block[2], ")");
  if (!op.empty()) absl::StrAppend(&s, ", at ", op);
  if (!fix.empty()) absl::StrAppend(&s, "\n  fix: ", fix);
  return s;
}

const Instr* Trap(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message,
                  absl::string_view fix) {
  Report_(b, op, code, message, fix);
  b.stop = Stop::kTrap;
  b.launch->stop.store(true, std::memory_order_relaxed);
  return nullptr;
}

void AddReport(BlockState& b, const ir::Op* op, absl::string_view code, absl::string_view message, absl::string_view fix) {
  Report_(b, op, code, message, fix);
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
    in = next;
  }
}

bool RunBody(BlockState& b, const Instr* first) {
  RunInstrs(b, first);
  if (b.stop != Stop::kYield) return false;
  b.stop = Stop::kNone;
  return true;
}

Program::Program(std::unique_ptr<Code> code) : code_(std::move(code)) {}
Program::~Program() = default;

const ir::Function& Program::function() const { return *code_->function; }
uint64_t Program::frame_bytes() const { return code_->frame_bytes; }

absl::StatusOr<std::unique_ptr<Program>> Program::Prepare(const ir::Module& module, absl::string_view kernel,
                                                          const PrepareOptions& options) {
  const ir::Function* f = module.FindFunction(kernel);
  if (f == nullptr) return absl::NotFoundError(absl::StrCat("no kernel `", kernel, "` in the module"));
  auto code = std::make_unique<Code>();
  code->module = &module;
  code->function = f;
  uint64_t left = options.max_constant_bytes;
  if (absl::Status s = AddGlobals(module, &left, code.get()); !s.ok()) return s;
  ir::Walk(f->body(), [&](ir::Op* op) { code->must_park |= op->opcode() == ir::Opcode::kLoop; });
  Preparer preparer(code.get(), *f, left);
  if (absl::Status s = preparer.PrepareFunction(); !s.ok()) return s;
  return std::unique_ptr<Program>(new Program(std::move(code)));
}

Outcome Program::Run(const Launch& launch) {
  Outcome outcome;
  if (launch.params.size() != code_->params.size()) {
    outcome.status = absl::InvalidArgumentError(absl::StrCat("kernel `", code_->function->name, "` takes ",
                                                             code_->params.size(), " parameters, not ", launch.params.size()));
    return outcome;
  }
  for (int64_t n : launch.grid) {
    if (n < 0 || n > kMaxGrid) {
      outcome.status = absl::InvalidArgumentError(
          absl::StrCat("a grid of ", launch.grid[0], " x ", launch.grid[1], " x ", launch.grid[2],
                       ": each dimension must be from 0 to ", kMaxGrid));
      return outcome;
    }
  }
  // No blocks, as a launch rule gives for empty arrays: nothing to do.
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return outcome;
  if (static_cast<double>(launch.grid[0]) * static_cast<double>(launch.grid[1]) * static_cast<double>(launch.grid[2]) > 9e18) {
    outcome.status = absl::InvalidArgumentError("the grid has more than 2^63 blocks");
    return outcome;
  }
  if (code_->frame_bytes > launch.max_tile_bytes) {
    outcome.status = absl::ResourceExhaustedError(
        absl::StrCat("the tiles of one block take ", code_->frame_bytes, " bytes, more than the limit of ", launch.max_tile_bytes));
    return outcome;
  }
  LaunchState state;
  state.launch = &launch;
  state.code = code_.get();
  state.outcome = &outcome;
  for (const Buffer& buffer : launch.buffers) {
    Allocation a;
    a.begin = reinterpret_cast<uintptr_t>(buffer.data);
    a.bytes = buffer.bytes;
    a.name = buffer.name;
    a.element = buffer.element;
    a.shape = buffer.shape;
    a.initialized = buffer.initialized;
    state.memory.Add(std::move(a));
  }
  for (const Code::GlobalMemory& g : code_->globals) {
    Allocation a;
    a.begin = reinterpret_cast<uintptr_t>(g.data);
    a.bytes = g.bytes;
    a.name = std::string(g.global->name);
    a.kind = Allocation::Kind::kGlobal;
    a.element = ir::Element::Number(g.global->value.elem);
    a.shape = {g.global->count};
    a.read_only = g.global->constant;
    state.memory.Add(std::move(a));
  }
  int threads = launch.threads > 0 ? launch.threads : static_cast<int>(std::thread::hardware_concurrency());
  std::unique_ptr<Checker> checker;
  if (launch.check == CheckLevel::kFull) {
    checker = MakeFullChecker(state);
    threads = 1;
  }
  RunGrid(state, threads, checker.get());
  if (state.interrupted) {
    outcome.status = absl::CancelledError(
        absl::StrCat("error[vm.interrupted]: kernel `", code_->function->name, "` was stopped from outside"));
  }
  if (checker != nullptr && !state.stop.load(std::memory_order_relaxed)) checker->EndLaunch();
  // In the order of the text.
  std::vector<std::pair<std::tuple<uint32_t, uint32_t, std::string, std::string>, Warning*>> warnings;
  for (auto& [key, w] : state.warnings) {
    warnings.push_back({{key.first->pos.line, key.first->pos.column, w.report.where, key.second}, &w});
  }
  std::sort(warnings.begin(), warnings.end());
  for (const auto& [key, w] : warnings) {
    if (w->count > 1) absl::StrAppend(&w->report.message, "; ", w->count, " times in all");
    outcome.warnings.push_back(std::move(w->report));
  }
  std::stable_sort(outcome.reports.begin(), outcome.reports.end(), [](const Report& a, const Report& b) {
    return std::make_tuple(a.block[2], a.block[1], a.block[0]) < std::make_tuple(b.block[2], b.block[1], b.block[0]);
  });
  return outcome;
}

}  // namespace tile::vm
