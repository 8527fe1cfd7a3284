// Blocks, values and ops get their numbers in textual order; the results of an op come before the arguments of its
// regions. That is the order in which the reader meets them, so both count the same way.
#include "ir/tbc/code_writer.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/tbc/op_plan.h"
#include "ir/tbc/pools_writer.h"

namespace tile::ir {
namespace {

class CodeWriter {
 public:
  explicit CodeWriter(const Module& module) : module_(module), pools_(&fbb_, &out_.needs) {}

  absl::StatusOr<CodeSection> Run() {
    std::vector<flatbuffers::Offset<fbs::GlobalVariable>> globals;
    for (const auto& g : module_.globals) globals.push_back(WriteGlobal(*g));
    std::vector<flatbuffers::Offset<fbs::Function>> functions;
    for (const auto& f : module_.functions) functions.push_back(WriteFunction(*f));
    CheckLimits();
    if (!pools_.status().ok()) return pools_.status();

    const PoolsWriter::Vectors pools = pools_.Finish();
    const auto global_list = globals.empty() ? 0 : fbb_.CreateVector(globals);
    const auto function_list = functions.empty() ? 0 : fbb_.CreateVector(functions);
    const auto value_types = value_types_.empty() ? 0 : fbb_.CreateVector(value_types_);
    const auto operands = operands_.empty() ? 0 : fbb_.CreateVector(operands_);
    const auto groups = groups_.empty() ? 0 : fbb_.CreateVectorOfStructs(groups_);
    const auto attributes = attributes_.empty() ? 0 : fbb_.CreateVectorOfStructs(attributes_);
    const auto blocks = blocks_.empty() ? 0 : fbb_.CreateVectorOfStructs(blocks_);
    const auto ops = ops_.empty() ? 0 : fbb_.CreateVectorOfStructs(ops_);
    fbb_.Finish(fbs::CreateCode(fbb_, pools.names, pools.strings, pools.types, pools.constants, pools.numbers,
                                pools.scalars, pools.predicates, pools.hints, global_list, function_list, value_types,
                                operands, groups, attributes, blocks, ops));
    out_.bytes = fbb_.Release();
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void Fail(const Parts&... parts) {
    pools_.Fail(absl::StrCat(parts...));
  }
  template <class... Parts>
  void FailOp(const Op& op, const Parts&... parts) {
    Fail("@", function_, ", op ", out_.ops.size() - 1, " (", op.info()->mnemonic, "): ", parts...);
  }

  void CheckLimits() {
    if (static_cast<int64_t>(ops_.size()) > kMaxOps) Fail("the module has more than ", kMaxOps, " operations");
    if (static_cast<int64_t>(value_types_.size()) > kMaxValues)
      Fail("the module has more than ", kMaxValues, " values");
    if (static_cast<int64_t>(std::max(module_.functions.size(), module_.globals.size())) > kMaxFunctions) {
      Fail("the module has more than ", kMaxFunctions, " kernels or globals");
    }
  }

  uint8_t WriteVisibility(Visibility v, absl::string_view name) {
    if (const EnumValueInfo* row = FindEnumValue(EnumId::kVisibility, static_cast<int>(v))) {
      out_.needs.NeedTileIr(row->since, [&] { return absl::StrCat("the visibility of @", name); });
    } else {
      Fail("@", name, ": no such visibility");
    }
    return static_cast<uint8_t>(v);
  }

  flatbuffers::Offset<fbs::GlobalVariable> WriteGlobal(const Global& g) {
    const uint32_t name = pools_.String(g.name);
    const uint32_t value = pools_.Constant(g.value);
    const int64_t size = StorageBytes(g.value.elem);
    if (g.count < 0 || g.count > kMaxConstantBytes / size ||
        (!g.value.splat && static_cast<int64_t>(g.value.bytes.size()) != g.count * size)) {
      Fail("@", g.name, ": ", g.value.bytes.size(), " bytes of elements do not fill ", g.count, " elements");
    }
    if (g.constant) out_.needs.NeedTileIr(1303, [&] { return absl::StrCat("the constant global @", g.name); });
    const uint8_t visibility = WriteVisibility(g.visibility, g.name);
    return fbs::CreateGlobalVariable(fbb_, name, g.count, value, g.alignment, g.constant, visibility);
  }

  flatbuffers::Offset<fbs::Function> WriteFunction(const Function& f) {
    function_ = f.name;
    numbers_.clear();
    const uint32_t name = pools_.String(f.name);
    flatbuffers::Optional<uint32_t> hints;
    if (f.hints != nullptr) hints = pools_.HintSetOf(*f.hints);
    for (int n : f.blocks_per_cluster) {
      if (n < 1 || n > 65536) Fail("@", f.name, ": ", n, " blocks per cluster");
      if (n > 1) out_.needs.NeedTileIr(0, [&] { return absl::StrCat("the cluster of @", f.name); });
    }
    if (f.num_params() > kMaxArguments) Fail("@", f.name, ": more than ", kMaxArguments, " parameters");
    const uint8_t visibility = WriteVisibility(f.visibility, f.name);
    const uint32_t body = static_cast<uint32_t>(blocks_.size());
    blocks_.emplace_back();
    WriteBlock(f.body(), body, 0);
    return fbs::CreateFunction(fbb_, name, visibility, hints, static_cast<uint32_t>(f.blocks_per_cluster[0]),
                               static_cast<uint32_t>(f.blocks_per_cluster[1]),
                               static_cast<uint32_t>(f.blocks_per_cluster[2]), body);
  }

  // Gives the value the next number. It can be used once it is in numbers_.
  uint32_t Number(const Value* v) {
    value_types_.push_back(pools_.TypeOf(v->type()));
    return static_cast<uint32_t>(value_types_.size() - 1);
  }

  void WriteBlock(const Block* block, uint32_t id, int depth) {
    const uint32_t first_op = static_cast<uint32_t>(ops_.size());
    const uint32_t first_argument = static_cast<uint32_t>(value_types_.size());
    if (block == nullptr) {
      blocks_[id] = fbs::Block(first_op, 0, first_argument, 0, false, 0);
      return;
    }
    if (depth > kMaxNesting) return Fail("more than ", kMaxNesting, " regions inside each other");
    if (block->num_args() > kMaxOperands) return Fail("a block has more than ", kMaxOperands, " arguments");
    for (const Value* v : block->args()) numbers_[v] = Number(v);
    for (const Op* op : *block) {
      if (!pools_.status().ok()) return;
      WriteOp(*op, depth);
    }
    blocks_[id] = fbs::Block(first_op, static_cast<uint32_t>(ops_.size()) - first_op, first_argument,
                             static_cast<uint16_t>(block->num_args()), true, 0);
    // Values of the block end with it.
    for (const Value* v : block->args()) numbers_.erase(v);
    for (const Op* op : *block) {
      for (int i = 0; i < op->num_results(); ++i) numbers_.erase(op->result(i));
    }
  }

  void WriteOp(const Op& op, int depth) {
    const OpInfo& info = *op.info();
    const FormatPlan& plan = PlanOf(*info.format);
    out_.ops.push_back(&op);
    if (FindOp(static_cast<int>(info.opcode)) != &info) return FailOp(op, "no operation of tile code");
    if (op.annotations() != nullptr) return FailOp(op, "has annotations, which are not stored");
    if (op.num_operands() > kMaxOperands || op.num_results() > kMaxOperands)
      return FailOp(op, "too many operands or results");
    if (op.num_results() < plan.min_results || (plan.max_results >= 0 && op.num_results() > plan.max_results)) {
      return FailOp(op, "has ", op.num_results(), " results");
    }
    const auto who = [&] { return absl::StrCat(info.mnemonic, " in @", function_); };
    out_.needs.NeedTileIr(info.since, who);
    const int later = TbcFeatureOfLaterOp(static_cast<int>(info.opcode));
    if (later >= 0) out_.needs.Need(later, who);

    const uint32_t first_operand = static_cast<uint32_t>(operands_.size());
    const uint32_t first_group = static_cast<uint32_t>(groups_.size());
    const uint32_t first_attribute = static_cast<uint32_t>(attributes_.size());
    const uint32_t first_region = static_cast<uint32_t>(blocks_.size());
    const uint32_t first_result = static_cast<uint32_t>(value_types_.size());
    WriteOperands(op);
    WriteAttributes(op, plan);
    for (int i = 0; i < op.num_results(); ++i) Number(op.result(i));
    ops_.emplace_back(static_cast<uint16_t>(info.opcode), static_cast<uint16_t>(op.num_operands()),
                      static_cast<uint16_t>(op.num_results()), static_cast<uint8_t>(groups_.size() - first_group),
                      static_cast<uint8_t>(attributes_.size() - first_attribute),
                      static_cast<uint8_t>(op.num_regions()), 0, 0, first_operand, first_result, first_group,
                      first_attribute, first_region);
    blocks_.resize(blocks_.size() + op.num_regions());
    for (int i = 0; i < op.num_regions(); ++i) WriteBlock(op.region(i), first_region + i, depth + 1);
    for (int i = 0; i < op.num_results(); ++i) numbers_[op.result(i)] = first_result + i;
  }

  void WriteOperands(const Op& op) {
    const std::vector<FieldInfo>& fields = op.info()->format->operands;
    for (size_t f = 0; f < fields.size(); ++f) {
      const int count = op.group_end(static_cast<int>(f)) - op.group_begin(static_cast<int>(f));
      if (fields[f].arity == Arity::kOne) {
        if (count != 1) FailOp(op, count, " operands for ", fields[f].name);
        continue;
      }
      if (fields[f].arity == Arity::kOptional && count > 1) FailOp(op, count, " operands for ", fields[f].name);
      if (count == 0) continue;
      groups_.emplace_back(pools_.Name(fields[f].name), static_cast<uint16_t>(count));
      if (fields[f].since != 0) {
        out_.needs.NeedTileIr(fields[f].since, [&] {
          return absl::StrCat(fields[f].name, " of ", op.info()->mnemonic, " in @", function_);
        });
      }
    }
    if (!fields.empty() && op.group_end(static_cast<int>(fields.size()) - 1) != op.num_operands()) {
      FailOp(op, "its operand fields do not add up");
    }
    for (int i = 0; i < op.num_operands(); ++i) {
      const auto it = numbers_.find(op.operand(i));
      if (it == numbers_.end()) return FailOp(op, "operand ", i, " is not visible here");
      operands_.push_back(it->second);
    }
  }

  void WriteAttributes(const Op& op, const FormatPlan& plan) {
    const std::vector<AttrInfo>& infos = op.info()->format->attrs;
    for (int i : plan.required_attrs) {
      if (!op.attr(i).present()) return FailOp(op, "attribute ", infos[i].name, " is missing");
    }
    for (size_t i = 0; i < infos.size(); ++i) {
      const Attr& attr = op.attr(static_cast<int>(i));
      if (IsDefault(infos[i], attr)) continue;
      if (attr.kind() != infos[i].kind) return FailOp(op, "attribute ", infos[i].name, " is of another kind");
      const auto who = [&] { return absl::StrCat(infos[i].name, " of ", op.info()->mnemonic, " in @", function_); };
      if (infos[i].since != 0) out_.needs.NeedTileIr(infos[i].since, who);
      const uint16_t name = pools_.Name(infos[i].name);
      uint32_t count = 0;
      const int64_t value = WriteAttribute(op, infos[i], attr, who, &count);
      attributes_.emplace_back(name, static_cast<fbs::AttrKind>(infos[i].kind), 0, count, value);
    }
  }

  template <class Who>
  int64_t WriteAttribute(const Op& op, const AttrInfo& info, const Attr& attr, const Who& who, uint32_t* count) {
    switch (info.kind) {
      case AttrKind::kFlag:
      case AttrKind::kBool: return 1;
      case AttrKind::kInt: return attr.as_int();
      case AttrKind::kEnum:
        if (const EnumValueInfo* row = FindEnumValue(info.enum_id, attr.as_int())) {
          out_.needs.NeedTileIr(row->since, who);
        } else {
          FailOp(op, EnumName(info.enum_id), " ", attr.as_int(), " does not exist");
        }
        return attr.as_int();
      case AttrKind::kString:
      case AttrKind::kSymbol: return pools_.String(attr.as_string());
      case AttrKind::kDense: return pools_.Constant(attr.dense());
      case AttrKind::kInts: *count = static_cast<uint32_t>(attr.ints().size()); return pools_.Numbers(attr.ints());
      case AttrKind::kBools: {
        if (attr.bools().size() > 64) FailOp(op, "attribute ", info.name, " has more than 64 bits");
        *count = static_cast<uint32_t>(attr.bools().size());
        uint64_t bits = 0;
        for (size_t i = 0; i < attr.bools().size() && i < 64; ++i) bits |= uint64_t{attr.bools()[i] != 0} << i;
        return static_cast<int64_t>(bits);
      }
      case AttrKind::kPredicate: return pools_.PredicateOf(attr.predicate());
      case AttrKind::kHints: return pools_.HintSetOf(attr.hints());
      case AttrKind::kScalars:
        *count = static_cast<uint32_t>(attr.scalars().size());
        return pools_.Scalars(attr.scalars());
    }
    FailOp(op, "attribute ", info.name, " is of no known kind");
    return 0;
  }

  const Module& module_;
  flatbuffers::FlatBufferBuilder fbb_;
  CodeSection out_;
  PoolsWriter pools_;
  absl::string_view function_;
  absl::flat_hash_map<const Value*, uint32_t> numbers_;  // of the values that are visible at this point

  std::vector<uint32_t> value_types_, operands_;
  std::vector<fbs::Group> groups_;
  std::vector<fbs::Attribute> attributes_;
  std::vector<fbs::Block> blocks_;
  std::vector<fbs::Op> ops_;
};

}  // namespace

absl::StatusOr<CodeSection> WriteCode(const Module& module) { return CodeWriter(module).Run(); }

}  // namespace tile::ir
