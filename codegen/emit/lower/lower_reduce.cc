// reduce and scan: each thread combines what it has, then lanes with lanes, then warps with warps.
//
// The body is associative, but need not be commutative: a result combines neighbouring ranges, the lower one as the
// accumulator. With a commutative body any layout will do; otherwise (and for scans) the dimension first gets into
// order: its lowest bits in registers, the next in lanes, the highest in warps.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/reduce_body.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/exchange_part.h"
#include "codegen/emit/elementwise/pairs.h"
#include "codegen/emit/lower/integer_max.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/fold_layout.h"
#include "codegen/plan/mma/integer_max.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using Tuple = Registers;  // one value per operand of the reduce

int Log2(int64_t n) { return 63 - __builtin_clzll(static_cast<uint64_t>(n)); }

Tuple Combine(Emitter& e, const ir::Block& body, const Tuple& lower, const Tuple& upper) {
  Registers args;
  for (size_t i = 0; i < lower.size(); ++i) {
    args.push_back(upper[i]);  // element
    args.push_back(lower[i]);  // accumulator
  }
  return e.InlineBody(body, args);
}

// What changes nothing, where the body is known to have it. The identities that the operation states take no part: a
// row of NaN has the minimum NaN.
std::optional<Tuple> Neutral(Emitter& e, const ir::Op& op) {
  const std::optional<uint64_t> bits = NeutralOf(*op.region(0));
  if (!bits) return std::nullopt;
  return Tuple{e.Constant(op.operand(0)->type().element(), *bits)};
}

// 32 bits for a value of fewer, and the value again.
llvm::Value* Widened(Emitter& e, llvm::Value* v) {
  const unsigned bits = static_cast<unsigned>(v->getType()->getPrimitiveSizeInBits());
  if (bits >= 32) return v;
  return e.b().CreateZExt(e.b().CreateBitCast(v, e.b().getIntNTy(bits)), e.b().getInt32Ty());
}
llvm::Value* Narrowed(Emitter& e, llvm::Value* v, llvm::Type* type) {
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  if (bits >= 32) return v;
  return e.b().CreateBitCast(e.b().CreateTrunc(v, e.b().getIntNTy(bits)), type);
}

// The number with the bits of `value` at these positions.
uint32_t Spread(const std::vector<int>& positions, uint32_t value) {
  uint32_t out = 0;
  for (size_t i = 0; i < positions.size(); ++i) out |= (value >> i & 1) << positions[i];
  return out;
}

// A reduce or scan under way: operands in one layout, and how that layout moves along the dimension.
class Work {
 public:
  Work(Emitter& e, const ir::Op& op)
      : e_(e),
        op_(op),
        body_(*op.region(0)),
        dim_(static_cast<int>(ir::FoldOp(op).dim())),
        n_(op.num_results()),
        layout_(e.layout(op.operand(0))) {
    const Layout to = FoldLayout(op, layout_, e.num_warps());
    for (int i = 0; i < n_; ++i) values_.push_back(ConvertRegisters(e, layout_, to, e.regs(op.operand(i))));
    layout_ = to;
    along_ = BitsAlong(layout_, dim_);
    // The other register bits that hold different elements: one result each.
    const Mask repeats = layout_.FreeMask(In::kRegister);
    std::vector<bool> taken(layout_.bits(In::kRegister), false);
    for (const BitAlong& b : registers()) {
      taken[b.at] = true;
      inside_.push_back(b.at);
    }
    for (size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i] && (repeats >> i & 1) == 0) outside_.push_back(static_cast<int>(i));
    }
  }

  const std::vector<BitAlong>& registers() const { return along_.in[0]; }
  const std::vector<BitAlong>& lanes() const { return along_.in[1]; }
  const std::vector<BitAlong>& warps() const { return along_.in[2]; }
  const Layout& layout() const { return layout_; }
  int results() const { return 1 << outside_.size(); }
  int in_thread() const { return 1 << inside_.size(); }
  // The register of result k that is `c`th along the dimension in this thread.
  int Register(int k, int c) const { return static_cast<int>(Spread(outside_, k) | Spread(inside_, c)); }
  Tuple At(int k, int c) const {
    Tuple t;
    for (int i = 0; i < n_; ++i) t.push_back(values_[i][Register(k, c)]);
    return t;
  }
  Tuple Join(const Tuple& lower, const Tuple& upper) { return Combine(e_, body_, lower, upper); }
  Tuple Select(llvm::Value* condition, const Tuple& yes, const Tuple& no) {
    Tuple t;
    for (int i = 0; i < n_; ++i) t.push_back(e_.b().CreateSelect(condition, yes[i], no[i]));
    return t;
  }
  // i1: this bit of the thread's number is set.
  llvm::Value* IsSet(In in, const BitAlong& bit) {
    const int at = bit.at + (in == In::kWarp ? 5 : 0);
    return e_.b().CreateIsNotNull(e_.b().CreateAnd(e_.threads().number(), e_.I32(int64_t{1} << at)));
  }
  // The tree over a row of 2^n.
  Tuple InTree(std::vector<Tuple> row) {
    while (row.size() > 1) {
      for (size_t i = 0; i + 1 < row.size(); i += 2) row[i / 2] = Join(row[i], row[i + 1]);
      row.resize(row.size() / 2);
    }
    return row[0];
  }
  // Over what this thread has of result k. Sums of f32 by pairs, where one instruction adds two: of the elements at even places, and of the others.
  Tuple InThread(int k) {
    std::vector<Tuple> row;
    for (int c = 0; c < in_thread(); ++c) row.push_back(At(k, c));
    if (row.size() < 4 || !IsCommutative(body_) || !TakesPairsOfFloats(e_, *body_.front()))
      return InTree(std::move(row));
    std::vector<Tuple> pairs;
    for (size_t c = 0; c < row.size(); c += 2) pairs.push_back({PairOfFloats(e_, row[c][0], row[c + 1][0])});
    llvm::Value* sums = InTree(std::move(pairs))[0];
    return Join({e_.b().CreateExtractElement(sums, uint64_t{0})}, {e_.b().CreateExtractElement(sums, uint64_t{1})});
  }
  // Each with all before it. A running sum of narrow floats stops growing: there each element of the upper half of a
  // block of 2, 4, 8 … takes the total of the lower half.
  void Prefixes(std::vector<Tuple>* row) {
    const bool in_tree = std::any_of(values_.begin(), values_.end(), [](const Registers& r) {
      return r[0]->getType()->isHalfTy() || r[0]->getType()->isBFloatTy();
    });
    if (!in_tree) {
      for (size_t c = 1; c < row->size(); ++c) (*row)[c] = Join((*row)[c - 1], (*row)[c]);
      return;
    }
    for (size_t half = 1; half < row->size(); half *= 2) {
      for (size_t c = 0; c < row->size(); ++c) {
        if ((c & half) != 0) (*row)[c] = Join((*row)[(c & ~(2 * half - 1)) + half - 1], (*row)[c]);
      }
    }
  }
  // Over the lanes; all get the result.
  Tuple OverLanes(Tuple t, bool commutative) {
    for (const BitAlong& bit : lanes()) {
      Tuple other;
      for (llvm::Value* v : t) other.push_back(ShuffleXor(e_, v, 1u << bit.at));
      if (commutative) {
        t = Join(t, other);
      } else {
        llvm::Value* upper = IsSet(In::kLane, bit);
        t = Join(Select(upper, other, t), Select(upper, t, other));
      }
    }
    return t;
  }

  // What every warp gives to each of the warps along the dimension: bytes of shared memory, in which parts are written, and behind a
  // barrier read: part[p][k], p in the order of the dimension.
  uint64_t PartsBytes(const Layout& result) {
    uint64_t total = 0;
    for (const Registers& v : values_) total += FoldPartsBytes(parts(), result, MemoryBytes(v[0]->getType()));
    return total;
  }
  void WriteParts(const std::vector<Tuple>& own, const Layout& result, llvm::Value* base, bool last_lane_only) {
    llvm::Value* part = PartOfWarp();
    e_.When(Writes(last_lane_only), [&] {
      for (int k = 0; k < results(); ++k) {
        for (int i = 0; i < n_; ++i) StoreVector(e_, {ToPart(result, own[k][i])}, PartAt(result, base, part, k, i));
      }
    });
  }
  // Whether each result is combined once, by one thread, and then read by all that need it. Else each thread reads the parts of all results that it
  // needs: of 128 columns of 128 x 128, spread over 16 warps, 256 words.
  bool CombinesOnce(const Layout& result) const {
    const int64_t own = std::max<int64_t>(1, result.elements() / (32 * e_.num_warps()));
    const int64_t needed = Needed();
    return n_ * (parts() * (needed - own) - needed) >= kWorthCombining;
  }
  // Each result in the place of its first part, which no other thread reads. A barrier comes before and behind it.
  void CombineParts(const Layout& result, llvm::Value* base) {
    auto& b = e_.b();
    const int64_t threads = 32 * e_.num_warps();
    for (int64_t first = 0; first < result.elements(); first += threads) {
      llvm::Value* element = b.CreateAdd(e_.threads().number(), e_.I32(first));
      e_.When(result.elements() < threads ? b.CreateICmpULT(element, e_.I32(result.elements())) : nullptr, [&] {
        std::vector<Tuple> row;
        for (int p = 0; p < parts(); ++p) {
          Tuple t;
          for (int i = 0; i < n_; ++i) {
            llvm::Value* at = PlaceOfPart(result, base, e_.I32(p), element, i);
            t.push_back(FromPart(result, LoadVector(e_, PartType(result, i), 1, at)[0], i));
          }
          row.push_back(std::move(t));
        }
        const Tuple combined = InTree(std::move(row));
        for (int i = 0; i < n_; ++i) {
          StoreVector(e_, {ToPart(result, combined[static_cast<size_t>(i)])},
                      PlaceOfPart(result, base, e_.I32(0), element, i));
        }
      });
    }
  }
  // The first `count` parts.
  std::vector<std::vector<Tuple>> ReadParts(const Layout& result, llvm::Value* base, int count) {
    std::vector<std::vector<Tuple>> all(static_cast<size_t>(count));
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < results(); ++k) {
        Tuple t;
        for (int i = 0; i < n_; ++i) {
          llvm::Value* v = LoadVector(e_, PartType(result, i), 1, PartAt(result, base, e_.I32(p), k, i))[0];
          t.push_back(FromPart(result, v, i));
        }
        all[p].push_back(std::move(t));
      }
    }
    return all;
  }
  // Where not all fits at once: operand by operand, the parts of neighbouring elements together.
  std::vector<std::vector<Tuple>> ShareInTurn(const std::vector<Tuple>& own, const Layout& result,
                                              bool last_lane_only) {
    auto& b = e_.b();
    std::vector<std::vector<Tuple>> all(static_cast<size_t>(parts()),
                                        std::vector<Tuple>(static_cast<size_t>(results()), Tuple(n_)));
    for (int i = 0; i < n_; ++i) {
      llvm::Type* type = PartType(result, i);
      const auto place = [&](llvm::Value* p, int k) {
        llvm::Value* at = b.CreateAdd(b.CreateMul(e_.threads().Element(result, k), e_.I32(parts())), p);
        return b.CreateMul(at, e_.I32(MemoryBytes(type)));
      };
      const uint64_t bytes = FoldPartsBytes(parts(), result, MemoryBytes(values_[i][0]->getType()));
      ForEachPart(e_, bytes, [&](const ExchangePart& memory) {
        e_.When(Writes(last_lane_only), [&] {
          for (int k = 0; k < results(); ++k) {
            llvm::Value* at = place(PartOfWarp(), k);
            e_.When(memory.Has(at), [&] { StoreVector(e_, {ToPart(result, own[k][i])}, memory.Place(at)); });
          }
        });
        e_.Barrier();
        for (int p = 0; p < parts(); ++p) {
          for (int k = 0; k < results(); ++k) {
            llvm::Value* at = place(e_.I32(p), k);
            llvm::Value* here = memory.Has(at);
            memory.Keep(here, FromPart(result, LoadVector(e_, type, 1, memory.Place(at))[0], i), &all[p][k][i]);
          }
        }
      });
    }
    return all;
  }
  std::vector<std::vector<Tuple>> ShareParts(const std::vector<Tuple>& own, const Layout& result, bool last_lane_only) {
    if (PartsBytes(result) > e_.most_exchange()) return ShareInTurn(own, result, last_lane_only);
    llvm::Value* base = e_.ScratchOnce(op_, PartsBytes(result));
    WriteParts(own, result, base, last_lane_only);
    e_.Barrier();
    return ReadParts(result, base, parts());
  }

  // i1: this warp's part is p.
  llvm::Value* PartIs(int p) { return e_.b().CreateICmpEQ(PartOfWarp(), e_.I32(p)); }

  int parts() const { return 1 << warps().size(); }

 private:
  // Results of a thread that something uses. A change of layout may leave some out.
  int64_t Needed() const {
    int needed = 0;
    for (int i = 0; i < n_; ++i) {
      for (const ir::Use* use = op_.result(i)->uses(); use != nullptr; use = use->next) {
        const bool converts = IsGpuOp(use->owner, GpuOpcode::kConvertLayout);
        const ir::Value* v = converts ? use->owner->result(0) : op_.result(i);
        needed = std::max(needed, e_.layout(v).RemoveZeroRegisters().registers());
      }
    }
    return std::min(needed, results());
  }
  static constexpr int64_t kWorthCombining = 96;  // words that a thread need not read, for another barrier

  // The number of this warp's part.
  llvm::Value* PartOfWarp() {
    std::vector<uint64_t> no_lanes(5, 0), order(Log2(e_.num_warps()), 0);
    for (size_t i = 0; i < warps().size(); ++i) order[warps()[i].at] = uint64_t{1} << i;
    return e_.threads().LinearOfThread(no_lanes, order);
  }
  // i1; null: yes. Of the lanes along the dimension one writes: all have the same value, or the last has that of all.
  llvm::Value* Writes(bool last_lane_only) {
    auto& b = e_.b();
    llvm::Value* writes = nullptr;
    for (const BitAlong& bit : lanes()) {
      llvm::Value* set = IsSet(In::kLane, bit);
      if (!last_lane_only) set = b.CreateNot(set);
      writes = writes == nullptr ? set : b.CreateAnd(writes, set);
    }
    return writes;
  }
  // An element as its part is stored, and back.
  llvm::Value* ToPart(const Layout& result, llvm::Value* v) { return FoldTakesWords(result) ? Widened(e_, v) : v; }
  llvm::Value* FromPart(const Layout& result, llvm::Value* v, int i) {
    return FoldTakesWords(result) ? Narrowed(e_, v, values_[i][0]->getType()) : v;
  }
  // Where all lanes read the same places, ptxas (12.8 to 13.5) moves two values of 16 bits in one word to uniform registers
  // and may forget one of them (docs/gpu-faults.md): such values take a word each.
  llvm::Type* PartType(const Layout& result, int i) {
    llvm::Type* type = values_[i][0]->getType();
    return FoldTakesWords(result) && type->getPrimitiveSizeInBits() < 32 ? e_.b().getInt32Ty() : type;
  }
  // Of operand i, for result k, of part p.
  llvm::Value* PartAt(const Layout& result, llvm::Value* base, llvm::Value* p, int k, int i) {
    return PlaceOfPart(result, base, p, e_.threads().Element(result, k), i);
  }
  // The same for a number of an element.
  llvm::Value* PlaceOfPart(const Layout& result, llvm::Value* base, llvm::Value* p, llvm::Value* element, int i) {
    auto& b = e_.b();
    uint64_t before = 0;
    for (int o = 0; o < i; ++o) before += FoldPartsBytes(parts(), result, MemoryBytes(values_[o][0]->getType()));
    llvm::Value* at = b.CreateAdd(b.CreateMul(p, e_.I32(result.elements())), element);
    const int bytes = MemoryBytes(PartType(result, i));
    return b.CreateGEP(b.getInt8Ty(), base,
                       b.CreateAdd(b.CreateMul(at, e_.I32(bytes)), e_.I32(static_cast<int64_t>(before))));
  }

  Emitter& e_;
  const ir::Op& op_;
  const ir::Block& body_;
  int dim_, n_;
  Layout layout_;
  AlongDim along_;
  std::vector<Registers> values_;
  std::vector<int> inside_, outside_;
};

}  // namespace

namespace {

// A reduce up to where warps exchange their parts.
struct Reduction {
  Reduction(Emitter& e, const ir::Op& reduce)
      : op(reduce),
        work(e, reduce),
        result(work.layout().Slice(static_cast<int>(ir::FoldOp(reduce).dim())).RemoveZeroRegisters()) {
    if (!TakesIntegers(e)) {
      own = Fold(e);
      return;
    }
    std::vector<Registers> rows(static_cast<size_t>(work.results()));
    for (int k = 0; k < work.results(); ++k) {
      for (int c = 0; c < work.in_thread(); ++c) rows[static_cast<size_t>(k)].push_back(work.At(k, c)[0]);
    }
    std::vector<uint32_t> exchanges;
    for (const BitAlong& bit : work.lanes()) exchanges.push_back(1u << bit.at);
    const auto as_floats = [&] {
      Registers all;
      for (const Tuple& t : Fold(e)) all.push_back(t[0]);
      return all;
    };
    const Registers old = GoesOn(e) ? e.regs(MaximumCarriedBy(reduce)) : Registers();
    for (llvm::Value* v : MaximaAsIntegers(e, rows, exchanges, old, as_floats)) own.push_back({v});
  }

  std::vector<Tuple> Fold(Emitter& e) {
    std::vector<Tuple> folded;
    const bool commutative = IsCommutative(*op.region(0));
    for (int k = 0; k < work.results() && !e.refused(); ++k)
      folded.push_back(work.OverLanes(work.InThread(k), commutative));
    return folded;
  }

  // What the warps have of each result becomes that result.
  void Join(const std::vector<std::vector<Tuple>>& parts) {
    for (int k = 0; k < work.results(); ++k) {
      std::vector<Tuple> row;
      for (const auto& part : parts) row.push_back(part[static_cast<size_t>(k)]);
      own[static_cast<size_t>(k)] = work.InTree(std::move(row));
    }
  }

  // A thread has many numbers of each row.
  bool TakesIntegers(Emitter& e) {
    return DecisionOf<Decision::kIntegerMax>(op) && work.in_thread() >= kLeastInThread &&
           (GoesOn(e) || !StandsBesideProducts(op));
  }
  // What a loop carries for the same rows is in the same registers.
  bool GoesOn(Emitter& e) {
    if (MaximumCarriedBy(op) == nullptr || !work.warps().empty()) return false;
    const Layout &carried = e.layout(MaximumCarriedBy(op)), &reduced = e.layout(op.result(0));
    return result == reduced &&
           std::all_of(std::begin(kIns), std::end(kIns), [&](In in) { return carried.bases(in) == reduced.bases(in); });
  }
  static constexpr int kLeastInThread = 16;

  const ir::Op& op;
  Work work;
  const Layout result;
  std::vector<Tuple> own;
};

}  // namespace

void LowerReduce(Emitter& e, const ir::Op& op) {
  if (DecisionOf<Decision::kBatched>(op)) return;  // lowered with the one before it
  std::vector<std::unique_ptr<Reduction>> all;
  uint64_t bytes = 0;
  for (const ir::Op* each : ReducesTogether(op)) {
    all.push_back(std::make_unique<Reduction>(e, *each));
    if (e.refused()) return;
    if (!all.back()->work.warps().empty()) bytes += all.back()->work.PartsBytes(all.back()->result);
  }
  if (bytes > e.most_exchange()) {
    for (auto& r : all) {
      if (!r->work.warps().empty()) r->Join(r->work.ShareInTurn(r->own, r->result, false));
    }
  } else if (bytes > 0) {
    llvm::Value* base = e.ScratchOnce(op, bytes);
    std::vector<llvm::Value*> at;
    for (auto& r : all) {
      at.push_back(base);
      r->work.WriteParts(r->own, r->result, base, false);
      base = e.b().CreateConstGEP1_64(e.b().getInt8Ty(), base, r->work.PartsBytes(r->result));
    }
    e.Barrier();
    std::vector<int> left;  // parts that each thread reads
    bool combined = false;
    for (size_t i = 0; i < all.size(); ++i) {
      Reduction& r = *all[i];
      const bool once = r.work.CombinesOnce(r.result);
      if (once) r.work.CombineParts(r.result, at[i]);
      left.push_back(once ? 1 : r.work.parts());
      combined = combined || once;
    }
    if (combined) e.Barrier();
    for (size_t i = 0; i < all.size(); ++i) {
      Reduction& r = *all[i];
      r.Join(r.work.ReadParts(r.result, at[i], left[i]));
    }
  }
  for (auto& r : all) {
    for (int i = 0; i < r->op.num_results(); ++i) {
      Registers out;
      for (int k = 0; k < r->work.results(); ++k) out.push_back(r->own[k][i]);
      e.Set(r->op.result(i), ConvertRegisters(e, r->result, e.layout(r->op.result(i)), out));
    }
  }
}

void LowerScan(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const bool reverse = ir::ScanOp(op).reverse();
  const int dim = static_cast<int>(ir::FoldOp(op).dim());
  Work work(e, op);
  const Layout totals = work.layout().Slice(dim).RemoveZeroRegisters();
  const std::optional<Tuple> neutral = Neutral(e, op);
  const int n = work.in_thread();
  auto place = [&](int c) { return reverse ? n - 1 - c : c; };

  // Each thread's own prefixes, then what comes before the thread: first over lanes, then over warps. Where nothing
  // does, `before` is neutral; of a body without such a value it is of no use, and `preceded` (i1) says so.
  std::vector<std::vector<Tuple>> prefix(work.results());
  std::vector<Tuple> total, before;
  llvm::Value* preceded = nullptr;
  for (int k = 0; k < work.results() && !e.refused(); ++k) {
    for (int c = 0; c < n; ++c) prefix[k].push_back(work.At(k, place(c)));
    work.Prefixes(&prefix[k]);
    Tuple sum = prefix[k].back();
    // Distances double; a lane that has none that far before it keeps its sum.
    llvm::Value* position = e.I32(0);
    for (size_t i = 0; i < work.lanes().size(); ++i) {
      position =
          b.CreateOr(position, b.CreateShl(b.CreateZExt(work.IsSet(In::kLane, work.lanes()[i]), b.getInt32Ty()), i));
    }
    const int lanes = 1 << work.lanes().size();
    if (reverse) position = b.CreateSub(e.I32(lanes - 1), position);
    auto from = [&](const Tuple& t, int distance) {  // of the lane so far before
      Tuple out;
      const uint32_t step = work.lanes().empty() ? 0 : 1u << work.lanes()[0].at;
      for (llvm::Value* v : t) out.push_back(ShuffleBy(e, v, distance * step, !reverse));
      return out;
    };
    for (int d = 1; d < lanes; d *= 2) {
      const Tuple joined = work.Join(from(sum, d), sum);
      sum = work.Select(b.CreateICmpUGE(position, e.I32(d)), joined, sum);
    }
    total.push_back(sum);
    if (lanes == 1) {
      before.push_back(neutral ? *neutral : sum);
      preceded = b.getFalse();
    } else {
      preceded = b.CreateIsNotNull(position);
      before.push_back(neutral ? work.Select(preceded, from(sum, 1), *neutral) : from(sum, 1));
    }
  }
  if (e.refused()) return;
  if (!work.warps().empty()) {
    const auto parts = work.ShareParts(total, totals, !reverse);
    const auto part = [&](size_t i) { return reverse ? parts.size() - 1 - i : i; };
    llvm::Value* in_first = work.PartIs(static_cast<int>(part(0)));
    for (int k = 0; k < work.results(); ++k) {
      // Totals of the parts before this one.
      Tuple running = parts[part(0)][k], mine = neutral ? *neutral : running;
      for (size_t i = 1; i < parts.size(); ++i) {
        mine = work.Select(work.PartIs(static_cast<int>(part(i))), running, mine);
        if (i + 1 < parts.size()) running = work.Join(running, parts[part(i)][k]);
      }
      const Tuple both = work.Join(mine, before[k]);
      before[k] = neutral ? both : work.Select(in_first, before[k], work.Select(preceded, both, mine));
    }
    preceded = b.CreateOr(preceded, b.CreateNot(in_first));
  }
  const bool alone = work.lanes().empty() && work.warps().empty();
  for (int i = 0; i < op.num_results(); ++i) {
    Registers out(work.layout().registers());
    for (int k = 0; k < work.results(); ++k) {
      for (int c = 0; c < n; ++c) {
        if (i == 0 && !alone) {
          const Tuple joined = work.Join(before[k], prefix[k][c]);
          prefix[k][c] = neutral ? joined : work.Select(preceded, joined, prefix[k][c]);
        }
        out[work.Register(k, place(c))] = prefix[k][c][i];
      }
    }
    for (size_t r = 0; r < out.size(); ++r) {
      if (out[r] == nullptr) out[r] = out[r & ~work.layout().FreeMask(In::kRegister)];
    }
    e.Set(op.result(i), ConvertRegisters(e, work.layout(), e.layout(op.result(i)), out));
  }
}

}  // namespace tile::codegen
