#include "vm/check/check_poison.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {

using ir::Elem;
using ir::Op;

// --- origins --------------------------------------------------------------------------------------------------------

namespace {
constexpr uint8_t kManyOrigins = 255;
}  // namespace

Origins::Origins() {
  list_.resize(256);
  list_[1].kind = Origin::Kind::kNeverWritten;
  list_.resize(2);
  list_.reserve(256);
}

uint8_t Origins::Number(Origin::Kind kind, const Op* op, absl::string_view memory) {
  for (size_t i = 2; i < list_.size(); ++i) {
    if (list_[i].kind == kind && list_[i].op == op && list_[i].memory == memory) return static_cast<uint8_t>(i);
  }
  if (list_.size() >= kManyOrigins) {
    list_.resize(256);
    return kManyOrigins;
  }
  list_.push_back({kind, op, std::string(memory)});
  return static_cast<uint8_t>(list_.size() - 1);
}

std::string Origins::Describe(uint8_t number, const ir::Module& module) const {
  const Origin& o = list_[number];
  const std::string from = o.op == nullptr ? ""
                                           : absl::StrCat("it comes from ", o.op->info()->mnemonic, " at ",
                                                          module.Where(o.op->loc, o.op->pos), ", ");
  switch (o.kind) {
    case Origin::Kind::kMany: return "it comes from one of many places";
    case Origin::Kind::kNeverWritten: return "it was never written";
    case Origin::Kind::kInactive: return absl::StrCat(from, "whose mask leaves elements out");
    case Origin::Kind::kOutside: return absl::StrCat(from, "some of whose elements lie outside of the tensor");
    case Origin::Kind::kRead: return absl::StrCat(from, "which read memory of `", o.memory, "` that was never written");
    case Origin::Kind::kOutOfRange: return absl::StrCat(from, "whose source does not fit the integer type");
  }
  return "";
}

std::string Origins::Fix(uint8_t number) const {
  const Origin& o = list_[number];
  const bool read_only = o.op == nullptr || !o.op->info()->has(ir::kWrites);
  switch (o.kind) {
    case Origin::Kind::kMany: return "";
    case Origin::Kind::kNeverWritten:
    case Origin::Kind::kRead:
      return "write the memory before reading it, or pass initial contents (torch.zeros in place of torch.empty)";
    case Origin::Kind::kInactive:
      return read_only
                 ? "give the load a padding value (`other=` of tl.load), or select another value for these elements"
                 : "select another value for the elements that the mask leaves out";
    case Origin::Kind::kOutside:
      return read_only
                 ? "give the view a padding_value (`padding_mode=` of ct.load), or select another value for these elements"
                 : "select another value for the elements outside";
    case Origin::Kind::kOutOfRange: return "clamp the source first, or convert with `saturating`";
  }
  return "";
}

// --- the shadow -----------------------------------------------------------------------------------------------------

void FrameShadow::Set(const void* p, int64_t bytes, uint8_t origin) {
  if (shadow_ == nullptr) {
    if (origin == 0) return;
    shadow_ = std::make_unique<uint8_t[]>(bytes_);
  }
  if (uint8_t* at = Of(p)) std::memset(at, origin, static_cast<size_t>(bytes));
}

void FrameShadow::Copy(const void* p, int64_t bytes, const uint8_t* origins) {
  if (shadow_ == nullptr) shadow_ = std::make_unique<uint8_t[]>(bytes_);
  if (uint8_t* at = Of(p)) std::memcpy(at, origins, static_cast<size_t>(bytes));
}

uint8_t Worst(const uint8_t* p, int64_t n) {
  if (p == nullptr) return 0;
  uint8_t worst = 0;
  // In pieces, so that a long run of zeros goes at the speed of memory and a hit ends early.
  for (int64_t i = 0; i < n && worst == 0; i += 4096) {
    const int64_t end = std::min<int64_t>(n, i + 4096);
    for (int64_t k = i; k < end; ++k) worst = std::max(worst, p[k]);
  }
  return worst;
}

namespace {

uint8_t* ShadowOf(const BlockState& b, const FrameShadow& shadow, const Place& p) {
  return p.at.constant() ? nullptr : shadow.Of(b.at(p.at));
}
uint8_t WorstOf(const BlockState& b, const FrameShadow& shadow, const Place& p) {
  return Worst(ShadowOf(b, shadow, p), p.count * p.bytes);
}
void SetAll(const BlockState& b, FrameShadow& shadow, const Place& p, uint8_t origin) {
  if (p.bytes > 0 && !p.at.constant()) shadow.Set(b.at(p.at), p.count * p.bytes, origin);
}
// Writes result element e.
void Put(uint8_t* to, int64_t e, int bytes, uint8_t origin) {
  std::memset(to + e * bytes, origin, static_cast<size_t>(bytes));
}

}  // namespace

uint8_t Poison::OriginOf(const BlockState& b, const FrameShadow& shadow, const Place& p, int64_t element) {
  const uint8_t* s = ShadowOf(b, shadow, p);
  return s == nullptr ? 0 : s[StoredIndex(p, element) * p.bytes];
}

// --- rules ----------------------------------------------------------------------------------------------------------

namespace {

// What marks of Mark::kWrapped pass through beside what moves elements: their result may be as far off as an operand.
// Others bound it (andi, remi, divi, shri, mini, maxi, cmpi, mulhii), or make something else of it (itof, reduce).
constexpr ir::Opcode kPassWrapOn[] = {
    ir::Opcode::kAddi,     ir::Opcode::kSubi,     ir::Opcode::kMuli,     ir::Opcode::kNegi,
    ir::Opcode::kAbsi,     ir::Opcode::kShli,     ir::Opcode::kOri,      ir::Opcode::kXori,
    ir::Opcode::kExti,     ir::Opcode::kTrunci,   ir::Opcode::kSelect,   ir::Opcode::kBitcast,
    ir::Opcode::kIntToPtr, ir::Opcode::kPtrToInt, ir::Opcode::kPtrToPtr, ir::Opcode::kOffset};

// A shape operation that keeps the element type moves elements as they are.
bool MovesElements(const ir::OpInfo& info) {
  return info.family == ir::Family::kShape && absl::string_view(info.constraints).find('^') != absl::string_view::npos;
}

}  // namespace

bool Poison::PassesWrapOn(const ir::OpInfo& info) {
  return MovesElements(info) || info.opcode == ir::Opcode::kAssume ||
         std::find(std::begin(kPassWrapOn), std::end(kPassWrapOn), info.opcode) != std::end(kPassWrapOn);
}

Poison::Rule Poison::RuleOf(const ir::OpInfo& info, Mark mark) {
  Rule r;
  const bool memory = info.is_access();
  if (info.has(ir::kElementwise)) {
    r.way = Way::kElementwise;
  } else if (info.family == ir::Family::kReduce) {
    r.way = Way::kFold;
  } else if (info.has(ir::kRegions) || info.has(ir::kTerminator)) {
    r.way = Way::kNone;
  } else if (info.family == ir::Family::kShape) {
    r.way = MovesElements(info) ? Way::kMove : Way::kPack;
  } else if (info.family == ir::Family::kMma) {
    r.way = Way::kMma;
  } else {
    r.way = memory ? Way::kMemory : Way::kWhole;
  }
  if (mark == Mark::kWrapped && r.way != Way::kNone && !PassesWrapOn(info)) r.way = Way::kClear;
  // What steers the program must be specified. Pointers count where an element is active.
  using ir::Field;
  static constexpr Field kSteering[] = {
      Field::kCondition,      Field::kLowerBound, Field::kUpperBound, Field::kStep, Field::kBase, Field::kDynamicShape,
      Field::kDynamicStrides, Field::kIndex,      Field::kIndices,    Field::kMask, Field::kArgs};
  static constexpr Field kAddressing[] = {Field::kBase, Field::kDynamicStrides, Field::kIndex, Field::kIndices};
  static constexpr Field kPointers[] = {Field::kPointers, Field::kSource, Field::kDestination};
  static constexpr Field kStored[] = {Field::kArg, Field::kVal, Field::kValue, Field::kValues};
  const auto place = [&](Field f) { return int{info.format->place(f).operand}; };
  const auto is_one_of = [&](int operand, absl::Span<const Field> fields) {
    return std::any_of(fields.begin(), fields.end(), [&](Field f) { return place(f) == operand; });
  };
  for (int i = 0; i < static_cast<int>(info.format->operands.size()); ++i) {
    Use use = Use::kNone;
    if (mark == Mark::kWrapped ? is_one_of(i, kAddressing) : is_one_of(i, kSteering)) use = Use::kAll;
    const bool compared = mark != Mark::kWrapped && place(Field::kCmp) == i;  // with memory: no part of the address
    if (memory && (compared || is_one_of(i, kPointers))) use = Use::kAddress;
    r.uses.push_back(use);
    if (info.has(ir::kWrites) && is_one_of(i, kStored)) r.stored = i;
  }
  r.mask = place(Field::kMask);
  if (memory) r.inactive = std::max(place(Field::kPaddingValue), place(Field::kCmp));
  return r;
}

Poison::Poison(const Code& code, Origins* origins, Mark mark)
    : code_(code), origins_(origins), mark_(mark), constants_(code.constants.size()) {
  for (const ir::OpInfo& info : ir::AllOps()) {
    rules_.resize(std::max(rules_.size(), static_cast<size_t>(info.index) + 1));
    rules_[static_cast<size_t>(info.index)] = RuleOf(info, mark);
  }
}

bool Poison::Before(BlockState& b, const Instr* in, const InstrNote& note, FrameShadow& shadow) {
  if (note.role == Role::kOther || note.places == nullptr) return true;
  const OpPlaces& o = *note.places;
  if (!shadow.any()) {
    // Only what makes unspecified values itself matters.
    if (note.role == Role::kWork && o.op->opcode() == ir::Opcode::kFToI) OutOfRange(b, o, shadow);
    return true;
  }
  if (note.role != Role::kMove && !CheckUses(b, o, shadow)) return false;
  return Flow(b, in, note, shadow);
}

bool Poison::Flow(BlockState& b, const Instr* in, const InstrNote& note, FrameShadow& shadow) {
  if (note.role == Role::kOther || note.places == nullptr) return true;
  const OpPlaces& o = *note.places;
  if (note.role == Role::kMove) {
    Move(b, in, nullptr, nullptr, shadow);
    return true;
  }
  if (note.role == Role::kEnter) {
    if (o.op->opcode() == ir::Opcode::kFor) SetAll(b, shadow, o.args[0], 0);
    return true;
  }
  const Rule& rule = rules_[static_cast<size_t>(o.op->info()->index)];
  switch (rule.way) {
    case Way::kNone: return true;
    case Way::kElementwise:
      Elementwise(b, o, shadow);
      if (mark_ == Mark::kUnspecified && o.op->opcode() == ir::Opcode::kFToI) OutOfRange(b, o, shadow);
      return true;
    case Way::kMove: Move(b, in, &o, &rule, shadow); return b.stop != Stop::kTrap;
    case Way::kPack: Pack(b, o, shadow); return true;
    case Way::kFold: Fold(b, o, shadow); return true;
    case Way::kMma: Mma(b, o, shadow); return true;
    case Way::kMemory: Memory(b, o, rule, shadow); return true;
    case Way::kWhole: Whole(b, o, shadow); return true;
    case Way::kClear: Clear(b, o, shadow); return true;
  }
  return true;
}

// --- uses -----------------------------------------------------------------------------------------------------------

const Instr* Poison::TrapOnUse(BlockState& b, const Op* op, absl::string_view what, uint8_t origin) const {
  return Trap(b, op, "vm.uninitialized",
              absl::StrCat(what, " has no specified value: ", origins_->Describe(origin, *code_.module)),
              origins_->Fix(origin));
}

std::optional<Poison::MarkedUse> Poison::FindUse(const BlockState& b, const OpPlaces& o,
                                                 const FrameShadow& shadow) const {
  const Rule& rule = rules_[static_cast<size_t>(o.op->info()->index)];
  for (size_t field = 0; field < rule.uses.size(); ++field) {
    if (rule.uses[field] == Use::kNone) continue;
    for (int i = o.op->group_begin(static_cast<int>(field)); i < o.op->group_end(static_cast<int>(field)); ++i) {
      const Place& p = o.operands[i];
      if (p.bytes == 0 || WorstOf(b, shadow, p) == 0) continue;
      const ir::Type t = o.op->operand(i)->type();
      const Place* mask = nullptr;
      if (rule.uses[field] == Use::kAddress && rule.mask >= 0 &&
          o.op->group_end(rule.mask) > o.op->group_begin(rule.mask)) {
        mask = &o.operands[o.op->group_begin(rule.mask)];
      }
      const int64_t n = t.is_tile() ? t.num_elements() : 1;
      for (int64_t e = 0; e < n; ++e) {
        const uint8_t mark = OriginOf(b, shadow, p, e);
        if (mark == 0) continue;
        if (mask != nullptr && static_cast<const uint8_t*>(b.at(mask->at))[StoredIndex(*mask, e)] == 0) continue;
        return MarkedUse{static_cast<int>(field), i, e, mark};
      }
    }
  }
  return std::nullopt;
}

bool Poison::CheckUses(BlockState& b, const OpPlaces& o, const FrameShadow& shadow) {
  const auto use = FindUse(b, o, shadow);
  if (!use) return true;
  const std::string& name = o.op->info()->format->operands[static_cast<size_t>(use->field)].name;
  const ir::Type t = o.op->operand(use->operand)->type();
  const std::string which =
      t.is_tile() && t.rank() > 0 ? absl::StrCat("element ", LaneText(t, use->element), " of ") : "";
  TrapOnUse(b, o.op, absl::StrCat(which, "the operand `", name, "`"), use->mark);
  return false;
}

// --- flow -----------------------------------------------------------------------------------------------------------

void Poison::Elementwise(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  const Place& r = o.results[0];
  uint8_t* out = ShadowOf(b, shadow, r);
  if (out == nullptr) return;
  const int n = o.op->num_operands();
  const uint8_t* from[3] = {};
  bool any = false;
  for (int i = 0; i < n; ++i) {
    from[i] = WorstOf(b, shadow, o.operands[i]) != 0 ? ShadowOf(b, shadow, o.operands[i]) : nullptr;
    any = any || from[i] != nullptr;
  }
  if (!any) {
    std::memset(out, 0, static_cast<size_t>(r.count * r.bytes));
    return;
  }
  const bool select = o.op->opcode() == ir::Opcode::kSelect;
  const bool ors = o.op->opcode() == ir::Opcode::kOri;
  const bool decidable = mark_ == Mark::kUnspecified && (ors || o.op->opcode() == ir::Opcode::kAndi) &&
                         o.op->result(0)->type().elem() == Elem::kI1;
  const auto index = [&](int i, int64_t e) {
    const Place& p = o.operands[i];
    return p.count == r.count && p.run == r.run ? e : StoredIndex(p, e);
  };
  // `false and x` is false, `true or x` is true, whatever x is: a mask and a value that was loaded with it.
  const auto decides = [&](int i, int64_t e) {
    const bool known = from[i] == nullptr || from[i][index(i, e)] == 0;
    return known && (static_cast<const uint8_t*>(b.at(o.operands[i].at))[index(i, e)] != 0) == ors;
  };
  for (int64_t e = 0; e < r.count; ++e) {
    uint8_t origin = 0;
    for (int i = 0; i < n; ++i) {
      if (decidable && (decides(0, e) || decides(1, e))) break;
      if (from[i] == nullptr) continue;
      if (select && i > 0) {
        // Only the chosen one counts.
        const bool chosen = static_cast<const uint8_t*>(b.at(o.operands[0].at))[index(0, e)] != 0;
        if (chosen != (i == 1)) continue;
      }
      origin = std::max(origin, from[i][index(i, e) * o.operands[i].bytes]);
    }
    Put(out, e, r.bytes, origin);
  }
}

namespace {

double LoadFloat(Elem e, const uint8_t* p, int bytes) {
  if (e == Elem::kF32) {
    float f;
    std::memcpy(&f, p, 4);
    return static_cast<double>(f);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<size_t>(bytes));
  return ir::ToDouble(e, bits);
}

}  // namespace

// ftoi without `saturating`: what does not fit has no value. To i1 everything fits.
void Poison::OutOfRange(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  const ir::FToIOp conversion(o.op);
  if (conversion.saturating() || o.op->result(0)->type().elem() == Elem::kI1) return;
  const Place &from = o.operands[0], &r = o.results[0];
  const Elem elem = o.op->operand(0)->type().elem();
  const int bits = ir::ElemInfoOf(o.op->result(0)->type().elem()).bits;
  const bool is_signed = conversion.signedness() == ir::Signedness::kSigned;
  // trunc(x) fits if and only if low < x < high; low is minimum - 1, which f64 holds unless it rounds to minimum itself.
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) - 1 : -1.0;
  const bool low_fits = low == -std::ldexp(1.0, bits - 1);
  const auto* source = static_cast<const uint8_t*>(b.at(from.at));
  uint8_t origin = 0;
  for (int64_t e = 0; e < r.count; ++e) {
    const int64_t i = from.count == r.count && from.run == r.run ? e : StoredIndex(from, e);
    const double x = LoadFloat(elem, source + i * from.bytes, from.bytes);
    if ((x > low || (low_fits && x == low)) && x < high) continue;
    if (origin == 0) origin = origins_->Number(Origin::Kind::kOutOfRange, o.op);
    shadow.Set(static_cast<uint8_t*>(b.at(r.at)) + e * r.bytes, r.bytes, origin);
  }
}

// Runs the instruction over the shadow. Indices of extract and insert are put there for as long as it takes.
void Poison::Move(BlockState& b, const Instr* in, const OpPlaces* o, const Rule* rule, FrameShadow& shadow) {
  uint8_t* frame = b.frame;
  const uint8_t* constants = b.constants;
  const uint64_t zero = 0;
  const auto overlay = [&](bool put) {
    for (size_t field = 0; o != nullptr && field < rule->uses.size(); ++field) {
      if (rule->uses[field] != Use::kAll) continue;
      for (int i = o->op->group_begin(static_cast<int>(field)); i < o->op->group_end(static_cast<int>(field)); ++i) {
        const Place& p = o->operands[i];
        uint8_t* at = p.at.constant() ? constants_.data() + ~p.at.offset : shadow.data() + p.at.offset;
        const void* real = p.at.constant() ? constants + ~p.at.offset : frame + p.at.offset;
        std::memcpy(at, put ? real : &zero, static_cast<size_t>(p.bytes));
      }
    }
  };
  overlay(true);
  b.frame = shadow.data();
  b.constants = constants_.data();
  in->fn(b, in);
  b.frame = frame;
  b.constants = constants;
  overlay(false);
}

void Poison::Pack(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  const Place &from = o.operands[0], &to = o.results[0];
  if (to.at == from.at) return;
  if (WorstOf(b, shadow, from) == 0) return SetAll(b, shadow, to, 0);
  uint8_t* out = ShadowOf(b, shadow, to);
  const int64_t in_elements = o.op->operand(0)->type().num_elements(), out_elements = to.count;
  const int64_t in_bits =
      o.op->operand(0)->type().elem() == Elem::kI1 ? 1 : ir::MemoryBits(o.op->operand(0)->type().elem());
  const int64_t out_bits =
      o.op->result(0)->type().elem() == Elem::kI1 ? 1 : ir::MemoryBits(o.op->result(0)->type().elem());
  // A result element takes bits [e, e + 1) * out_bits of the operand's.
  for (int64_t e = 0; e < out_elements; ++e) {
    uint8_t origin = 0;
    const int64_t first = e * out_bits / in_bits, last = ((e + 1) * out_bits - 1) / in_bits;
    for (int64_t i = first; i <= last && i < in_elements; ++i) origin = std::max(origin, OriginOf(b, shadow, from, i));
    Put(out, e, to.bytes, origin);
  }
}

void Poison::Fold(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  const Op& op = *o.op;
  // The body sees specified values; the result depends on everything along the dimension.
  for (int i = 0; i < op.region(0)->num_args(); ++i) SetAll(b, shadow, o.args[i], 0);
  uint8_t everywhere = 0;
  for (const Place& p : o.captured) everywhere = std::max(everywhere, WorstOf(b, shadow, p));
  uint8_t worst = everywhere;
  for (int i = 0; i < op.num_operands(); ++i) worst = std::max(worst, WorstOf(b, shadow, o.operands[i]));
  if (worst == 0) {
    for (int i = 0; i < op.num_results(); ++i) SetAll(b, shadow, o.results[i], 0);
    return;
  }
  const auto shape = op.operand(0)->type().shape();
  const auto dim = static_cast<size_t>(ir::FoldOp(op).dim());
  int64_t outer = 1, inner = 1;
  for (size_t k = 0; k < dim; ++k) outer *= shape[k];
  for (size_t k = dim + 1; k < shape.size(); ++k) inner *= shape[k];
  const int64_t n = shape[dim];
  const bool scan = ir::ScanOp::Is(&op);
  const bool reverse = scan && ir::ScanOp(op).reverse();
  for (int64_t lane = 0; lane < outer * inner; ++lane) {
    uint8_t origin = everywhere;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t at = (lane / inner * n + (reverse ? n - 1 - step : step)) * inner + lane % inner;
      for (int i = 0; i < op.num_operands(); ++i) origin = std::max(origin, OriginOf(b, shadow, o.operands[i], at));
      for (int i = 0; scan && i < op.num_results(); ++i) {
        Put(ShadowOf(b, shadow, o.results[i]), at, o.results[i].bytes, origin);
      }
    }
    for (int i = 0; !scan && i < op.num_results(); ++i) {
      Put(ShadowOf(b, shadow, o.results[i]), lane, o.results[i].bytes, origin);
    }
  }
}

void Poison::Mma(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  const Op& op = *o.op;
  uint8_t worst = 0;
  for (int i = 0; i < op.num_operands(); ++i) worst = std::max(worst, WorstOf(b, shadow, o.operands[i]));
  if (worst == 0) return SetAll(b, shadow, o.results[0], 0);
  const auto shape = op.result(0)->type().shape();
  const size_t r = shape.size();
  const int64_t batches = r == 3 ? shape[0] : 1, m = shape[r - 2], n = shape[r - 1];
  const ir::MmaOp product(op);
  const auto scales = ir::As<ir::MmaScaledOp>(&op);
  std::vector<uint8_t> rows(static_cast<size_t>(batches * m)), columns(static_cast<size_t>(batches * n));
  for (int i = 0; i < op.num_operands(); ++i) {
    if (i == product.acc_at() || WorstOf(b, shadow, o.operands[i]) == 0) continue;
    const bool left = i == product.lhs_at() || (scales && i == scales->lhs_scale_at());
    const int64_t elements = op.operand(i)->type().num_elements();
    const int64_t k = elements / (batches * (left ? m : n));
    for (int64_t e = 0; e < elements; ++e) {
      const uint8_t origin = OriginOf(b, shadow, o.operands[i], e);
      uint8_t& to = left ? rows[static_cast<size_t>(e / k)] : columns[static_cast<size_t>(e / (k * n) * n + e % n)];
      to = std::max(to, origin);
    }
  }
  uint8_t* out = ShadowOf(b, shadow, o.results[0]);
  for (int64_t e = 0; e < batches * m * n; ++e) {
    const uint8_t origin = std::max({OriginOf(b, shadow, o.operands[2], e), rows[static_cast<size_t>(e / n)],
                                     columns[static_cast<size_t>(e / (m * n) * n + e % n)]});
    Put(out, e, o.results[0].bytes, origin);
  }
}

// Loads and atomics: specified until the access tells otherwise; elements left out take what the operation gives them.
void Poison::Memory(BlockState& b, const OpPlaces& o, const Rule& rule, FrameShadow& shadow) {
  for (int i = 0; i < o.op->num_results(); ++i) SetAll(b, shadow, o.results[i], 0);
  if (rule.inactive < 0 || o.op->group_begin(rule.inactive) == o.op->group_end(rule.inactive)) return;
  const Place& p = o.operands[o.op->group_begin(rule.inactive)];
  if (WorstOf(b, shadow, p) == 0) return;
  uint8_t* out = ShadowOf(b, shadow, o.results[0]);
  for (int64_t e = 0; e < o.results[0].count; ++e) Put(out, e, o.results[0].bytes, OriginOf(b, shadow, p, e));
}

void Poison::Clear(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  for (int i = 0; i < o.op->num_results(); ++i) SetAll(b, shadow, o.results[i], 0);
  if (o.op->num_regions() == 0) return;
  for (int i = 0; i < o.op->region(0)->num_args(); ++i) SetAll(b, shadow, o.args[i], 0);
}

void Poison::Whole(BlockState& b, const OpPlaces& o, FrameShadow& shadow) {
  uint8_t worst = 0;
  for (int i = 0; i < o.op->num_operands(); ++i) {
    if (o.operands[i].bytes > 0) worst = std::max(worst, WorstOf(b, shadow, o.operands[i]));
  }
  for (int i = 0; i < o.op->num_results(); ++i) {
    // assume: the result is the operand itself.
    if (o.op->num_operands() > 0 && o.results[i].at == o.operands[0].at && o.results[i].bytes > 0) continue;
    SetAll(b, shadow, o.results[i], worst);
  }
}

}  // namespace tile::vm
