#include "vm/machine/memory_access.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vm/machine/outside.h"

namespace tile::vm {

std::string Describe(const Allocation& a) {
  static constexpr const char* kKinds[] = {"", "global ", "alloca ", "shared array "};
  std::string shape;
  if (!a.shape.empty()) shape = absl::StrCat("[", absl::StrJoin(a.shape, ","), "]");
  const std::string type =
      a.shape.empty()
          ? ""
          : absl::StrCat(a.element.is_pointer() ? "ptr" : ir::ElemInfoOf(a.element.kind).spelling, shape, ", ");
  return absl::StrCat(kKinds[static_cast<int>(a.kind)], "`", a.name, "` (", type, a.bytes, " bytes)");
}

void AddPrivate(BlockState& b, const Allocation* a) {
  auto& own = b.private_memory;
  own.insert(std::partition_point(own.begin(), own.end(), [&](const Allocation* x) { return x->begin < a->begin; }), a);
}

const Allocation* FindPrivate(const BlockState& b, uintptr_t address, uint64_t bytes) {
  const auto& own = b.private_memory;
  const auto after =
      std::partition_point(own.begin(), own.end(), [&](const Allocation* a) { return a->begin <= address; });
  return after != own.begin() && (*(after - 1))->Contains(address, bytes) ? *(after - 1) : nullptr;
}

const Allocation* FindAllocation(BlockState& b, uintptr_t address, uint64_t bytes) {
  const Allocation* own = FindPrivate(b, address, bytes);
  return own != nullptr ? own : MemoryOf(b).Find(address, bytes);
}

std::string LaneText(ir::Type tile, int64_t lane) {
  std::string index;
  for (int k = tile.rank() - 1; k >= 0; --k) {
    const int64_t size = tile.shape()[k];
    index = absl::StrCat(lane % size, index.empty() ? "" : ", ", index);
    lane /= size;
  }
  return absl::StrCat("[", index, "]");
}

const Instr* TrapMisaligned(BlockState& b, const Instr* in, uintptr_t address, int bytes, ir::Type tile, int64_t lane) {
  const Allocation* a = FindAllocation(b, address, 1);
  return Trap(b, in->op, "vm.misaligned",
              absl::StrCat(tile.rank() == 0 ? "" : absl::StrCat("element ", LaneText(tile, lane), " of the tile has "),
                           "address 0x", absl::Hex(address),
                           a ? absl::StrCat(", byte ", address - a->begin, " of ", Describe(*a)) : "",
                           ": not a multiple of the element's ", bytes, " bytes"),
              "align the buffer and the offsets to the element size");
}

bool CheckElements(BlockState& b, const Instr* in, const Access& a, ir::Type tile, int set) {
  const auto bytes = static_cast<uint64_t>(a.element_bytes);
  for (int64_t i = 0; i < a.elements; ++i) {
    const uintptr_t address = a.address + static_cast<uintptr_t>(i * a.element_bytes);
    if (FindHome(b, set, address, bytes) != nullptr) continue;
    const OutsideAccess outside{address, bytes, a.writes, tile, a.lane + i, set};
    const Around around = FindAround(b, set, address, bytes);
    if (around.memory == nullptr) {
      TrapOutside(b, in, outside);
      return false;
    }
    if (!NoteAround(b, in, outside, around)) return false;
    b.homes[static_cast<size_t>(set)] = around.memory;
  }
  // It is in several pieces of memory.
  const auto* first = static_cast<const uint8_t*>(a.tile);
  for (int64_t i = 0; i < a.elements; ++i) {
    Access one = a;
    one.address += static_cast<uintptr_t>(i * a.element_bytes);
    one.elements = 1;
    one.lane += i;
    if (first != nullptr) one.tile = first + i * a.element_bytes;
    if (!CheckRun(b, in, one, tile, set)) return false;
  }
  return true;
}

const Instr* TrapReadOnly(BlockState& b, const Instr* in, const Allocation& a) {
  return Trap(b, in->op, "vm.write_to_constant", absl::StrCat("writes to the constant ", Describe(a)),
              "declare the global without `constant`");
}

}  // namespace tile::vm
