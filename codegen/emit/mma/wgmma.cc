// Products by wgmma: a warpgroup reads both operands, or the right one, from a stage of shared memory through descriptors and
// keeps the sums (and the left one) in its registers, which belong to the hardware until they are waited for.
//
// A descriptor says where the operand begins, how rows are swizzled, and how far groups of eight rows (stride) and chunks
// of the swizzle's width (leading) lie apart, all in units of 16 bytes.
#include "codegen/emit/mma/staged_mma_emitter.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/emit/mma/offset_in_stage.h"
#include "codegen/emit/pipeline/async_products.h"
#include "codegen/plan/mma/wgmma_plan.h"
#include "codegen/target/decisions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

struct SharedOperand {
  const StagedTile& tile;
  llvm::Value* start = nullptr;  // i64: the descriptor of its first element

  int64_t Offset(int64_t mn, int64_t k) const { return OffsetInStage(tile, mn, k); }

  uint64_t Fixed() const {
    const uint64_t mode = tile.swizzle == 128 ? 1 : tile.swizzle == 64 ? 2 : 3;
    const uint64_t stride = static_cast<uint64_t>(8 * tile.swizzle) >> 4;
    const uint64_t leading = tile.k_major ? 1 : static_cast<uint64_t>(tile.chunk_bytes()) >> 4;
    return leading << 16 | stride << 32 | mode << 62;
  }
};

constexpr char kFence[] = "wgmma.fence.sync.aligned;";
constexpr int kHeldWords = 4;  // of a first operand in registers, for one instruction

// Instructions of a piece, and steps along K, that run together. Where the first operand is in registers, they are limited by the room for its words.
struct Part {
  int begin, end;
  int first_step, end_step;
};

using Words = absl::flat_hash_map<int, llvm::Value*>;  // of the first operand, by their number

// One product of the warpgroups' pieces, instruction by instruction.
class Product {
 public:
  Product(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan)
      : e_(e), plan_(plan), form_(WgmmaFormOf(plan, mma)), group_(e.threads().Warpgroup()) {
    piece_m_ = plan.group_rows();
    piece_n_ = plan.group_columns();
    group_m_ = e.b().CreateAnd(group_, e.I32(plan.groups_m - 1));
    group_n_ = e.b().CreateLShr(group_, e.I32(__builtin_ctz(static_cast<unsigned>(plan.groups_m))));
    columns_ = static_cast<int>(piece_n_ / plan.instruction_n);
    instructions_ = static_cast<int>(piece_m_ / 64) * columns_;
    steps_ = static_cast<int>(plan.steps());
    n_ = plan.instruction_n / 2;
  }

  // The group's part of the first or second operand, which lies at this address (i32).
  SharedOperand Start(const StagedAt& x, bool first) const {
    auto& b = e_.b();
    SharedOperand o{x.tile};
    llvm::Value* part = b.CreateMul(first ? group_m_ : group_n_, e_.I32(o.Offset(first ? piece_m_ : piece_n_, 0)));
    // In a cluster, higher bits say which block's memory.
    llvm::Value* at = b.CreateAnd(b.CreateAdd(x.at, part), e_.I32(0x3FFFF));
    o.start = b.CreateOr(b.CreateZExt(b.CreateLShr(at, 4), b.getInt64Ty()), e_.I64(static_cast<int64_t>(o.Fixed())));
    return o;
  }

  Part All() const { return {0, instructions_, 0, steps_}; }

  std::vector<Part> PartsOfHeld() const {
    const int rows = instructions_ / columns_, row_words = steps_ * kHeldWords;
    const int room = std::max(kHeldWords, e_.plan().fetch_registers() - instructions_ * n_);
    // Sums that begin with zero take all steps at once, and words that are computed are there already.
    if (!plan_.held || plan_.promotes || rows * row_words <= room) return {All()};
    const int steps = std::min(steps_, 1 << (31 - __builtin_clz(static_cast<unsigned>(room / kHeldWords))));
    const int at_once = std::max(1, room / row_words);
    std::vector<Part> parts;
    for (int row = 0; row < rows; row += at_once) {
      for (int step = 0; step < steps_; step += steps)
        parts.push_back({row * columns_, std::min(rows, row + at_once) * columns_, step, step + steps});
    }
    return parts;
  }

  // The numbers of the words that the part takes.
  std::vector<int> WordsOf(const Part& part) const {
    std::vector<int> words;
    for (int i = part.begin; i < part.end; i += columns_) {
      for (int w = WordOf(i, part.first_step); w < WordOf(i, part.end_step); ++w) words.push_back(w);
    }
    return words;
  }

  // The first operand from shared memory, or (`first` null) from these words. All registers that it takes are there.
  Registers Multiply(const Part& part, const SharedOperand* first, const Words& words, const SharedOperand& second,
                     Registers acc, const MmaUse& use) const {
    auto& b = e_.b();
    // Those of one batch run together. Sums that are added to others take registers of their own.
    const int batch = plan_.promotes ? std::max(1, kMostPromoted / n_) : part.end - part.begin;
    for (int begin = part.begin; begin < part.end; begin += batch) {
      const int end = std::min(part.end, begin + batch);
      const auto old = acc.begin() + static_cast<int64_t>(begin) * n_,
                 old_end = acc.begin() + static_cast<int64_t>(end) * n_;
      // The instruction makes zeros itself: moved into registers beside products that run, ptxas would wait for those.
      const bool zeros = plan_.promotes || std::all_of(old, old_end, IsZero);
      Registers sums = zeros ? Registers(static_cast<size_t>((end - begin) * n_), nullptr) : Registers(old, old_end);
      if (begin > part.begin) Through(e_, kFence, {});
      Issue(first, words, second, {begin, end, part.first_step, part.end_step}, sums, old[0]->getType());
      Commit();
      if (begin == 0 && part.first_step == 0 && use.meanwhile) use.meanwhile();
      if (!use.async) sums = WaitForProducts(e_, 0, std::move(sums));
      for (int r = 0; r < (end - begin) * n_; ++r)
        old[r] = plan_.promotes ? b.CreateFAdd(old[r], sums[static_cast<size_t>(r)]) : sums[static_cast<size_t>(r)];
    }
    return acc;
  }

  // Each step on its own, marked for OrderSteps, behind a fence of its own: words are made between them.
  Registers MultiplyInSteps(FragmentSource& first, const SharedOperand& second, Registers acc,
                            const MmaUse& use) const {
    for (int step = 0; step < steps_; ++step) {
      const Part part = {0, instructions_, step, step + 1};
      Words words;
      for (const int w : WordsOf(part)) words[w] = first.Word(w);
      llvm::CallInst* issued = Issue(nullptr, words, second, part, acc, acc[0]->getType(), kFence);
      issued->setMetadata(InfoOf(Decision::kInSteps).name, llvm::MDNode::get(e_.context(), {}));
    }
    Commit();
    if (use.meanwhile) use.meanwhile();
    return use.async ? acc : WaitForProducts(e_, 0, std::move(acc));
  }

  // There are registers for the sums of two instructions that begin with zero.
  bool AddsBeside() const { return plan_.promotes && 2 * n_ <= kMostPromoted; }

  // Sums that begin with zero and are added to others, batch by batch: while one is added, the next one is multiplied.
  Registers MultiplyAndAdd(const Words& words, const SharedOperand& second, Registers acc, const MmaUse& use) const {
    auto& b = e_.b();
    const int batch = std::max(1, kMostPromoted / 2 / n_);
    Registers before;
    for (int begin = 0; begin < instructions_ + batch; begin += batch) {
      const int end = std::min(instructions_, begin + batch);
      Registers sums(static_cast<size_t>(std::max(0, end - begin) * n_), nullptr);
      if (begin > 0 && !sums.empty()) Through(e_, kFence, {});
      if (!sums.empty()) {
        Issue(nullptr, words, second, {begin, end, 0, steps_}, sums, acc[0]->getType());
        Commit();
      }
      if (begin == 0 && use.meanwhile) use.meanwhile();
      if (begin > 0) before = WaitForProducts(e_, sums.empty() ? 0 : 1, std::move(before));
      for (size_t r = 0; r < before.size(); ++r) {
        llvm::Value*& old = acc[static_cast<size_t>((begin - batch) * n_) + r];
        old = b.CreateFAdd(old, before[r]);
      }
      before = std::move(sums);
    }
    return acc;
  }

 private:
  // The first word of an instruction, at this step.
  int WordOf(int i, int step) const { return (i / columns_ * steps_ + step) * kHeldWords; }

  static constexpr int kMostPromoted = 64;  // registers of sums

  static bool IsZero(const llvm::Value* v) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
    return constant != nullptr && constant->isNullValue();
  }

  // What was issued since the last time is a group, for which WaitForProducts waits.
  void Commit() const { Through(e_, "wgmma.commit_group.sync.aligned;", {}); }

  // The instructions of a part, step after step, as one for LLVM: each on its own would hand all sums to the next one, and LLVM's time goes
  // by how many values there are. `sums`: their registers, of this type; null: they begin with zero.
  llvm::CallInst* Issue(const SharedOperand* first, const Words& words, const SharedOperand& second, const Part& part,
                        Registers& sums, llvm::Type* type, const char* before = "") const {
    auto& b = e_.b();
    const bool begins = sums[0] == nullptr;
    // Those that begin with zero are written while later instructions still read their operands.
    const std::string out_kind = absl::StrCat(begins ? "=&" : "=", type->isFloatTy() ? "f" : "r");
    std::vector<std::string> constraints(sums.size(), out_kind);
    Registers in;
    if (!begins) in = sums;
    for (size_t r = 0; r < in.size(); ++r) constraints.push_back(absl::StrCat(r));
    const auto take = [&](llvm::Value* v, const char* kind) {
      in.push_back(v);
      constraints.push_back(kind);
      return absl::StrCat("$", constraints.size() - 1);
    };
    std::string text = absl::StrCat(before, "{ .reg .pred add; ");
    for (int step = part.first_step; step < part.end_step; ++step) {
      const int64_t k = static_cast<int64_t>(step) * plan_.instruction_k;
      if (step == part.first_step) absl::StrAppend(&text, "setp.", begins ? "ne" : "eq", ".b32 add, 0, 0; ");
      if (step == part.first_step + 1 && begins) absl::StrAppend(&text, "setp.eq.b32 add, 0, 0; ");
      for (int i = part.begin; i < part.end; ++i) {
        const int64_t row = i / columns_, column = i % columns_;
        std::vector<std::string> operand;
        const bool in_memory = first != nullptr && !words.contains(WordOf(i, step));
        if (in_memory) {
          operand.push_back(take(b.CreateAdd(first->start, e_.I64(first->Offset(64 * row, k) >> 4)), "l"));
        } else {
          for (int w = 0; w < kHeldWords; ++w) operand.push_back(take(words.at(WordOf(i, step) + w), "r"));
        }
        const std::string other =
            take(b.CreateAdd(second.start, e_.I64(second.Offset(column * plan_.instruction_n, k) >> 4)), "l");
        AppendInstruction((i - part.begin) * n_, operand, other, in_memory ? first : nullptr, second, &text);
      }
    }
    llvm::Type* result = llvm::StructType::get(e_.context(), std::vector<llvm::Type*>(sums.size(), type));
    llvm::Value* out = e_.Ptx(result, text + "}", absl::StrJoin(constraints, ","), in, true);
    auto* call = llvm::cast<llvm::CallInst>(out);
    call->setConvergent();
    for (size_t r = 0; r < sums.size(); ++r) sums[r] = b.CreateExtractValue(out, static_cast<unsigned>(r));
    return call;
  }

  // `sums`: the first register of those that it adds to.
  void AppendInstruction(int sums, const std::vector<std::string>& operand, const std::string& other,
                         const SharedOperand* first, const SharedOperand& second, std::string* text) const {
    absl::StrAppend(text, form_.instruction, " {");
    for (int r = 0; r < n_; ++r) absl::StrAppend(text, r == 0 ? "$" : ", $", sums + r);
    const std::string left = absl::StrJoin(operand, ", ");
    absl::StrAppend(text, "}, ", first != nullptr ? left : absl::StrCat("{", left, "}"), ", ", other, ", add");
    if (form_.scales) absl::StrAppend(text, ", 1, 1");
    if (form_.transposes && first != nullptr) absl::StrAppend(text, ", ", first->tile.k_major ? 0 : 1);
    if (form_.transposes) absl::StrAppend(text, ", ", second.tile.k_major ? 0 : 1);
    absl::StrAppend(text, "; ");
  }

  Emitter& e_;
  const StagedMmaPlan& plan_;
  const WgmmaForm form_;
  llvm::Value* group_;
  llvm::Value *group_m_, *group_n_;
  int64_t piece_m_, piece_n_;
  int columns_, instructions_, steps_;
  int n_;  // registers of an instruction's sums
};

class Wgmma : public StagedMmaEmitter {
 public:
  Registers Multiply(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& first,
                     const StagedAt& second, Registers acc, const MmaUse& use) const override {
    const Product product(e, mma, plan);
    const SharedOperand a = product.Start(first, true), b = product.Start(second, false);
    Through(e, kFence, {});
    return product.Multiply(product.All(), &a, use.words, b, std::move(acc), use);
  }

  Registers Multiply(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, FragmentSource& first,
                     const StagedAt& second, Registers acc, const MmaUse& use) const override {
    const Product product(e, mma, plan);
    const SharedOperand b = product.Start(second, false);
    if (use.in_steps) return product.MultiplyInSteps(first, b, std::move(acc), use);
    for (const Part& part : product.PartsOfHeld()) {
      // All of it is there before the fence: the assembler lets products wait for each other if registers are made between them.
      const std::vector<int> numbers = product.WordsOf(part);
      const size_t sums = acc.size();
      for (int w : numbers) acc.push_back(first.Word(w));
      acc = Through(e, kFence, std::move(acc));
      Words words;
      for (size_t i = 0; i < numbers.size(); ++i) words[numbers[i]] = acc[sums + i];
      acc.resize(sums);
      acc = product.AddsBeside() && !use.async ? product.MultiplyAndAdd(words, b, std::move(acc), use)
                                               : product.Multiply(part, nullptr, words, b, std::move(acc), use);
    }
    return acc;
  }
};

}  // namespace

const StagedMmaEmitter& WgmmaEmitter() {
  static const Wgmma emitter;
  return emitter;
}

}  // namespace tile::codegen
