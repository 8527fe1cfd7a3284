#include "codegen/emit/pipeline/slot_copies.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/layout/algebra.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "ir/check.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int kVectorBytes = 16;
constexpr size_t kConverted = 4;  // vectors that a thread converts at a time
constexpr size_t kBatch = 8;      // loads before the first of them is waited for, where copies go through registers

// Which thread copies what, and where it comes to lie.
class SlotCopies {
 public:
  // `pieces`: the tile comes in as many, one after another, as registers are numbered.
  SlotCopies(Emitter& e, const StagedTile& tile, llvm::Value* slot, int pieces = 1)
      : e_(e),
        layout_(LayoutOf(tile, pieces, e.num_warps())),
        in_slot_(Compose(
            tile.Map(layout_.dim_shift(tile.contiguous),
                     tile.other >= 0 ? layout_.dim_shift(tile.other) : layout_.offset_bits(), layout_.offset_bits()),
            layout_)),
        slot_(slot),
        bytes_(tile.element_bits / 8),
        loaded_bytes_(tile.loaded_bits / 8),
        mine_(e.threads().HoldsFirstCopy(layout_)) {}

  const Layout& layout() const { return layout_; }
  // Null: this thread's copies are the first of all threads'.
  llvm::Value* mine() const { return mine_; }
  // Registers of a piece that repeat no earlier one, where vectors of `vector` elements begin.
  std::vector<int> Firsts(int vector, int piece = 0, int pieces = 1) const {
    const Copies copies(layout_);
    const int each = layout_.registers() / pieces;
    std::vector<int> firsts;
    for (int r : copies.firsts()) {
      if (r % vector == 0 && r / each == piece) firsts.push_back(r);
    }
    return firsts;
  }
  // Where vector r is stored, as an address: vectors of a thread differ by constants, as far as no lane or warp has their bits. What is
  // widened there is stored in the first half of the place of its 16 elements. No other thread has any of these.
  Address At(int r) const {
    const int in_vector = WithinVector(r);
    Address first = AddressOf(r - in_vector);
    first.offset += in_vector * loaded_bytes_;
    return first;
  }
  llvm::Value* Place(int r) const {
    const int in_vector = WithinVector(r);
    llvm::Value* first = PlaceOf(r - in_vector);
    return in_vector == 0 ? first : e_.b().CreateGEP(e_.b().getInt8Ty(), first, e_.I32(in_vector * loaded_bytes_));
  }
  // Where an element lies once it was widened.
  llvm::Value* PlaceOf(int r) const {
    return SharedPlace(e_, slot_, in_slot_.bases(In::kLane), in_slot_.bases(In::kWarp), RegisterPart(in_slot_, r),
                       bytes_);
  }

 private:
  int WithinVector(int r) const { return loaded_bytes_ == bytes_ ? 0 : r % (kVectorBytes / loaded_bytes_); }
  Address AddressOf(int r) const {
    Mask thread = 0;
    for (In in : {In::kLane, In::kWarp}) {
      for (Mask base : in_slot_.bases(in)) thread |= base;
    }
    const Mask at = RegisterPart(in_slot_, r);
    llvm::Value* first =
        SharedPlace(e_, slot_, in_slot_.bases(In::kLane), in_slot_.bases(In::kWarp), at & thread, bytes_);
    return {e_.b().CreatePtrToInt(first, e_.b().getInt32Ty()), static_cast<int64_t>(at & ~thread) * bytes_};
  }
  static Layout LayoutOf(const StagedTile& tile, int pieces, int num_warps) {
    std::vector<int64_t> shape = {tile.lhs ? tile.mn : tile.k,
                                  tile.lhs ? tile.k : tile.mn};  // of what was copied before
    if (tile.load != nullptr) {
      const auto all = tile.load->result(0)->type().shape();
      shape.assign(all.begin(), all.end());
    }
    shape[static_cast<size_t>(tile.contiguous)] /= pieces;
    const Layout piece = CopyLayout(shape, tile.contiguous, tile.other, tile.loaded_bits, num_warps);
    return pieces == 1 ? piece : piece.Grow(tile.contiguous, pieces);
  }

  Emitter& e_;
  const Layout layout_, in_slot_;
  llvm::Value* slot_;
  const int bytes_, loaded_bytes_;  // of an element
  llvm::Value* mine_;
};

// 16 bytes' worth of what is loaded, in the type of what the product reads (StagedTile::rounded).
Registers Converted(Emitter& e, const StagedTile& tile, const Registers& values) {
  if (TakesPairs(e, *tile.rounded)) return EmitPairs(e, *tile.rounded, values);
  Registers out = values;
  for (llvm::Value*& v : out) v = EmitFToF(e, *tile.rounded, {&v, 1});
  return out;
}

}  // namespace

void CopyThroughPointers(Emitter& e, const StagedTile& tile, llvm::Value* slot, llvm::Value* when, bool tells) {
  const ir::LoadPtrOp load(tile.load);
  const SlotCopies copies(e, tile, slot);
  TILE_CHECK(e.layout(load.source()) == copies.layout(), "pointers do not lie as threads copy");
  const int bytes = PointerCopyOf(load.op()).value().bytes, vector = bytes * 8 / tile.loaded_bits;
  if (tells && e.wants_remarks())
    e.Remark(load.op(), "vector", absl::StrCat(vector, " elements (", bytes, " bytes) at a time"));
  for (int r : copies.Firsts(vector)) {
    const auto u = static_cast<size_t>(r);
    llvm::Value* inside = load.mask() == nullptr ? nullptr : e.regs(load.mask())[u];
    CopyToShared(e, copies.At(r), {e.regs(load.source())[u], 0}, bytes, And(e, when, copies.mine()), inside);
  }
}

void CopyView(Emitter& e, const StagedTile& tile, llvm::Value* slot, const SlotPart& part) {
  const ir::Op& load = *tile.load;
  const SlotCopies copies(e, tile, slot, part.part.of);
  const int bytes = tile.loaded_bits / 8;
  TileBox box = TileBox::OfView(e, load, copies.layout());
  box.LimitVector(kVectorBytes / bytes);
  if (part.tells && e.wants_remarks()) e.Remark(load, "vector", box.Width(kVectorBytes / bytes));
  MemoryAccess how = AccessOf(e, load, false);
  how.op = nullptr;  // whoever reads the stage waits for what is copied
  InEitherWidth(e, box.vector(), box.Aligned(), [&](int vector) {
    box.Forget();
    const std::vector<int> firsts = copies.Firsts(vector, part.part.number, part.part.of);
    if (vector * bytes >= 4) {
      for (int r : firsts) {
        CopyToShared(e, copies.At(r), box.At(r), vector * bytes, copies.mine(), box.Inside(r));
      }
      return Registers();
    }
    // Too small for cp.async. The owners alone write, as they convert in place what they wrote without a barrier in between.
    e.When(copies.mine(), [&] {
      const Registers zeros(static_cast<size_t>(vector), e.Constant(ir::Element::Number(box.elem()), 0));
      std::vector<Registers> got(firsts.size());
      for (size_t i = 0; i < firsts.size() + kBatch; ++i) {
        if (i < firsts.size())
          got[i] = Load(e, how, box.At(firsts[i]), box.elem(), vector, box.Inside(firsts[i]), zeros);
        if (i >= kBatch) StoreVector(e, got[i - kBatch], copies.Place(firsts[i - kBatch]));
      }
    });
    if (part.fences) FenceProxyAsync(e);
    return Registers();
  });
}

void ConvertCopied(Emitter& e, const StagedTile& tile, llvm::Value* slot) {
  const SlotCopies copies(e, tile, slot);
  e.When(copies.mine(), [&] {
    const int vector = kVectorBytes * 8 / tile.loaded_bits, stored = kVectorBytes * 8 / tile.element_bits;
    llvm::Type* type = e.RegisterType(tile.rounded->operand(0)->type().elem());
    const std::vector<int> firsts = copies.Firsts(vector);
    for (size_t begin = 0; begin < firsts.size(); begin += kConverted) {
      const size_t end = std::min(firsts.size(), begin + kConverted);
      std::vector<Registers> values;
      for (size_t i = begin; i < end; ++i) values.push_back(LoadVector(e, type, vector, copies.Place(firsts[i])));
      for (size_t i = begin; i < end; ++i) {
        const Registers now = Converted(e, tile, values[i - begin]);
        for (int r = 0; r < vector; r += stored) {
          StoreVector(e, Operands(now).subspan(static_cast<size_t>(r), static_cast<size_t>(stored)),
                      copies.PlaceOf(firsts[i] + r));
        }
      }
    }
  });
}

}  // namespace tile::codegen
