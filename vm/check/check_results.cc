#include "vm/check/check_results.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/print_format.h"
#include "vm/check/check_races.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;

// Beyond that many differences, nobody looks whether they are the same values in another order.
constexpr size_t kMostSorted = size_t{1} << 24;

int BytesOf(ir::Element e) { return e.is_pointer() ? 8 : std::max(1, ir::MemoryBits(e.kind) / 8); }

bool IsWholeFloat(ir::Element e) { return !e.is_pointer() && ir::IsFloat(e.kind) && !ir::IsSubByte(e.kind); }

// Half of the digits: sums of many terms lose some, and more than half are no rounding.
double Tolerance(Elem e) { return std::ldexp(2.0, -(ir::FloatFormatOf(e).mantissa_bits / 2)); }

uint64_t Load(const uint8_t* p, int bytes) {
  uint64_t v = 0;
  std::memcpy(&v, p, static_cast<size_t>(bytes));
  return v;
}

std::string ValueText(ir::Element e, uint64_t bits) {
  if (IsWholeFloat(e)) {
    const int digits = ir::FloatFormatOf(e.kind).mantissa_bits * 3 / 10 + 3;  // all that the type has
    const ir::PrintOperand value{e.kind, {}, reinterpret_cast<const uint8_t*>(&bits)};
    return ir::FormatPrint(absl::StrCat("%.", digits, "g"), {value});
  }
  const int shift = 64 - 8 * BytesOf(e);
  return absl::StrCat(static_cast<int64_t>(bits << shift) >> shift);
}

// The largest finite number of an array of floats.
double LargestOf(const KeptMemory& kept, Elem elem) {
  const auto bytes = static_cast<uint64_t>(ir::StorageBytes(elem));
  double largest = 0;
  for (uint64_t at = (bytes - kept.begin % bytes) % bytes; at + bytes <= kept.bytes; at += bytes) {
    const double v = std::fabs(ir::ToDouble(elem, Load(kept.data + at, static_cast<int>(bytes))));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  return largest;
}

bool IsStrong(const Op& op) { return op.info()->is_access() && ir::OrderingOf(op) != ir::MemoryOrdering::kWeak; }

// Whether a value comes from what an access that is not weak found in memory, looking back through operations without effects
// and into branches and loops.
class FoundInMemory {
 public:
  bool operator()(const ir::Value* v) {
    std::vector<const ir::Value*> open = {v};
    while (!open.empty()) {
      const ir::Value* next = open.back();
      open.pop_back();
      const Op* def = next->def() != nullptr ? next->def() : next->block()->parent();
      if (def == nullptr || next->type().is_token() || !seen_.insert(def).second) continue;
      if (IsStrong(*def)) return true;
      if (def->num_regions() > 0 && HasStrong(*def)) return true;
      if (!def->info()->has(ir::kPure)) continue;
      for (int i = 0; i < def->num_operands(); ++i) open.push_back(def->operand(i));
    }
    return false;
  }

 private:
  static bool HasStrong(const Op& op) {
    bool any = false;
    for (int r = 0; r < op.num_regions(); ++r) {
      ir::Walk(op.region(r),
               [&](const Op* inner) { any = any || (IsStrong(*inner) && inner->info()->has(ir::kReads)); });
    }
    return any;
  }
  std::set<const Op*> seen_;
};

// Whether the program says that any of several values may stay: blocks exchange or store it at one place by accesses that are
// not weak, or they keep what they found.
bool LeavesOpen(const Op& op, const ir::Value* stored) {
  if (IsStrong(op)) {
    const ir::Attr* mode = ir::FindAttr(op, ir::Field::kMode);
    return mode == nullptr || mode->as_enum<ir::RmwMode>() == ir::RmwMode::kXchg;
  }
  return stored != nullptr && FoundInMemory()(stored);
}

bool IsUpdate(const Op& op) {
  return op.info()->is_access() && op.info()->has(ir::kReads) && op.info()->has(ir::kWrites);
}

}  // namespace

void Results::SeeFloats(const BlockState& b, const Place& operand, Elem elem) {
  const auto* data = static_cast<const uint8_t*>(b.at(operand.at));
  for (int64_t i = 0; i < operand.count; ++i) {
    const double v = std::fabs(ir::ToDouble(elem, Load(data + i * operand.bytes, operand.bytes)));
    if (std::isfinite(v)) largest_ = std::max(largest_, v);
  }
}

void Results::Add(const Difference& d, Differences* all) const {
  double distance = INFINITY;  // in tolerances
  if (IsWholeFloat(d.writer.element)) {
    const Elem elem = d.writer.element.kind;
    const double a = ir::ToDouble(elem, d.linear), b = ir::ToDouble(elem, d.now);
    if (a == b || (std::isnan(a) && std::isnan(b))) return;  // zeros, and what a NaN carries
    if (std::isfinite(a) && std::isfinite(b)) {
      distance = std::fabs(a - b) / Tolerance(elem);
    }
  }
  if (all->count++ == 0) all->first = d;
  if (distance > all->farthest) {
    all->farthest = distance;
    all->farthest_at = d;
  }
  if (!all->same_values) return;
  all->linear.push_back(d.linear);
  all->now.push_back(d.now);
  all->same_values = all->now.size() < kMostSorted;
}

void Results::Compare(absl::Span<const KeptMemory> linear, FindWriter find_writer) {
  for (const KeptMemory& kept : linear) {
    const auto* now = reinterpret_cast<const uint8_t*>(kept.begin);
    if (std::memcmp(now, kept.data, kept.bytes) == 0) continue;
    Region* region = memory_.Find(kept.begin, kept.bytes);
    if (region == nullptr) continue;
    Differences all;
    for (uint64_t at = 0; at < kept.bytes;) {
      constexpr uint64_t kPiece = 256;
      const uint64_t piece = std::min(kPiece, kept.bytes - at);
      if (std::memcmp(now + at, kept.data + at, piece) == 0) {
        at += piece;
        continue;
      }
      if (now[at] == kept.data[at]) {
        ++at;
        continue;
      }
      Difference d;
      d.writer = find_writer(*region, kept.begin + at);
      if (d.writer.op == nullptr) d.writer.element = region->allocation->element;
      const auto bytes = static_cast<uint64_t>(BytesOf(d.writer.element));
      const uint64_t first = (kept.begin + at) / bytes * bytes;
      if (first < kept.begin || first + bytes > kept.begin + kept.bytes) {
        ++at;  // the end of an element that lies outside
        continue;
      }
      d.address = first;
      d.linear = Load(kept.data + (first - kept.begin), static_cast<int>(bytes));
      d.now = Load(reinterpret_cast<const uint8_t*>(first), static_cast<int>(bytes));
      if (!d.writer.element.is_pointer()) Add(d, &all);
      at = first - kept.begin + bytes;
    }
    if (all.count == 0) continue;
    if (std::isfinite(all.farthest)) all.scale = LargestOf(kept, all.first.writer.element.kind);
    Report(*region, all);
  }
}

// What can make it differ: of floats that an update left, this update; else those whose old values the kernel uses. What a
// block adds up by itself, under a lock, has no update to name.
std::string Results::Causes(bool floats, const Op* writer) const {
  const auto place = [&](const Op& op) {
    return absl::StrCat(op.info()->mnemonic, " at ", state_.code->module->Where(op.loc, op.pos));
  };
  if (floats) {
    return writer != nullptr && IsUpdate(*writer) ? absl::StrCat("; floats are added by ", place(*writer)) : "";
  }
  std::string text;
  int count = 0;
  for (const InstrNote& note : state_.code->notes) {
    if (note.role != Role::kWork || note.places == nullptr) continue;
    const Op& op = *note.places->op;
    if (!IsUpdate(op) || op.num_results() == 0 || !op.result(0)->has_uses() || op.result(0)->type().is_token())
      continue;
    if (++count > 3) break;
    absl::StrAppend(&text, count == 1 ? "" : ", ", place(op));
  }
  return text.empty() ? "" : absl::StrCat("; the kernel uses what it finds there by ", text);
}

void Results::Report(const Region& region, const Differences& all) {
  // Sums that cancel out are as far apart as those that do not: the array decides how much is rounding.
  const bool only_rounding = all.farthest <= std::max(all.scale, largest_);
  const Difference& d = only_rounding || std::isinf(all.farthest) ? all.first : all.farthest_at;
  BlockState b;
  b.code = state_.code;
  b.launch = &state_;
  const int64_t* g = state_.launch->grid;
  b.index = d.writer.block;
  b.id[0] = static_cast<int32_t>(b.index % g[0]);
  b.id[1] = static_cast<int32_t>(b.index / g[0] % g[1]);
  b.id[2] = static_cast<int32_t>(b.index / g[0] / g[1]);
  if (d.writer.op == nullptr) std::fill(b.id, b.id + 3, -1);
  std::vector<uint64_t> linear = all.linear, now = all.now;
  std::sort(linear.begin(), linear.end());
  std::sort(now.begin(), now.end());
  const bool permuted = all.same_values && linear == now;
  const std::string where =
      absl::StrCat("`", region.allocation->name, "`", Races::IndexText(*region.allocation, d.address));
  const std::string values = absl::StrCat(
      ValueText(d.writer.element, d.linear), " in the order linear, ", ValueText(d.writer.element, d.now),
      " in the order ", ToString(state_.order),
      all.count > 1
          ? absl::StrCat("; ", all.count - 1, all.count == 2 ? " more element differs" : " more elements differ")
          : "");
  const auto message = [&] {
    if (permuted) {
      return absl::StrCat("the order of blocks decides where values are in `", region.allocation->name, "`: ", where,
                          " is ", values, ", and all together are the same", Causes(false, d.writer.op));
    }
    return absl::StrCat(
        where, only_rounding ? " is rounded by the order of blocks: " : " depends on the order of blocks: ", values,
        Causes(only_rounding, d.writer.op));
  };
  const bool open = d.writer.op != nullptr && LeavesOpen(*d.writer.op, d.writer.stored);
  if (!permuted && !only_rounding && !open) {
    AddReport(
        b, d.writer.op, "vm.order", message(),
        "store to elements that no other block stores to, or combine by updates whose order does not matter; if "
        "each of these results is right, check one order at a time (--order=linear, in Python TILEVM_ORDER=linear)");
    return;
  }
  const Op* op = d.writer.op != nullptr ? d.writer.op : state_.code->function->body()->front();
  Warn(b, op, "vm.order", message,
       permuted ? "nothing, if their places do not matter; else compute the place from the number of the block"
       : !only_rounding
           ? "nothing, if each of these values is right; else let one block write the element, or combine by updates "
             "whose order does not matter"
           : "nothing, if the last digits do not matter; else let one block add up parts in a fixed order");
}

}  // namespace tile::vm
