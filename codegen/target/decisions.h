// The table of codegen/target/decisions.def: what a pass decided about an operation, as a typed annotation of it.
//
//   Decide<Decision::kWarps>(module, op, {2, 2});
//   if (auto warps = DecisionOf<Decision::kWarps>(*op)) …      // optional<Span<const int64_t>>; of a flag: bool
//
// An operation that a pass makes anew has no decisions; a copy of one (ir/create_like.h) and a clone of a module (ir/clone.h) have
// them all. Not thread-safe for writing.
#ifndef TILE_CODEGEN_TARGET_DECISIONS_H_
#define TILE_CODEGEN_TARGET_DECISIONS_H_

#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::codegen {

enum class Decision : uint8_t {
#define TILE_DECISION(Name, ...) k##Name,
#include "codegen/target/decisions.def"
};

const ir::AttrInfo& InfoOf(Decision d);
// By its name in texts; null if there is none.
const ir::AttrInfo* FindDecision(absl::string_view name);

namespace internal {

inline constexpr ir::AttrKind kDecisionKinds[] = {
#define TILE_DECISION(Name, name, Kind) ir::AttrKind::k##Kind,
#include "codegen/target/decisions.def"
};

template <ir::AttrKind>
struct DecisionValue;
template <>
struct DecisionValue<ir::AttrKind::kInt> {
  using Type = int64_t;
  static Type Of(const ir::Attr& a) { return a.as_int(); }
  static ir::Attr In(ir::Module*, Type v) { return ir::Attr::Int(ir::AttrKind::kInt, v); }
};
template <>
struct DecisionValue<ir::AttrKind::kInts> {
  using Type = absl::Span<const int64_t>;
  static Type Of(const ir::Attr& a) { return a.ints(); }
  static ir::Attr In(ir::Module* module, Type v) { return ir::Attr::Ints(module->arena().Copy(v)); }
};
template <>
struct DecisionValue<ir::AttrKind::kString> {
  using Type = absl::string_view;
  static Type Of(const ir::Attr& a) { return a.as_string(); }
  static ir::Attr In(ir::Module* module, Type v) { return ir::Attr::String(ir::AttrKind::kString, module->Copy(v)); }
};
template <>
struct DecisionValue<ir::AttrKind::kFlag> {
  using Type = bool;
  static ir::Attr In(ir::Module*, bool v) { return ir::Attr::Flag(v); }
};

template <Decision kDecision>
using ValueOf = DecisionValue<kDecisionKinds[static_cast<size_t>(kDecision)]>;

}  // namespace internal

template <Decision kDecision>
void Decide(ir::Module* module, ir::Op* op, typename internal::ValueOf<kDecision>::Type value) {
  module->Annotate(op, InfoOf(kDecision), internal::ValueOf<kDecision>::In(module, value));
}

// nullopt, of a flag false: nobody decided so.
template <Decision kDecision>
auto DecisionOf(const ir::Op& op) {
  using Value = internal::ValueOf<kDecision>;
  const ir::Attr attr = op.annotation(InfoOf(kDecision));
  if constexpr (std::is_same_v<typename Value::Type, bool>) {
    return attr.present() && attr.as_bool();
  } else {
    return attr.present() ? std::optional(Value::Of(attr)) : std::nullopt;
  }
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_TARGET_DECISIONS_H_
