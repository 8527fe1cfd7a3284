// A slot is read by vectors along whatever is contiguous there: rows of results, or several k of one row. An element's
// number is the XOR of what the thread, the register, k and the steps from k contribute; only what shares bits with
// others costs instructions.
#include <map>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/mma/fma_side.h"

namespace tile::codegen {
namespace {

class Staged : public FmaSide {
 public:
  Staged(Emitter& e, ir::Elem elem, const StagedTile& tile, llvm::Value* slot, const Layout& result, int64_t step)
      : e_(e),
        type_(e.RegisterType(elem)),
        bytes_(MemoryBytes(type_)),
        slot_(slot),
        result_(result),
        dim_(tile.lhs ? 0 : 1) {
    const Masks columns = tile.OperandMap().index.columns();
    // The operand is m x k or k x n.
    const auto low = columns.begin() + __builtin_ctzll(static_cast<uint64_t>(tile.lhs ? tile.k : tile.mn));
    k_ = tile.lhs ? Masks(columns.begin(), low) : Masks(low, columns.end());
    mn_ = tile.lhs ? Masks(low, columns.end()) : Masks(columns.begin(), low);
    const auto steps = k_.begin() + __builtin_ctzll(static_cast<uint64_t>(step));
    for (Mask m : result.bases(In::kLane)) lanes_.push_back(Place(m) * static_cast<Mask>(bytes_));
    for (Mask m : result.bases(In::kWarp)) warps_.push_back(Place(m) * static_cast<Mask>(bytes_));
    for (const std::vector<uint64_t>* masks : {&lanes_, &warps_}) {
      for (Mask m : *masks) moving_ |= m;
    }
    for (size_t i = 0; i < k_.size(); ++i) {
      const bool in_step = k_.begin() + static_cast<int64_t>(i) < steps;
      rounds_.push_back(in_step ? 0 : k_[i] * static_cast<Mask>(bytes_));
      moving_ |= rounds_.back();
    }
    Subspace held;
    for (Mask m : result.bases(In::kRegister)) held.Insert(Place(m) * static_cast<Mask>(bytes_));
    for (auto m = k_.begin(); m != steps; ++m) held.Insert(*m * static_cast<Mask>(bytes_));
    vector_ = static_cast<Mask>(bytes_);
    while (vector_ < 16 && held.Contains(vector_) && (moving_ & vector_) == 0) vector_ *= 2;
  }

  void Begin(llvm::Value* k) override {
    values_.clear();
    pointers_.clear();
    here_ = e_.b().CreateXor(e_.threads().LinearOfThread(lanes_, warps_), e_.threads().LinearOf(k, rounds_));
  }

  llvm::Value* At(int64_t j, int r) override {
    auto& b = e_.b();
    const Mask at = (Place(result_.Apply(static_cast<uint32_t>(r), 0, 0)) ^ Combine(k_, static_cast<Mask>(j))) *
                    static_cast<Mask>(bytes_);
    const Mask first = at & ~(vector_ - 1);
    Registers& values = values_[first];
    if (values.empty()) {
      llvm::Value*& pointer = pointers_[first & moving_];
      if (pointer == nullptr)
        pointer = b.CreateGEP(b.getInt8Ty(), slot_, b.CreateXor(here_, e_.I32(static_cast<int64_t>(first & moving_))));
      values = LoadVector(e_, type_, static_cast<int>(vector_) / bytes_,
                          b.CreateGEP(b.getInt8Ty(), pointer, e_.I32(static_cast<int64_t>(first & ~moving_))));
    }
    return values[(at - first) / static_cast<Mask>(bytes_)];
  }

 private:
  // Number of the element of k = 0 that an element of the result needs.
  Mask Place(Mask element) const {
    return Combine(mn_, static_cast<Mask>(result_.Coordinates(element)[static_cast<size_t>(dim_)]));
  }

  Emitter& e_;
  llvm::Type* type_;
  const int bytes_;
  llvm::Value* slot_;
  const Layout& result_;
  const int dim_;
  Masks k_, mn_;                                  // element numbers, per bit of the coordinate
  std::vector<uint64_t> lanes_, warps_, rounds_;  // bytes
  Mask moving_ = 0;                               // bits of these
  Mask vector_ = 0;                               // bytes
  llvm::Value* here_ = nullptr;
  std::map<Mask, llvm::Value*> pointers_;
  std::map<Mask, Registers> values_;
};

}  // namespace

std::unique_ptr<FmaSide> StagedFmaSide(Emitter& e, ir::Elem elem, const StagedTile& tile, llvm::Value* slot,
                                       const Layout& result, int64_t step) {
  return std::make_unique<Staged>(e, elem, tile, slot, result, step);
}

}  // namespace tile::codegen
