// tcgen05.ld and tcgen05.st: a warp's registers and its quarter of the lanes of tensor memory.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/tcgen05.h"
#include "tests/gpu_sim/machine/tensor_work.h"
#include "tests/gpu_sim/machine/together.h"
#include "tests/gpu_sim/tensor/tensor_shape.h"

namespace tile::gpu_sim {
namespace {

struct AccessExtra : Extra {
  TensorShape shape;
  bool load = false;
};

// A warp reaches the lanes 32 * (its index mod 4) and the 31 behind: the 16 or 32 of the shape have to lie there.
absl::Status CheckLanes(const Warp& w, const TensorShape& shape, uint32_t lane) {
  const uint32_t first = w.index % 4 * 32;
  const bool inside = lane >= first && lane + shape.lanes() <= first + 32 && lane % 16 == 0;
  if (inside) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("warp ", w.index, " reaches lanes ", first, " to ", first + 31,
                                                 " of tensor memory; this accesses ", shape.lanes(), " from lane ",
                                                 lane));
}

absl::Status CheckColumns(TensorMemory& memory, const TensorShape& shape, const TensorAddress& at) {
  uint32_t first = TensorMemory::kColumns, last = 0;
  for (const uint32_t thread : {0u, 1u, 2u, 3u, 16u}) {
    for (const uint32_t reg : {0u, shape.registers - 1}) {
      const uint32_t column = at.column + CellOf(shape, thread, reg, shape.packed ? 1 : 0).column;
      first = std::min(first, at.column + CellOf(shape, thread, reg).column);
      last = std::max(last, column);
    }
  }
  return memory.Row(at.lane, first, last - first + 1).status();
}

// Cells that a dealloc has taken away meanwhile are an error.
absl::Status Load(Warp& w, const Instr& i, const TensorShape& shape, TensorAddress at) {
  for (uint32_t l = 0; l < 32; ++l) {
    for (uint32_t r = 0; r < shape.registers; ++r) {
      uint32_t word = 0;
      for (uint32_t half = 0; half <= (shape.packed ? 1u : 0u); ++half) {
        const TensorCell c = CellOf(shape, l, r, half);
        const absl::StatusOr<uint32_t*> cell = w.block->tensor_memory.Row(at.lane + c.lane, at.column + c.column, 1);
        if (!cell.ok()) return cell.status();
        word |= shape.packed ? (**cell & 0xFFFF) << (16 * half) : **cell;
      }
      Put<uint32_t>(w.threads[l], i.list[r], word);
    }
  }
  return absl::OkStatus();
}

absl::Status Store(Block& block, const TensorShape& shape, TensorAddress at, const std::vector<uint32_t>& words) {
  for (uint32_t l = 0; l < 32; ++l) {
    for (uint32_t r = 0; r < shape.registers; ++r) {
      const uint32_t word = words[l * shape.registers + r];
      for (uint32_t half = 0; half <= (shape.packed ? 1u : 0u); ++half) {
        const TensorCell c = CellOf(shape, l, r, half);
        const absl::StatusOr<uint32_t*> cell = block.tensor_memory.Row(at.lane + c.lane, at.column + c.column, 1);
        if (!cell.ok()) return cell.status();
        **cell = shape.packed ? word >> (16 * half) & 0xFFFF : word;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status WithLine(const absl::Status& s, absl::string_view name, int line) {
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(name, " of line ", line, ": ", s.message()));
}

absl::Status RunAccess(Warp& w, const Instr& i, uint32_t lanes) {
  if (lanes != ~0u) return absl::InvalidArgumentError("not all lanes of the warp execute it");
  const auto& x = static_cast<const AccessExtra&>(*i.extra);
  const auto address = static_cast<uint32_t>(AddressOf(w.threads[0], i.at));
  for (uint32_t l = 1; l < 32; ++l) {
    if (static_cast<uint32_t>(AddressOf(w.threads[l], i.at)) != address)
      return absl::InvalidArgumentError("lanes of the warp have different addresses");
  }
  const TensorAddress at = TensorAddressOf(address);
  if (absl::Status s = CheckLanes(w, x.shape, at.lane); !s.ok()) return s;
  if (absl::Status s = CheckColumns(w.block->tensor_memory, x.shape, at); !s.ok()) return s;
  Warp* warp = &w;
  if (x.load) {
    return StartTensorLoad(w, i,
                           [warp, &i, &x, at] { return WithLine(Load(*warp, i, x.shape, at), "tcgen05.ld", i.line); });
  }
  std::vector<uint32_t> words;
  for (uint32_t l = 0; l < 32; ++l) {
    for (uint32_t r = 0; r < x.shape.registers; ++r) words.push_back(Get<uint32_t>(w.threads[l], i.list[r]));
  }
  return StartTensorStore(w, [warp, line = i.line, &x, at, words = std::move(words)] {
    return WithLine(Store(*warp->block, x.shape, at, words), "tcgen05.st", line);
  });
}

}  // namespace

// tcgen05.ld.sync.aligned.32x32b.x2.b32 {r, s}, [address]; of 16x32bx2 the second column stands behind the address
absl::Status DecodeTcgen05Access(Form& f, Instr* i, bool load) {
  absl::StatusOr<TensorShape> shape = ParseTensorShape(f.words());
  if (!shape.ok()) return f.Unknown(shape.status().message());
  f.TakeAll();
  auto* x = f.NewExtra<AccessExtra>(i);
  x->shape = *shape;
  x->load = load;
  i->run = &AwaitWarp;
  i->together = &RunAccess;
  size_t next = load ? 1 : 0;
  if (load) i->list = f.Destinations(0, &i->count);
  i->at = f.Address(next++);
  if (shape->pattern == TensorPattern::k16x32bx2) x->shape.second_column = static_cast<uint32_t>(f.Number(next++));
  if (!load) i->list = f.Sources(next, &i->count);
  if (i->count != shape->registers) f.Fail("this number of registers");
  return f.Finish();
}

}  // namespace tile::gpu_sim
