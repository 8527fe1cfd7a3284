#include "ir/text/infer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/text/per_op.h"
#include "ir/text/syntax.h"

namespace tile::ir::text {
namespace {

// --- operations whose results the constraints do not say
// --------------------------------------------------------------

Type CatResult(const OpenOp& op, Module& module) {
  const Type a = op.type(0), b = op.type(1);
  const int64_t dim = op.attrs[0].as_int();
  if (!a.is_tile() || !b.is_tile() || a.rank() != b.rank() || dim < 0 || dim >= a.rank()) return Type();
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  if (__builtin_add_overflow(shape[dim], b.shape()[dim], &shape[dim])) return Type();
  return module.types().Tile(a.element(), shape);
}

Type PermuteResult(const OpenOp& op, Module& module) {
  const Type from = op.type(0);
  if (!from.is_tile()) return Type();
  std::vector<int64_t> shape;
  for (int64_t d : op.attrs[0].ints()) {
    if (d < 0 || d >= from.rank()) return Type();
    shape.push_back(from.shape()[d]);
  }
  return module.types().Tile(from.element(), shape);
}

Type PackResult(const OpenOp& op, Module& module) {
  const Type from = op.type(0);
  constexpr int64_t kMost = int64_t{1} << 48;  // elements; no tile is near it
  if (!from.is_tile() || from.elem() == Elem::kPtr || from.num_elements() > kMost) return Type();
  const int bits = from.elem() == Elem::kI1 ? 1 : MemoryBits(from.elem());
  if (bits * from.num_elements() % 8 != 0) return Type();
  return module.types().Tile(Element::Number(Elem::kI8), {bits * from.num_elements() / 8});
}

Type ConstantResult(const OpenOp& op, Module& module) {
  const Dense& value = op.attrs[0].dense();
  if (!value.splat && op.list_shape.empty()) return Type();  // a string of bytes has no shape
  return module.types().Tile(Element::Number(value.elem), op.list_shape);
}

// Only a global that stands in front of the kernel is known.
Type GlobalResult(const OpenOp& op, Module& module) {
  const Global* g = module.FindGlobal(op.attrs[0].as_string());
  return g == nullptr ? Type() : module.types().Scalar(Element::Pointer(g->value.elem));
}

// Sizes come back in the type in which make_tensor_view got them.
Type SizeResult(const OpenOp& op, Module& module) {
  const Value* v = op.field(0).empty() ? nullptr : op.field(0)[0];
  const Op* def = v == nullptr ? nullptr : v->def();
  if (def != nullptr && v->type().is_view()) def = def->num_operands() == 1 ? def->operand(0)->def() : nullptr;
  if (def != nullptr && def->opcode() == Opcode::kMakeTensorView) {
    for (int i = 1; i < def->num_operands(); ++i) {
      const Type t = def->operand(i)->type();
      if (t.is_scalar() && IsInt(t.elem())) return t;
    }
  }
  return module.types().Scalar(Elem::kI32);
}

constexpr struct {
  Opcode opcode;
  Type (*result)(const OpenOp& op, Module& module);
} kFollows[] = {
    {Opcode::kCat, CatResult},
    {Opcode::kPermute, PermuteResult},
    {Opcode::kPack, PackResult},
    {Opcode::kConstant, ConstantResult},
    {Opcode::kGetGlobal, GlobalResult},
    {Opcode::kGetTensorShape, SizeResult},
    {Opcode::kGetIndexSpaceShape, SizeResult},
};

// --- the constraints column
// -------------------------------------------------------------------------------------------

// The only element of a set like I1 or I32.0; nothing for INT, FP, PTR.
std::optional<Elem> OnlyElement(absl::string_view set) {
  const std::optional<Elem> e = FindElem(absl::AsciiStrToLower(set.substr(0, set.find('.'))));
  return e == Elem::kPtr ? std::nullopt : e;
}

struct ResultRule {
  int shape_of = -1;            // operand field with the same shape
  std::optional<Elem> element;  // the only one
  bool open = true;             // nothing is said about the element
  bool tile_of_view = false;
};

struct Rules {
  std::vector<OperandRule> operands;
  std::vector<ResultRule> results;
};

// Fields that constraints tie together, directly or through others. Results are numbered behind the operands.
class Groups {
 public:
  explicit Groups(size_t n) : root_(n) {
    for (size_t i = 0; i < n; ++i) root_[i] = static_cast<int>(i);
  }
  int Find(int i) const {
    while (root_[i] != i) i = root_[i];
    return i;
  }
  void Join(int a, int b) { root_[Find(a)] = Find(b); }
  bool Alone(int i) const {
    return std::count_if(root_.begin(), root_.end(), [&](int r) { return Find(r) == Find(i); }) == 1;
  }

 private:
  std::vector<int> root_;
};

Rules BuildRules(const OpInfo& info) {
  const FormatInfo& format = *info.format;
  const int num_operands = static_cast<int>(format.operands.size());
  const size_t n = format.operands.size() + format.results.size();
  Rules rules;
  rules.operands.resize(format.operands.size());
  rules.results.resize(format.results.size());
  Groups shapes(n), elements(n);
  const auto position = [&](absl::string_view name) {
    const int operand = format.operand_index(name);
    return operand >= 0 ? operand : num_operands + format.result_index(name);
  };
  const int view = format.operand_index("view");
  for (absl::string_view word : absl::StrSplit(info.constraints, ' ', absl::SkipEmpty())) {
    const size_t mark = word.find_first_of(":=~^");
    const absl::string_view name = word.substr(0, mark), right = word.substr(mark + 1);
    const int a = position(name), b = word[mark] == ':' ? -1 : position(right);
    if (word[mark] == ':') {
      const int result = format.result_index(name);
      if (a < num_operands) {
        rules.operands[a].element = OnlyElement(right);
        rules.operands[a].integer = absl::StartsWith(right, "INT");
        rules.operands[a].pointer = absl::StartsWith(right, "PTR");
      }
      if (result >= 0) {
        rules.results[result].element = OnlyElement(right);
        rules.results[result].open = false;
      }
      continue;
    }
    if (word[mark] != '^') shapes.Join(a, b);
    if (word[mark] != '~') elements.Join(a, b);
    if (word[mark] == '~' && a >= num_operands && b < num_operands) rules.results[a - num_operands].shape_of = b;
  }
  for (int f = 0; f < num_operands; ++f) {
    OperandRule& r = rules.operands[f];
    const bool one = format.operands[f].arity != Arity::kVariadic;
    if (!shapes.Alone(f)) r.shape_group = shapes.Find(f);
    if (!elements.Alone(f)) r.element_group = elements.Find(f);
    r.of_view = view >= 0 && f != view && one && !r.integer && !absl::StrContains(info.constraints, "view:TVIEW") &&
                absl::StrContains(info.constraints, absl::StrCat(format.operands[f].name, ":NUM"));
    // A value goes to every address, but one address does not take many values.
    r.stretches = one && !(r.pointer && info.has(kTko));
  }
  // `value=cmp` speaks of the view's tiles, too.
  for (int f = 0; f < num_operands; ++f) {
    for (int g = 0; g < num_operands; ++g) {
      const bool same =
          rules.operands[f].shape_group >= 0 && rules.operands[f].shape_group == rules.operands[g].shape_group;
      if (same && rules.operands[g].of_view) rules.operands[f].of_view = true;
    }
  }
  for (size_t f = 0; f < format.results.size(); ++f) {
    rules.results[f].tile_of_view = view >= 0 && format.results[f].name == "tile";
  }
  return rules;
}

const Rules& RulesOf(const OpInfo& info) { return PerOp<Rules>(info, BuildRules); }

// --- results
// ----------------------------------------------------------------------------------------------------------

Type ResultOf(const OpenOp& op, Module& module, size_t f) {
  const FieldRule& field = TypeRuleOf(op.info).results[f];
  const ResultRule& rule = RulesOf(op.info).results[f];
  TypeContext& types = module.types();
  if (field.kind == FieldRule::kOperand) return op.type(field.same);
  if (field.kind == FieldRule::kToken) return types.Token();
  for (const auto& row : kFollows) {
    if (row.opcode == op.info.opcode) return row.result(op, module);
  }
  if (field.kind == FieldRule::kFixed) return types.Scalar(field.fixed);
  if (rule.tile_of_view) {
    const Type view = op.type(op.info.format->operand_index("view"));
    return view && view.is_view() ? types.TileOf(view) : Type();
  }
  if (rule.shape_of < 0) return Type();
  const Type like = op.type(rule.shape_of);
  if (!like || !like.is_tile()) return Type();
  if (rule.element) return types.Tile(Element::Number(*rule.element), like.shape());
  // What is read through pointers.
  if (rule.open && like.elem() == Elem::kPtr) return types.Tile(Element::Number(like.element().pointee), like.shape());
  return Type();
}

}  // namespace

bool InferResults(const OpenOp& op, Module& module, absl::Span<const Type> written, size_t n,
                  std::vector<Type>* results) {
  results->assign(written.begin(), written.end());
  if (written.size() == n && n > 0) return true;
  results->clear();
  const TypeRule& rule = TypeRuleOf(op.info);
  const std::vector<size_t> counts = SpreadResults(*op.info.format, n);
  std::vector<size_t> begins;
  size_t next = 0;
  for (size_t f = 0; f < counts.size(); ++f) {
    const FieldRule& field = rule.results[f];
    begins.push_back(results->size());
    if (counts[f] == 0) continue;
    if (field.kind == FieldRule::kResult && counts[field.same] > 0) {
      results->push_back((*results)[begins[field.same]]);
    } else if (next < written.size()) {
      if (counts[f] > 1 && (!field.uniform || counts[f] > kMaxFolded)) return false;
      results->insert(results->end(), counts[f], written[next++]);
    } else if (!written.empty() && field.kind != FieldRule::kToken) {
      return false;
    } else {
      const Type t = ResultOf(op, module, f);
      if (!t || (counts[f] > 1 && (!field.uniform || counts[f] > kMaxFolded))) return false;
      results->insert(results->end(), counts[f], t);
    }
  }
  return next == written.size();
}

bool ResultsFollow(const OpInfo& info) {
  for (const ResultRule& r : RulesOf(info).results) {
    if (r.tile_of_view || (r.shape_of >= 0 && (r.element || r.open))) return true;
  }
  return false;
}

// --- operands
// ---------------------------------------------------------------------------------------------------------

const std::vector<OperandRule>& OperandRulesOf(const OpInfo& info) { return RulesOf(info).operands; }

std::optional<std::vector<int64_t>> StretchedShape(const OpenOp& op, int field) {
  const std::vector<OperandRule>& rules = OperandRulesOf(op.info);
  const auto shape_of = [](Type t) { return std::vector<int64_t>(t.shape().begin(), t.shape().end()); };
  if (!rules[field].stretches) return std::nullopt;
  if (rules[field].of_view) {
    const Type view = op.type(op.info.format->operand_index("view"));
    if (view && view.is_view() && view.rank() > 0) return shape_of(view);
    return std::nullopt;
  }
  if (rules[field].shape_group < 0) return std::nullopt;
  std::vector<int64_t> shape;
  for (size_t f = 0; f < rules.size(); ++f) {
    if (rules[f].shape_group != rules[field].shape_group) continue;
    const Type t = op.type(static_cast<int>(f));
    if (!t || !t.is_tile()) continue;
    if (!rules[f].stretches) {
      if (t.rank() == 0) return std::nullopt;
      return shape_of(t);
    }
    if (t.rank() == 0) continue;
    if (shape.empty()) shape = shape_of(t);
    if (t.rank() != static_cast<int>(shape.size())) continue;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) shape[d] = t.shape()[d];
    }
  }
  if (shape.empty()) return std::nullopt;
  return shape;
}

bool Stretches(Type t, absl::Span<const int64_t> shape) {
  if (!t.is_tile() || t.shape() == shape) return false;
  if (t.rank() == 0) return true;
  if (t.shape().size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (t.shape()[d] != 1 && t.shape()[d] != shape[d]) return false;
  }
  return true;
}

std::optional<Element> ElementOfNumber(const OpenOp& op, int field) {
  const std::vector<OperandRule>& rules = OperandRulesOf(op.info);
  const OperandRule& rule = rules[field];
  if (rule.element) return Element::Number(*rule.element);
  for (const Value* v : op.field(field)) {  // of the same list
    if (v != nullptr && v->type().is_scalar()) return v->type().element();
  }
  for (size_t f = 0; rule.element_group >= 0 && f < rules.size(); ++f) {
    if (rules[f].element_group != rule.element_group) continue;
    const Type t = op.type(static_cast<int>(f));
    if (t && t.is_tile()) return t.element();
  }
  if (rule.integer) {
    if (rule.element_group >= 0 || op.info.format->operands.size() < 2) return std::nullopt;
    return Element::Number(Elem::kI32);
  }
  if (const int view = op.info.format->operand_index("view"); view >= 0 && op.type(view)) {
    const Type t = op.type(view);
    return t.is_view() || t.is_tensor_view() ? std::optional(t.element()) : std::nullopt;
  }
  if (const Type first = op.type(0);
      op.info.has(kTko) && rules[0].pointer && field > 0 && first && first.is_tile() && first.elem() == Elem::kPtr) {
    return Element::Number(first.element().pointee);
  }
  return std::nullopt;
}

}  // namespace tile::ir::text
