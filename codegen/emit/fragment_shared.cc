// The tile lies in shared memory swizzled so that neither writing nor reading meets bank conflicts, and comes back as fragments:
// by ldmatrix where it fits (16-bit elements), else by vector loads.
#include "codegen/emit/fragment_source.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/convert.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/fragments.h"

namespace tile::codegen {
namespace {

class Staged : public FragmentSource {
 public:
  Staged(Emitter& e, const ir::Value* v, Layout fragment) : e_(e), v_(v), source_(e.layout(v)), fragment_(std::move(fragment)) {
    type_ = e.RegisterType(v->type().element());
    bytes_ = MemoryBytes(type_);
    const int bits = 8 * bytes_;
    if (bits == 16) ldmatrix_ = BestLdMatrix(bits);
    if (!ldmatrix_) shared_ = ChooseShared(source_, fragment_, bits);
    elements_.resize(fragment_.registers());
    words_.resize(fragment_.registers() * bytes_ / 4);
  }

  uint64_t scratch_bytes() const override { return (static_cast<uint64_t>(source_.elements()) * bytes_ + 127) / 128 * 128; }

  void Write(llvm::Value* base) override {
    base_ = base;
    const VectorAccess& access = ldmatrix_ ? ldmatrix_->write : shared_->write;
    const Layout write = Compose(map(), source_);
    for (int i = 0; i < access.instructions(); ++i) {
      Registers values;
      for (int k = 0; k < access.vector; ++k) values.push_back(e_.regs(v_)[access.registers[i * access.vector + k]]);
      StoreVector(e_, values, Address(e_.ThreadPart(write), e_.RegisterPart(write, access.registers[i * access.vector])));
    }
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

 private:
  const Gf2Map& map() const { return ldmatrix_ ? ldmatrix_->map.index : shared_->map.index; }

  std::optional<LdMatrixExchange> BestLdMatrix(int bits) const {
    auto plain = ChooseSharedForLdMatrix(source_, fragment_, bits, false);
    auto trans = ChooseSharedForLdMatrix(source_, fragment_, bits, true);
    if (!plain || !trans) return plain ? plain : trans;
    return trans->write.vector > plain->write.vector ? trans : plain;
  }

  llvm::Value* Address(llvm::Value* thread_part, uint32_t rest) {
    auto& b = e_.b();
    llvm::Value* at = b.CreateMul(thread_part, e_.I32(bytes_));
    if (rest != 0) at = b.CreateXor(at, e_.I32(rest * bytes_));
    return b.CreateGEP(b.getInt8Ty(), base_, at);
  }

  // The instruction that loads this register.
  void LoadMatrices(int reg) {
    auto& b = e_.b();
    const LdMatrix& read = ldmatrix_->read;
    int i = 0;
    for (int at = 0; at < static_cast<int>(read.registers.size()); ++at) {
      if (read.registers[at] == reg) i = at / read.per_instruction;
    }
    llvm::Value* address = Address(e_.LinearOfThread(read.lanes, read.warps), static_cast<uint32_t>(read.offsets[i]));
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
    for (int m = 0; m < read.matrices; ++m) {
      const int first = read.registers[i * read.per_instruction + m * per_word];
      words_[first / per_word] = read.matrices == 1 ? loaded : b.CreateExtractValue(loaded, m);
    }
  }

  void LoadElements(int reg) {
    auto& b = e_.b();
    const Layout read = Compose(map(), fragment_);
    const int per_word = 4 / bytes_;
    const uint32_t repeats = static_cast<uint32_t>(fragment_.FreeMask(In::kRegister));
    for (int k = 0; k < per_word; ++k) {
      const int wanted = static_cast<int>(static_cast<uint32_t>(reg + k) & ~repeats);
      if (elements_[wanted] == nullptr) {
        const VectorAccess& access = shared_->read;
        int i = 0;
        for (size_t at = 0; at < access.registers.size(); ++at) {
          if (access.registers[at] == wanted) i = static_cast<int>(at) / access.vector;
        }
        const int first = access.registers[i * access.vector];
        const Registers values = LoadVector(e_, type_, access.vector, Address(e_.ThreadPart(read), e_.RegisterPart(read, first)));
        for (int j = 0; j < access.vector; ++j) elements_[access.registers[i * access.vector + j]] = values[j];
      }
      elements_[reg + k] = elements_[wanted];
    }
    llvm::Value* word = nullptr;
    for (int k = 0; k < per_word; ++k) {
      llvm::Value* x = b.CreateZExt(ToMemory(e_, elements_[reg + k]), b.getInt32Ty());
      if (k > 0) x = b.CreateShl(x, k * 8 * bytes_);
      word = word == nullptr ? x : b.CreateOr(word, x);
    }
    words_[reg / per_word] = word;
  }

  Emitter& e_;
  const ir::Value* v_;
  Layout source_, fragment_;
  llvm::Type* type_ = nullptr;
  int bytes_ = 0;
  std::optional<LdMatrixExchange> ldmatrix_;
  std::optional<SharedExchange> shared_;
  llvm::Value* base_ = nullptr;
  Registers elements_, words_;
};

}  // namespace

std::unique_ptr<FragmentSource> FragmentsThroughShared(Emitter& e, const ir::Value* v, const Layout& fragment) {
  return std::make_unique<Staged>(e, v, fragment);
}

}  // namespace tile::codegen
