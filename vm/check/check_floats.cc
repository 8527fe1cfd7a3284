#include "vm/check/check_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "vm/check/check_poison.h"
#include "vm/kernels/find.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;
using ir::Opcode;

bool IsIeee(Elem e) { return e == Elem::kF16 || e == Elem::kBF16 || e == Elem::kF32 || e == Elem::kF64; }

uint64_t InfinityOf(Elem e) {
  const ir::FloatFormat& f = ir::FloatFormatOf(e);
  return ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
}

// Whether some of n numbers are NaN, or infinite unless only NaN counts.
bool AnyNotFinite(Elem e, const uint8_t* p, int64_t n, bool only_nan) {
  if (!IsIeee(e)) {  // of a byte or less in memory
    for (int64_t i = 0; i < n; ++i) {
      if (ir::IsNanBits(e, p[i]) || (!only_nan && std::isinf(ir::ToDouble(e, p[i])))) return true;
    }
    return false;
  }
  return AnyFrom(p, ir::StorageBytes(e), n, InfinityOf(e) + (only_nan ? 1 : 0), false);
}

// Whether a finite or infinite number over one of n numbers can be NaN.
bool AnyZeroOrInfinite(Elem e, const uint8_t* p, int64_t n) {
  return AnyFrom(p, ir::StorageBytes(e), n, InfinityOf(e), true);
}

const uint8_t* DataOf(const BlockState& b, const Place& p) { return static_cast<const uint8_t*>(b.at(p.at)); }

double At(Elem e, const uint8_t* p, int64_t i) {
  if (e == Elem::kF32) {
    float v;
    std::memcpy(&v, p + i * 4, sizeof(v));
    return v;
  }
  const int64_t bytes = ir::StorageBytes(e);
  uint64_t bits = 0;
  std::memcpy(&bits, p + i * bytes, static_cast<size_t>(bytes));
  return ir::ToDouble(e, bits);
}

int64_t StoredElement(const OpPlaces& o, int operand, int64_t e) {
  const Place &p = o.operands[operand], &r = o.results[0];
  return p.count == r.count && p.run == r.run ? e : StoredIndex(p, e * r.run);
}

std::string Text(double v) { return absl::StrFormat("%g", v); }

}  // namespace

Floats::Kind Floats::KindOf(const Op& op) {
  if (op.num_results() != 1 || !op.result(0)->type().is_tile() || op.result(0)->type().elem() == Elem::kPtr ||
      !ir::IsFloat(op.result(0)->type().elem())) {
    return Kind::kNone;
  }
  static constexpr struct {
    Opcode opcode;
    Kind kind;
  } kKinds[] = {
      {Opcode::kAddf, Kind::kSum},         {Opcode::kSubf, Kind::kDifference},  {Opcode::kMulf, Kind::kProduct},
      {Opcode::kFma, Kind::kProduct},      {Opcode::kDivf, Kind::kQuotient},    {Opcode::kLog, Kind::kNotNegative},
      {Opcode::kLog2, Kind::kNotNegative}, {Opcode::kSqrt, Kind::kNotNegative}, {Opcode::kRsqrt, Kind::kNotNegative},
      {Opcode::kSin, Kind::kNotInfinite},  {Opcode::kCos, Kind::kNotInfinite},  {Opcode::kBitcast, Kind::kBits},
      {Opcode::kFToF, Kind::kNarrow},      {Opcode::kRemf, Kind::kUnknown},     {Opcode::kExp, Kind::kNone},
      {Opcode::kExp2, Kind::kNone},  // NaN only of NaN
      {Opcode::kTanh, Kind::kNone},        {Opcode::kErf, Kind::kNone},         {Opcode::kErfc, Kind::kNone}};
  const bool ieee = IsIeee(op.result(0)->type().elem());
  for (const auto& row : kKinds) {
    if (row.opcode != op.opcode()) continue;
    if (row.kind == Kind::kNarrow) {
      return ieee && ir::StorageBytes(op.result(0)->type().elem()) == 2 ? Kind::kNarrow : Kind::kNone;
    }
    return row.kind <= Kind::kQuotient && row.kind != Kind::kNone && !ieee ? Kind::kUnknown : row.kind;
  }
  return op.info()->family == ir::Family::kMath ? Kind::kUnknown : Kind::kNone;
}

Floats::Floats(LaunchState& state) : state_(state) {
  for (const InstrNote& note : state.code->notes) {
    kinds_.push_back(note.role == Role::kWork && note.places != nullptr ? KindOf(*note.places->op) : Kind::kNone);
  }
}

void Floats::Before(const BlockState& b, size_t instr, const InstrNote& note) {
  const Kind kind = kinds_[instr];
  if (kind == Kind::kNone || loaded_) return;
  const OpPlaces& o = *note.places;
  const Place& first = o.operands[0];
  const Elem result = o.op->result(0)->type().elem();
  switch (kind) {
    case Kind::kNone: return;
    case Kind::kSum:
    case Kind::kDifference:
    case Kind::kProduct:
    case Kind::kQuotient: return SeeArithmetic(b, kind, o);
    case Kind::kNarrow: return SeeNarrowed(b, o);
    case Kind::kUnknown: explained_nan_ = true; return;
    case Kind::kBits:
      explained_nan_ = explained_nan_ || AnyNotFinite(result, DataOf(b, first), first.count, true);
      return;
    case Kind::kNotInfinite:
      explained_nan_ = explained_nan_ || AnyNotFinite(result, DataOf(b, first), first.count, false);
      return;
    case Kind::kNotNegative:
      for (int64_t i = 0; i < first.count && !explained_nan_; ++i) explained_nan_ = At(result, DataOf(b, first), i) < 0;
      return;
  }
}

void Floats::SeeArithmetic(const BlockState& b, Kind kind, const OpPlaces& o) {
  const Elem elem = o.op->result(0)->type().elem();
  const int n = o.op->num_operands() == 3 ? 3 : 2;
  if (nan_.op != nullptr && explained_nan_) return;
  bool possible = false;
  if (kind == Kind::kQuotient) {
    possible = AnyZeroOrInfinite(elem, DataOf(b, o.operands[1]), o.operands[1].count);
  } else {
    for (int i = 0; i < n && !possible; ++i) {
      possible = AnyNotFinite(elem, DataOf(b, o.operands[i]), o.operands[i].count, false);
    }
  }
  if (!possible) return;
  for (int64_t e = 0; e < o.results[0].count; ++e) {
    double v[3] = {};
    bool was_nan = false;
    for (int i = 0; i < n; ++i) {
      v[i] = At(elem, DataOf(b, o.operands[i]), StoredElement(o, i, e));
      was_nan = was_nan || std::isnan(v[i]);
    }
    if (was_nan) continue;
    if (kind == Kind::kQuotient && v[0] == 0 && v[1] == 0) {
      explained_nan_ = true;
      return;
    }
    const double r = kind == Kind::kSum          ? v[0] + v[1]
                     : kind == Kind::kDifference ? v[0] - v[1]
                     : kind == Kind::kQuotient   ? v[0] / v[1]
                                                 : v[0] * v[1] + (n == 3 ? v[2] : 0);
    if (!std::isnan(r) || nan_.op != nullptr) continue;
    static constexpr const char* kSigns[] = {" + ", " - ", " * ", " / "};
    const char* sign = kSigns[static_cast<int>(kind) - static_cast<int>(Kind::kSum)];
    nan_ = {o.op, absl::StrCat(Text(v[0]), sign, Text(v[1]), n == 3 ? absl::StrCat(" + ", Text(v[2])) : "")};
    if (kind != Kind::kQuotient) return;
  }
}

void Floats::SeeNarrowed(const BlockState& b, const OpPlaces& o) {
  if (infinity_.op != nullptr) return;
  const Elem from = o.op->operand(0)->type().elem(), to = o.op->result(0)->type().elem();
  if (!IsIeee(from) || ir::FloatFormatOf(from).exponent_bits <= ir::FloatFormatOf(to).exponent_bits) return;
  const uint8_t* data = DataOf(b, o.operands[0]);
  for (int64_t i = 0; i < o.operands[0].count; ++i) {
    const double v = At(from, data, i);
    if (!std::isfinite(v) || !std::isinf(ir::ToDouble(to, ir::FromDouble(to, v)))) continue;
    infinity_ = {o.op, absl::StrCat(Text(v), " does not fit ", ir::ElemInfoOf(to).spelling)};
    return;
  }
}

void Floats::SeeLoaded(const Op& load, const Access& a) {
  if (loaded_ || load.num_results() == 0 || !load.result(0)->type().is_tile()) return;
  const ir::Type type = load.result(0)->type();
  if (type.elem() == Elem::kPtr || !ir::IsFloat(type.elem()) || a.element_bytes != ir::StorageBytes(type.elem()))
    return;
  loaded_ = AnyNotFinite(type.elem(), reinterpret_cast<const uint8_t*>(a.address), a.elements, false);
}

bool Floats::HasConstantNan() const {
  const uint8_t* constants = state_.code->aligned_constants();
  for (const InstrNote& note : state_.code->notes) {
    if (note.places == nullptr || note.role != Role::kWork) continue;
    for (int i = 0; i < note.places->op->num_operands(); ++i) {
      const Place& p = note.places->operands[i];
      const ir::Type t = note.places->op->operand(i)->type();
      if (!p.at.constant() || !t.is_tile() || t.elem() == Elem::kPtr || !ir::IsFloat(t.elem())) continue;
      if (AnyNotFinite(t.elem(), constants + ~p.at.offset, p.count, true)) return true;
    }
  }
  return false;
}

void Floats::Report(ShadowMemory& memory, const Races& races) {
  if (loaded_) return;
  if (explained_nan_ || (nan_.op != nullptr && HasConstantNan())) nan_.op = nullptr;
  if (nan_.op == nullptr && infinity_.op == nullptr) return;
  for (auto& [begin, region] : memory.regions()) {
    const Allocation& a = *region->allocation;
    if (a.kind == Allocation::Kind::kBuffer && !a.element.is_pointer() && IsIeee(a.element.kind))
      ReportRegion(*region, races);
  }
}

void Floats::ReportRegion(Region& region, const Races& races) {
  const Allocation& a = *region.allocation;
  const Elem elem = a.element.kind;
  const auto bytes = static_cast<uintptr_t>(ir::StorageBytes(elem));
  const auto* data = reinterpret_cast<const uint8_t*>(a.begin);
  const auto total = static_cast<int64_t>(a.bytes / bytes);
  if (!AnyNotFinite(elem, data, total, false)) return;
  int64_t count = 0, first = 0;
  bool is_nan = false;
  std::pair<const Op*, int64_t> writer;
  for (int64_t i = 0; i < total; ++i) {
    const double v = At(elem, data, i);
    if (std::isfinite(v) || (std::isnan(v) ? nan_ : infinity_).op == nullptr || (count > 0 && std::isnan(v) != is_nan))
      continue;
    const auto found = races.LastWriter(region, a.begin + static_cast<uintptr_t>(i) * bytes);
    if (found.first == nullptr || region.OriginOf(a.begin + static_cast<uintptr_t>(i) * bytes) != 0) continue;
    if (count++ > 0) continue;
    first = i;
    is_nan = std::isnan(v);
    writer = found;
  }
  if (count == 0) return;
  const Birth& birth = is_nan ? nan_ : infinity_;
  BlockState b;
  b.code = state_.code;
  b.launch = &state_;
  const int64_t* g = state_.launch->grid;
  b.index = writer.second;
  b.id[0] = static_cast<int32_t>(b.index % g[0]);
  b.id[1] = static_cast<int32_t>(b.index / g[0] % g[1]);
  b.id[2] = static_cast<int32_t>(b.index / g[0] / g[1]);
  Warn(
      b, writer.first, "vm.not_finite",
      [&] {
        return absl::StrCat(
            is_nan ? "NaN" : "infinity", " is left in `", a.name, "`",
            Races::IndexText(a, a.begin + static_cast<uintptr_t>(first) * bytes),
            count > 1 ? absl::StrCat(" and ", count - 1, count == 2 ? " more element" : " more elements") : "",
            ", although all numbers that were read are finite: ", birth.text, " at ",
            state_.code->module->Where(birth.op->loc, birth.op->pos));
      },
      is_nan ? "give a row without elements, or whose maximum is -inf, a result of its own; nothing, if NaN is meant"
             : "compute in a wider type, or scale or clamp before the conversion; nothing, if infinity is meant");
}

}  // namespace tile::vm
