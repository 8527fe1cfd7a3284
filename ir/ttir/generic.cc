#include "ir/ttir/generic.h"

#include <algorithm>
#include <initializer_list>

#include "absl/types/span.h"

namespace tile::ir::ttir {
namespace {

using Names = absl::Span<const absl::string_view>;

// What the numbers of an enumeration are called. An attribute `as` the words of the operation, in the order of the rows, or as an
// attribute of this name.
struct Enumeration {
  absl::string_view op, attr, as;  // as: empty: a word
  int64_t first;
  Names names;
};

constexpr absl::string_view kAxes[] = {"x", "y", "z"};
constexpr absl::string_view kIntegers[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
constexpr absl::string_view kFloats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
constexpr absl::string_view kUpdates[] = {"and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"};
constexpr absl::string_view kReductions[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
constexpr absl::string_view kOrderings[] = {"relaxed", "acquire", "release", "acq_rel"};
constexpr absl::string_view kScopes[] = {"gpu", "cta", "sys"};
constexpr absl::string_view kPrecisions[] = {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};
constexpr absl::string_view kScaled[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"};
constexpr absl::string_view kRoundings[] = {"rtz", "rtne"};
constexpr absl::string_view kNone[] = {"none"};
constexpr absl::string_view kAll[] = {"all"};

constexpr Enumeration kEnumerations[] = {
    {"arith.cmpf", "predicate", "", 0, kFloats},
    {"arith.cmpi", "predicate", "", 0, kIntegers},
    {"tt.atomic_cas", "sem", "", 1, kOrderings},
    {"tt.atomic_cas", "scope", "", 1, kScopes},
    {"tt.atomic_load", "sem", "", 1, kOrderings},
    {"tt.atomic_load", "scope", "", 1, kScopes},
    {"tt.atomic_poll", "sem", "", 1, kOrderings},
    {"tt.atomic_poll", "scope", "", 1, kScopes},
    {"tt.atomic_rmw", "atomic_rmw_op", "", 1, kUpdates},
    {"tt.atomic_rmw", "sem", "", 1, kOrderings},
    {"tt.atomic_rmw", "scope", "", 1, kScopes},
    {"tt.atomic_store", "sem", "", 1, kOrderings},
    {"tt.atomic_store", "scope", "", 1, kScopes},
    {"tt.clampf", "propagateNan", "propagateNan", 0, kNone},
    {"tt.clampf", "propagateNan", "propagateNan", 0xFFFF, kAll},
    {"tt.descriptor_reduce", "kind", "", 1, kReductions},
    {"tt.dot", "inputPrecision", "inputPrecision", 0, kPrecisions},
    {"tt.dot_scaled", "a_elem_type", "lhs", 0, kScaled},
    {"tt.dot_scaled", "b_elem_type", "rhs", 0, kScaled},
    {"tt.fp_to_fp", "rounding", "rounding", 0, kRoundings},
    {"tt.get_num_programs", "axis", "", 0, kAxes},
    {"tt.get_program_id", "axis", "", 0, kAxes},
};

// Strings that the pretty form has without a name.
struct Text {
  absl::string_view op, attr;
};
constexpr Text kTexts[] = {
    {"tt.assert", "message"}, {"tt.elementwise_inline_asm", "asm_string"}, {"tt.print", "prefix"}};

const Attribute* IntegerOf(const Node& n, absl::string_view name) {
  const Attribute* a = n.attr(name);
  return a != nullptr && a->ints.size() == 1 ? a : nullptr;
}

void NameEnumerations(Node* n) {
  for (const Enumeration& e : kEnumerations) {
    const Attribute* a = e.op == n->name ? IntegerOf(*n, e.attr) : nullptr;
    if (a == nullptr || a->ints[0] < e.first || a->ints[0] - e.first >= static_cast<int64_t>(e.names.size())) continue;
    const absl::string_view name = e.names[static_cast<size_t>(a->ints[0] - e.first)];
    if (e.as.empty()) {
      n->words.push_back(name);
      n->word_places.push_back(0);
      continue;
    }
    Attribute named;
    named.name = e.as;
    named.text = name;
    n->attrs.erase(n->attrs.begin() + (a - n->attrs.data()));
    n->attrs.push_back(named);
  }
}

constexpr absl::string_view kSegmentSizes = "operandSegmentSizes";

// How many operands each group has; empty: it is not said.
std::vector<size_t> Segments(const Node& n) {
  const Attribute* a = n.attr(kSegmentSizes);
  std::vector<size_t> sizes;
  size_t sum = 0;
  for (int64_t size : a == nullptr ? std::vector<int64_t>() : a->ints) {
    if (size < 0 || static_cast<size_t>(size) > n.operands.size()) return {};
    sizes.push_back(static_cast<size_t>(size));
    sum += sizes.back();
  }
  return sum == n.operands.size() ? sizes : std::vector<size_t>();
}

// A branch has all values in a row: those of its condition, then of each successor.
void SplitSuccessors(Node* n) {
  size_t at = 0;
  if (n->name == "cf.br" && n->successors.size() == 1) {
    n->successors[0].args = n->operands;
  } else if (n->name == "cf.cond_br" && n->successors.size() == 2) {
    const std::vector<size_t> sizes = Segments(*n);
    if (sizes.size() != 3 || sizes[0] != 1) return;
    at = 1;
    for (size_t i = 0; i < 2; ++i) {
      const auto begin = n->operands.begin() + static_cast<std::ptrdiff_t>(at);
      n->successors[i].args.assign(begin, begin + static_cast<std::ptrdiff_t>(sizes[1 + i]));
      at += sizes[1 + i];
    }
    at = 1;
  } else {
    return;
  }
  n->operands.resize(at);
}

// a, b, c, the scale of a, that of b; as pretty each scale stands behind its operand, and c at the end.
void PlaceScales(Node* n) {
  const std::vector<size_t> sizes = Segments(*n);
  if (sizes.size() != 5 || sizes[0] != 1 || sizes[1] != 1 || sizes[2] != 1 || sizes[3] > 1 || sizes[4] > 1) return;
  const std::vector<ValueRef> given = n->operands;
  n->operands = {given[0]};
  const auto scale = [&](const ValueRef& v) {
    n->words.push_back("scale");
    n->word_places.push_back(static_cast<uint32_t>(n->operands.size()));
    n->operands.push_back(v);
  };
  if (sizes[3] == 1) scale(given[3]);
  n->operands.push_back(given[1]);
  if (sizes[4] == 1) scale(given[3 + sizes[3]]);
  n->operands.push_back(given[2]);
}

}  // namespace

void ToPretty(Node* n) {
  NameEnumerations(n);
  for (const Text& t : kTexts) {
    if (n->name != t.op) continue;
    for (Attribute& a : n->attrs) {
      if (a.name == t.attr) a.name = "";
    }
  }
  if (n->name == "tt.call") n->symbol = n->word("callee");
  // A value stands before the indices at which it is stored.
  if ((n->name == "tt.descriptor_store" || n->name == "tt.descriptor_reduce") && n->operands.size() > 2) {
    std::rotate(n->operands.begin() + 1, n->operands.begin() + 2, n->operands.end());
  }
  if (n->name == "tt.dot_scaled") PlaceScales(n);
  SplitSuccessors(n);
  // The type of what has no operands, or that is a descriptor, is that of the result.
  const bool by_result = n->name == "arith.constant" || n->name == "ub.poison" ||
                         n->name == "tt.make_tensor_descriptor" || n->name == "tt.make_tensor_ptr";
  if (by_result && !n->outputs.empty()) n->types = n->outputs;
  if (n->name == "scf.for" && n->regions.size() == 1 && !n->regions[0].blocks[0].args.empty()) {
    n->types = {n->regions[0].blocks[0].args[0].type};
    if (n->word("unsignedCmp", "no").empty()) n->words.push_back("unsigned");
  }
  if (n->name == "scf.if" && n->regions.size() == 2 && n->regions[1].blocks[0].ops.empty()) n->regions.pop_back();
}

}  // namespace tile::ir::ttir
