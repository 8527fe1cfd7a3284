#include "vm/check/check_views.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "vm/machine/outside.h"

namespace tile::vm {
namespace {

// `place`: in elements from the lowest one on.
bool IsElement(const Allocation& array, int64_t place) {
  for (const Allocation::Step& step : array.grid) place -= std::min(place / step.stride, step.size - 1) * step.stride;
  return place == 0;
}

// Of what is loaded, stored or combined.
ir::Type TileOf(const ir::Op& op) {
  using ir::Field;
  for (const Field name : {Field::kTile, Field::kValue, Field::kValues, Field::kVal, Field::kArg}) {
    const int field = op.info()->format->place(name).operand;
    if (field >= 0 && op.group_begin(field) < op.group_end(field)) return op.operand(op.group_begin(field))->type();
  }
  return op.num_results() > 0 && op.result(0)->type().is_tile() ? op.result(0)->type() : ir::Type();
}

}  // namespace

bool CheckElementsOf(BlockState& b, const Instr* in, const Access& a) {
  const Allocation& array = *a.home;
  const int64_t element = array.element.is_pointer() ? 8 : ir::MemoryBits(array.element.kind) / 8;
  const auto first = static_cast<int64_t>(a.address - array.begin);
  const int64_t bytes = a.elements * a.element_bytes;
  for (int64_t at = first - first % element; at < first + bytes; at += element) {
    if (IsElement(array, at / element)) continue;
    OutsideAccess outside;
    outside.address = std::max(array.begin + static_cast<uintptr_t>(at), a.address);
    outside.bytes = static_cast<uint64_t>(a.element_bytes);
    outside.writes = a.writes;
    outside.tile = TileOf(*in->op);
    outside.lane = a.lane + (static_cast<int64_t>(outside.address - a.address) / a.element_bytes) * a.lane_step;
    return NoteAround(b, in, outside, {&array, &array});
  }
  return true;
}

}  // namespace tile::vm
