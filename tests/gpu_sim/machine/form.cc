#include "tests/gpu_sim/machine/form.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {

using Kind = ptx::Operand::Kind;

namespace {

constexpr std::pair<absl::string_view, Special> kSpecials[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneId},
    {"%warpid", Special::kWarpId},
    {"%cluster_ctarank", Special::kClusterRank},
    {"%cluster_nctarank", Special::kClusterSize},
    {"%clusterid.x", Special::kClusterIdX},
    {"%clusterid.y", Special::kClusterIdY},
    {"%clusterid.z", Special::kClusterIdZ},
    {"%nclusterid.x", Special::kNclusterX},
    {"%nclusterid.y", Special::kNclusterY},
    {"%nclusterid.z", Special::kNclusterZ},
    {"%cluster_ctaid.x", Special::kClusterBlockX},
    {"%cluster_ctaid.y", Special::kClusterBlockY},
    {"%cluster_ctaid.z", Special::kClusterBlockZ},
    {"%cluster_nctaid.x", Special::kClusterBlocksX},
    {"%cluster_nctaid.y", Special::kClusterBlocksY},
    {"%cluster_nctaid.z", Special::kClusterBlocksZ},
    {"%lanemask_lt", Special::kLaneMaskLt},
    {"%lanemask_le", Special::kLaneMaskLe},
    {"%lanemask_gt", Special::kLaneMaskGt},
    {"%lanemask_ge", Special::kLaneMaskGe},
    {"%lanemask_eq", Special::kLaneMaskEq},
    {"%dynamic_smem_size", Special::kDynamicShared},
    {"%smid", Special::kSmId},
};

}  // namespace

uint32_t Constants::Add(uint64_t bits) {
  program_.constants.push_back(bits);
  return program_.num_registers + static_cast<uint32_t>(program_.constants.size()) - 1;
}

uint32_t Constants::Number(uint64_t bits) {
  const auto [at, is_new] = numbers_.emplace(bits, 0);
  if (is_new) at->second = Add(bits);
  return at->second;
}

uint32_t Constants::Sink() { return sink_ != 0 ? sink_ : sink_ = Add(0); }

absl::StatusOr<uint32_t> Constants::Named(absl::string_view name, uint64_t offset) {
  const auto [at, is_new] = named_.emplace(absl::StrCat(name, "+", offset), 0);
  if (!is_new) return at->second;
  for (const auto& [text, special] : kSpecials) {
    if (text != name) continue;
    at->second = Add(0);
    program_.specials.push_back({special, at->second - program_.num_registers});
    return at->second;
  }
  const auto symbol = symbols_.find(name);
  if (symbol == symbols_.end()) return absl::NotFoundError(absl::StrCat("the simulator knows no `", name, "`"));
  at->second = Add(symbol->second.value + offset);
  const uint32_t constant = at->second - program_.num_registers;
  if (symbol->second.space == ptx::Space::kParam)
    program_.addresses.push_back({Program::Address::Space::kParam, constant});
  if (symbol->second.space == ptx::Space::kShared)
    program_.addresses.push_back({Program::Address::Space::kShared, constant});
  return at->second;
}

bool Form::Take(absl::string_view word) {
  for (size_t i = 0; i < in_.words.size(); ++i) {
    if (taken_[i] || in_.words[i] != word) continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

void Form::Ignore(std::initializer_list<absl::string_view> words) {
  for (absl::string_view w : words) Take(w);
}

void Form::IgnorePrefixed(absl::string_view prefix) {
  for (size_t i = 0; i < in_.words.size(); ++i) {
    if (absl::StartsWith(in_.words[i], prefix)) taken_[i] = true;
  }
}

Type Form::TakeType() {
  for (size_t i = 0; i < in_.words.size(); ++i) {
    if (taken_[i]) continue;
    if (const std::optional<Type> type = TypeOf(in_.words[i]); type.has_value()) {
      taken_[i] = true;
      return *type;
    }
  }
  Fail("it has no type");
  return Type::kB32;
}

const ptx::Operand* Form::Use(size_t i) {
  if (i >= in_.operands.size()) {
    Fail("it has too few operands");
    return nullptr;
  }
  used_[i] = true;
  return &in_.operands[i];
}

uint32_t Form::UseRegister(const ptx::Operand& o) {
  uses_.push_back(static_cast<uint32_t>(o.number));
  return uses_.back();
}

std::vector<uint32_t> Form::Uses() const {
  std::vector<uint32_t> uses = uses_;
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

uint32_t Form::SourceOf(const ptx::Operand& o) {
  switch (o.kind) {
    case Kind::kRegister: return UseRegister(o);
    case Kind::kInteger:
    case Kind::kFloat32:
    case Kind::kFloat64: return constants_.Number(o.number);
    case Kind::kSymbol: {
      absl::StatusOr<uint32_t> slot = constants_.Named(o.text, o.number);
      if (slot.ok()) return *slot;
      Fail(slot.status().message());
      return 0;
    }
    default: Fail("it has an operand of another kind than expected"); return 0;
  }
}

uint32_t Form::DestinationOf(const ptx::Operand& o) {
  if (o.kind == Kind::kSymbol && o.text == "_") return constants_.Sink();
  if (o.kind == Kind::kRegister) return UseRegister(o);
  Fail("its result goes into something that is no register");
  return 0;
}

uint32_t Form::Source(size_t i) {
  const ptx::Operand* o = Use(i);
  if (o != nullptr && o->negated) Fail("it takes no negated operand");
  return o == nullptr ? 0 : SourceOf(*o);
}

uint32_t Form::SourceOrNot(size_t i, bool* negated) {
  const ptx::Operand* o = Use(i);
  if (o == nullptr) return 0;
  *negated = o->negated;
  return SourceOf(*o);
}

uint32_t Form::Destination(size_t i) {
  const ptx::Operand* o = Use(i);
  return o == nullptr ? 0 : DestinationOf(*o);
}

std::pair<uint32_t, uint32_t> Form::DestinationPair(size_t i) {
  const ptx::Operand* o = Use(i);
  if (o == nullptr) return {0, 0};
  if (o->kind != Kind::kPair) return {DestinationOf(*o), constants_.Sink()};
  return {DestinationOf(o->parts[0]), DestinationOf(o->parts[1])};
}

Place Form::Address(size_t i) {
  const ptx::Operand* o = Use(i);
  if (o == nullptr) return {};
  if (o->kind != Kind::kAddress) {
    Fail("an address is expected");
    return {};
  }
  const bool narrow = o->parts[0].kind == Kind::kRegister && kernel_.registers[o->parts[0].number].bits == 32;
  return {SourceOf(o->parts[0]), narrow, static_cast<int64_t>(o->number)};
}

const uint32_t* Form::Keep(std::vector<uint32_t> slots, uint32_t* count) {
  *count = static_cast<uint32_t>(slots.size());
  constants_.program().lists.push_back(std::move(slots));
  return constants_.program().lists.back().data();
}

const uint32_t* Form::Coordinates(size_t i, uint32_t* count) {
  std::vector<uint32_t> slots;
  const ptx::Operand* o = Use(i);
  if (o != nullptr && o->kind == Kind::kAddress && o->parts.size() == 2 && o->parts[1].kind == Kind::kList) {
    for (const ptx::Operand& p : o->parts[1].parts) slots.push_back(SourceOf(p));
  } else {
    Fail("[address, {coordinates}] is expected");
  }
  return Keep(std::move(slots), count);
}

const uint32_t* Form::Sources(size_t i, uint32_t* count) {
  std::vector<uint32_t> slots;
  const ptx::Operand* o = Use(i);
  if (o != nullptr && o->kind == Kind::kList) {
    for (const ptx::Operand& p : o->parts) slots.push_back(SourceOf(p));
  } else if (o != nullptr) {
    slots.push_back(SourceOf(*o));
  }
  return Keep(std::move(slots), count);
}

const uint32_t* Form::SourceRange(size_t first, size_t n, uint32_t* count) {
  std::vector<uint32_t> slots;
  for (size_t i = first; i < first + n; ++i) slots.push_back(Source(i));
  return Keep(std::move(slots), count);
}

const uint32_t* Form::Destinations(size_t i, uint32_t* count) {
  std::vector<uint32_t> slots;
  const ptx::Operand* o = Use(i);
  if (o != nullptr && o->kind == Kind::kList) {
    for (const ptx::Operand& p : o->parts) slots.push_back(DestinationOf(p));
  } else if (o != nullptr) {
    slots.push_back(DestinationOf(*o));
  }
  return Keep(std::move(slots), count);
}

int64_t Form::Number(size_t i) {
  const ptx::Operand* o = Use(i);
  if (o != nullptr && o->kind == Kind::kInteger) return static_cast<int64_t>(o->number);
  Fail("a number is expected");
  return 0;
}

int Form::Bits(size_t i, size_t part) {
  if (i >= in_.operands.size()) return 0;
  const ptx::Operand* o = &in_.operands[i];
  if (o->kind == Kind::kList) {
    if (part >= o->parts.size()) return 0;
    o = &o->parts[part];
  }
  return o->kind == Kind::kRegister ? kernel_.registers[o->number].bits : 0;
}

const ptx::Operand& Form::Raw(size_t i) {
  static const ptx::Operand kNone;
  const ptx::Operand* o = Use(i);
  return o == nullptr ? kNone : *o;
}

void Form::Fail(absl::string_view why) {
  if (status_.ok()) status_ = Unknown(why);
}

absl::Status Form::Unknown(absl::string_view why) const {
  return absl::UnimplementedError(
      absl::StrCat("line ", in_.line, ": the simulator does not know `", in_.opcode, "`: ", why));
}

absl::Status Form::Finish() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) Fail(absl::StrCat("`.", in_.words[i], "`"));
  }
  for (size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i]) Fail(absl::StrCat("operand ", i + 1));
  }
  return status_;
}

}  // namespace tile::gpu_sim
