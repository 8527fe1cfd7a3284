#include "vm/prepare/prepare.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/loops.h"
#include "ir/op_views.h"
#include "vm/kernels/copy.h"
#include "vm/machine/homes.h"
#include "vm/machine/launch_state.h"
#include "vm/prepare/strips.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kAlign = 64;
constexpr int64_t kMaxFrame = int64_t{1} << 36;
constexpr int64_t kMaxExpanded = 64 << 10;  // bytes; larger ones would only push others out of the caches

int64_t RoundUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

}  // namespace

uint8_t* Preparer::global(absl::string_view name) {
  const Code::GlobalMemory* memory = code_->FindGlobal(code_->module->FindGlobal(name));
  return memory == nullptr ? nullptr : memory->data;
}

void Preparer::Refuse(const Op& op, absl::string_view why) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(
      absl::StrCat(code_->module->Where(op.loc, op.pos), ": error[vm.unsupported]: ", op.info()->mnemonic, ": ", why));
}

int Preparer::Emit(const Op& op, ExecFn fn, const void* data, Role role) {
  Instr in;
  in.fn = fn;
  in.data = data;
  in.op = &op;
  code_->instrs.push_back(in);
  code_->notes.push_back({role, places_});
  return next_instr() - 1;
}

// --- places ---------------------------------------------------------------------------------------------------------

int64_t Preparer::AllocateFrame(int64_t bytes) {
  bytes = std::max<int64_t>(RoundUp(bytes), kAlign);
  // Best fit: the smallest hole that is large enough.
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
  }
  if (best != free_.end()) {
    const int64_t offset = best->first, size = best->second;
    free_.erase(best);
    if (size > bytes) free_[offset + bytes] = size - bytes;
    return offset;
  }
  const int64_t offset = static_cast<int64_t>(code_->frame_bytes);
  if (bytes > kMaxFrame - offset) {
    if (status_.ok()) {
      status_ = absl::ResourceExhaustedError(absl::StrCat("kernel `", ir::ReadableName(code_->function->name),
                                                          "` needs more than ", kMaxFrame,
                                                          " bytes for its tiles in one block"));
    }
    return 0;
  }
  code_->frame_bytes += static_cast<uint64_t>(bytes);
  return offset;
}

void Preparer::FreeFrame(int64_t offset, int64_t bytes) {
  bytes = std::max<int64_t>(RoundUp(bytes), kAlign);
  auto after = free_.upper_bound(offset);
  if (after != free_.end() && offset + bytes == after->first) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_[offset] = bytes;
}

Slot Preparer::pointer_to(const Value* v) {
  const auto [it, is_new] = pointers_.try_emplace(plan_.storage(v), 0);
  if (is_new) it->second = AllocateFrame(sizeof(void*));
  return Slot{it->second};
}

Slot Preparer::raw(const Value* v) { return plan_.forwarded(v) ? Slot{pointer_to(v).offset + 1} : home(v); }

Slot Preparer::home(const Value* v) {
  const int s = plan_.storage(v);
  if (s < 0) return Slot{0};
  const Storage& storage = plan_.at(s);
  return Slot{storage.constant ? ~storage.offset : storage.offset};
}

namespace {
const Instr* RunExpand(BlockState& b, const Instr* in) {
  const auto& item = *static_cast<const CopyItem*>(in->data);
  ExpandCopy(b.at(item.to), b.at(item.from), item);
  return in + 1;
}

CopyItem ItemOf(Plan& plan, const Value* from, Slot at, Slot to, int64_t elements) {
  CopyItem item;
  item.from = at;
  item.to = to;
  item.elements = elements;
  item.run = plan.form(from).run;
  item.count = plan.form(from).count;
  item.element_bytes = static_cast<int>(StoredElementBytes(from->type()));
  return item;
}
}  // namespace

// A constant that is one element everywhere, with all of its elements beside the other constants: no block needs to expand
// it. Some place in the frame where it is too large for that or no such constant.
Slot Preparer::ExpandedConstant(const Value* v, int64_t elements) {
  const int s = plan_.storage(v);
  if (!plan_.at(s).constant || plan_.form(v).count != 1) return {};
  const int64_t bytes = elements * StoredElementBytes(v->type());
  const auto [it, is_new] = expanded_.try_emplace({s, elements}, Slot{});
  if (!is_new) return it->second;
  const int64_t offset = RoundUp(static_cast<int64_t>(code_->constants.size()));
  if (bytes > kMaxExpanded || static_cast<uint64_t>(offset + bytes) > max_constant_bytes_) return {};
  code_->constants.resize(static_cast<size_t>(offset + bytes));
  uint8_t* data = code_->constants.data();
  ExpandCopy(data + offset, data + plan_.at(s).offset, ItemOf(plan_, v, {}, {}, elements));
  return it->second = Slot{~offset};
}

Slot Preparer::dense(const Value* v, int64_t elements) {
  if (v->type().is_token() || plan_.form(v).count == elements) return raw(v);
  if (const Slot constant = ExpandedConstant(v, elements); constant.constant()) return constant;
  auto* item = New<CopyItem>();
  const Slot to = temp(elements * StoredElementBytes(v->type()));
  *item = ItemOf(plan_, v, raw(v), to, elements);
  Emit(v->def() ? *v->def() : *code_->function->body()->front(), RunExpand, item, Role::kMove);
  return to;
}

Slot Preparer::temp(int64_t bytes) {
  const int64_t offset = AllocateFrame(bytes);
  temps_.push_back({offset, bytes});
  return Slot{offset};
}

Slot Preparer::permanent(int64_t bytes) { return Slot{AllocateFrame(bytes)}; }

void ExpandCopy(void* to, const void* from, const CopyItem& item) {
  if (item.count == item.elements) {
    std::memmove(to, from, static_cast<size_t>(item.elements * item.element_bytes));
    return;
  }
  Expand(to, from, item.element_bytes, item.elements, item.count == 1 ? item.elements : item.run, item.count);
}

namespace {
struct CopiesData {
  int n;
  bool via_temps;
  const CopyItem* items;
  const CopyItem* back;  // from the temps to the places
};

const Instr* RunCopies(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const CopiesData*>(in->data);
  for (int i = 0; i < d.n; ++i) ExpandCopy(b.at(d.items[i].to), b.at(d.items[i].from), d.items[i]);
  if (d.via_temps) {
    for (int i = 0; i < d.n; ++i) ExpandCopy(b.at(d.back[i].to), b.at(d.back[i].from), d.back[i]);
  }
  return in + 1;
}
}  // namespace

void Preparer::EmitCopies(const Op& op, absl::Span<const Value* const> from, absl::Span<const Value* const> to) {
  std::vector<CopyItem> items;
  std::vector<int> sources, destinations;
  for (size_t i = 0; i < from.size(); ++i) {
    const int s = plan_.storage(from[i]), d = plan_.storage(to[i]);
    if (d < 0 || s == d) continue;  // tokens; already there
    items.push_back(ItemOf(plan_, from[i], raw(from[i]), raw(to[i]), plan_.elements(to[i])));
    sources.push_back(s);
    destinations.push_back(d);
  }
  if (items.empty()) return;
  // In order is as good as at once unless a later copy reads what an earlier one wrote.
  bool conflict = false;
  std::unordered_set<int> written;
  for (size_t i = 0; i < items.size() && !conflict; ++i) {
    conflict = written.contains(sources[i]);
    written.insert(destinations[i]);
  }
  auto* d = New<CopiesData>();
  d->n = static_cast<int>(items.size());
  d->via_temps = conflict;
  CopyItem* list = NewArray<CopyItem>(items.size());
  CopyItem* back = conflict ? NewArray<CopyItem>(items.size()) : nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    list[i] = items[i];
    if (!conflict) continue;
    list[i].to = temp(items[i].elements * items[i].element_bytes);
    back[i] = items[i];
    back[i].from = list[i].to;
    back[i].run = 1;
    back[i].count = items[i].elements;
  }
  d->items = list;
  d->back = back;
  Emit(op, RunCopies, d, Role::kMove);
}

// --- waiting --------------------------------------------------------------------------------------------------------

namespace {
struct EffectData {
  bool reads, writes;
};

// After an access: what a loop that waits for other blocks must know of it, and that memory has changed for those that wait.
const Instr* RunEffect(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const EffectData*>(in->data);
  b.read_shared_memory |= d.reads;
  if (d.writes && !b.left_as_it_was) {
    b.changed_memory = true;
    b.launch->effects.fetch_add(1, std::memory_order_relaxed);
  }
  b.left_as_it_was = false;
  return in + 1;
}
}  // namespace

void Preparer::EmitEffect(const Op& op) {
  if (!code_->must_park) return;
  const bool reads = op.info()->has(ir::kReads) && ir::OrderingOf(op) != ir::MemoryOrdering::kWeak;
  const bool writes = op.info()->has(ir::kWrites);
  if (!reads && !writes) return;
  auto* d = New<EffectData>();
  *d = {reads, writes};
  Emit(op, RunEffect, d, Role::kOther);
}

// --- pointers made of numbers ---------------------------------------------------------------------------------------

namespace {
struct MadeData {
  Slot pointers;
  int64_t n;
  int origin;
  absl::Span<const int> sets;  // that have it
};

const Instr* RunMade(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const MadeData*>(in->data);
  if (b.checked) NoteMade(b, d.origin, d.sets, static_cast<const uint64_t*>(b.at(d.pointers)), d.n);
  return in + 1;
}
}  // namespace

void Preparer::EmitMade(const Op& op) {
  const int origin = origins_.MadeBy(&op);
  if (origin < 0) return;
  auto* d = New<MadeData>();
  const Value* pointers = op.result(0);
  *d = {raw(pointers), plan_.form(pointers).count, origin, code_->arena.Copy<int>(origins_.SetsWith(origin))};
  Emit(op, RunMade, d, Role::kOther);
}

// --- emission -------------------------------------------------------------------------------------------------------

// A dying operand of the same size whose place the result may take; -1 if there is none.
int64_t Preparer::InPlaceOffset(const Op& op, int storage) {
  if (op.num_results() == 0 || plan_.storage(op.result(0)) != storage || op.num_regions() > 0) return -1;
  const int at = plan_.position(&op);
  for (int i = 0; i < op.num_operands(); ++i) {
    const int s = plan_.storage(op.operand(i));
    if (s < 0 || !WorksInPlace(&op, i)) continue;
    Storage& dying = plan_.at(s);
    if (dying.constant || dying.end != at || dying.offset < 0 || dying.bytes != plan_.at(storage).bytes) continue;
    if (plan_.form(op.operand(i)) != plan_.form(op.result(0))) continue;
    bool read_elsewhere = false;
    for (int j = 0; j < op.num_operands(); ++j) {
      read_elsewhere |= j != i && plan_.storage(op.operand(j)) == s && !WorksInPlace(&op, j);
    }
    if (read_elsewhere) continue;
    const int64_t offset = dying.offset;
    dying.offset = -2;  // handed over: not freed
    return offset;
  }
  return -1;
}

void Preparer::OpenStorages(int position) {
  for (int s : starts_[position]) {
    Storage& storage = plan_.at(s);
    if (storage.constant || storage.offset >= 0) continue;
    storage.offset = AllocateFrame(storage.bytes);
  }
}

void Preparer::CloseStorages(int position) {
  for (int s : ends_[position]) {
    Storage& storage = plan_.at(s);
    if (storage.constant || storage.offset < 0) continue;
    FreeFrame(storage.offset, storage.bytes);
  }
}

void Preparer::PrepareOp(const Op& op) {
  const int position = plan_.position(&op);
  // Scratch memory of the operation around this one stays taken.
  std::vector<std::pair<int64_t, int64_t>> around;
  around.swap(temps_);
  // Operands first: a slot that is handed over must still be known as the operand's.
  std::vector<std::pair<int, int64_t>> handed;
  for (int s : starts_[position]) {
    Storage& storage = plan_.at(s);
    if (storage.constant || storage.offset >= 0) continue;
    const int64_t offset = InPlaceOffset(op, s);
    if (offset < 0) continue;
    storage.offset = offset;
    for (int i = 0; i < op.num_operands(); ++i) {
      const int o = plan_.storage(op.operand(i));
      if (o >= 0 && plan_.at(o).offset == -2) handed.push_back({o, offset});
    }
  }
  for (const auto& [o, offset] : handed) plan_.at(o).offset = offset;
  OpenStorages(position);
  const OpPlaces* outer = places_;
  const OpPlaces* own = PlacesOf(op);
  const size_t first_instr = code_->notes.size();
  places_ = own;
  prepare_op_(*this, op);
  EmitEffect(op);
  places_ = outer;
  // Without an instruction of its own, the result is the operand.
  bool works = false;
  for (size_t i = first_instr; i < code_->notes.size(); ++i) {
    works |= code_->notes[i].places == own && code_->notes[i].role != Role::kMove;
  }
  if (!works && op.num_operands() > 0 && op.num_results() > 0) {
    same_value_[static_cast<size_t>(op.result(0)->id)] = own->operands[0].value;
  }
  EmitMade(op);
  for (const auto& [o, offset] : handed) plan_.at(o).offset = -2;
  for (const auto& [offset, bytes] : temps_) FreeFrame(offset, bytes);
  temps_.swap(around);
  CloseStorages(position);
  const int end = plan_.end_position(&op);
  OpenStorages(end);
  CloseStorages(end);
}

// --- for --check=full -----------------------------------------------------------------------------------------------

Place Preparer::PlaceOf(const Value* v) {
  Place p;
  const size_t id = static_cast<size_t>(v->id);
  for (size_t known = same_value_.size(); known <= id; ++known) same_value_.push_back(static_cast<int32_t>(known));
  p.value = same_value_[id];
  code_->num_values = std::max(code_->num_values, v->id + 1);
  p.at = home(v);  // full checks forward nothing
  p.run = plan_.form(v).run;
  p.count = plan_.form(v).count;
  p.bytes = static_cast<int32_t>(StoredElementBytes(v->type()));
  return p;
}

OpPlaces* Preparer::PlacesOf(const Op& op) {
  auto* o = New<OpPlaces>();
  o->op = &op;
  o->parent = places_;
  auto* operands = NewArray<Place>(static_cast<size_t>(op.num_operands()));
  for (int i = 0; i < op.num_operands(); ++i) operands[i] = PlaceOf(op.operand(i));
  const ir::Block* body = op.num_regions() > 0 ? op.region(0) : nullptr;
  const int num_args = body != nullptr ? body->num_args() : 0;
  auto* args = NewArray<Place>(static_cast<size_t>(num_args));
  for (int i = 0; i < num_args; ++i) args[i] = PlaceOf(body->arg(i));
  auto* results = NewArray<Place>(static_cast<size_t>(op.num_results()));
  for (int i = 0; i < op.num_results(); ++i) {
    results[i] = PlaceOf(op.result(i));
    // The results of a for loop are what it carries.
    if (ir::ForOp::Is(&op)) {
      const Place& carried = args[ir::CarryingLoop(op).first_arg() + i];
      same_value_[static_cast<size_t>(op.result(i)->id)] = results[i].value = carried.value;
    }
  }
  o->operands = operands;
  o->args = args;
  o->results = results;
  if (op.info()->is_access()) o->memory_op = code_->num_memory_ops++;
  if (op.info()->has(ir::kRegions) && op.info()->has(ir::kPure)) {
    std::vector<Place> captured;
    ir::Walk(op.region(0), [&](const Op* inner) {
      for (int i = 0; i < inner->num_operands(); ++i) {
        const Value* v = inner->operand(i);
        const ir::Block* home = v->def() != nullptr ? v->def()->block() : v->block();
        const ir::Block* at = op.block();
        while (at != nullptr && at != home) at = at->parent() != nullptr ? at->parent()->block() : nullptr;
        if (at != nullptr) captured.push_back(PlaceOf(v));
      }
    });
    o->captured = code_->arena.Copy<Place>(captured);
  }
  return o;
}

void Preparer::PrepareBlock(const ir::Block* block) {
  for (const Op* op : *block) {
    if (!status_.ok()) return;
    PrepareOp(*op);
  }
}

void Preparer::PlaceConstant(const Op& op) {
  const Value* v = op.result(0);
  const int s = plan_.storage(v);
  Storage& storage = plan_.at(s);
  storage.offset = RoundUp(static_cast<int64_t>(code_->constants.size()));
  const auto end = static_cast<uint64_t>(storage.offset + storage.bytes);
  if (end > max_constant_bytes_) {
    if (status_.ok()) {
      status_ = absl::ResourceExhaustedError(absl::StrCat(
          code_->module->Where(op.loc, op.pos), ": error[vm.out_of_memory]: ", op.info()->mnemonic,
          ": the constants of the kernel up to this one take ", end, " bytes; the limit leaves ", max_constant_bytes_));
    }
    return;
  }
  code_->constants.resize(static_cast<size_t>(storage.offset + storage.bytes));
  if (op.opcode() == ir::Opcode::kIota) {
    const size_t bytes = static_cast<size_t>(StoredElementBytes(v->type()));
    for (uint64_t i = 0; i < static_cast<uint64_t>(plan_.elements(v)); ++i) {
      std::memcpy(code_->constants.data() + storage.offset + i * bytes, &i, bytes);
    }
    return;
  }
  const ir::Dense& dense = ir::ConstantOp(op).value();
  std::memcpy(code_->constants.data() + storage.offset, dense.bytes.data(),
              std::min<size_t>(dense.bytes.size(), static_cast<size_t>(storage.bytes)));
}

absl::Status Preparer::PrepareFunction() {
  const ir::Block* body = code_->function->body();
  int positions = 1;
  for (const Op* op : *body) positions = std::max(positions, plan_.end_position(op) + 1);
  starts_.resize(static_cast<size_t>(positions));
  ends_.resize(static_cast<size_t>(positions));
  ir::Walk(const_cast<ir::Block*>(body), [&](Op* op) {
    if (op->opcode() == ir::Opcode::kConstant || op->opcode() == ir::Opcode::kIota) PlaceConstant(*op);
  });
  if (!status_.ok()) return status_;
  for (size_t s = 0; s < plan_.storages().size(); ++s) {
    const Storage& storage = plan_.storages()[s];
    if (storage.constant || storage.end < 0 || storage.bytes == 0) continue;
    starts_[static_cast<size_t>(storage.start)].push_back(static_cast<int>(s));
    ends_[static_cast<size_t>(storage.end)].push_back(static_cast<int>(s));
  }
  for (const Value* v : body->args()) {
    const int s = plan_.storage(v);
    if (s >= 0 && plan_.at(s).offset < 0) plan_.at(s).offset = AllocateFrame(plan_.at(s).bytes);
    code_->params.push_back(raw(v));
    code_->param_bytes.push_back(static_cast<int>(StoredElementBytes(v->type())));
  }
  PrepareBlock(body);
  if (!status_.ok()) return status_;
  // Constants are addressed from an aligned base inside the vector.
  const size_t constant_bytes = code_->constants.size();
  code_->constants.resize(constant_bytes + 64);
  std::memmove(const_cast<uint8_t*>(code_->aligned_constants()), code_->constants.data(), constant_bytes);
  JoinStrips(code_, targets_);
  for (const auto& [from, to] : targets_) code_->instrs[static_cast<size_t>(from)].target = code_->instrs.data() + to;
  return absl::OkStatus();
}

}  // namespace tile::vm
