// Functions, blocks, names of values, and which method translates which operation.

#include "ir/ttir/translator.h"

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/ttir/contract.h"
#include "ir/ttir/pass_stores.h"

namespace tile::ir::ttir {
namespace {

// How often what follows a branch, or what is called, may be repeated, all in all: operations read for each one in the text.
constexpr int64_t kMaxRepeats = 16;

const absl::flat_hash_map<absl::string_view, OpRow>& Rows() {
  static const auto* rows = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, OpRow>;
    for (const OpRow& row : {
#define TTIR_OP(name, operands, Translation, Op, variant, effect) \
  OpRow{name, operands, &Translator::Translation, Opcode::k##Op, variant, effect, ""},
#define TTIR_REFUSED(name, fix) OpRow{name, -1, nullptr, Opcode::kConstant, 0, kNone, fix},
#include "ir/ttir/ttir_ops.def"
         }) {
      map->emplace(row.name, row);
    }
#define TILE_OP(number, Name, mnemonic, ...)                                                            \
  if (const OpInfo* op = SameMathOp(mnemonic)) {                                                        \
    const int operands = static_cast<int>(op->format->operands.size());                                 \
    const OpRow row = {"math." mnemonic, operands, &Translator::Elementwise, op->opcode, 0, kNone, ""}; \
    map->emplace(row.name, row); /* unless it has one */                                                \
  }
#include "ir/ops.def"
    return map;
  }();
  return *rows;
}

bool EndsRegion(absl::string_view name) {
  for (absl::string_view end : {"tt.return", "cf.br", "cf.cond_br", "scf.yield", "scf.condition", "tt.reduce.return",
                                "tt.scan.return", "tt.map_elementwise.return"}) {
    if (name == end) return true;
  }
  return false;
}

int64_t CountOps(const std::vector<Node>& ops) {
  int64_t n = 0;
  for (const Node& op : ops) {
    ++n;
    for (const NodeRegion& r : op.regions) {
      for (const NodeBlock& b : r.blocks) n += CountOps(b.ops);
    }
  }
  return n;
}

}  // namespace

const OpRow* FindTtirOp(absl::string_view name) {
  const auto it = Rows().find(name);
  return it == Rows().end() ? nullptr : &it->second;
}

const OpInfo* SameMathOp(absl::string_view name) {
  const OpInfo* op = FindOp(name);
  // These are powf and pow, fpowi and powi.
  const bool same = op != nullptr && name == op->mnemonic && op->family == Family::kMath &&
                    op->opcode != Opcode::kFpowf && op->opcode != Opcode::kFpowi;
  return same ? op : nullptr;
}

bool Translator::Fail(const Node& n, absl::string_view code, absl::string_view message, absl::string_view fix) {
  diags_.Error(code, module_.Where(LocOf(n), n.pos), absl::StrCat(n.name, " ", message), fix);
  return false;
}

// --- functions --------------------------------------------------------------------------------------------------------

bool Translator::Run() {
  bool good = true;
  for (const Node& f : tree_.functions) {
    if (!functions_.emplace(f.symbol, &f).second) {
      return Fail(f, "ttir.value", absl::StrCat("@", f.symbol, " is defined twice"));
    }
    for (const NodeRegion& r : f.regions) {
      for (const NodeBlock& b : r.blocks) {
        good &= Refusals(b.ops);
        num_ops_ += CountOps(b.ops) + 1;
      }
    }
  }
  if (!good) return false;
  for (const Node& f : tree_.functions) {
    // What only calls reach is read where it is called.
    if (!f.words.empty() && f.words[0] == "private") continue;
    if (!AddFunction(f)) return false;
  }
  return true;
}

// All operations that cannot be read, so that one run names them all.
bool Translator::Refusals(const std::vector<Node>& ops) {
  bool good = true;
  for (const Node& n : ops) {
    const OpRow* row = FindTtirOp(n.name);
    if (row == nullptr && !EndsRegion(n.name)) {
      good = Unsupported(n, "is not supported", "use operations that `ir/ttir/ttir_ops.def` lists");
    } else if (row != nullptr && row->translate == nullptr) {
      good = Unsupported(n, "is not supported", row->fix);
    }
    for (const NodeRegion& r : n.regions) {
      for (const NodeBlock& b : r.blocks) good &= Refusals(b.ops);
    }
  }
  return good;
}

bool Translator::AddFunction(const Node& f) {
  if (f.regions.empty()) return Unsupported(f, absl::StrCat("@", f.symbol, " has no body"), "define it");
  if (!f.outputs.empty()) {
    return Unsupported(f, absl::StrCat("@", f.symbol, " returns a value"), "pass a kernel: it stores what it computes");
  }
  const NodeBlock& entry = f.regions[0].blocks[0];
  std::vector<Type> types;
  for (const Argument& a : entry.args) {
    const std::vector<Type> parts = PartTypes(a.type);
    if (parts.empty()) {
      return Unsupported(f,
                         absl::StrCat("@", f.symbol, " has the parameter %", a.name, " of a type without equal here"),
                         "parameters are numbers, pointers to numbers and descriptors of them");
    }
    types.insert(types.end(), parts.begin(), parts.end());
  }
  if (types.size() > static_cast<size_t>(kMaxArguments)) {
    return Fail(f, "ttir.limit", absl::StrCat("@", f.symbol, " has more than ", kMaxArguments, " parameters"));
  }
  Function* made = module_.AddFunction(module_.Copy(f.symbol), types);
  made->loc = LocOf(f);
  made->pos = f.pos;
  b_.set_block(made->body());
  order_ = Order();
  values_.clear();
  undo_.clear();
  operands_of_.clear();
  pipelined_.clear();
  budget_ = kMaxRepeats * num_ops_;
  SetBlocks(f.regions[0]);
  if (!AddParams(f, made) || !TranslateCfg(&entry, 0)) return false;
  if (f.number("tilevm.fp_fusion", 1) != 0) ContractProducts(&module_, made, contractible_);
  PassStores(&module_, pipelined_);
  return true;
}

// Raw parameters; what Triton promises of an argument is promised here.
bool Translator::AddParams(const Node& f, Function* made) {
  int next = 0;
  b_.set_loc(made->loc);
  for (const Argument& a : f.regions[0].blocks[0].args) {
    Val v;
    v.type = a.type;
    for (size_t i = PartTypes(a.type).size(); i > 0; --i) {
      made->param(next)->name = v.parts.empty() ? module_.Copy(a.name) : "";
      v.parts.push_back(made->param(next++));
    }
    for (const Attribute& attr : a.attrs) {
      if (attr.name == "tilevm.padding" && a.type.kind == TtType::Kind::kDescriptor && IsFloat(a.type.tile.elem())) {
        v.nan_padding = attr.text == "nan";
      }
      if (attr.name != "tt.divisibility" || !v.is_tile() || attr.ints.size() != 1 || attr.ints[0] < 2) continue;
      const Element e = a.type.tile.element();
      const bool integer = IsInt(e.kind) && e.kind != Elem::kI1;
      if ((!e.is_pointer() && !integer) || (attr.ints[0] & (attr.ints[0] - 1)) != 0) continue;
      Predicate p;
      p.divisor = static_cast<uint64_t>(attr.ints[0]);
      v.parts[0] = ops::Assume(b_, v.parts[0], p);
    }
    if (a.type.kind == TtType::Kind::kDescriptor) PromiseOfDescriptor(&v);
    Bind(a.name, {v});
  }
  return true;
}

// --- blocks -----------------------------------------------------------------------------------------------------------

bool Translator::TranslateOps(const std::vector<Node>& ops) {
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    if (!TranslateOp(ops[i])) return false;
  }
  return true;
}

bool Translator::TranslateOp(const Node& n) {
  if (--budget_ < 0) {
    return Unsupported(n, "stands behind so many branches or calls that repeating it is too much",
                       "return at the end only, or with fewer conditions; call with noinline=False");
  }
  const OpRow* row = FindTtirOp(n.name);
  if (row == nullptr) return Fail(n, "ttir.syntax", "does not stand at the end of its region");
  if (row->operands >= 0 && n.operands.size() != static_cast<size_t>(row->operands)) {
    return Fail(n, "ttir.type", absl::StrCat("has ", n.operands.size(), " operands, not ", row->operands));
  }
  b_.set_loc(LocOf(n));
  if (!Lookup(n, n.operands, &in_)) return false;
  Lift(&in_);
  // Other kinds of values are for operations that count their operands themselves.
  for (const Val& v : in_) {
    if (row->operands >= 0 && !v.is_tile()) return WrongType(n, "takes no descriptors and block pointers");
  }
  const Op* last = b_.block()->back();
  if (!(this->*row->translate)(n, *row)) return false;
  if (!n.attrs.empty()) TakeHints(n);
  for (Op* op = last == nullptr ? b_.block()->front() : last->next(); op != nullptr; op = op->next()) {
    if (op->pos.line == 0) op->pos = n.pos;  // or it is of a function that is called
  }
  return true;
}

// --- values -----------------------------------------------------------------------------------------------------------

const Val* Translator::Find(const Node& n, const ValueRef& ref) {
  const auto it = values_.find(ref.name);
  if (it == values_.end() || ref.part >= it->second.size()) {
    Fail(n, "ttir.value",
         absl::StrCat("uses %", ref.name, ref.part == 0 ? "" : absl::StrCat("#", ref.part), ", which is not defined"));
    return nullptr;
  }
  return &it->second[ref.part];
}

bool Translator::Lookup(const Node& n, const std::vector<ValueRef>& refs, std::vector<Val>* out) {
  out->clear();
  for (const ValueRef& ref : refs) {
    const Val* v = Find(n, ref);
    if (v == nullptr) return false;
    out->push_back(*v);
  }
  return true;
}

void Translator::Bind(absl::string_view name, std::vector<Val> values) {
  std::vector<Val>& slot = values_[name];
  undo_.push_back({name, std::move(slot)});
  slot = std::move(values);
}

void Translator::CloseScope(size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    if (undo_.back().before.empty()) {
      values_.erase(undo_.back().name);
    } else {
      values_[undo_.back().name] = std::move(undo_.back().before);
    }
  }
}

void Translator::Lift(std::vector<Val>* values) {
  for (Val& v : *values) {
    if (lift_ != nullptr && v.is_tile() && v.type.tile.is_scalar()) v = TileVal(BroadcastTo(v.tile(), *lift_));
  }
}

bool Translator::Define(const Node& n, std::vector<Val> values) {
  Lift(&values);
  size_t next = 0;
  for (const ResultName& r : n.results) {
    if (r.count > values.size() - next) break;
    Bind(r.name, std::vector<Val>(values.begin() + next, values.begin() + next + r.count));
    next += r.count;
  }
  // What nobody names, nobody uses.
  if (n.results.empty() || next == values.size()) return true;
  return Fail(n, "ttir.type", absl::StrCat("has ", values.size(), " results, the text names another number"));
}

bool Translator::Output(const Node& n, Type* t) {
  const std::vector<TtType>& list = n.outputs.empty() ? n.types : n.outputs;
  const TtType given = list.size() == 1 ? list[0] : TtType();
  if (given.kind != TtType::Kind::kTile) return WrongType(n, "has no result type that there is here");
  *t = lift_ != nullptr && given.tile.is_scalar() ? b_.types().Tile(given.tile.element(), *lift_) : given.tile;
  return true;
}

// --- helpers ----------------------------------------------------------------------------------------------------------

Value* Translator::Create(Opcode op, const std::vector<Value*>& operands, Type result,
                          const Builder::NamedAttrs& attrs) {
  Builder::Groups groups;
  for (Value* v : operands) groups.push_back({v});
  return b_.Create(op, groups, {result}, attrs)->result(0);
}

Value* Translator::Reshape(Value* v, absl::Span<const int64_t> shape) {
  return v->type().shape() == shape ? v : Create(Opcode::kReshape, {v}, WithShape(v, shape));
}

Value* Translator::BroadcastTo(Value* v, absl::Span<const int64_t> shape) {
  if (v->type().is_scalar()) v = Reshape(v, std::vector<int64_t>(shape.size(), 1));
  return v->type().shape() == shape ? v : Create(Opcode::kBroadcast, {v}, WithShape(v, shape));
}

Value* Translator::ToI64(Value* v) {
  if (v->type().elem() == Elem::kI64) return v;
  return ops::Exti(b_, WithElem(Elem::kI64, v), v, Signedness::kSigned);
}

Value* Translator::Along(absl::Span<const int64_t> shape, int d) {
  std::vector<int64_t> sizes(shape.size(), 1);
  sizes[d] = shape[d];
  Value* numbers = ops::Iota(b_, b_.types().Tile(Element::Number(Elem::kI32), {shape[d]}));
  return ToI64(Reshape(numbers, sizes));
}

}  // namespace tile::ir::ttir
