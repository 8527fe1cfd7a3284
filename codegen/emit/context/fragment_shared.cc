// The tile lies in shared memory swizzled so that neither writing nor reading meets bank conflicts, and comes back as fragments:
// by ldmatrix where it fits (elements of 16 bits, of 32 along K), else by vector loads.
#include "codegen/emit/context/fragment_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"
#include "codegen/plan/resources/shared_use.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

// Fragments of a tile that lies in shared memory as the map says.
class InShared : public FragmentSource {
 public:
  InShared(Emitter& e, llvm::Type* type, Layout fragment)
      : e_(e), type_(type), bytes_(MemoryBytes(type)), fragment_(std::move(fragment)) {
    elements_.resize(fragment_.registers());
    words_.resize(fragment_.registers() * bytes_ / 4);
  }
  // Chooses how it is read.
  InShared(Emitter& e, llvm::Type* type, Layout fragment, SharedMap map, llvm::Value* base)
      : InShared(e, type, std::move(fragment)) {
    map_ = std::move(map);
    base_ = base;
    ldmatrix_ = FitLdMatrix(map_, fragment_);
    if (ldmatrix_) return;
    read_ = Compose(map_.index, fragment_);
    access_ = Vectorise(*read_, 8 * bytes_, 0, 16 / bytes_);
    if (bytes_ == 4) turn_ = FindTurn(*read_, access_, 8 * bytes_);
    if (!turn_) return;
    read_ = turn_->Of(*read_);
    access_ = Vectorise(*read_, 8 * bytes_, 0, access_.vector);
  }

  llvm::Value* Word(int w) override {
    if (words_[w] == nullptr) {
      const int reg = w * (4 / bytes_);
      if (ldmatrix_) {
        LoadMatrices(reg);
      } else {
        LoadElements(reg);
      }
    }
    return words_[w];
  }

 protected:
  llvm::Value* Place(const Layout& in_shared, int r) {
    return SharedPlace(e_, base_, in_shared.bases(In::kLane), in_shared.bases(In::kWarp), RegisterPart(in_shared, r),
                       bytes_);
  }

  Emitter& e_;
  llvm::Type* type_;
  const int bytes_;
  const Layout fragment_;
  SharedMap map_;
  std::optional<LdMatrix> ldmatrix_;
  VectorAccess access_;  // if it is none
  llvm::Value* base_ = nullptr;

 private:
  // The instruction that loads this register.
  void LoadMatrices(int reg) {
    auto& b = e_.b();
    const LdMatrix& read = *ldmatrix_;
    int i = 0;
    for (int at = 0; at < static_cast<int>(read.registers.size()); ++at) {
      if (read.registers[at] == reg) i = at / read.per_instruction;
    }
    llvm::Value* address = SharedPlace(e_, base_, read.lanes, read.warps, read.offsets[i], bytes_);
    std::string outs, constraints;
    std::vector<llvm::Type*> types(read.matrices, b.getInt32Ty());
    for (int m = 0; m < read.matrices; ++m) {
      absl::StrAppend(&outs, m == 0 ? "" : ", ", "$", m);
      absl::StrAppend(&constraints, "=r,");
    }
    llvm::Type* result = read.matrices == 1 ? types[0] : llvm::StructType::get(e_.context(), types);
    llvm::Value* offset = b.CreatePtrToInt(address, b.getInt32Ty());
    llvm::Value* loaded = e_.Ptx(result,
                                 absl::StrCat("ldmatrix.sync.aligned.m8n8.x", read.matrices, read.trans ? ".trans" : "",
                                              ".shared.b16 {", outs, "}, [$", read.matrices, "];"),
                                 absl::StrCat(constraints, "r"), {offset}, true);
    const int per_word = 4 / bytes_;
    Registers matrices;
    for (int m = 0; m < read.matrices; ++m)
      matrices.push_back(read.matrices == 1 ? loaded : b.CreateExtractValue(loaded, m));
    if (read.bytes) CombineBytes(&matrices);
    for (int m = 0; m < read.matrices; ++m)
      words_[read.registers[i * read.per_instruction + m * per_word] / per_word] = matrices[m];
  }

  // Words of two k for two rows each become words of four k for one (LdMatrix::bytes).
  void CombineBytes(Registers* matrices) {
    auto& b = e_.b();
    if (selectors_.empty()) {
      llvm::Value* turned = b.CreateICmpNE(b.CreateAnd(e_.threads().lane(), e_.I32(2)), e_.I32(0));
      for (bool second : {false, true}) {
        selectors_.push_back(
            b.CreateSelect(turned, e_.I32(CombinedBytes(second, true)), e_.I32(CombinedBytes(second, false))));
      }
    }
    for (size_t m = 0; m < matrices->size(); m += 2) {
      llvm::Value *first = (*matrices)[m], *next = (*matrices)[m + 1];
      for (size_t r = 0; r < 2; ++r) {
        (*matrices)[m + r] =
            b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_prmt, {first, next, selectors_[r]});
      }
    }
  }

  void LoadElements(int reg) {
    auto& b = e_.b();
    if (turn_) return LoadTurned(reg);
    const int per_word = 4 / bytes_;
    llvm::Value* word = nullptr;
    for (int k = 0; k < per_word; ++k) {
      llvm::Value* x = b.CreateZExt(ToMemory(e_, Element(reg + k)), b.getInt32Ty());
      if (k > 0) x = b.CreateShl(x, k * 8 * bytes_);
      word = word == nullptr ? x : b.CreateOr(word, x);
    }
    words_[reg / per_word] = word;
  }

  // Of 32 bits: this register and the one that some lanes read instead.
  void LoadTurned(int reg) {
    auto& b = e_.b();
    if (turned_ == nullptr)
      turned_ = b.CreateICmpNE(b.CreateAnd(e_.threads().lane(), e_.I32(1 << turn_->lane)), e_.I32(0));
    const int other = reg ^ (1 << turn_->reg);
    llvm::Value *x = ToMemory(e_, Element(reg)), *y = ToMemory(e_, Element(other));
    words_[reg] = b.CreateSelect(turned_, y, x);
    words_[other] = b.CreateSelect(turned_, x, y);
  }

  // As it is read.
  llvm::Value* Element(int reg) {
    if (!read_) read_ = Compose(map_.index, fragment_);
    const auto repeats = static_cast<uint32_t>(fragment_.FreeMask(In::kRegister));
    const int wanted = static_cast<int>(static_cast<uint32_t>(reg) & ~repeats);
    if (elements_[wanted] == nullptr) {
      const VectorAccess& access = access_;
      int i = 0;
      for (size_t at = 0; at < access.registers.size(); ++at) {
        if (access.registers[at] == wanted) i = static_cast<int>(at) / access.vector;
      }
      const int first = access.registers[i * access.vector];
      const Registers values = LoadVector(e_, type_, access.vector, Place(*read_, first));
      for (int j = 0; j < access.vector; ++j) elements_[access.registers[i * access.vector + j]] = values[j];
    }
    return elements_[wanted];
  }

  Registers elements_, words_;
  Registers selectors_;            // of bytes
  std::optional<Layout> read_;     // element indices, if it is no ldmatrix
  std::optional<Turn> turn_;       // that they have
  llvm::Value* turned_ = nullptr;  // this lane reads in the other order
};

// The tile with its dimension of K as two: which part, and where in it. The part's number is in front.
Layout InParts(const Layout& tile, const PartAlongK& part) {
  Shape shape(tile.shape().begin(), tile.shape().end());
  shape[static_cast<size_t>(part.dim)] /= part.parts;
  shape.insert(shape.begin() + part.dim, part.parts);
  return tile.Reshape(shape);
}

// What the threads hold of a tile.
struct TileRegisters {
  Layout layout;
  Registers registers;
};

// The tile's registers go there first.
class ThroughShared : public InShared {
 public:
  ThroughShared(Emitter& e, TileRegisters tile, Layout fragment, const PartAlongK& part)
      : InShared(e, tile.registers[0]->getType(), std::move(fragment)),
        tile_(std::move(tile)),
        part_(part),
        source_(part.parts == 1 ? tile_.layout : InParts(tile_.layout, part).Slice(part.dim)) {
    const int bits = 8 * bytes_;
    if (std::optional<LdMatrixExchange> x = BestLdMatrix(bits)) {
      map_ = std::move(x->map);
      write_ = std::move(x->write);
      ldmatrix_ = std::move(x->read);
    } else {
      SharedExchange plain = ChooseShared(source_, fragment_, bits);
      map_ = std::move(plain.map);
      write_ = std::move(plain.write);
      access_ = std::move(plain.read);
    }
  }

  uint64_t scratch_bytes() const override { return FragmentBytes(source_, bytes_); }

  void Write(llvm::Value* base) override {
    base_ = base;
    const Layout write = Compose(map_.index, source_);
    if (part_.parts > 1) return WritePart(write);
    for (int i = 0; i < write_.instructions(); ++i) {
      Registers values;
      for (int k = 0; k < write_.vector; ++k)
        values.push_back(tile_.registers[write_.registers[i * write_.vector + k]]);
      StoreVector(e_, values, Place(write, write_.registers[i * write_.vector]));
    }
  }

 protected:
  const Layout& source() const { return source_; }

 private:
  std::optional<LdMatrixExchange> BestLdMatrix(int bits) const {
    // Vectors of words would be moved between registers: neighbours along K belong to fragments of different instructions.
    if (bits == 32) return ChooseSharedForLdMatrix(source_, fragment_, bits, false);
    if (bits != 16) return std::nullopt;
    auto plain = ChooseSharedForLdMatrix(source_, fragment_, bits, false);
    auto trans = ChooseSharedForLdMatrix(source_, fragment_, bits, true);
    if (!plain || !trans) return plain ? plain : trans;
    return trans->write.vector > plain->write.vector ? trans : plain;
  }

  // Registers by the part that lane 0 of warp 0 has in them; those whose elements are of this part write. All of a vector, which lies in
  // one part unless the layout mixes parts with what is inside of them.
  void WritePart(const Layout& write) {
    auto& b = e_.b();
    const Layout whole = InParts(tile_.layout, part_);
    const auto number = [&](Mask element) {
      return static_cast<uint64_t>(whole.Coordinates(element)[static_cast<size_t>(part_.dim)]);
    };
    std::vector<uint64_t> lanes, warps;
    for (Mask m : whole.bases(In::kLane)) lanes.push_back(number(m));
    for (Mask m : whole.bases(In::kWarp)) warps.push_back(number(m));
    std::map<uint64_t, std::map<Mask, int>> registers;  // by part, then by place
    for (int r = 0; r < whole.registers(); ++r) {
      const auto reg = static_cast<uint32_t>(r);
      registers[number(whole.Apply(reg, 0, 0))].try_emplace(write.Apply(reg, 0, 0), r);
    }
    const auto zero = [](uint64_t m) { return m == 0; };
    const bool same = std::all_of(lanes.begin(), lanes.end(), zero) && std::all_of(warps.begin(), warps.end(), zero);
    const auto wanted = static_cast<uint64_t>(part_.number);
    for (const auto& [of, places] : registers) {
      if (same && of != wanted) continue;
      llvm::Value* here =
          same ? nullptr
               : b.CreateICmpEQ(e_.threads().LinearOfThread(lanes, warps), e_.I32(static_cast<int64_t>(of ^ wanted)));
      e_.When(here, [&, &places = places] {
        for (int i = 0; i < write_.instructions(); ++i) WriteVector(write, i, places);
      });
    }
  }

  void WriteVector(const Layout& write, int instruction, const std::map<Mask, int>& places) {
    Registers values;
    std::vector<int> at;
    for (int k = 0; k < write_.vector; ++k) {
      const int reg = write_.registers[static_cast<size_t>(instruction * write_.vector + k)];
      const auto found = places.find(write.Apply(static_cast<uint32_t>(reg), 0, 0));
      if (found == places.end()) continue;
      values.push_back(tile_.registers[static_cast<size_t>(found->second)]);
      at.push_back(reg);
    }
    if (static_cast<int>(values.size()) == write_.vector) return StoreVector(e_, values, Place(write, at[0]));
    for (size_t i = 0; i < values.size(); ++i) StoreVector(e_, {values[i]}, Place(write, at[i]));
  }

  const TileRegisters tile_;
  const PartAlongK part_;
  const Layout source_;  // of the part
  VectorAccess write_;
};

// Elements of 4 bits lie there in bytes each: a word of eight comes of two.
class CodesThroughShared : public ThroughShared {
 public:
  using ThroughShared::ThroughShared;

  llvm::Value* Word(int w) override {
    llvm::Value*& word = codes_[w];
    if (word != nullptr) return word;
    auto& b = e_.b();
    llvm::Value* pairs[2];
    for (int i = 0; i < 2; ++i) {
      llvm::Value* bytes = ThroughShared::Word(2 * w + i);
      pairs[i] = b.CreateOr(bytes, b.CreateLShr(bytes, 4));  // bytes 0 and 2 are pairs
    }
    word = b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_prmt, {pairs[0], pairs[1], e_.I32(0x6420)});
    return word;
  }

 private:
  std::map<int, llvm::Value*> codes_;
};

// Each byte is a pair of elements. MmaExchangeBytes reserves memory for twice as many.
class PairsThroughShared : public ThroughShared {
 public:
  using ThroughShared::ThroughShared;
  uint64_t scratch_bytes() const override { return FragmentBytes(source(), 2); }
};

// Stores a tile of 4-bit elements. Where a thread holds neighbours along K, a pair of them is stored as a byte, and a word is what the instruction takes.
std::unique_ptr<FragmentSource> CodesInShared(Emitter& e, TileRegisters tile, const Layout& fragment,
                                              const PartAlongK& part) {
  const Mask neighbour = fragment.bases(In::kRegister)[0];
  const std::optional<Layout> source = OfPairs(tile.layout, neighbour);
  if (!source) return std::make_unique<CodesThroughShared>(e, std::move(tile), fragment, part);
  Registers pairs;
  for (size_t r = 0; r < tile.registers.size(); r += 2)
    pairs.push_back(e.b().CreateOr(tile.registers[r], e.b().CreateShl(tile.registers[r + 1], 4)));
  return std::make_unique<PairsThroughShared>(e, TileRegisters{*source, std::move(pairs)},
                                              *OfPairs(fragment, neighbour), part);
}

}  // namespace

std::unique_ptr<FragmentSource> FragmentsThroughShared(Emitter& e, const ir::Value* v, const Layout& fragment,
                                                       const PartAlongK& part) {
  const Operands registers = e.regs(v);
  TileRegisters tile = {e.layout(v), Registers(registers.begin(), registers.end())};
  if (ir::IsSubByte(v->type().elem())) return CodesInShared(e, std::move(tile), fragment, part);
  return std::make_unique<ThroughShared>(e, std::move(tile), fragment, part);
}

std::unique_ptr<FragmentSource> FragmentsInShared(Emitter& e, ir::Elem elem, const SharedMap& map, llvm::Value* base,
                                                  const Layout& fragment) {
  return std::make_unique<InShared>(e, e.RegisterType(elem), fragment, map, base);
}

}  // namespace tile::codegen
