// Tiles that TMA brings in 8 bits and threads widen to 16, before products read them (codegen/plan/staging/conversion_buffers.h).
#include <algorithm>
#include <vector>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/gpu/op_views.h"
#include "codegen/layout/algebra.h"
#include "codegen/plan/staging/conversion_buffers.h"
#include "codegen/plan/staging/staging.h"
#include "ir/ops.h"

namespace tile::codegen {
namespace {

constexpr int kVector = 16;    // elements that a thread loads at a time
constexpr int kWords = 4;      // of a vector
constexpr int kStored = 8;     // elements that it stores at a time
constexpr size_t kAtOnce = 4;  // vectors that it has loaded before it stores the first

// Where elements lie that threads hold in a layout of element numbers: vectors of a thread differ by constants, as far as no lane or warp
// has their bits.
class Elements {
 public:
  Elements(Emitter& e, const ir::Op& stage_tile, const Layout& layout)
      : e_(e),
        tile_(StoredTile(stage_tile, true)),
        in_shared_(InShared(tile_, layout)),
        begin_(e.b().CreateIntToPtr(e.scalar(gpu::StageTileOp(stage_tile).address()), e.b().getPtrTy(3))) {
    for (In in : {In::kLane, In::kWarp}) {
      for (Mask base : in_shared_.bases(in)) of_threads_ |= base;
    }
  }

  llvm::Value* At(int r) const {
    const int bytes = tile_.element_bits / 8;
    const Mask at = RegisterPart(in_shared_, r);
    llvm::Value* first =
        SharedPlace(e_, begin_, in_shared_.bases(In::kLane), in_shared_.bases(In::kWarp), at & of_threads_, bytes);
    return e_.b().CreateGEP(e_.b().getInt8Ty(), first, e_.I32(static_cast<int64_t>(at & ~of_threads_) * bytes));
  }
  Registers LoadVectorAt(int r) const { return LoadVector(e_, e_.b().getInt32Ty(), kWords, At(r)); }

 private:
  Emitter& e_;
  const StagedTile tile_;
  const Layout in_shared_;
  llvm::Value* begin_;
  Mask of_threads_ = 0;
};

// The conversion of one element.
class Widening {
 public:
  Widening(ir::Elem from, ir::Elem to)
      : b_(&module_, module_.CreateBlock({module_.types().Scalar(from)})),
        ftof_(*ir::ops::FToF(b_, module_.types().Scalar(to), b_.block()->arg(0))->def()) {}

  // Of a vector, in words or elements, whichever is cheaper.
  Registers Of(Emitter& e, const Registers& words) const {
    if (TakesWords(e, ftof_)) return EmitWords(e, ftof_, words);
    Registers wide;
    for (llvm::Value* word : words) {
      for (int i = 0; i < kVector / kWords; ++i) {
        llvm::Value* x = e.b().CreateTrunc(e.b().CreateLShr(word, static_cast<uint64_t>(8 * i)), e.b().getInt8Ty());
        wide.push_back(EmitFToF(e, ftof_, {&x, 1}));
      }
    }
    return wide;
  }

 private:
  ir::Module module_;
  ir::Builder b_;
  const ir::Op& ftof_;
};

}  // namespace

void LowerWidenLoad(Emitter& e, const ir::Op& op) {
  const ir::Op& from = *gpu::WidenLoadOp(op).source()->def();
  const Elements loaded(e, from, e.layout(from.result(0)));
  Registers words;
  for (int v = 0; v * kWords < e.layout(op.result(0)).registers(); ++v) {
    for (llvm::Value* word : loaded.LoadVectorAt(v * kVector)) words.push_back(word);
  }
  e.Set(op.result(0), std::move(words));
}

void LowerWidenStore(Emitter& e, const ir::Op& op) {
  const Registers& first = e.regs(op.operand(0));
  const ir::Op &from = *op.operand(1)->def(), &to = *op.operand(2)->def();
  const Layout& layout = e.layout(from.result(0));
  const Elements loaded(e, from, layout), wide(e, to, layout);
  const Widening widening(from.result(0)->type().elem(), to.result(0)->type().elem());
  const size_t all = static_cast<size_t>(layout.registers()) / kVector, held = first.size() / kWords;
  for (size_t begin = 0; begin < all; begin += kAtOnce) {
    const size_t end = std::min(all, begin + kAtOnce);
    std::vector<Registers> words;
    for (size_t v = begin; v < end; ++v) {
      const auto at = first.begin() + static_cast<int64_t>(v) * kWords;
      words.push_back(v < held ? Registers(at, at + kWords) : loaded.LoadVectorAt(static_cast<int>(v) * kVector));
    }
    for (size_t v = begin; v < end; ++v) {
      const Registers now = widening.Of(e, words[v - begin]);
      const size_t of_part = now.size() * kStored / kVector;
      for (size_t i = 0; i < kVector / kStored; ++i) {
        StoreVector(e, Operands(now).subspan(i * of_part, of_part),
                    wide.At(static_cast<int>(v) * kVector + static_cast<int>(i) * kStored));
      }
    }
  }
}

}  // namespace tile::codegen
