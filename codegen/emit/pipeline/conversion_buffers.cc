#include "codegen/emit/pipeline/conversion_buffers.h"

#include <algorithm>
#include <vector>

#include "codegen/emit/context/convert.h"
#include "codegen/layout/algebra.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int kVectorBits = 128;
constexpr size_t kAtOnce = 4;  // vectors that a thread has loaded before it stores the first

// Where elements lie that threads hold in a layout of element numbers: vectors of a thread differ by constants, as far as no lane or warp
// has their bits.
class Elements {
 public:
  Elements(Emitter& e, const StagedTile& tile, const Layout& layout, llvm::Value* begin)
      : e_(e), in_shared_(InShared(tile, layout)), begin_(begin), bytes_(tile.element_bits / 8) {
    for (In in : {In::kLane, In::kWarp}) {
      for (Mask base : in_shared_.bases(in)) of_threads_ |= base;
    }
  }

  llvm::Value* At(int r) const {
    const Mask at = RegisterPart(in_shared_, r);
    llvm::Value* first =
        SharedPlace(e_, begin_, in_shared_.bases(In::kLane), in_shared_.bases(In::kWarp), at & of_threads_, bytes_);
    return e_.b().CreateGEP(e_.b().getInt8Ty(), first, e_.I32(static_cast<int64_t>(at & ~of_threads_) * bytes_));
  }

 private:
  Emitter& e_;
  const Layout in_shared_;
  llvm::Value* begin_;
  const int bytes_;
  Mask of_threads_ = 0;
};

}  // namespace

Registers Converted(Emitter& e, const StagedTile& tile, const Registers& values) {
  if (TakesPairs(e, *tile.rounded)) return EmitPairs(e, *tile.rounded, values);
  Registers out = values;
  for (llvm::Value*& v : out) v = EmitFToF(e, *tile.rounded, {&v, 1});
  return out;
}

ConversionBuffers::ConversionBuffers(Emitter& e, const StageLayout& stage, llvm::Value* memory)
    : e_(e), stage_(stage), memory_(memory), places_(e, stage.conversion_buffers, e.num_warps()) {
  // They persist, as barriers do.
  for (Position* p : {&before_, &current_, &next_}) {
    p->place = e.Variable(e.b().getInt32Ty(), e.I32(0));
    p->phase = e.Variable(e.b().getInt32Ty(), e.I32(TmaStages::kFirstFill));
  }
}

llvm::Value* ConversionBuffers::Now(llvm::AllocaInst* variable) const {
  return e_.b().CreateLoad(variable->getAllocatedType(), variable);
}

void ConversionBuffers::Turn() {
  auto& b = e_.b();
  const auto move = [&](const Position& from, const Position& to) {
    b.CreateStore(Now(from.place), to.place);
    b.CreateStore(Now(from.phase), to.phase);
  };
  move(current_, before_);
  move(next_, current_);
  llvm::Value* next = b.CreateAdd(Now(next_.place), e_.I32(1));
  llvm::Value* wraps = b.CreateICmpEQ(next, e_.I32(stage_.conversion_buffers));
  b.CreateStore(b.CreateSelect(wraps, e_.I32(0), next), next_.place);
  b.CreateStore(b.CreateXor(Now(next_.phase), b.CreateZExt(wraps, b.getInt32Ty())), next_.phase);
}

void ConversionBuffers::EndBlock() { places_.AwaitFree(Now(current_.place), Now(current_.phase)); }

void ConversionBuffers::Load(const std::function<llvm::Value*(int)>& slots) {
  places_.AwaitFree(Now(current_.place), Now(current_.phase));
  vectors_.clear();
  held_.clear();
  for (size_t i = 0; i < stage_.tiles.size(); ++i) {
    if (!stage_.widens_apart(i)) continue;
    const StagedTile& tile = stage_.tiles[i];
    const Layout layout = WideningLayout(tile, e_.num_warps());
    const Elements loaded(e_, tile.AsLoaded(), layout, slots(static_cast<int>(i)));
    for (int r = 0; r < layout.registers(); r += kVectorBits / tile.loaded_bits)
      vectors_.push_back({static_cast<int>(i), r, loaded.At(r)});
  }
  for (size_t v = 0; v < std::min(vectors_.size(), kAtOnce); ++v) held_.push_back(LoadOne(vectors_[v]));
}

Registers ConversionBuffers::LoadOne(const Vector& v) const {
  const StagedTile& tile = stage_.tiles[static_cast<size_t>(v.result)];
  if (TakesWords(e_, *tile.rounded)) return LoadVector(e_, e_.b().getInt32Ty(), kVectorBits / 32, v.at);
  return LoadVector(e_, e_.RegisterType(tile.rounded->operand(0)->type().elem()), kVectorBits / tile.loaded_bits, v.at);
}

void ConversionBuffers::Store() {
  std::vector<Registers> held = held_;  // which another basic block may store, too
  for (size_t begin = 0; begin < vectors_.size(); begin += kAtOnce) {
    const size_t end = std::min(vectors_.size(), begin + kAtOnce);
    for (size_t v = begin; begin > 0 && v < end; ++v) held[v - begin] = LoadOne(vectors_[v]);
    for (size_t v = begin; v < end; ++v) {
      const StagedTile& tile = stage_.tiles[static_cast<size_t>(vectors_[v].result)];
      const Elements wide(e_, tile, WideningLayout(tile, e_.num_warps()), Slot(vectors_[v].result, false));
      const bool words = TakesWords(e_, *tile.rounded);
      const Registers now =
          words ? EmitWords(e_, *tile.rounded, held[v - begin]) : Converted(e_, tile, held[v - begin]);
      const auto stored = static_cast<size_t>(kVectorBits / tile.element_bits);
      const size_t parts = static_cast<size_t>(kVectorBits / tile.loaded_bits) / stored, of_part = now.size() / parts;
      for (size_t i = 0; i < parts; ++i) {
        StoreVector(e_, Operands(now).subspan(i * of_part, of_part),
                    wide.At(vectors_[v].reg + static_cast<int>(i * stored)));
      }
    }
  }
}

void ConversionBuffers::Fill() { places_.Filled(Now(current_.place)); }

// Those who read see the phase change that those who fill waited for.
void ConversionBuffers::Await(bool before) {
  const Position& p = before ? before_ : current_;
  places_.Await(Now(p.place), e_.b().CreateXor(Now(p.phase), e_.I32(TmaStages::kFirstFill ^ TmaStages::kFirstRead)));
}

void ConversionBuffers::Release(llvm::Value* if_true, bool before) {
  places_.Release(Now((before ? before_ : current_).place), if_true);
}

llvm::Value* ConversionBuffers::Slot(int i, bool before) const {
  auto& b = e_.b();
  llvm::Value* place = b.CreateMul(Now((before ? before_ : current_).place), e_.I32(stage_.wide_bytes));
  return b.CreateGEP(b.getInt8Ty(), memory_, b.CreateAdd(place, e_.I32(stage_.wide_offsets[static_cast<size_t>(i)])));
}

}  // namespace tile::codegen
