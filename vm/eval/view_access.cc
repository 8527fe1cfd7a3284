#include "vm/eval/view_access.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "vm/machine/outside.h"

namespace tile::vm {

using ir::Op;
using ir::Value;

uint64_t ReadIndex(const void* p, int bytes, bool i1, int64_t i) {
  uint64_t v = 0;
  std::memcpy(&v, static_cast<const char*>(p) + i * bytes, static_cast<size_t>(bytes));
  return i1 ? v & 1 : v;
}

ViewAccess* PrepareView(Preparer& p, const Op& op, const Value* view, ir::OperandRange index) {
  auto* v = p.New<ViewAccess>();
  v->type = view->type();
  v->view = p.raw(view);
  v->origins = p.origins().SetOf(view);
  v->rank = v->type.rank();
  if (v->rank > ir::kMaxRank) {
    p.Refuse(op, absl::StrCat("rank ", v->rank, " is over the limit of ", ir::kMaxRank));
    return v;
  }
  v->elem = v->type.elem();
  v->bytes = ir::StorageBytes(v->elem);
  v->nibbles = ir::IsSubByte(v->elem);
  v->gather = v->type.kind() == ir::TypeKind::kGatherScatterView;
  v->sparse_dim = v->gather ? v->type->sparse_dim : -1;
  v->elements = v->type.num_elements();
  const size_t n = static_cast<size_t>(v->rank);
  auto* tile = p.NewArray<int64_t>(n);
  auto* step = p.NewArray<int64_t>(n);
  auto* dim = p.NewArray<int64_t>(n);
  auto* tile_stride = p.NewArray<int64_t>(n);
  auto* slots = p.NewArray<Slot>(n);
  auto* bytes = p.NewArray<int>(n);
  auto* i1 = p.NewArray<bool>(n);
  int64_t stride = 1;
  for (int k = v->rank - 1; k >= 0; --k) {
    const auto u = static_cast<size_t>(k);
    tile[k] = v->type.shape()[u];
    tile_stride[k] = stride;
    stride *= tile[k];
    dim[k] = v->gather ? k : v->type->dim_map[u];
    step[k] = v->gather ? 1 : v->type.kind() == ir::TypeKind::kStridedView ? v->type->steps[u] : tile[k];
    if (u < index.size()) {
      slots[k] = p.dense(index[u]);
      bytes[k] = ir::StorageBytes(index[u]->type().elem());
      i1[k] = index[u]->type().elem() == ir::Elem::kI1;
    }
  }
  v->tile = tile;
  v->step = step;
  v->dim = dim;
  v->tile_stride = tile_stride;
  v->index = slots;
  v->index_bytes = bytes;
  v->index_i1 = i1;
  if (v->type->padding) {
    v->has_padding = true;
    v->padding = ir::PaddingBits(v->elem, *v->type->padding);
  }
  return v;
}

void LocateView(const BlockState& b, const ViewAccess& v, ViewBoxes* boxes) {
  const auto* view = static_cast<const ViewData*>(b.at(v.view));
  boxes->view = view;
  boxes->whole = !v.gather;
  for (int k = 0; k < v.rank; ++k) {
    const int64_t size = view->size(static_cast<int>(v.dim[k]));
    boxes->size[k] = size;
    boxes->origin[k] = 0;
    if (k == v.sparse_dim) continue;
    const uint64_t i = ReadIndex(b.at(v.index[k]), v.index_bytes[k], v.index_i1[k]);
    if (i >= static_cast<uint64_t>(CountSteps(size, v.step[k]))) {
      if (boxes->outside < 0) boxes->outside = k;
      boxes->origin[k] = size;
    } else {
      boxes->origin[k] = static_cast<int64_t>(i) * v.step[k];
    }
    if (size - boxes->origin[k] < v.tile[k]) boxes->whole = false;
  }
}

namespace {

// What to do about an index outside; of two indices also whether they are inside in the other order.
std::string FixOfOutside(const BlockState& b, const ViewAccess& v, const ViewBoxes& boxes) {
  if (v.gather) return "launch fewer blocks, or guard the access";
  std::string fix = "launch fewer blocks, or guard the access (an index counts tiles, not elements)";
  if (v.rank != 2) return fix;
  uint64_t index[2];
  for (int k = 0; k < 2; ++k) index[k] = ReadIndex(b.at(v.index[k]), v.index_bytes[k], v.index_i1[k]);
  const auto is_inside = [&](uint64_t i, int k) {
    return i < static_cast<uint64_t>(CountSteps(boxes.size[k], v.step[k]));
  };
  if (is_inside(index[1], 0) && is_inside(index[0], 1))
    absl::StrAppend(&fix, "; in the other order, [", index[1], ", ", index[0], "], both indices are inside");
  return fix;
}

}  // namespace

bool NoteOutside(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes) {
  const int k = boxes.outside;
  const auto message = [&] {
    const int bytes = v.index_bytes[k];
    const auto signed_index = static_cast<int64_t>(ReadSignedIndex(b.at(v.index[k]), bytes, v.index_i1[k], 0));
    const uint64_t index = ReadIndex(b.at(v.index[k]), bytes, v.index_i1[k]);
    const int64_t space = CountSteps(boxes.size[k], v.step[k]);
    return absl::StrCat("index ", signed_index, " of dimension ", k,
                        signed_index < 0 ? absl::StrCat(", read as unsigned ", index, ",") : "",
                        " is outside of the view's ", space, v.gather ? " position" : " tile", space == 1 ? "" : "s",
                        boxes.view->allocation ? absl::StrCat(" over `", boxes.view->allocation->name, "`") : "", " (",
                        boxes.size[k], " elements in steps of ", v.step[k], ")", WrapText(b, *in->op, 0));
  };
  if (b.checker == nullptr && !b.checked) return true;
  const std::string fix = FixOfOutside(b, v, boxes);
  if (b.checker != nullptr) {
    Trap(b, in->op, "vm.index_out_of_bounds", message(), fix);
    return false;
  }
  const bool reads = in->op->info()->has(ir::kReads), writes = in->op->info()->has(ir::kWrites);
  Warn(
      b, in->op, "vm.index_out_of_bounds",
      [&] {
        return absl::StrCat(message(), ": ",
                            !writes ? "the tile is all padding"
                            : reads ? "nothing is updated"
                                    : "nothing is stored");
      },
      fix);
  return true;
}

bool MakeBox(const BlockState& b, const ViewAccess& v, const ViewBoxes& boxes, int64_t row, Box* box) {
  box->offset = 0;
  box->tile_offset = 0;
  for (int k = 0; k < v.rank; ++k) {
    const int d = static_cast<int>(v.dim[k]);
    int64_t origin = boxes.origin[k];
    box->stride[k] = boxes.view->stride(v.rank, d);
    box->extent[k] = std::min(v.tile[k], boxes.size[k] - origin);
    if (k == v.sparse_dim) {
      const uint64_t picked = ReadSignedIndex(b.at(v.index[k]), v.index_bytes[k], v.index_i1[k], row);
      if (picked >= static_cast<uint64_t>(boxes.size[k])) return false;
      origin = static_cast<int64_t>(picked);
      box->extent[k] = 1;
      box->tile_offset = row * v.tile_stride[k];
    }
    if (box->extent[k] <= 0) return false;
    box->offset = AddOffset(box->offset, origin, box->stride[k]);
  }
  return true;
}

namespace {

struct OutsideElement {
  uintptr_t address = 0;  // 0: none that a pointer has
  std::string index;
  int64_t lane = 0;  // of the indices of a gather
};

// "3, 17": where an element of the box is in the tensor.
std::string IndexText(const BlockState& b, const ViewAccess& v, const ViewBoxes& boxes, const Box& box,
                      const int64_t* at) {
  std::string index;
  for (int d = 0; d < v.rank; ++d) {
    for (int k = 0; k < v.rank; ++k) {
      if (v.dim[k] != d) continue;
      const int64_t sparse = k == v.sparse_dim
                                 ? static_cast<int64_t>(ReadIndex(b.at(v.index[k]), v.index_bytes[k], v.index_i1[k],
                                                                  box.tile_offset / v.tile_stride[k]))
                                 : 0;
      absl::StrAppend(&index, index.empty() ? "" : ", ", (k == v.sparse_dim ? sparse : boxes.origin[k]) + at[k]);
    }
  }
  return index;
}

// The first element of the box that is in no memory that the view is over.
std::optional<OutsideElement> FindOutside(BlockState& b, const ViewAccess& v, const ViewBoxes& boxes, const Box& box) {
  const int64_t bits = ir::MemoryBits(v.elem);
  const auto bytes = static_cast<uint64_t>((bits + 7) / 8);
  const Allocation* home = boxes.view->allocation;
  int64_t at[ir::kMaxRank] = {};
  const __int128 base = __int128{reinterpret_cast<uintptr_t>(boxes.view->base)};
  for (int64_t n = 0; n < (int64_t{1} << 26); ++n) {
    __int128 offset = box.offset;
    for (int k = 0; k < v.rank; ++k) offset += __int128{at[k]} * box.stride[k];
    const __int128 address = base + offset * bits / 8;
    const bool possible = address >= 0 && address < (__int128{1} << 63);
    const auto a = static_cast<uintptr_t>(possible ? address : 0);
    const bool inside =
        possible && (home != nullptr ? home->Contains(a, bytes) : FindHome(b, v.origins, a, bytes) != nullptr);
    if (!inside) {
      const int64_t row = v.sparse_dim >= 0 ? box.tile_offset / v.tile_stride[v.sparse_dim] : 0;
      return OutsideElement{a, IndexText(b, v, boxes, box, at), row};
    }
    int k = v.rank - 1;
    for (; k >= 0; --k) {
      if (++at[k] < box.extent[k]) break;
      at[k] = 0;
    }
    if (k < 0) break;
  }
  return std::nullopt;
}

// Says that the box is not in the array that the view is over; false after a trap. `around`: the array's memory, if the box is
// in that.
bool TellOutside(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes, const Box& box,
                 const Access& access, const Around& around) {
  const std::optional<OutsideElement> found = FindOutside(b, v, boxes, box);
  if (!found) {
    Trap(b, in->op, "vm.out_of_bounds", "the tile does not lie in one buffer");
    return false;
  }
  const Allocation* home = boxes.view->allocation;
  const Allocation* other = home == nullptr || found->address == 0 ? nullptr : FindAllocation(b, found->address, 1);
  const int null = home == nullptr ? NullParameter(b, v.origins) : -1;
  const auto text = [&] {
    std::string extent;
    for (int d = 0; d < v.rank; ++d) absl::StrAppend(&extent, d ? "x" : "", boxes.view->size(d));
    return absl::StrCat(
        access.writes ? "writes" : "reads", " element [", found->index, "] of the ", extent, " tensor",
        home != nullptr ? absl::StrCat(" over `", home->name, "`, which has only ", home->bytes, " bytes")
        : null >= 0     ? absl::StrCat(" through a null pointer: `", NameOfParameter(b, null), "` has no memory")
                        : std::string(", which is not in a buffer of the launch"),
        around.memory != nullptr ? absl::StrCat("; it is in the rest of ", Describe(*around.memory))
        : other != nullptr       ? absl::StrCat("; it is in ", Describe(*other))
                                 : "",
        WrapText(b, *in->op, found->lane));
  };
  if (around.memory != nullptr && b.checker == nullptr) {
    Warn(b, in->op, "vm.outside_view", text, kAnyArrayFix);
    return true;
  }
  Trap(b, in->op, around.memory != nullptr ? "vm.outside_view" : "vm.out_of_bounds", text(),
       around.memory != nullptr ? kAnyArrayFix : "give the tensor_view the sizes and strides of the buffer");
  return false;
}

}  // namespace

bool CheckBox(BlockState& b, const Instr* in, const ViewAccess& v, const ViewBoxes& boxes, const Box& box,
              Access access) {
  if (!b.checked) return true;
  const __int128 first = box.offset;
  __int128 last = first;
  for (int k = 0; k < v.rank; ++k) last += __int128{box.extent[k] - 1} * box.stride[k];
  const int64_t bits = ir::MemoryBits(v.elem);
  const __int128 base = __int128{reinterpret_cast<uintptr_t>(boxes.view->base)};
  const __int128 begin = base + (first * bits) / 8, end = base + ((last + 1) * bits + 7) / 8;
  const Allocation* home = boxes.view->allocation;
  bool inside = end < (__int128{1} << 63);
  const auto address = static_cast<uintptr_t>(begin);
  const auto bytes = static_cast<uint64_t>(end - begin);
  if (inside) {
    if (home == nullptr) home = FindHome(b, v.origins, address, bytes);
    inside = home != nullptr && home->Contains(address, bytes);
  }
  if (!inside) {
    const Allocation*& last = b.homes[static_cast<size_t>(v.origins)];
    const bool possible = begin >= 0 && end < (__int128{1} << 63);
    if (possible && last != nullptr && last->Contains(address, bytes)) {
      home = last;
    } else {
      const Around around = possible ? FindAround(b, v.origins, address, bytes) : Around{};
      if (!TellOutside(b, in, v, boxes, box, access, around)) return false;
      home = last = around.memory;
    }
  }
  if (!v.nibbles && (reinterpret_cast<uintptr_t>(boxes.view->base) & static_cast<uintptr_t>(v.bytes - 1)) != 0) {
    TrapMisaligned(b, in, reinterpret_cast<uintptr_t>(boxes.view->base), v.bytes, v.type, 0);
    return false;
  }
  if (access.writes && home->read_only) {
    TrapReadOnly(b, in, *home);
    return false;
  }
  if (b.checker == nullptr) return true;
  // Element by element or, along a dimension whose elements are side by side in memory, run by run, for the shadow.
  Box outer = box;
  int64_t run = 1, lane_step = 1;
  for (int k = v.rank - 1; k >= 0 && !v.nibbles; --k) {
    if (box.stride[k] != 1 || box.extent[k] <= 1) continue;
    run = box.extent[k];
    lane_step = v.tile_stride[k];
    outer.extent[k] = 1;
    break;
  }
  const char* tile = static_cast<const char*>(access.tile);
  bool ok = true;
  ForEachElement(v, outer, [&](int64_t offset, int64_t lane) {
    if (!ok) return;
    Access a = access;
    a.address = reinterpret_cast<uintptr_t>(boxes.view->base) + static_cast<uintptr_t>(offset * bits / 8);
    a.elements = run;
    a.home = home;
    a.element_bytes = v.bytes;
    a.lane_step = lane_step;
    a.tile = tile == nullptr ? nullptr : tile + lane * v.bytes;
    a.lane = lane;
    ok = b.checker->OnAccess(b, in, a);
  });
  return ok;
}

}  // namespace tile::vm
