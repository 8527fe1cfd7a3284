// Puts the parts together: each instruction is shown to the promises, the unspecified values and the order of accesses.
#include "vm/check/check_full.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/check/check_arrays.h"
#include "vm/check/check_coverage.h"
#include "vm/check/check_floats.h"
#include "vm/check/check_memory.h"
#include "vm/check/check_poison.h"
#include "vm/check/check_promises.h"
#include "vm/check/check_races.h"
#include "vm/check/check_results.h"
#include "vm/check/check_views.h"
#include "vm/check/check_wraps.h"

namespace tile::vm {

// What is known about one block that runs or waits.
struct BlockChecks {
  FrameShadow shadow;
  FrameShadow wraps;  // marks of check_wraps.h
  BlockOrder order;
  const OpPlaces* current = nullptr;  // the operation whose accesses follow
  const Instr* instr = nullptr;
};

namespace {

class FullChecker : public Checker {
 public:
  explicit FullChecker(LaunchState& state)
      : state_(state),
        code_(*state.code),
        poison_(*state.code, &origins_),
        wraps_(*state.code),
        races_(state, memory_),
        results_(state, memory_),
        floats_(state) {
    for (const Allocation& a : state.memory.all()) memory_.Add(a);
    arrays_ = std::make_unique<Arrays>(*state.launch, memory_);
    if (state.launch->coverage) choices_.emplace(code_);
    for (const WrittenBytes& w : state.launch->written) {
      if (Region* region = RegionOf(w)) region->SetWritten(w.address, w.bytes, w.written);
    }
    for (const InstrNote& note : code_.notes) {
      const bool works = note.role == Role::kWork && note.places != nullptr;
      promises_.push_back(works && MakesPromises(*note.places->op));
      strong_.push_back(works && IsStrongAccess(*note.places->op));
      float_updates_.push_back(works && UpdatesFloats(*note.places->op));
    }
  }

  void BeginBlock(BlockState& b) override {
    if (!spare_.empty()) {
      b.checks = spare_.back();
      spare_.pop_back();
    } else {
      all_.push_back(std::make_unique<BlockChecks>());
      b.checks = all_.back().get();
    }
    b.checks->shadow = FrameShadow(b.frame, code_.frame_bytes);
    b.checks->wraps = FrameShadow(b.frame, code_.frame_bytes);
    b.checks->order = races_.NewBlock();
    for (const Allocation* a : b.private_memory) memory_.Add(*a);  // shared arrays
  }

  void EndBlock(BlockState& b) override {
    if (b.checks == nullptr) return;
    for (const Allocation* a : b.private_memory) {
      if (a->kind == Allocation::Kind::kShared) Drop(*a);
    }
    *b.checks = BlockChecks{};
    spare_.push_back(b.checks);
    b.checks = nullptr;
  }

  bool Before(BlockState& b, const Instr* in) override {
    const size_t at = static_cast<size_t>(in - code_.instrs.data());
    const InstrNote& note = code_.notes[at];
    BlockChecks& c = *b.checks;
    if (promises_[at] && !CheckPromises(b, *note.places, c.shadow)) return false;
    if (!poison_.Before(b, in, note, c.shadow)) return false;
    if (!wraps_.Before(b, at, note, c.wraps)) return false;
    floats_.Before(b, at, note);
    if (choices_) choices_->Before(b, at);
    if (note.places == nullptr || (note.role != Role::kWork && note.role != Role::kEnter)) return true;
    c.current = note.places;
    if (float_updates_[at]) SeeFloats(b, *note.places);
    races_.Before(note, c.order, b.index);
    return true;
  }

  void After(BlockState& b, const Instr* in) override {
    const size_t at = static_cast<size_t>(in - code_.instrs.data());
    const InstrNote& note = code_.notes[at];
    if (note.role == Role::kWork && note.places != nullptr) races_.After(note, b.checks->order);
    if (choices_) choices_->After(b, at);
  }

  bool IsStrong(const BlockState&, const Instr* in) const override {
    return strong_[static_cast<size_t>(in - code_.instrs.data())];
  }

  bool OnAccess(BlockState& b, const Instr* in, const Access& a) override {
    if (choices_) choices_->OnAccess(a.elements);
    Region* region =
        memory_.Find(a.address, static_cast<uint64_t>(a.elements) * static_cast<uint64_t>(a.element_bytes));
    if (region == nullptr) return true;  // an empty access
    if (a.home != nullptr && !a.home->grid.empty() && !CheckElementsOf(b, in, a)) return false;
    BlockChecks& c = *b.checks;
    if (a.writes && region->holds_input && !CheckInput(b, a, *region)) return false;
    if (!races_.OnAccess(b, a, *region) || !CheckBools(b, a, *region)) return false;
    if (a.reads) floats_.SeeLoaded(*c.current->op, a);
    if (!region->unspecified && !c.shadow.any()) return true;
    const bool update = a.atomic && a.reads;
    const auto part = [&](const Access& p) {
      if (update) return Update(b, in, p, *region, c);
      a.writes ? Store(b, p, *region, c) : Load(p, *region, c);
      return true;
    };
    if (a.elements == 1 || (!update && a.lane_step == 1)) return part(a);
    for (int64_t e = 0; e < a.elements; ++e) {
      Access one = a;
      one.address += static_cast<uintptr_t>(e * a.element_bytes);
      one.elements = 1;
      one.lane += e * a.lane_step;
      if (a.tile != nullptr) one.tile = static_cast<const uint8_t*>(a.tile) + e * a.lane_step * a.element_bytes;
      if (!part(one)) return false;
    }
    return true;
  }

  void OnUnspecified(BlockState& b, const void* tile, int64_t bytes) override {
    const ir::Op* op = b.checks->current->op;
    const bool masked = op->info()->format->place(ir::Field::kMask).operand >= 0;
    b.checks->shadow.Set(tile, bytes, origins_.Number(masked ? Origin::Kind::kInactive : Origin::Kind::kOutside, op));
  }
  void OnSpecified(BlockState& b, const void* tile, int64_t bytes) override { b.checks->shadow.Set(tile, bytes, 0); }
  bool IsSpecified(const BlockState& b, const void* tile, int64_t bytes) const override {
    return Worst(b.checks->shadow.Of(tile), bytes) == 0;
  }

  void OnAllocate(BlockState&, const Allocation& a) override { memory_.Add(a); }
  void OnFree(BlockState&, const Allocation& a) override { Drop(a); }

  std::vector<Coverage> TakeCoverage() override { return choices_ ? choices_->Take() : std::vector<Coverage>{}; }

  void EndLaunch() override {
    for (auto& [begin, region] : memory_.regions()) {
      if (region->unspecified) ReportLeft(*region);
      ReportBools(*region);
    }
    for (const Arrays::Unwritten& u : arrays_->FindUnwritten(memory_)) ReportUnwritten(u);
    floats_.Report(memory_, races_);
    for (const WrittenBytes& w : state_.launch->written) {
      if (const Region* region = RegionOf(w)) region->GetWritten(w.address, w.bytes, w.written);
    }
  }

  void CompareResults(absl::Span<const KeptMemory> linear) override {
    results_.Compare(linear, [this](Region& region, uintptr_t address) {
      const auto [op, block] = races_.LastWriter(region, address);
      Results::Writer w;
      if (op == nullptr) return w;
      w.op = op;
      w.block = block;
      const int field = poison_.stored_operand(*op);  // none: a tile that is stored to a view
      w.stored = field >= 0 ? op->operand(op->group_begin(field)) : ir::FindOperand(*op, ir::Field::kTile);
      if (w.stored != nullptr) w.element = w.stored->type().element();
      return w;
    });
  }

 private:
  bool UpdatesFloats(const ir::Op& op) const {
    const int field = poison_.stored_operand(op);
    return field >= 0 && op.info()->has(ir::kReads) && op.info()->has(ir::kWrites) &&
           ir::IsFloat(op.operand(op.group_begin(field))->type().elem());
  }

  void SeeFloats(const BlockState& b, const OpPlaces& o) {
    const int operand = o.op->group_begin(poison_.stored_operand(*o.op));
    results_.SeeFloats(b, o.operands[operand], o.op->operand(operand)->type().elem());
  }

  // null: of no bytes.
  Region* RegionOf(const WrittenBytes& w) { return w.bytes == 0 ? nullptr : memory_.Find(w.address, w.bytes); }

  void Drop(const Allocation& a) {
    memory_.Remove(a);
    races_.Forget(a);
  }

  // The largest origin among the bytes of an element.
  static uint8_t OriginOfElement(const uint8_t* bytes, int n) { return *std::max_element(bytes, bytes + n); }

  // What was never written gets an origin that names the load.
  uint8_t OriginOfRead(const BlockChecks& c, const Region& region, uint8_t origin) {
    if (origin != kNeverWritten) return origin;
    return origins_.Number(Origin::Kind::kRead, c.current->op, region.allocation->name);
  }

  void Load(const Access& a, Region& region, BlockChecks& c) {
    const int64_t bytes = a.elements * a.element_bytes;
    if (a.tile == nullptr) return;
    if (!region.unspecified) return c.shadow.Set(a.tile, bytes, 0);
    scratch_.resize(static_cast<size_t>(bytes));
    region.GetOrigins(a.address, static_cast<uint64_t>(bytes), scratch_.data());
    if (Worst(scratch_.data(), bytes) == 0) return c.shadow.Set(a.tile, bytes, 0);
    for (int64_t e = 0; e < a.elements; ++e) {
      uint8_t* element = scratch_.data() + e * a.element_bytes;
      const uint8_t origin = OriginOfElement(element, a.element_bytes);
      std::fill(element, element + a.element_bytes, origin == 0 ? origin : OriginOfRead(c, region, origin));
    }
    c.shadow.Copy(a.tile, bytes, scratch_.data());
  }

  void Store(BlockState& b, const Access& a, Region& region, BlockChecks& c) {
    const auto bytes = static_cast<uint64_t>(a.elements * a.element_bytes);
    const uint8_t* from = a.tile == nullptr ? nullptr : c.shadow.Of(a.tile);
    if (a.tile == nullptr && c.shadow.any()) {
      // store_scatter: element by element.
      const uint8_t origin = StoredOrigin(b, a, c);
      scratch_.assign(bytes, origin);
      from = scratch_.data();
    }
    const bool poisoned = Worst(from, static_cast<int64_t>(bytes)) != 0;
    if (poisoned || region.unspecified) region.SetOrigins(a.address, bytes, poisoned ? from : nullptr);
  }

  uint8_t StoredOrigin(const BlockState& b, const Access& a, const BlockChecks& c) const {
    const int field = poison_.stored_operand(*c.current->op);
    if (field < 0) return 0;
    return Poison::OriginOf(b, c.shadow, c.current->operands[c.current->op->group_begin(field)], a.lane);
  }

  // An update combines memory with its operand: both must be specified. What an exchange finds does not matter to it.
  bool Update(BlockState& b, const Instr* in, const Access& a, Region& region, BlockChecks& c) {
    const ir::Op* op = in->op;
    if (const uint8_t origin = c.shadow.any() ? StoredOrigin(b, a, c) : 0; origin != 0) {
      poison_.TrapOnUse(b, op, "an operand of the update", origin);
      return false;
    }
    // A mask may have made the whole result unspecified, but this element is active.
    if (a.tile != nullptr) c.shadow.Set(a.tile, a.element_bytes, 0);
    if (!region.unspecified) return true;
    scratch_.resize(static_cast<size_t>(a.element_bytes));
    region.GetOrigins(a.address, static_cast<uint64_t>(a.element_bytes), scratch_.data());
    const uint8_t origin = OriginOfElement(scratch_.data(), a.element_bytes);
    if (origin == 0) return true;
    const ir::Attr* mode = ir::FindAttr(*op, ir::Field::kMode);
    const bool exchange = mode != nullptr && mode->as_enum<ir::RmwMode>() == ir::RmwMode::kXchg;
    if (!exchange) {
      poison_.TrapOnUse(b, op,
                        absl::StrCat("the updated element `", region.allocation->name, "`",
                                     Races::IndexText(*region.allocation, a.address)),
                        origin);
      return false;
    }
    region.SetOrigins(a.address, static_cast<uint64_t>(a.element_bytes), nullptr);
    if (a.tile != nullptr) c.shadow.Set(a.tile, a.element_bytes, OriginOfRead(c, region, origin));
    return true;
  }

  bool CheckInput(BlockState& b, const Access& a, const Region& region) const {
    const auto input = arrays_->InputAt(region, a.address, static_cast<uint64_t>(a.elements * a.element_bytes));
    if (!input) return true;
    Trap(b, b.checks->current->op, "vm.write_to_input", absl::StrCat("writes ", *input, ", an `in` array"),
         "declare the array `inout` in the interface, or store to another one");
    return false;
  }

  void ReportUnwritten(const Arrays::Unwritten& u) {
    // The report belongs to no block and no operation.
    BlockState b;
    b.code = &code_;
    b.launch = &state_;
    for (int32_t& id : b.id) id = -1;
    const std::string what =
        u.total == 1         ? absl::StrCat("the only element of `", u.array->name, "` was never written")
        : u.count == u.total ? absl::StrCat("none of the ", u.total, " elements of `", u.array->name, "` was written")
                             : absl::StrCat(u.count, " of the ", u.total, " elements of `", u.array->name,
                                            u.count == 1 ? "` was" : "` were", " never written, first ", u.first);
    AddReport(b, nullptr, "vm.not_written", what,
              "store every element, give the array an `init`, or declare it `inout` if it is to keep what it held");
  }

  // Values without meaning that the kernel stored into a buffer of the caller. What it never wrote is not its mistake.
  void ReportLeft(Region& region) {
    const Allocation& a = *region.allocation;
    if (a.kind != Allocation::Kind::kBuffer) return;
    uint64_t count = 0, first = 0;
    const int bits = a.element.is_pointer() ? 64 : ir::MemoryBits(a.element.kind);
    const auto element = static_cast<uint64_t>(std::max(1, bits / 8));
    for (size_t i = 0; i < region.chunks.size(); ++i) {
      if (region.chunks[i].origins() == nullptr) continue;
      const uintptr_t chunk = (region.first_chunk() + i) << Chunk::kShift;
      const uintptr_t begin = std::max(chunk, a.begin), end = std::min(chunk + Chunk::kBytes, a.end());
      for (uintptr_t at = begin; at < end; ++at) {
        if (region.OriginOf(at) <= kNeverWritten) continue;
        const uint64_t index = (at - a.begin) / element;
        if (count++ == 0) first = index;
        at = a.begin + (index + 1) * element - 1;
      }
    }
    if (count == 0) return;
    const uintptr_t address = a.begin + first * element;
    uint8_t origin = 0;
    for (uint64_t k = 0; k < element && address + k < a.end(); ++k)
      origin = std::max(origin, region.OriginOf(address + k));
    ReportOfWriter(region, address, "vm.uninitialized",
                   absl::StrCat("an unspecified value is left in `", a.name, "`", Races::IndexText(a, address),
                                AndMore(count), ": ", origins_.Describe(origin, *code_.module)),
                   origins_.Fix(origin));
  }

  // Memory without a shape has no known type.
  static bool HoldsBools(const Allocation& a) {
    return !a.shape.empty() && a.kind == Allocation::Kind::kBuffer && !a.element.is_pointer() &&
           a.element.kind == ir::Elem::kI1;
  }
  static bool IsBool(uintptr_t address) { return *reinterpret_cast<const uint8_t*>(address) <= 1; }

  // False after a trap: a byte of an array of bools that is read is neither 0 nor 1.
  bool CheckBools(BlockState& b, const Access& a, const Region& region) const {
    const Allocation& memory = *region.allocation;
    if (!a.reads || a.element_bytes != 1 || !HoldsBools(memory)) return true;
    for (uintptr_t at = a.address; at < a.address + static_cast<uintptr_t>(a.elements); ++at) {
      if (IsBool(at) || region.OriginOf(at) != 0) continue;
      Trap(b, b.checks->current->op, "vm.bool_value",
           absl::StrCat("reads the byte ", *reinterpret_cast<const uint8_t*>(at), " of `", memory.name, "`",
                        Races::IndexText(memory, at), ", an array of bools, whose bytes are 0 and 1"),
           "make the array by a comparison such as `value != 0`, not of the bytes of another one");
      return false;
    }
    return true;
  }

  static std::string AndMore(uint64_t count) {
    return count > 1 ? absl::StrCat(" and ", count - 1, count == 2 ? " more element" : " more elements") : "";
  }

  // A report of the block and the operation that stored what is at the address.
  void ReportOfWriter(Region& region, uintptr_t address, absl::string_view code, absl::string_view message,
                      absl::string_view fix) {
    const auto [op, block] = races_.LastWriter(region, address);
    BlockState b;
    b.code = &code_;
    b.launch = &state_;
    const int64_t* g = state_.launch->grid;
    b.id[0] = static_cast<int32_t>(block % g[0]);
    b.id[1] = static_cast<int32_t>(block / g[0] % g[1]);
    b.id[2] = static_cast<int32_t>(block / g[0] / g[1]);
    AddReport(b, op, code, message, fix);
  }

  // Bytes other than 0 and 1 that the kernel stored into an array of bools of the caller, through a pointer to bytes.
  void ReportBools(Region& region) {
    const Allocation& a = *region.allocation;
    if (!HoldsBools(a)) return;
    uint64_t count = 0;
    uintptr_t first = 0;
    for (uintptr_t at = a.begin; at < a.end(); ++at) {
      if (IsBool(at) || region.OriginOf(at) != 0 || races_.LastWriter(region, at).first == nullptr) continue;
      if (count++ == 0) first = at;
    }
    if (count == 0) return;
    ReportOfWriter(
        region, first, "vm.bool_value",
        absl::StrCat("the byte ", *reinterpret_cast<const uint8_t*>(first), " is left in `", a.name, "`",
                     Races::IndexText(a, first), AndMore(count), ", an array of bools, whose bytes are 0 and 1"),
        "store a comparison such as `value != 0`, or make the array one of integers");
  }

  LaunchState& state_;
  const Code& code_;
  ShadowMemory memory_;
  std::unique_ptr<Arrays> arrays_;
  Origins origins_;
  Poison poison_;
  Wraps wraps_;
  Races races_;
  Results results_;
  Floats floats_;
  std::optional<Choices> choices_;
  std::vector<bool> promises_, float_updates_, strong_;  // by instruction
  std::vector<std::unique_ptr<BlockChecks>> all_;
  std::vector<BlockChecks*> spare_;
  std::vector<uint8_t> scratch_;
};

}  // namespace

bool IsStrongAccess(const ir::Op& op) {
  return op.info()->is_access() && ir::OrderingOf(op) != ir::MemoryOrdering::kWeak;
}

std::unique_ptr<Checker> MakeFullChecker(LaunchState& state) { return std::make_unique<FullChecker>(state); }

}  // namespace tile::vm
