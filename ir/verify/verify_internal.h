// Inside of the verifier: what its files share. Each family of operations has a file that lists the operations with rules
// beyond the table's notation:
//
//   absl::Span<const OpRules> ShapeRules() {
//     static constexpr OpRules kRules[] = {{Opcode::kCat, CheckCat}, …};
//     return kRules;
//   }
//
// The functions run after the general checks: operands, results and attributes are then as the table says. They build
// text only on failure.
#ifndef TILE_IR_VERIFY_VERIFY_INTERNAL_H_
#define TILE_IR_VERIFY_VERIFY_INTERNAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/check.h"
#include "ir/diagnostic.h"
#include "ir/module.h"
#include "ir/reading.h"

namespace tile::ir::verify {

enum class Rule : uint16_t {
#define TILE_RULE(Name, ...) k##Name,
#include "ir/verify/verify_rules.def"
};

// A set of pointers that only grows, for the hot path: a module's values and types.
class PointerSet {
 public:
  // True if it was not there.
  bool Insert(const void* p);
  bool Contains(const void* p) const { return !slots_.empty() && slots_[Find(p)] == p; }

 private:
  size_t Find(const void* p) const;
  std::vector<const void*> slots_;
  size_t size_ = 0;
};

class Verifier {
 public:
  Verifier(const Module& module, const Reading* reading, Diagnostics* diagnostics)
      : module_(module), reading_(reading), diagnostics_(diagnostics) {}

  void Run();

  const Module& module() const { return module_; }
  const Global* FindGlobal(absl::string_view name) const;
  bool full() const { return diagnostics_->full(); }
  // Null unless the program was read from text.
  const Reading* reading() const { return reading_; }
  const Reading::Entry* PlacesOf(const Function& function) const;
  // No kernel: its parameters and results are of any type.
  bool LeftOut(const Function& function) const { return reading_ != nullptr && reading_->left_out.contains(&function); }

  // `subject` opens the message: the mnemonic, or what else the rule is about. `op` gives the label its mnemonic.
  void Report(Rule rule, const Op* op, LocId loc, SourcePos pos, absl::string_view subject, absl::string_view message,
              absl::string_view fix);

  // verify_type.cc. Each type is judged once; false if it is wrong, however often one asks.
  bool CheckType(Type type, const Op* where, const Function* function, SourcePos pos = {});
  // Sizes of tiles that a view was told to be wrong for.
  bool WrongInAView(absl::Span<const int64_t> shape) const {
    return wrong_in_views_.contains({shape.begin(), shape.end()});
  }
  void AddWrongInAView(absl::Span<const int64_t> shape) { wrong_in_views_.insert({shape.begin(), shape.end()}); }
  // verify_hints.cc
  void CheckHints(const Hints& hints, const Op* op, const Function* function);

  // verify_debug.cc: the location of an operation, against that of its entry.
  void CheckDebugOp(const Op& op, const Function& function) {
    if (op.loc != 0) CheckLocation(op, function);
  }

  uint64_t shared_bytes = 0;  // of the entry at hand, by alloc_shared

 private:
  void CheckSymbols();
  void CheckGlobal(const Global& global);
  void CheckFunction(const Function& function);
  void CheckInterface(const Function& function);  // verify_interface.cc
  void CheckOutputs(const Function& function);    // verify_outputs.cc
  void CheckDebugRecords();                       // verify_debug.cc
  void CheckEntryLocation(const Function& function);
  void CheckGlobalLocation(const Global& global);
  void CheckLocation(const Op& op, const Function& function);
  bool LocationExists(LocId loc, SourcePos pos, absl::string_view subject);

  const Module& module_;
  const Reading* reading_;
  Diagnostics* diagnostics_;
  absl::flat_hash_map<absl::string_view, const Global*> globals_;
  PointerSet good_types_, bad_types_;
  absl::flat_hash_set<std::vector<int64_t>> wrong_in_views_;
  // Of each debug record: the subprogram that it lies in, 0 if in none. Empty if the records are wrong.
  std::vector<LocId> subprograms_;
};

// Where an operation stands.
struct Surroundings {
  const Op* parent = nullptr;     // null: the body of the entry
  const Op* loop = nullptr;       // innermost for or loop, with only ifs between
  bool inside_for = false;        // at any distance
  bool inside_reduction = false;  // reduce or scan
  int depth = 0;
};

// One operation under judgement.
class OpCheck {
 public:
  OpCheck(Verifier& verifier, const Op& op, const Surroundings& around) : verifier(verifier), op(op), around(around) {}

  Verifier& verifier;
  const Op& op;
  const Surroundings& around;
  bool failed = false;

  // Type of an operand or result that is not `...`; no type if it is absent.
  Type in(Field field) const {
    const Group g = group(field);
    return g.size() == 0 ? Type() : op.operand(g.begin)->type();
  }
  Type out(Field field) const {
    const int f = op.info()->format->place(field).result;
    TILE_CHECK(f >= 0, "a rule asks for a result that the operation lacks");
    return op.result(f)->type();
  }
  // Positions of the operands of a `...` field.
  struct Group {
    int begin, end;
    int size() const { return end - begin; }
  };
  Group group(Field field) const {
    const int f = op.info()->format->place(field).operand;
    TILE_CHECK(f >= 0, "a rule asks for an operand that the operation lacks");
    return {op.group_begin(f), op.group_end(f)};
  }
  const Attr& attr(Field field) const {
    const int f = op.info()->format->place(field).attr;
    TILE_CHECK(f >= 0, "a rule asks for an attribute that the operation lacks");
    return op.attr(f);
  }
  template <class E>
  E get(Field field) const {
    return attr(field).template as_enum<E>();
  }

  // Reports unless `ok`; the text is built by `message()`, `fix` is a literal.
  template <class Message>
  bool Require(bool ok, Rule rule, Message&& message, absl::string_view fix = "") {
    if (!ok) Fail(rule, message(), fix);
    return ok;
  }
  void Fail(Rule rule, absl::string_view message, absl::string_view fix = "");
  // Of an operation with the attribute `hints`.
  void CheckHints() {
    const Attr& hints = attr(Field::kHints);
    if (hints.present()) verifier.CheckHints(hints.hints(), &op, nullptr);
  }
};

using OpVerifier = void (*)(OpCheck&);
struct OpRules {
  Opcode opcode;
  OpVerifier verifier;
};

// Declared by the table, so that a family without its file does not link.
#define TILE_OP(number, Name, mnemonic, Format, Family, ...) absl::Span<const OpRules> Family##Rules();
#include "ir/ops.def"

// verify_table.cc: rules 1 to 8 but for operands' places; false if the operation must not be looked at further.
bool CheckAgainstTable(OpCheck& c);
OpVerifier RulesFor(const OpInfo& info);
bool IsTileOp(const OpInfo* info);

// verify_structure.cc: blocks, places of operands, terminators.
void CheckBody(Verifier& verifier, const Function& function);

// --- small helpers of the families ----------------------------------------------------------------------------------

inline constexpr uint64_t kMaxAlignment = 65536;  // of globals and allocations, bytes

inline bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
inline bool IsPermutation(absl::Span<const int64_t> map, int rank) {
  uint64_t seen = 0;
  for (int64_t d : map) {
    if (d < 0 || d >= rank || d >= 64 || (seen >> d & 1)) return false;
    seen |= uint64_t{1} << d;
  }
  return static_cast<int>(map.size()) == rank;
}
// verify_memory.cc: rules of `ordering` and `scope`; bit n: the value n is allowed.
void CheckOrdering(OpCheck& c, uint32_t orderings, uint32_t scopes);
// verify_memory.cc: the element of `value` is what `pointers` point to.
bool CheckPointee(OpCheck& c, Type pointers, Type value);
// verify_view.cc: indices and `inbounds` of an access to a view, and the tile it moves.
void CheckViewAccess(OpCheck& c, Type tile);
// verify_view.cc: element, rank, dim and sizes of a scatter into a tensor.
void CheckScatter(OpCheck& c);

template <class... E>
constexpr uint32_t Bits(E... values) {
  return (0u | ... | (uint32_t{1} << static_cast<int>(values)));
}
inline constexpr uint32_t kAllScopes = 0xF;
inline constexpr uint32_t kReadOrderings =
    Bits(MemoryOrdering::kWeak, MemoryOrdering::kRelaxed, MemoryOrdering::kAcquire);
inline constexpr uint32_t kWriteOrderings =
    Bits(MemoryOrdering::kWeak, MemoryOrdering::kRelaxed, MemoryOrdering::kRelease);
inline constexpr uint32_t kAtomicOrderings =
    Bits(MemoryOrdering::kRelaxed, MemoryOrdering::kAcquire, MemoryOrdering::kRelease, MemoryOrdering::kAcqRel);

std::string List(absl::Span<const int64_t> numbers);  // "[1, 2]"
bool IsGoodName(absl::string_view name);              // of a symbol or an argument
// Bits an element may not have set: above bit 0 of i1, above bit 3 of 4-bit types, the low 13 of tf32.
bool CanonicalBits(const Dense& dense);

}  // namespace tile::ir::verify

#endif  // TILE_IR_VERIFY_VERIFY_INTERNAL_H_
