// One pass over both modules side by side. A map from values of the one to numbers, and the same for the other, makes
// the question "is it the same operand" one comparison. The message is only built once something differs.
#include "ir/compare.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tile::ir {
namespace {

bool SameLists(const std::vector<const TypeData*>& a, const std::vector<const TypeData*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TypeData* x, const TypeData* y) { return Equal(Type(x), Type(y)); });
}

std::string Describe(const Attr& a, const AttrInfo& info) {
  if (!a.present()) return "absent";
  switch (a.kind()) {
    case AttrKind::kFlag:
    case AttrKind::kBool: return a.as_bool() ? "true" : "false";
    case AttrKind::kInt: return absl::StrCat(a.as_int());
    case AttrKind::kEnum: {
      const EnumValueInfo* v = FindEnumValue(info.enum_id, a.as_int());
      return v ? v->keyword : absl::StrCat(a.as_int());
    }
    case AttrKind::kString:
    case AttrKind::kSymbol: return absl::StrCat("\"", absl::CEscape(a.as_string().substr(0, 80)), "\"");
    case AttrKind::kInts: return absl::StrCat("[", absl::StrJoin(a.ints().subspan(0, 16), ", "), "]");
    case AttrKind::kBools: return absl::StrCat("[", absl::StrJoin(a.bools().subspan(0, 16), ", "), "]");
    case AttrKind::kDense:
      return absl::StrCat(
          ElemInfoOf(a.dense().elem).spelling, a.dense().splat ? " splat " : " elements ",
          absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(a.dense().bytes.data()),
                                                   std::min<size_t>(a.dense().bytes.size(), 32))),
          " (", a.dense().bytes.size(), " bytes)");
    case AttrKind::kPredicate:
    case AttrKind::kHints:
    case AttrKind::kScalars: break;
  }
  return "one value";
}

class Comparer {
 public:
  explicit Comparer(const CompareOptions& options) : options_(options) {}

  std::string Run(const Module& a, const Module& b) {
    Check("module name", a.name, b.name) && (!options_.producer || Check("producer", a.producer, b.producer)) &&
        Check("number of globals", a.globals.size(), b.globals.size()) &&
        Check("number of kernels", a.functions.size(), b.functions.size()) && SameDebug(a, b);
    for (size_t i = 0; ok() && i < a.globals.size(); ++i) SameGlobal(*a.globals[i], *b.globals[i]);
    for (size_t i = 0; ok() && i < a.functions.size(); ++i) SameFunction(*a.functions[i], *b.functions[i]);
    return difference_;
  }

 private:
  bool ok() const { return difference_.empty(); }
  bool Differ(absl::string_view what, absl::string_view a, absl::string_view b) {
    if (ok()) difference_ = absl::StrCat(where_, what, ": ", a, ", other: ", b);
    return false;
  }
  template <class T>
  bool Check(absl::string_view what, const T& a, const T& b) {
    return a == b || Differ(what, absl::StrCat(a), absl::StrCat(b));
  }
  bool CheckType(absl::string_view what, Type a, Type b) {
    return Equal(a, b) || Differ(what, a.ToString(), b.ToString());
  }
  bool CheckLoc(LocId a, LocId b) { return !options_.debug || Check("location", a, b); }
  bool Fact(absl::string_view what, bool same) { return same || Differ(what, "one value", "another"); }

  bool SameDebug(const Module& a, const Module& b) {
    if (!options_.debug || !Check("number of debug records", a.debug.size(), b.debug.size())) return ok();
    for (size_t i = 0; i < a.debug.size(); ++i) {
      const DebugRecord &x = a.debug[i], &y = b.debug[i];
      const bool same = x.kind == y.kind && x.scope == y.scope && x.file == y.file && x.callee == y.callee &&
                        x.caller == y.caller && x.name == y.name && x.directory == y.directory &&
                        x.linkage_name == y.linkage_name && x.line == y.line && x.column == y.column &&
                        x.scope_line == y.scope_line && x.flags == y.flags;
      if (!Fact(absl::StrCat("debug record ", i + 1), same)) return false;
    }
    return true;
  }

  bool SameGlobal(const Global& a, const Global& b) {
    where_ = absl::StrCat("global @", a.name, ", ");
    return Check("name", a.name, b.name) && CheckType("type", a.type, b.type) && Check("count", a.count, b.count) &&
           Check("alignment", a.alignment, b.alignment) && Check("constant", a.constant, b.constant) &&
           Fact("visibility", a.visibility == b.visibility) &&
           Fact("element type of the value", a.value.elem == b.value.elem) &&
           Check("splat", a.value.splat, b.value.splat) && Fact("elements", a.value.bytes == b.value.bytes) &&
           CheckLoc(a.loc, b.loc);
  }

  bool SameInterface(const Interface* a, const Interface* b) {
    if (a == nullptr || b == nullptr) return Check("has an interface", a != nullptr, b != nullptr);
    return Fact("arrays of the interface", a->arrays == b->arrays) &&
           Fact("scalars of the interface", a->scalars == b->scalars) &&
           Fact("workspaces of the interface", a->workspaces == b->workspaces) &&
           Fact("grid of the interface", a->grid == b->grid);
  }

  bool SameFunction(const Function& a, const Function& b) {
    where_ = absl::StrCat("@", a.name, ", ");
    const Attr hints_a = a.hints ? Attr::Of(a.hints) : Attr(), hints_b = b.hints ? Attr::Of(b.hints) : Attr();
    if (!Check("name", a.name, b.name) || !Fact("visibility", a.visibility == b.visibility) ||
        !Fact("hints", Equal(hints_a, hints_b)) || !CheckLoc(a.loc, b.loc) ||
        !SameInterface(a.interface.get(), b.interface.get())) {
      return false;
    }
    for (int i = 0; i < 3; ++i) {
      if (!Check("blocks per cluster", a.blocks_per_cluster[i], b.blocks_per_cluster[i])) return false;
    }
    numbers_a_.clear();
    numbers_b_.clear();
    op_index_ = 0;
    return SameBlock(a.body(), b.body(), absl::StrCat("@", a.name));
  }

  bool Define(absl::string_view what, int i, Value* a, Value* b) {
    numbers_a_.emplace(a, static_cast<int>(numbers_a_.size()));
    numbers_b_.emplace(b, static_cast<int>(numbers_b_.size()));
    return Equal(a->type(), b->type()) || CheckType(absl::StrCat("type of ", what, " ", i), a->type(), b->type());
  }

  bool SameBlock(Block* a, Block* b, const std::string& function) {
    if (a == nullptr || b == nullptr) return Check("the region has a block", a != nullptr, b != nullptr);
    if (!Check("number of block arguments", a->num_args(), b->num_args())) return false;
    for (int i = 0; i < a->num_args(); ++i) {
      if (!Define("block argument", i, a->arg(i), b->arg(i))) return false;
    }
    Op *x = a->front(), *y = b->front();
    for (; x != nullptr && y != nullptr; x = x->next(), y = y->next()) {
      if (!SameOp(x, y, function)) return false;
    }
    if (x == nullptr && y == nullptr) return true;
    return Differ("next op", x ? x->info()->mnemonic : "end of the block",
                  y ? y->info()->mnemonic : "end of the block");
  }

  bool SameOp(Op* a, Op* b, const std::string& function) {
    const OpInfo* info = a->info();
    where_ = absl::StrCat(function, ", op ", op_index_++, " (", info->mnemonic, "): ");
    if (info != b->info()) return Differ("operation", info->mnemonic, b->info()->mnemonic);
    if (!Check("number of operands", a->num_operands(), b->num_operands()) ||
        !Check("number of results", a->num_results(), b->num_results()) || !CheckLoc(a->loc, b->loc)) {
      return false;
    }
    for (size_t f = 0; f < info->format->operands.size(); ++f) {
      const int field = static_cast<int>(f);
      if (a->group_end(field) == b->group_end(field)) continue;
      return Check(absl::StrCat("number of operands of ", info->format->operands[f].name),
                   a->group_end(field) - a->group_begin(field), b->group_end(field) - b->group_begin(field));
    }
    for (int i = 0; i < a->num_operands(); ++i) {
      const int x = Number(numbers_a_, a->operand(i)), y = Number(numbers_b_, b->operand(i));
      if (x != y) return Check(absl::StrCat("operand ", i, ": value"), x, y);
    }
    for (size_t i = 0; i < info->format->attrs.size(); ++i) {
      const Attr &x = a->attr(static_cast<int>(i)), &y = b->attr(static_cast<int>(i));
      const AttrInfo& attr = info->format->attrs[i];
      if (!Equal(x, y)) return Differ(absl::StrCat("attribute ", attr.name), Describe(x, attr), Describe(y, attr));
    }
    if (!SameAnnotations(*a, *b)) return false;
    for (int i = 0; i < a->num_results(); ++i) {
      if (!Define("result", i, a->result(i), b->result(i))) return false;
    }
    for (int i = 0; i < a->num_regions(); ++i) {
      const std::string outer = where_;
      if (!SameBlock(a->region(i), b->region(i), function)) return false;
      where_ = outer;
    }
    return true;
  }

  bool SameAnnotations(const Op& a, const Op& b) {
    const Annotation *x = a.annotations(), *y = b.annotations();
    for (; x != nullptr && y != nullptr; x = x->next, y = y->next) {
      if (x->info != y->info) return Differ("annotation", x->info->name, y->info->name);
      if (!Equal(x->value, y->value)) {
        return Differ(absl::StrCat("annotation ", x->info->name), Describe(x->value, *x->info),
                      Describe(y->value, *y->info));
      }
    }
    return Check("next annotation", x != nullptr ? x->info->name : "none", y != nullptr ? y->info->name : "none");
  }

  // -1: null, or defined in no block before.
  static int Number(const absl::flat_hash_map<const Value*, int>& numbers, const Value* v) {
    const auto it = numbers.find(v);
    return it == numbers.end() ? -1 : it->second;
  }

  const CompareOptions options_;
  std::string where_, difference_;
  absl::flat_hash_map<const Value*, int> numbers_a_, numbers_b_;
  int op_index_ = 0;
};

}  // namespace

bool Equal(Type a, Type b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const TypeData &x = *a.data(), &y = *b.data();
  return x.kind == y.kind && x.element == y.element && x.shape == y.shape && x.strides == y.strides &&
         x.space == y.space && x.dim_map == y.dim_map && x.steps == y.steps && x.sparse_dim == y.sparse_dim &&
         x.padding == y.padding && x.encoding == y.encoding && Equal(Type(x.tensor), Type(y.tensor)) &&
         SameLists(x.inputs, y.inputs) && SameLists(x.results, y.results);
}

std::string FirstDifference(const Module& a, const Module& b, const CompareOptions& options) {
  return Comparer(options).Run(a, b);
}

}  // namespace tile::ir
