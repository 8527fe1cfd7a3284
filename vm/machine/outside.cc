#include "vm/machine/outside.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/op_views.h"
#include "vm/machine/launch_state.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {
namespace {

constexpr uint64_t kFarBytes = uint64_t{1} << 40;

uint64_t Distance(const Allocation& a, uintptr_t address) {
  return address < a.begin ? a.begin - address : address < a.end() ? 0 : address - a.end();
}

// At or before the address, of all memory.
const Allocation* NearestBelow(const BlockState& b, uintptr_t address) {
  const Allocation* near = b.launch->memory.Nearest(address);
  for (const Allocation* a : b.private_memory) {
    if (a->begin <= address && (near == nullptr || near->begin < a->begin)) near = a;
  }
  return near;
}

// "8, 1": of the dimensions that have more than one element.
std::string StridesOf(const Allocation& a) {
  return absl::StrJoin(a.grid, ", ",
                       [](std::string* out, const Allocation::Step& s) { absl::StrAppend(out, s.stride); });
}

// "index -3 of `x` (f32[8], 32 bytes), 12 bytes before it".
std::string PlaceIn(const Allocation& a, uintptr_t address, uint64_t bytes) {
  const int bits = a.element.is_pointer() ? 64 : ir::MemoryBits(a.element.kind);
  const int64_t element = std::max(1, bits / 8);
  const auto distance = static_cast<int64_t>(address - (a.first != 0 ? a.first : a.begin));
  const int64_t index = distance / element - (distance % element < 0);
  const uint64_t off = Distance(a, address);
  std::string where;
  if (address < a.begin) {
    where = off < kFarBytes ? absl::StrCat(off, off == 1 ? " byte" : " bytes", " before it") : "far before it";
  } else if (address < a.end()) {
    where = !a.Contains(address, bytes) ? "across its end"
                                        : absl::StrCat("between its elements, whose strides are ", StridesOf(a));
  } else if (off == 0) {
    where = "just past its end";
  } else {
    where = off < kFarBytes ? absl::StrCat(off, off == 1 ? " byte" : " bytes", " past its end") : "far past its end";
  }
  return absl::StrCat("index ", index, " of ", Describe(a), ", ", where);
}

std::string WhatIsDone(const OutsideAccess& a) {
  const std::string who =
      !a.tile || a.tile.rank() == 0 ? "" : absl::StrCat("element ", LaneText(a.tile, a.lane), " of the tile ");
  return absl::StrCat(who, a.writes ? "writes " : "reads ", a.bytes, a.bytes == 1 ? " byte " : " bytes ");
}

}  // namespace

std::string WrapText(BlockState& b, const ir::Op& op, int64_t lane) {
  using ir::Field;
  static constexpr Field kAddressing[] = {Field::kPointers,     Field::kSource,         Field::kDestination,
                                          Field::kIndex,        Field::kIndices,        Field::kBase,
                                          Field::kDynamicShape, Field::kDynamicStrides, Field::kView};
  if (b.launch->find_wrap == nullptr) return "";
  for (const Field name : kAddressing) {
    const int field = op.info()->format->place(name).operand;
    if (field < 0) continue;
    for (int i = op.group_begin(field); i < op.group_end(field); ++i) {
      const ir::Value* v = op.operand(i);
      std::string found;
      if (v->type().is_tile()) {
        found = b.launch->find_wrap(b, op, v, lane < v->type().num_elements() ? lane : 0);
      } else {
        const ir::Op* make = v->def();
        while (make != nullptr && make->info()->has(ir::kAlias)) make = make->operand(0)->def();
        if (make != nullptr && ir::MakeTensorViewOp::Is(make)) found = WrapText(b, *make, 0);
      }
      if (!found.empty()) return found;
    }
  }
  return "";
}

const Instr* TrapOutside(BlockState& b, const Instr* in, const OutsideAccess& a) {
  std::vector<Around> homes = HomesOf(b, a.set);
  const int null = NullParameter(b, a.set);
  if (homes.empty() && null >= 0) {
    return Trap(
        b, in->op, "vm.out_of_bounds",
        absl::StrCat(WhatIsDone(a), "at address 0x", absl::Hex(a.address), ", through a null pointer: `",
                     NameOfParameter(b, null), "` has no memory"),
        "pass an array that has memory (None, tensors without elements and those of torch's meta device have none), or "
        "mask the element off");
  }
  const bool known = !homes.empty();
  if (!known) {
    const Allocation* below = NearestBelow(b, a.address);
    if (below == nullptr || Distance(*below, a.address) > kFarBytes) {
      return Trap(b, in->op, "vm.out_of_bounds",
                  absl::StrCat(WhatIsDone(a), "at address 0x", absl::Hex(a.address),
                               below == nullptr ? ", before every buffer of the launch"
                                                : ", far from every buffer of the launch",
                               WrapText(b, *in->op, a.lane)),
                  "bind the buffer that the pointer belongs to, or mask the element off");
    }
    homes.push_back({below, below});
  }
  const auto near = std::min_element(homes.begin(), homes.end(), [&](const Around& x, const Around& y) {
    return Distance(*x.array, a.address) < Distance(*y.array, a.address);
  });
  std::string text = absl::StrCat(WhatIsDone(a), "at ", PlaceIn(*near->array, a.address, a.bytes));
  if (near->memory != near->array) absl::StrAppend(&text, ", beyond all of ", Describe(*near->memory));
  const Allocation* other = known ? FindAllocation(b, a.address, a.bytes) : nullptr;
  if (other != nullptr) absl::StrAppend(&text, ", in ", Describe(*other));
  if (homes.size() > 1) {
    absl::StrAppend(&text, "; its pointer may also lead to ");
    const char* comma = "";
    for (const Around& home : homes) {
      if (home.array == near->array) continue;
      absl::StrAppend(&text, comma, "`", home.array->name, "`");
      comma = ", ";
    }
  }
  const std::string wrap = WrapText(b, *in->op, a.lane);
  return Trap(b, in->op, "vm.out_of_bounds", text + wrap,
              !wrap.empty()      ? kWrapFix
              : other != nullptr ? kAnyArrayFix
                                 : "mask the element off, or make the buffer larger");
}

bool NoteAround(BlockState& b, const Instr* in, const OutsideAccess& a, const Around& around) {
  const auto text = [&] {
    const std::string rest =
        around.memory == around.array ? "" : absl::StrCat(", in the rest of ", Describe(*around.memory));
    return absl::StrCat(WhatIsDone(a), "at ", PlaceIn(*around.array, a.address, a.bytes), rest,
                        WrapText(b, *in->op, a.lane));
  };
  const char* fix = around.array->Contains(a.address, a.bytes) ? kStridesFix : kAnyArrayFix;
  if (b.checker != nullptr) {
    Trap(b, in->op, "vm.outside_view", text(), fix);
    return false;
  }
  Warn(b, in->op, "vm.outside_view", text, fix);
  return true;
}

}  // namespace tile::vm
