// Tensor views and the tiles that views load and store.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/eval/view_access.h"
#include "vm/kernels/copy.h"
#include "vm/machine/outside.h"
#include "vm/machine/unspecified.h"
#include "vm/prepare/strips.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::MemoryOrdering;
using ir::Op;
using ir::Value;

// --- making views ---------------------------------------------------------------------------------------------------

struct TensorViewData {
  Slot base, out;
  int origins;  // of the base
  int rank;
  const int64_t* fixed;  // sizes then strides; kDynamic: from a slot
  const Slot* slots;     // one per dynamic entry, in order
  const int* bytes;
  const bool* i1;
};

const Instr* RunMakeTensorView(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const TensorViewData*>(in->data);
  auto& view = b.get<ViewData>(d.out);
  const auto base = b.get<uintptr_t>(d.base);
  view.base = reinterpret_cast<uint8_t*>(base);
  view.allocation = HomeOfBase(b, d.origins, base);
  int next = 0;
  for (int i = 0; i < 2 * d.rank; ++i) {
    int64_t value = d.fixed[i];
    if (value == ir::kDynamic) {
      const uint64_t u = ReadIndex(b.at(d.slots[next]), d.bytes[next], d.i1[next]);
      ++next;
      if (u > (uint64_t{1} << 62)) {
        return Trap(
            b, in->op, "vm.bad_shape",
            absl::StrCat(i < d.rank ? "size " : "stride ", i % d.rank, " of the tensor is ", static_cast<int64_t>(u),
                         ", read as unsigned ", u, ": too large", WrapText(b, *in->op, 0)),
            "sizes and strides must not be negative");
      }
      value = static_cast<int64_t>(u);
    }
    view.dims[i] = value;
  }
  return in + 1;
}

struct ShapeData {
  Slot view;
  int rank;
  const Slot* out;
  int bytes;
  const int64_t* step;  // null: sizes of the tensor
  const int64_t* dim;
};

const Instr* RunGetShape(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ShapeData*>(in->data);
  const auto& view = b.get<ViewData>(d.view);
  for (int k = 0; k < d.rank; ++k) {
    const int64_t n = d.step == nullptr ? view.size(k) : CountSteps(view.size(static_cast<int>(d.dim[k])), d.step[k]);
    std::memcpy(b.at(d.out[k]), &n, static_cast<size_t>(d.bytes));
  }
  return in + 1;
}

void PrepareGetShape(Preparer& p, const Op& op, bool index_space) {
  auto* d = p.New<ShapeData>();
  const ir::Type t = op.operand(0)->type();
  d->view = p.raw(op.operand(0));
  d->rank = op.num_results();
  auto* out = p.NewArray<Slot>(static_cast<size_t>(d->rank));
  for (int i = 0; i < d->rank; ++i) {
    out[i] = p.result(op, i);
    d->bytes = ir::StorageBytes(op.result(i)->type().elem());
  }
  d->out = out;
  if (index_space) {
    auto* step = p.NewArray<int64_t>(static_cast<size_t>(d->rank));
    auto* dim = p.NewArray<int64_t>(static_cast<size_t>(d->rank));
    for (int k = 0; k < d->rank; ++k) {
      const auto u = static_cast<size_t>(k);
      const bool gather = t.kind() == ir::TypeKind::kGatherScatterView;
      step[k] = gather ? 1 : t.kind() == ir::TypeKind::kStridedView ? t->steps[u] : t.shape()[u];
      dim[k] = gather ? k : t->dim_map[u];
    }
    d->step = step;
    d->dim = dim;
  }
  p.Emit(op, RunGetShape, d);
}

// --- loads and stores -----------------------------------------------------------------------------------------------

// Bytes of tiles that are fetched before their block begins: more than what the hardware sees coming, and no more than
// the second-level cache has room for beside what the block works on.
constexpr int64_t kMinFetch = 4 << 10, kMaxFetch = 128 << 10;
constexpr uint64_t kStreamingBytes = 64 << 20;  // buffers from this size on are larger than any cache

struct ViewMoveData {
  const ViewAccess* access;
  Slot tile;
  bool forward;  // those that read the tile look up where it is
  int ahead;     // its number in BlockState::ahead; -1: none
  Slot pointer;
  MemoryOrdering ordering;
  ir::MemoryScope scope;
  uint32_t relied_on;  // of a load without padding: what Reliance says
};

Access AccessOf(const ViewMoveData& d, const void* tile) {
  Access a;
  a.ordering = d.ordering;
  a.scope = d.scope;
  a.tile = tile;
  return a;
}

// Calls fn(memory offset, tile offset, elements) for what is side by side in memory and in the tile.
template <class Fn>
void ForEachRow(const ViewAccess& v, Box box, Fn&& fn) {
  int64_t n = 1;
  if (v.rank > 0 && box.stride[v.rank - 1] == 1) std::swap(n, box.extent[v.rank - 1]);
  ForEachElement(v, box, [&](int64_t m, int64_t t) { fn(m, t, n); });
}

void FillTile(const BlockState& b, const Instr* in, const ViewAccess& v, void* tile) {
  if (!v.has_padding) return FillUnspecified(b, in, tile, v.elements, v.elem);
  CopyItem item;
  item.elements = v.elements;
  item.run = v.elements;
  item.count = 1;
  item.element_bytes = v.bytes;
  ExpandCopy(tile, &v.padding, item);
}

// Elements outside take part in what is computed from the others.
void WarnOfUnspecified(BlockState& b, const Instr* in, const ViewMoveData& d, const ViewBoxes& boxes) {
  const ViewAccess& v = *d.access;
  for (int k = 0; k < v.rank; ++k) {
    if ((d.relied_on >> k & 1) == 0) continue;
    bool outside = boxes.size[k] - boxes.origin[k] < v.tile[k];
    if (k == v.sparse_dim) {
      outside = false;
      for (int64_t row = 0; row < v.tile[k] && !outside; ++row) {
        outside = ReadSignedIndex(b.at(v.index[k]), v.index_bytes[k], v.index_i1[k], row) >=
                  static_cast<uint64_t>(boxes.size[k]);
      }
    }
    if (!outside) continue;
    return Warn(
        b, in->op, "vm.unspecified",
        [&] {
          return absl::StrCat(
              "elements outside of ",
              boxes.view->allocation ? absl::StrCat("`", boxes.view->allocation->name, "`") : "the tensor",
              " along dimension ", k, " of the tile have no specified value, and the result depends on them");
        },
        "give the view a padding_value (`padding_mode=` of ct.load), or select another value for these elements");
  }
}

// The tile has the same layout in memory as in the frame.
bool LiesDense(const ViewAccess& v, const ViewBoxes& boxes, const Box& box) {
  for (int k = 0; k < v.rank; ++k) {
    if (box.extent[k] > 1 && box.stride[k] != v.tile_stride[k]) return false;
  }
  return boxes.whole && reinterpret_cast<uintptr_t>(boxes.view->base) % static_cast<uintptr_t>(v.bytes) == 0;
}

const Instr* RunLoadView(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ViewMoveData*>(in->data);
  const ViewAccess& v = *d.access;
  auto* tile = static_cast<uint8_t*>(b.at(d.tile));
  ViewBoxes boxes;
  LocateView(b, v, &boxes);
  if (boxes.outside >= 0 && !NoteOutside(b, in, v, boxes)) return nullptr;
  if (d.forward) {
    b.get<void*>(d.pointer) = tile;
    Box box;
    if (boxes.whole && b.checker == nullptr && MakeBox(b, v, boxes, 0, &box) && LiesDense(v, boxes, box)) {
      Access access = AccessOf(d, tile);
      access.reads = true;
      if (!CheckBox(b, in, v, boxes, box, access)) return nullptr;
      const uint8_t* at = boxes.view->base + box.offset * v.bytes;
      b.get<const void*>(d.pointer) = at;
      if (d.ahead >= 0) b.ahead[d.ahead].Saw(at, v.elements * v.bytes, b.more);
      return in + 1;
    }
  }
  if (!boxes.whole) {
    FillTile(b, in, v, tile);
    if (d.relied_on != 0 && b.checked && b.checker == nullptr) WarnOfUnspecified(b, in, d, boxes);
    if (b.checker != nullptr) {
      v.has_padding ? b.checker->OnSpecified(b, tile, v.elements * v.bytes)
                    : b.checker->OnUnspecified(b, tile, v.elements * v.bytes);
    }
  }
  Access access = AccessOf(d, tile);
  access.reads = true;
  const uint8_t* base = boxes.view->base;
  const bool ok = VisitBoxes(b, in, v, boxes, access, [&](const Box& box) {
    if (v.nibbles) {
      ForEachRow(v, box, [&](int64_t m, int64_t t, int64_t n) { LoadNibbles(tile + t, base, m, n); });
    } else if (d.ordering == MemoryOrdering::kWeak) {
      CopyBox(tile + box.tile_offset * v.bytes, v.tile_stride, base + box.offset * v.bytes, box.stride, box.extent,
              v.rank, v.bytes);
    } else {
      ForEachElement(v, box, [&](int64_t m, int64_t t) {
        LoadElements(tile + t * v.bytes, reinterpret_cast<uintptr_t>(base + m * v.bytes), 1, v.bytes, d.ordering);
      });
    }
  });
  if (!ok) return nullptr;
  if (v.elem == Elem::kI1) {
    for (int64_t i = 0; i < v.elements; ++i) tile[i] = tile[i] != 0;
  }
  return in + 1;
}

// A large result would only push out of the caches what is still needed.
bool GoesAroundCaches(const ViewData& view) {
  return view.allocation != nullptr && view.allocation->bytes >= kStreamingBytes;
}

// The bytes from `tile` on share some with what a store to the boxes writes.
bool LiesWhereItIsStored(const BlockState& b, const ViewAccess& v, const ViewBoxes& boxes, const uint8_t* tile) {
  const auto from = reinterpret_cast<uintptr_t>(tile), base = reinterpret_cast<uintptr_t>(boxes.view->base);
  for (int64_t row = 0; row < NumBoxes(v); ++row) {
    Box box;
    if (!MakeBox(b, v, boxes, row, &box)) continue;
    int64_t low = box.offset, high = box.offset + 1;
    for (int k = 0; k < v.rank; ++k) {
      const int64_t reach = (box.extent[k] - 1) * box.stride[k];
      (reach < 0 ? low : high) += reach;
    }
    const uintptr_t begin = base + static_cast<uintptr_t>(low * v.bytes),
                    end = base + static_cast<uintptr_t>(high * v.bytes);
    if (begin < from + static_cast<uintptr_t>(v.elements * v.bytes) && from < end) return true;
  }
  return false;
}

const Instr* RunStoreView(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ViewMoveData*>(in->data);
  const ViewAccess& v = *d.access;
  const auto* tile = static_cast<const uint8_t*>(b.at(d.tile));
  ViewBoxes boxes;
  LocateView(b, v, &boxes);
  if (boxes.outside >= 0 && !NoteOutside(b, in, v, boxes)) return nullptr;
  // A loaded tile that was not copied, since nothing writes before this store.
  std::vector<uint8_t> copy;
  if (d.tile.indirect() && LiesWhereItIsStored(b, v, boxes, tile)) {
    copy.assign(tile, tile + v.elements * v.bytes);
    tile = copy.data();
  }
  Access access = AccessOf(d, tile);
  access.writes = true;
  const CopyHint hint = GoesAroundCaches(*boxes.view) ? CopyHint::kStreaming : CopyHint::kNone;
  uint8_t* base = boxes.view->base;
  const bool ok = VisitBoxes(b, in, v, boxes, access, [&](const Box& box) {
    if (v.nibbles) {
      ForEachRow(v, box, [&](int64_t m, int64_t t, int64_t n) { StoreNibbles(base, m, tile + t, n); });
    } else if (d.ordering == MemoryOrdering::kWeak) {
      CopyBox(base + box.offset * v.bytes, box.stride, tile + box.tile_offset * v.bytes, v.tile_stride, box.extent,
              v.rank, v.bytes, hint);
    } else {
      ForEachElement(v, box, [&](int64_t m, int64_t t) {
        StoreElements(reinterpret_cast<uintptr_t>(base + m * v.bytes), tile + t * v.bytes, 1, v.bytes, d.ordering);
      });
    }
  });
  return ok ? in + 1 : nullptr;
}

// A fold of the tile, under whatever name, would wait for all of it; elementwise operations go through it as it arrives.
bool IsFolded(const Value* tile) {
  for (const ir::Use* use = tile->uses(); use != nullptr; use = use->next) {
    const Op* user = use->owner;
    if (user->info()->has(ir::kRegions) || (MovesNothing(user) && IsFolded(user->result(0)))) return true;
  }
  return false;
}

ViewMoveData* PrepareMove(Preparer& p, const Op& op) {
  auto* d = p.New<ViewMoveData>();
  const ir::ViewAccessOp fields(op);
  ViewAccess* access = PrepareView(p, op, fields.view(), fields.index());
  d->access = access;
  d->ordering = fields.ordering();
  d->scope = fields.scope().value_or(ir::MemoryScope::kTlBlk);
  return d;
}

}  // namespace

bool IsPlainStore(const Instr& in) {
  if (in.fn != RunStoreView) return false;
  const auto& d = *static_cast<const ViewMoveData*>(in.data);
  return d.ordering == MemoryOrdering::kWeak && !d.access->nibbles && !d.access->gather && d.access->elem != Elem::kI1;
}

StoreTarget LocateStore(BlockState& b, const Instr* in) {
  const auto& d = *static_cast<const ViewMoveData*>(in->data);
  const ViewAccess& v = *d.access;
  ViewBoxes boxes;
  LocateView(b, v, &boxes);
  Box box;
  if (!boxes.whole || !MakeBox(b, v, boxes, 0, &box) || !LiesDense(v, boxes, box))
    return {StoreTarget::Kind::kScattered};
  Access access = AccessOf(d, nullptr);
  access.writes = true;
  if (!CheckBox(b, in, v, boxes, box, access)) return {StoreTarget::Kind::kTrap};
  return {StoreTarget::Kind::kDense, boxes.view->base + box.offset * v.bytes, GoesAroundCaches(*boxes.view)};
}

void PrepareMakeTensorView(Preparer& p, const Op& op) {
  const ir::Type t = op.result(0)->type();
  auto* d = p.New<TensorViewData>();
  d->rank = t.rank();
  if (d->rank > ir::kMaxRank)
    return p.Refuse(op, absl::StrCat("rank ", d->rank, " is over the limit of ", ir::kMaxRank));
  auto* fixed = p.NewArray<int64_t>(static_cast<size_t>(2 * d->rank));
  for (int k = 0; k < d->rank; ++k) {
    fixed[k] = t.shape()[static_cast<size_t>(k)];
    fixed[d->rank + k] = t->strides[static_cast<size_t>(k)];
  }
  const ir::MakeTensorViewOp make(op);
  std::vector<Value*> dynamic = make.dynamic_shape().list();
  for (Value* v : make.dynamic_strides()) dynamic.push_back(v);
  auto* slots = p.NewArray<Slot>(dynamic.size());
  auto* bytes = p.NewArray<int>(dynamic.size());
  auto* i1 = p.NewArray<bool>(dynamic.size());
  for (size_t i = 0; i < dynamic.size(); ++i) {
    slots[i] = p.raw(dynamic[i]);
    bytes[i] = ir::StorageBytes(dynamic[i]->type().elem());
    i1[i] = dynamic[i]->type().elem() == Elem::kI1;
  }
  d->fixed = fixed;
  d->slots = slots;
  d->bytes = bytes;
  d->i1 = i1;
  d->base = p.raw(make.base());
  d->origins = p.origins().SetOf(make.base());
  d->out = p.result(op, 0);
  p.Emit(op, RunMakeTensorView, d);
}

// Nothing at run time: all that they add is in the type.
void PrepareMakePartitionView(Preparer&, const Op&) {}
void PrepareMakeStridedView(Preparer&, const Op&) {}
void PrepareMakeGatherScatterView(Preparer&, const Op&) {}

void PrepareGetTensorShape(Preparer& p, const Op& op) { PrepareGetShape(p, op, false); }
void PrepareGetIndexSpaceShape(Preparer& p, const Op& op) { PrepareGetShape(p, op, true); }

void PrepareLoadView(Preparer& p, const Op& op) {
  ViewMoveData* d = PrepareMove(p, op);
  d->tile = p.home(op.result(0));
  d->forward = p.plan().forwarded(op.result(0));
  if (d->forward) d->pointer = p.pointer_to(op.result(0));
  if (!d->access->has_padding) d->relied_on = p.reliance().Of(op.result(0));
  const int64_t bytes = d->access->elements * d->access->bytes;
  const bool fetches = d->forward && IsFolded(op.result(0)) && bytes >= kMinFetch && bytes <= kMaxFetch;
  d->ahead = fetches && p.code().num_fetch_ahead < kMaxFetchAhead ? p.code().num_fetch_ahead++ : -1;
  p.Emit(op, RunLoadView, d);
}

void PrepareStoreView(Preparer& p, const Op& op) {
  ViewMoveData* d = PrepareMove(p, op);
  d->tile = p.dense(ir::StoreViewOp(op).tile());
  p.Emit(op, RunStoreView, d);
}

}  // namespace tile::vm
