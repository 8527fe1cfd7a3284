#include "vm/eval/fold_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "ir/op_views.h"
#include "vm/eval/elementwise_key.h"
#include "vm/kernels/copy.h"

namespace tile::vm {
namespace {

using ir::Op;
using ir::Opcode;
using ir::Value;

constexpr int64_t kFewParts = 4, kShortPart = 4, kMinCut = 64;  // lines that are shorter are not cut

template <int bytes>
void CopyLanes(void* to, const void* const* from, int64_t n) {
  std::memcpy(to, from[0], static_cast<size_t>(n * bytes));
}
template <int bytes>
void FillLanes(void* to, const void* const* from, int64_t n) {
  Fill(to, from[0], bytes, n);
}

ElementwiseFn CopyingFn(int bytes, bool repeat) {
  switch (bytes) {
    case 1: return repeat ? FillLanes<1> : CopyLanes<1>;
    case 2: return repeat ? FillLanes<2> : CopyLanes<2>;
    case 4: return repeat ? FillLanes<4> : CopyLanes<4>;
    default: return repeat ? FillLanes<8> : CopyLanes<8>;
  }
}

// Turns a body into calls.
class Builder {
 public:
  Builder(Preparer& p, const Op& fold) : p_(p), fold_(fold), streams_(fold.num_operands()) {
    for (int s = 0; s < streams_; ++s) {
      places_[fold.region(0)->arg(2 * s)] = s;
      places_[fold.region(0)->arg(2 * s + 1)] = streams_ + s;
    }
  }

  bool Build() {
    for (const Op* op : *fold_.region(0)) {
      if (op->opcode() == Opcode::kYield) {
        Yield(*op);
      } else if (MovesNothing(op)) {
        if (ir::AssumeOp::Is(op) && IsChecked(ir::AssumeOp(op).predicate())) return false;
        places_[op->result(0)] = PlaceOf(op->operand(0));
      } else if (op->opcode() != Opcode::kConstant && !Call(*op)) {
        return false;
      }
    }
    return First() + static_cast<int>(others_.size()) <= kMaxFoldPlaces;
  }

  void Finish(FoldProgram* program) {
    for (Other& other : others_) {
      if (other.used && other.temporary_bytes > 0) {
        other.place.at = p_.temp(kFoldLanes * other.temporary_bytes);
      }
    }
    auto* calls = p_.NewArray<FoldCall>(calls_.size());
    std::copy(calls_.begin(), calls_.end(), calls);
    auto* others = p_.NewArray<FoldPlace>(others_.size());
    for (size_t i = 0; i < others_.size(); ++i) others[i] = others_[i].place;
    program->streams = streams_;
    program->calls = calls;
    program->num_calls = static_cast<int>(calls_.size());
    program->others = others;
    program->num_others = static_cast<int>(others_.size());
  }

 private:
  struct Other {
    FoldPlace place;
    int temporary_bytes = 0;  // of an element; 0: it is one element from outside
    bool used = true;
  };

  // Such a promise is looked at by the default checks.
  static bool IsChecked(const ir::Predicate& p) {
    return p.kind == ir::Predicate::Kind::kBounded && p.along.has_value() && p.upper.has_value();
  }

  int First() const { return 3 * streams_; }
  bool IsOneElement(int place) const {
    return place >= First() && others_[static_cast<size_t>(place - First())].temporary_bytes == 0;
  }
  int Add(const Other& other) {
    others_.push_back(other);
    return First() + static_cast<int>(others_.size()) - 1;
  }

  int PlaceOf(const Value* v) {
    const auto it = places_.find(v);
    if (it != places_.end()) return it->second;
    return places_[v] = Add({{p_.raw(v), {}, 0}});
  }

  // One element, repeated for all lanes.
  int Repeated(int place, int bytes) {
    const auto [it, is_new] = repeated_.try_emplace(place, 0);
    if (is_new) {
      const Slot source = others_[static_cast<size_t>(place - First())].place.at;
      it->second = Add({{{}, source, bytes}, bytes});
    }
    return it->second;
  }

  bool Call(const Op& op) {
    if (!op.info()->has(ir::kElementwise) || op.num_operands() > kMaxElementwiseOperands) return false;
    FoldCall call{};
    call.arity = op.num_operands();
    ElementwiseKey key = ElementwiseKeyOf(op);
    for (int i = 0; i < call.arity; ++i) {
      call.in[i] = PlaceOf(op.operand(i));
      if (IsOneElement(call.in[i])) key.splat_mask |= 1 << i;
    }
    call.fn = FindElementwise(key);
    if (call.fn == nullptr) {
      for (int i = 0; i < call.arity; ++i) {
        if (!IsOneElement(call.in[i])) continue;
        call.in[i] = Repeated(call.in[i], ir::StorageBytes(op.operand(i)->type().elem()));
      }
      key.splat_mask = 0;
      call.fn = FindElementwise(key);
    }
    if (call.fn == nullptr) return false;
    call.out = Add({{}, ir::StorageBytes(op.result(0)->type().elem())});
    places_[op.result(0)] = call.out;
    calls_.push_back(call);
    return true;
  }

  // What a call computes goes to its place as a result; other values are copied there.
  void Yield(const Op& yield) {
    std::vector<FoldCall> copies;
    for (int s = 0; s < streams_; ++s) {
      const Value* v = yield.operand(s);
      const int place = PlaceOf(v), result = 2 * streams_ + s;
      const auto made = std::find_if(calls_.begin(), calls_.end(), [&](const FoldCall& c) { return c.out == place; });
      if (made == calls_.end() || place < First()) {
        const int bytes = ir::StorageBytes(v->type().elem());
        copies.push_back({CopyingFn(bytes, IsOneElement(place)), 1, result, {place}});
        continue;
      }
      others_[static_cast<size_t>(place - First())].used = false;
      for (FoldCall& c : calls_) {
        if (c.out == place) c.out = result;
        std::replace(c.in, c.in + c.arity, place, result);
      }
      for (auto& [value, at] : places_) at = at == place ? result : at;
    }
    calls_.insert(calls_.end(), copies.begin(), copies.end());
  }

  Preparer& p_;
  const Op& fold_;
  const int streams_;
  std::map<const Value*, int> places_;
  std::map<int, int> repeated_;  // places of one element
  std::vector<Other> others_;
  std::vector<FoldCall> calls_;
};

// So many that a step has as many lanes as it may: kernels work on 64 at a time.
int64_t PartsOf(const FoldProgram& f) {
  if (f.kept == Kept::kNeither || f.n < kMinCut) return 1;
  const int64_t parts = std::min(f.n / kShortPart, kFoldLanes / std::min(kFoldLanes, f.outer * f.inner));
  return parts < kFewParts ? 1 : parts;
}

// Of kRightmost, a part begins with its own first element, which must be a number. False if that cannot be tried.
bool FindEqual(const Op& fold, FoldScratch* scratch) {
  for (int s = 0; s < fold.num_operands(); ++s) {
    const ir::Elem elem = fold.operand(s)->type().elem();
    if (!ir::IsFloat(elem)) continue;
    ElementwiseKey key;
    key.op = Opcode::kCmpF;
    key.in = elem;
    key.out = ir::Elem::kI1;
    key.predicate = ir::ComparisonPredicate::kEqual;
    key.ordering = ir::ComparisonOrdering::kOrdered;
    scratch[s].equal = FindElementwise(key);
    if (scratch[s].equal == nullptr) return false;
  }
  return true;
}

}  // namespace

const FoldProgram* MakeFoldProgram(Preparer& p, const Op& fold, const BodyData& body) {
  if (body.streams > kMaxFoldStreams || !IsBatchable(fold.region(0))) return nullptr;
  Builder builder(p, fold);
  if (!builder.Build()) return nullptr;
  auto* f = p.New<FoldProgram>();
  builder.Finish(f);
  f->stream = body.stream;
  f->outer = body.outer;
  f->n = body.n;
  f->inner = body.inner;
  f->scan = body.scan;
  f->reverse = body.reverse;
  f->kept = SideKept(fold);
  auto* scratch = p.NewArray<FoldScratch>(static_cast<size_t>(f->streams));
  std::fill(scratch, scratch + f->streams, FoldScratch{});
  f->scratch = scratch;
  f->parts = PartsOf(*f);
  if (f->kept == Kept::kRightmost && f->parts > 1 && !FindEqual(fold, scratch)) f->parts = 1;
  for (int s = 0; s < f->streams; ++s) {
    const int64_t row = kFoldLanes * f->stream[s].bytes;
    if (UsesStrips(*f, f->parts)) scratch[s].elements = p.temp(kFoldStrip * row);
    scratch[s].results = p.temp((f->scan ? kFoldStrip : 2) * row);
    scratch[s].accumulators = p.temp(row);
    if (f->parts > 1) scratch[s].parts = p.temp(f->scan ? f->outer * f->n * f->inner * f->stream[s].bytes : row);
  }
  return f;
}

}  // namespace tile::vm
