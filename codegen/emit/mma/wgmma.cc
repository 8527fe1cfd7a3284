// Products by wgmma: a warpgroup reads both operands, or the right one, from a stage of shared memory through descriptors and
// keeps the sums (and the left one) in its registers, which belong to the hardware until they are waited for.
//
// A descriptor says where the operand begins, how rows are swizzled, and how far groups of eight rows (stride) and chunks
// of the swizzle's width (leading) lie apart, all in units of 16 bytes.
#include "codegen/emit/mma/wgmma.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/async_products.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

struct SharedOperand {
  const StagedTile& tile;
  llvm::Value* start = nullptr;  // i64: the descriptor of its first element

  // Bytes from the start to element (mn, k).
  int64_t Offset(int64_t mn, int64_t k) const {
    const int64_t along = tile.k_major ? k : mn, row = tile.k_major ? mn : k;
    return along / tile.chunk_elements() * tile.chunk_bytes() + row * tile.swizzle +
           along % tile.chunk_elements() * tile.element_bits / 8;
  }

  uint64_t Fixed() const {
    const uint64_t mode = tile.swizzle == 128 ? 1 : tile.swizzle == 64 ? 2 : 3;
    const uint64_t stride = static_cast<uint64_t>(8 * tile.swizzle) >> 4;
    const uint64_t leading = tile.k_major ? 1 : static_cast<uint64_t>(tile.chunk_bytes()) >> 4;
    return leading << 16 | stride << 32 | mode << 62;
  }
};

// One product of the warpgroups' pieces, instruction by instruction.
class Product {
 public:
  Product(Emitter& e, const WgmmaPlan& plan) : e_(e), plan_(plan), group_(e.threads().Warpgroup()) {
    const WgmmaTile& t = plan.tile;
    piece_m_ = t.m / t.groups_m;
    piece_n_ = t.n / t.groups_n;
    group_m_ = e.b().CreateAnd(group_, e.I32(t.groups_m - 1));
    group_n_ = e.b().CreateLShr(group_, e.I32(__builtin_ctz(static_cast<unsigned>(t.groups_m))));
  }

  // The group's part of an operand that lies at this address (i32).
  void Start(SharedOperand* x, llvm::Value* at) const {
    auto& b = e_.b();
    at = b.CreateAdd(
        at, b.CreateMul(x->tile.lhs ? group_m_ : group_n_, e_.I32(x->Offset(x->tile.lhs ? piece_m_ : piece_n_, 0))));
    at = b.CreateAnd(at, e_.I32(0x3FFFF));  // in a cluster, higher bits say which block's memory
    x->start = b.CreateOr(b.CreateZExt(b.CreateLShr(at, 4), b.getInt64Ty()), e_.I64(static_cast<int64_t>(x->Fixed())));
  }

  // The left operand from shared memory, or (`lhs` null) from these words of fragments. Not waited for.
  Registers Multiply(const SharedOperand* lhs, const Registers& words, const SharedOperand& rhs, Registers acc) const {
    auto& b = e_.b();
    const WgmmaTile& t = plan_.tile;
    const int columns = static_cast<int>(piece_n_ / t.instruction_n), rows = static_cast<int>(piece_m_ / 64);
    const int n = t.instruction_n / 2;  // registers of an instruction
    const int steps = static_cast<int>(t.k / plan_.k);
    const std::string text = Text(n, lhs, rhs);
    const char kind = acc[0]->getType()->isFloatTy() ? 'f' : 'r';
    std::string constraints;
    for (int i = 0; i < n; ++i) absl::StrAppend(&constraints, i == 0 ? "=" : ",=", std::string(1, kind));
    for (int i = 0; i < n; ++i) absl::StrAppend(&constraints, ",", i);
    absl::StrAppend(&constraints, lhs != nullptr ? ",l,l" : ",r,r,r,r,l");
    llvm::Type* result =
        llvm::StructType::get(e_.context(), std::vector<llvm::Type*>(static_cast<size_t>(n), acc[0]->getType()));
    for (int step = 0; step < steps; ++step) {
      const int64_t k = static_cast<int64_t>(step) * plan_.k;
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          const auto first = acc.begin() + (static_cast<int64_t>(i) * columns + j) * n;
          Registers in(first, first + n);
          if (lhs != nullptr) {
            in.push_back(b.CreateAdd(lhs->start, e_.I64(lhs->Offset(64 * i, k) >> 4)));
          } else {
            const auto word = words.begin() + (i * steps + step) * kHeldWords;
            in.insert(in.end(), word, word + kHeldWords);
          }
          in.push_back(b.CreateAdd(rhs.start, e_.I64(rhs.Offset(static_cast<int64_t>(j) * t.instruction_n, k) >> 4)));
          llvm::Value* out = e_.Ptx(result, text, constraints, in, true);
          llvm::cast<llvm::CallInst>(out)->setConvergent();
          for (int r = 0; r < n; ++r) first[r] = b.CreateExtractValue(out, static_cast<unsigned>(r));
        }
      }
    }
    Through(e_, "wgmma.commit_group.sync.aligned;", {});
    return acc;
  }

  int held_words() const { return static_cast<int>(piece_m_ / 64 * (plan_.tile.k / plan_.k)) * kHeldWords; }

 private:
  static constexpr int kHeldWords = 4;  // of the left operand, for one instruction

  std::string Text(int n, const SharedOperand* lhs, const SharedOperand& rhs) const {
    std::string text = absl::StrCat("{ .reg .pred add; setp.eq.b32 add, 0, 0; ", plan_.instruction, " {");
    for (int i = 0; i < n; ++i) absl::StrAppend(&text, i == 0 ? "$" : ", $", i);
    int next = 2 * n;
    text += "}, ";
    if (lhs != nullptr) {
      absl::StrAppend(&text, "$", next++);
    } else {
      for (int i = 0; i < kHeldWords; ++i) absl::StrAppend(&text, i == 0 ? "{$" : ", $", next++);
      text += "}";
    }
    absl::StrAppend(&text, ", $", next, ", add");
    if (plan_.scales) text += ", 1, 1";
    if (plan_.transposes && lhs != nullptr) absl::StrAppend(&text, ", ", lhs->tile.k_major ? 0 : 1);
    if (plan_.transposes) absl::StrAppend(&text, ", ", rhs.tile.k_major ? 0 : 1);
    return text + "; }";
  }

  Emitter& e_;
  const WgmmaPlan& plan_;
  llvm::Value* group_;
  llvm::Value *group_m_, *group_n_;
  int64_t piece_m_, piece_n_;
};

constexpr char kFence[] = "wgmma.fence.sync.aligned;";

}  // namespace

Registers MultiplyStaged(Emitter& e, const Ring& ring, const ir::Op& mma, llvm::Value* a_at, llvm::Value* b_at,
                         Registers acc) {
  const WgmmaPlan plan = *WgmmaPlanOf(mma);
  const auto slot = [&](int i) -> const StagedTile& {
    return ring.stage().tiles[static_cast<size_t>(mma.operand(i)->index())];
  };
  SharedOperand lhs{slot(0)}, rhs{slot(1)};
  const Product product(e, plan);
  product.Start(&lhs, a_at);
  product.Start(&rhs, b_at);
  Through(e, kFence, {});
  acc = product.Multiply(&lhs, {}, rhs, std::move(acc));
  return ring.IsAsync(mma) ? acc : WaitForProducts(e, 0, std::move(acc));
}

Registers MultiplyCopied(Emitter& e, const WgmmaPlan& plan, FragmentSource& a, const StagedAt& right, Registers acc) {
  SharedOperand rhs{right.tile};
  const Product product(e, plan);
  product.Start(&rhs, right.at);
  // All of it is there before the fence: the assembler lets products wait for each other if registers are made between them.
  Registers words;
  for (int w = 0; w < product.held_words(); ++w) words.push_back(a.Word(w));
  const size_t sums = acc.size();
  acc.insert(acc.end(), words.begin(), words.end());
  acc = Through(e, kFence, std::move(acc));
  words.assign(acc.begin() + static_cast<int64_t>(sums), acc.end());
  acc.resize(sums);
  return WaitForProducts(e, 0, product.Multiply(nullptr, words, rhs, std::move(acc)));
}

Registers MultiplyCopied(Emitter& e, const WgmmaPlan& plan, const StagedAt& left, const StagedAt& right,
                         Registers acc) {
  SharedOperand lhs{left.tile}, rhs{right.tile};
  const Product product(e, plan);
  product.Start(&lhs, left.at);
  product.Start(&rhs, right.at);
  Through(e, kFence, {});
  return WaitForProducts(e, 0, product.Multiply(&lhs, {}, rhs, std::move(acc)));
}

}  // namespace tile::codegen
