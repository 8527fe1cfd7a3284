// One pass over the ops in file order, which is textual order. Each pool is used from its start to its end, so that the
// position in it is known and nothing can be used twice. Open blocks stand on a stack of our own: nesting in a file
// never becomes recursion here.
#include "ir/tbc/code_reader.h"

#include "ir/limits.h"
#include "ir/tbc/op_plan.h"
#include "ir/tbc/pools_reader.h"

namespace tile::ir {
namespace {

constexpr uint32_t kNoBlock = 0xffffffff;

class CodeReader {
 public:
  CodeReader(const fbs::Code& code, Module* module, ReadContext* context, std::vector<Op*>* all_ops)
      : code_(code), module_(*module), context_(*context), all_ops_(*all_ops) {}

  bool Run() {
    if (!ReadPools(code_, &module_, &context_, &pools_) || !OpenRows() || !ReadGlobals()) return false;
    if (code_.functions() != nullptr) {
      if (code_.functions()->size() > kMaxFunctions) return context_.Fail("limit", "too many kernels");
      for (const fbs::Function* f : *code_.functions()) {
        if (!ReadFunction(*f)) return false;
      }
    }
    if (next_op_ != ops_.size() || next_value_ != values_.size() || next_operand_ != operands_.size() ||
        next_group_ != groups_.size() || next_attribute_ != attributes_.size() || next_block_ != blocks_.size()) {
      return context_.Fail("format", "operations, values, operands, attributes or blocks that belong to no kernel");
    }
    return true;
  }

 private:
  // A block that is being filled, and the op whose region it is (null for the body of a function).
  struct Frame {
    Block* block;
    uint32_t id;
    uint32_t end;
    Op* owner;
    uint32_t first_region, first_result;  // of the owner
    int region;
  };

  bool OpenRows() {
    if (!context_.Items(code_.value_types(), &value_types_) || !context_.Items(code_.operands(), &operands_) ||
        !context_.Items(code_.groups(), &groups_) || !context_.Items(code_.attributes(), &attributes_) ||
        !context_.Items(code_.blocks(), &blocks_) || !context_.Items(code_.ops(), &ops_)) {
      return false;
    }
    if (ops_.size() > kMaxOps) return context_.Fail("limit", "more than ", kMaxOps, " operations");
    if (value_types_.size() > kMaxValues) return context_.Fail("limit", "more than ", kMaxValues, " values");
    for (uint32_t t : value_types_) {
      if (t >= pools_.types.size()) return context_.Fail("type", "a value has type ", t, ", which does not exist");
    }
    values_.resize(value_types_.size());
    scope_.assign(value_types_.size(), kNoBlock);
    depth_.resize(blocks_.size());
    all_ops_.reserve(ops_.size());
    return true;
  }

  bool String(uint32_t index, absl::string_view what, absl::string_view* out) {
    if (index >= pools_.strings.size())
      return context_.Fail("string", what, " is string ", index, ", which does not exist");
    *out = pools_.strings[index];
    return true;
  }

  bool ReadVisibility(uint8_t number, absl::string_view name, Visibility* out) {
    if (!IsEnumValue(EnumId::kVisibility, number)) {
      return context_.Fail("enum", "@", name, ": unknown visibility ", number, context_.origin());
    }
    *out = static_cast<Visibility>(number);
    return true;
  }

  bool ReadGlobals() {
    if (code_.globals() == nullptr) return true;
    if (code_.globals()->size() > kMaxFunctions) return context_.Fail("limit", "too many globals");
    for (const fbs::GlobalVariable* g : *code_.globals()) {
      absl::string_view name;
      if (!String(g->name(), "the name of a global", &name)) return false;
      if (g->value() >= pools_.constants.size())
        return context_.Fail("constant", "@", name, ": its value does not exist");
      const Dense& value = *pools_.constants[g->value()];
      const int64_t size = StorageBytes(value.elem);
      if (g->count() < 0 || g->count() > kMaxConstantBytes / size) {
        return context_.Fail("limit", "@", name, ": ", g->count(), " elements; a global has at most 2^30 bytes");
      }
      if (!value.splat && static_cast<int64_t>(value.bytes.size()) != g->count() * size) {
        return context_.Fail("constant", "@", name, ": ", value.bytes.size(), " bytes of elements, but the global has ",
                             g->count() * size);
      }
      Global* out = module_.AddGlobal(name, value.elem, g->count());
      out->value = value;
      out->alignment = g->alignment();
      out->constant = g->constant();
      if (!ReadVisibility(g->visibility(), name, &out->visibility)) return false;
    }
    return true;
  }

  bool ReadFunction(const fbs::Function& f) {
    absl::string_view name;
    if (!String(f.name(), "the name of a kernel", &name)) return false;
    where_ = name;
    if (f.body() != next_block_ || next_block_ >= blocks_.size())
      return FailHere("format", "its body is no block in turn");
    const fbs::Block& row = blocks_[next_block_++];
    if (!row.present()) return FailHere("format", "it has no body");
    const size_t from = next_value_;
    if (!CheckBlock(row, ops_.size())) return false;
    if (row.num_arguments() > kMaxArguments) return FailHere("limit", "it has over ", kMaxArguments, " parameters");
    std::vector<Type> params;
    for (size_t i = 0; i < row.num_arguments(); ++i) params.push_back(pools_.types[value_types_[from + i]]);
    Function* out = module_.AddFunction(name, params);
    if (!ReadVisibility(f.visibility(), name, &out->visibility)) return false;
    if (const auto hints = f.hints()) {
      if (*hints >= pools_.hints.size()) return FailHere("hint", "its hints do not exist");
      out->hints = pools_.hints[*hints];
    }
    const uint32_t cluster[3] = {f.cluster_x(), f.cluster_y(), f.cluster_z()};
    for (int i = 0; i < 3; ++i) {
      if (cluster[i] == 0 || cluster[i] > 65536) return FailHere("limit", cluster[i], " blocks per cluster");
      out->blocks_per_cluster[i] = static_cast<int>(cluster[i]);
    }
    return ReadBody(out->body(), row);
  }

  bool ReadBody(Block* body, const fbs::Block& row) {
    first_op_ = next_op_;
    Enter({body, next_block_ - 1, row.first_op() + row.num_ops(), nullptr, 0, 0, 0});
    while (!frames_.empty()) {
      if (next_op_ < frames_.back().end) {
        if (!ReadOp()) return false;
        continue;
      }
      const Frame done = frames_.back();
      frames_.pop_back();
      if (done.owner == nullptr) continue;
      if (!NextRegion(done.owner, done.first_region, done.first_result, done.region + 1)) return false;
    }
    return true;
  }

  // Gives the block its arguments and makes it the one that is filled.
  void Enter(const Frame& frame) {
    for (Value* v : frame.block->args()) Define(v, frame.id);
    depth_[frame.id] = static_cast<uint8_t>(frames_.size());
    frames_.push_back(frame);
  }

  void Define(Value* v, uint32_t scope) {
    values_[next_value_] = v;
    scope_[next_value_++] = scope;
  }

  bool CheckBlock(const fbs::Block& row, size_t limit) {
    if (row.first_op() != next_op_ || row.num_ops() > limit - next_op_)
      return FailHere("format", "a block has ops out of turn");
    if (row.first_argument() != next_value_ || row.num_arguments() > values_.size() - next_value_) {
      return FailHere("format", "a block has arguments out of turn");
    }
    return true;
  }

  // Opens the next region of the op that has a block; after the last one the op itself goes into its block, so that its
  // results can't be seen inside.
  bool NextRegion(Op* op, uint32_t first_region, uint32_t first_result, int region) {
    for (; region < op->num_regions(); ++region) {
      const uint32_t id = first_region + region;
      const fbs::Block& row = blocks_[id];
      if (!CheckBlock(row, frames_.back().end)) return false;
      if (!row.present()) {
        if (row.num_ops() != 0 || row.num_arguments() != 0)
          return FailHere("format", "ops in a region without a block");
        continue;
      }
      if (frames_.size() > kMaxNesting)
        return FailHere("limit", "more than ", kMaxNesting, " regions inside each other");
      types_.clear();
      for (size_t i = 0; i < row.num_arguments(); ++i) types_.push_back(pools_.types[value_types_[next_value_ + i]]);
      Block* block = module_.CreateBlock(types_);
      op->set_region(region, block);
      Enter({block, id, row.first_op() + row.num_ops(), op, first_region, first_result, region});
      return true;
    }
    module_.Append(frames_.back().block, op);
    for (int i = 0; i < op->num_results(); ++i) scope_[first_result + i] = frames_.back().id;
    return true;
  }

  bool ReadOp() {
    const fbs::Op& row = ops_[next_op_];
    const OpInfo* info = FindOp(row.opcode());
    if (info == nullptr) {
      return FailHere("op", "operation ", absl::Hex(row.opcode(), absl::kZeroPad4), "h is unknown to this reader",
                      context_.origin());
    }
    current_ = info;
    const FormatPlan& plan = PlanOf(*info->format);
    OpSpec spec;
    spec.info = info;
    if (!ReadOperands(row, plan) || !ReadResults(row, plan) || !ReadAttributes(row, plan)) return false;
    if (row.num_regions() != info->format->regions.size() || row.first_region() != next_block_ ||
        row.num_regions() > blocks_.size() - next_block_) {
      return FailHere("format", "its regions are not those of the operation, or out of turn");
    }
    spec.operands = operand_values_;
    spec.operand_ends = ends_;
    spec.results = types_;
    spec.attrs = attrs_;
    spec.pos.column = static_cast<uint32_t>(next_op_ - first_op_ + 1);  // without a line: its number
    Op* op = module_.CreateOp(spec);
    all_ops_.push_back(op);
    ++next_op_;
    next_block_ += row.num_regions();
    for (int i = 0; i < op->num_results(); ++i) Define(op->result(i), kNoBlock);
    const bool read = NextRegion(op, row.first_region(), row.first_result(), 0);
    current_ = nullptr;
    return read;
  }

  bool Visible(uint32_t value) const {
    if (value >= next_value_ || scope_[value] == kNoBlock) return false;
    const size_t depth = depth_[scope_[value]];
    return depth < frames_.size() && frames_[depth].id == scope_[value];
  }

  bool ReadOperands(const fbs::Op& row, const FormatPlan& plan) {
    if (row.first_operand() != next_operand_ || row.num_operands() > operands_.size() - next_operand_ ||
        row.first_group() != next_group_ || row.num_groups() > groups_.size() - next_group_) {
      return FailHere("format", "its operands are out of turn");
    }
    // Sizes of the fields: 1, or what the group with the name of the field says.
    const std::vector<FieldInfo>& fields = current_->format->operands;
    ends_.assign(fields.size(), 0);
    for (size_t f = 0; f < fields.size(); ++f) ends_[f] = fields[f].arity == Arity::kOne ? 1 : 0;
    int last = -1;
    for (int g = 0; g < row.num_groups(); ++g) {
      const fbs::Group& group = groups_[next_group_ + g];
      const int name = group.name() < pools_.names.size() ? pools_.names[group.name()] : -1;
      const int field = name < 0 ? -1 : plan.field_of_name[name];
      if (field < 0)
        return FailHere("op", "operand field ", NameText(group.name()), " is unknown to this reader",
                        context_.origin());
      if (field <= last || group.count() == 0) return FailHere("format", "operand fields out of order or empty");
      if (fields[field].arity == Arity::kOptional && group.count() > 1) {
        return FailHere("op", group.count(), " operands for ", fields[field].name, ", which takes one");
      }
      ends_[field] = group.count();
      last = field;
    }
    uint32_t total = 0;
    for (uint32_t& end : ends_) end = total += end;
    if (total != row.num_operands()) {
      return FailHere("op", row.num_operands(), " operands, but its fields add up to ", total);
    }
    operand_values_.clear();
    for (int i = 0; i < row.num_operands(); ++i) {
      const uint32_t v = operands_[next_operand_ + i];
      if (!Visible(v)) return FailHere("value", "operand ", i, " is value ", v, ", which is not visible here");
      operand_values_.push_back(values_[v]);
    }
    next_operand_ += row.num_operands();
    next_group_ += row.num_groups();
    return true;
  }

  bool ReadResults(const fbs::Op& row, const FormatPlan& plan) {
    if (row.first_result() != next_value_ || row.num_results() > values_.size() - next_value_) {
      return FailHere("format", "its results are out of turn");
    }
    if (row.num_results() < plan.min_results || (plan.max_results >= 0 && row.num_results() > plan.max_results)) {
      return FailHere("op", row.num_results(), " results, it has ", plan.min_results,
                      plan.max_results < 0 ? " or more" : absl::StrCat(" to ", plan.max_results));
    }
    types_.clear();
    for (int i = 0; i < row.num_results(); ++i) types_.push_back(pools_.types[value_types_[next_value_ + i]]);
    return true;
  }

  bool ReadAttributes(const fbs::Op& row, const FormatPlan& plan) {
    if (row.first_attribute() != next_attribute_ || row.num_attributes() > attributes_.size() - next_attribute_) {
      return FailHere("format", "its attributes are out of turn");
    }
    const std::vector<AttrInfo>& infos = current_->format->attrs;
    attrs_.assign(infos.size(), Attr());
    for (int i = 0; i < row.num_attributes(); ++i) {
      const fbs::Attribute& a = attributes_[next_attribute_ + i];
      const int name = a.name() < pools_.names.size() ? pools_.names[a.name()] : -1;
      const int index = name < 0 ? -1 : plan.attr_of_name[name];
      if (index < 0)
        return FailHere("op", "attribute ", NameText(a.name()), " is unknown to this reader", context_.origin());
      if (attrs_[index].present()) return FailHere("format", "attribute ", infos[index].name, " twice");
      if (a.kind() != static_cast<fbs::AttrKind>(infos[index].kind)) {
        return FailHere("op", "attribute ", infos[index].name, " is of another kind");
      }
      if (!ReadAttribute(a, infos[index], &attrs_[index])) return false;
    }
    for (int index : plan.required_attrs) {
      if (!attrs_[index].present()) return FailHere("op", "attribute ", infos[index].name, " is missing");
    }
    next_attribute_ += row.num_attributes();
    return true;
  }

  // The object with this number in a pool.
  template <class P>
  bool Pick(const P& pool, const fbs::Attribute& a, const AttrInfo& info, typename P::value_type* out) {
    if (a.value() < 0 || static_cast<uint64_t>(a.value()) >= pool.size()) {
      return FailHere("format", "attribute ", info.name, " refers to ", a.value(), ", which does not exist");
    }
    *out = pool[static_cast<size_t>(a.value())];
    return true;
  }

  template <class T>
  bool Slice(absl::Span<const T> pool, const fbs::Attribute& a, const AttrInfo& info, absl::Span<const T>* out) {
    if (a.count() > kMaxListItems)
      return FailHere("limit", "attribute ", info.name, " has over ", kMaxListItems, " items");
    if (a.value() < 0 || static_cast<uint64_t>(a.value()) > pool.size() ||
        a.count() > pool.size() - static_cast<size_t>(a.value())) {
      return FailHere("format", "attribute ", info.name, " refers to items that do not exist");
    }
    *out = pool.subspan(static_cast<size_t>(a.value()), a.count());
    return true;
  }

  bool ReadAttribute(const fbs::Attribute& a, const AttrInfo& info, Attr* out) {
    absl::string_view text;
    const Dense* dense = nullptr;
    const Predicate* predicate = nullptr;
    const Hints* hints = nullptr;
    absl::Span<const int64_t> ints;
    absl::Span<const Scalar> scalars;
    switch (info.kind) {
      case AttrKind::kFlag:
      case AttrKind::kBool:
        if (a.value() != 0 && a.value() != 1) return FailHere("format", "attribute ", info.name, " is neither 0 nor 1");
        *out = Attr::Int(info.kind, a.value());
        return true;
      case AttrKind::kInt: *out = Attr::Int(info.kind, a.value()); return true;
      case AttrKind::kEnum:
        if (!IsEnumValue(info.enum_id, a.value())) {
          return FailHere("enum", EnumName(info.enum_id), " ", a.value(), " is unknown to this reader",
                          context_.origin());
        }
        *out = Attr::Int(info.kind, a.value());
        return true;
      case AttrKind::kString:
      case AttrKind::kSymbol:
        if (!Pick(pools_.strings, a, info, &text)) return false;
        *out = Attr::String(info.kind, text);
        return true;
      case AttrKind::kDense:
        if (!Pick(pools_.constants, a, info, &dense)) return false;
        *out = Attr::Of(dense);
        return true;
      case AttrKind::kInts:
        if (!Slice(pools_.numbers, a, info, &ints)) return false;
        *out = Attr::Ints(ints);
        return true;
      case AttrKind::kBools: return ReadBools(a, info, out);
      case AttrKind::kPredicate:
        if (!Pick(pools_.predicates, a, info, &predicate)) return false;
        *out = Attr::Of(predicate);
        return true;
      case AttrKind::kHints:
        if (!Pick(pools_.hints, a, info, &hints)) return false;
        *out = Attr::Of(hints);
        return true;
      case AttrKind::kScalars:
        if (!Slice(pools_.scalars, a, info, &scalars)) return false;
        *out = Attr::Scalars(scalars);
        return true;
    }
    return FailHere("format", "attribute ", info.name, " is of no known kind");
  }

  bool ReadBools(const fbs::Attribute& a, const AttrInfo& info, Attr* out) {
    const uint64_t bits = static_cast<uint64_t>(a.value());
    if (a.count() > 64 || (a.count() < 64 && bits >> a.count() != 0)) {
      return FailHere("format", "attribute ", info.name, " has more than 64 bits or bits beyond its count");
    }
    uint8_t* list = module_.arena().NewArray<uint8_t>(a.count());
    for (uint32_t i = 0; i < a.count(); ++i) list[i] = bits >> i & 1;
    *out = Attr::Bools({list, a.count()});
    return true;
  }

  std::string NameText(size_t index) const {
    if (code_.names() == nullptr || index >= code_.names()->size()) return absl::StrCat("number ", index);
    const flatbuffers::String* s = code_.names()->Get(static_cast<flatbuffers::uoffset_t>(index));
    return std::string(s->c_str(), std::min<size_t>(s->size(), 80));
  }

  template <class... Parts>
  bool FailHere(absl::string_view code, const Parts&... parts) {
    const std::string op = current_ != nullptr ? absl::StrCat(" (", current_->mnemonic, ")") : "";
    return context_.Fail(code, "@", where_.substr(0, 80), ", op ", next_op_, op, ": ", parts...);
  }

  const fbs::Code& code_;
  Module& module_;
  ReadContext& context_;
  std::vector<Op*>& all_ops_;
  Pools pools_;
  absl::string_view where_;
  const OpInfo* current_ = nullptr;

  absl::Span<const uint32_t> value_types_, operands_;
  absl::Span<const fbs::Group> groups_;
  absl::Span<const fbs::Attribute> attributes_;
  absl::Span<const fbs::Block> blocks_;
  absl::Span<const fbs::Op> ops_;
  uint32_t first_op_ = 0;  // of the kernel
  uint32_t next_op_ = 0, next_value_ = 0, next_operand_ = 0, next_group_ = 0, next_attribute_ = 0, next_block_ = 0;

  std::vector<Value*> values_;
  std::vector<uint32_t> scope_;  // per value: block in which it is visible; kNoBlock: not yet
  std::vector<uint8_t> depth_;   // per block: position among the frames
  std::vector<Frame> frames_;

  // Of the op at hand.
  std::vector<uint32_t> ends_;
  std::vector<Value*> operand_values_;
  std::vector<Type> types_;
  std::vector<Attr> attrs_;
};

}  // namespace

bool ReadCode(const fbs::Code& code, Module* module, ReadContext* context, std::vector<Op*>* ops) {
  return CodeReader(code, module, context, ops).Run();
}

}  // namespace tile::ir
