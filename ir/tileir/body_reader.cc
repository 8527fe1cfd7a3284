// One operation: opcode, result types, flag word, attributes, operands, regions. Which fields there are, in which
// order and since which version, follows from the operation's row; the code below knows only the kinds of fields.

#include "ir/tileir/body_reader.h"

#include "absl/strings/str_cat.h"
#include "ir/limits.h"

namespace tile::ir::tileir {

bool BodyReader::Read(Cursor c, Function* f, uint64_t debug_function) {
  debug_function_ = debug_function;
  ordinal_ = 0;
  values_.clear();
  Define(f->body()->args());
  while (c.ok() && !c.at_end()) ReadOp(c, f->body(), 0);
  return c.ok();
}

const OpInfo* BodyReader::ReadOpcode(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t number = c.Varint("operation");
  if (!c.ok()) return nullptr;
  if (number >= kFirstPreviewOp && number < kFirstExtensionOp) {
    FailPreview(c, at, number);
    return nullptr;
  }
  const OpInfo* info = number < kFirstPreviewOp ? FindOp(static_cast<int>(number)) : nullptr;
  if (info == nullptr) {
    c.Fail(at, absl::StrCat("operation 0x", absl::Hex(number)), "no operation has this number");
  } else if (!Exists(info->since, version_)) {
    c.Fail(at, info->mnemonic, TooNew(info->since, version_));
  }
  return c.ok() ? info : nullptr;
}

// Says which function a preview$call wants and where, as far as the file tells.
void BodyReader::FailPreview(Cursor& c, uint64_t at, uint64_t number) {
  Failure unknown("");
  Cursor rest = c.Apart(&unknown);
  const LocId loc = debug_->Find(rest, debug_function_, ordinal_ + 1);
  const std::string place = unknown.ok() && loc != 0 ? absl::StrCat(module_->Where(loc, {}), ": ") : "";
  if (number != kPreviewCall) {
    c.Fail(at, absl::StrCat("preview operation 0x", absl::Hex(number)),
           absl::StrCat(place, "preview operations are not supported"));
    return;
  }
  Failure unreadable("");
  Cursor call = c.Apart(&unreadable);
  for (uint64_t n = call.Count("results", 1); n > 0 && call.ok(); --n) call.Varint("result");
  call.Varint("flags");
  AttrInfo symbol;
  symbol.name = "callee";
  symbol.kind = AttrKind::kSymbol;
  const Attr callee = attrs_->Read(call, symbol, Type());
  c.Fail(
      at, call.ok() ? absl::StrCat("preview$call of `", callee.as_string(), "`") : "preview$call",
      absl::StrCat(
          place,
          "calls into SIMT libraries are not supported; export the kernel without them (and without --preview=simt)"));
}

void BodyReader::ReadOp(Cursor& c, Block* block, int depth) {
  const uint64_t at = c.offset();
  const OpInfo* info = ReadOpcode(c);
  if (info == nullptr) return;
  if (++num_ops_ > kMaxOps) {
    c.Fail(at, info->mnemonic, absl::StrCat("more than ", kMaxOps, " operations in the module"));
    return;
  }
  const FormatInfo& format = *info->format;
  const FormatLayout& layout = layouts_.Of(format);
  Parts& p = parts_;
  ReadResults(c, info, p);

  const uint64_t flags_at = c.offset();
  const uint64_t flags = layout.num_bits > 0 ? c.Varint("flags") : 0;
  if (flags >> layout.num_bits != 0) {
    c.Fail(flags_at, absl::StrCat("flags 0x", absl::Hex(flags), " of ", info->mnemonic),
           absl::StrCat("only the low ", layout.num_bits, " bits have a meaning"));
  }
  const auto is_set = [&](int bit) { return bit >= 0 && (flags >> bit & 1) != 0; };

  p.attrs.assign(format.attrs.size(), Attr());
  const Type first = p.results.empty() ? Type() : p.results[0];
  for (size_t i = 0; i < format.attrs.size() && c.ok(); ++i) {
    const AttrInfo& attr = format.attrs[i];
    if (!Exists(attr.since, version_)) continue;
    if (attr.kind == AttrKind::kFlag) {
      p.attrs[i] = Attr::Flag(is_set(layout.attr_bits[i]));
    } else if (!attr.optional || is_set(layout.attr_bits[i])) {
      p.attrs[i] = attrs_->Read(c, attr, first);
    }
  }
  ReadOperands(c, info, flags, p);
  const LocId loc = debug_->Find(c, debug_function_, ++ordinal_);
  if (!c.ok()) return;

  OpSpec spec;
  spec.info = info;
  spec.operands = p.operands;
  spec.operand_ends = p.ends;
  spec.results = p.results;
  spec.attrs = p.attrs;
  spec.loc = loc;
  Op* op = module_->CreateOp(spec);
  module_->Append(block, op);
  ReadRegions(c, op, depth);  // before the results have numbers: a region does not see them
  num_values_ += op->num_results();
  if (num_values_ > kMaxValues) {
    c.Fail(at, info->mnemonic, absl::StrCat("more than ", kMaxValues, " values in the module"));
  }
  for (int i = 0; i < op->num_results(); ++i) values_.push_back(op->result(i));
}

void BodyReader::ReadResults(Cursor& c, const OpInfo* info, Parts& p) {
  const FormatLayout& layout = layouts_.Of(*info->format);
  const uint64_t at = c.offset();
  uint64_t n = layout.max_results;
  if (info->format->results_counted) {
    n = c.Count(absl::StrCat("results of ", info->mnemonic), 1);
    const uint64_t most = layout.max_results < 0 ? kMaxOperands : layout.max_results;
    if (n < static_cast<uint64_t>(layout.min_results) || n > most) {
      c.Fail(at, info->mnemonic, absl::StrCat("cannot have ", n, " results"));
    }
  }
  p.results.clear();
  for (uint64_t i = 0; i < n && c.ok(); ++i) p.results.push_back(types_->ReadValueType(c));
}

void BodyReader::ReadOperands(Cursor& c, const OpInfo* info, uint64_t flags, Parts& p) {
  const FormatInfo& format = *info->format;
  const FormatLayout& layout = layouts_.Of(format);
  p.operands.clear();
  p.ends.clear();
  const uint64_t at = c.offset();
  uint64_t left = 0;  // with one count before all operands: how many are still to come
  if (format.operands_counted) left = c.Count(absl::StrCat("operands of ", info->mnemonic), 1);
  for (size_t f = 0; f < format.operands.size(); ++f) {
    const FieldInfo& field = format.operands[f];
    uint64_t n = 0;
    if (!Exists(field.since, version_)) {
      n = 0;
    } else if (format.operands_counted) {
      n = field.arity == Arity::kVariadic ? left : field.arity == Arity::kOne ? 1 : left > 0;
      if (n > left) c.Fail(at, info->mnemonic, absl::StrCat("lacks its operand `", field.name, "`"));
      left -= n;
    } else if (field.arity == Arity::kVariadic) {
      n = c.Count(absl::StrCat("`", field.name, "` of ", info->mnemonic), 1);
    } else {
      n = field.arity == Arity::kOne || (flags >> layout.operand_bits[f] & 1) != 0;
    }
    if (p.operands.size() + n > static_cast<uint64_t>(kMaxOperands)) {
      c.Fail(at, info->mnemonic, absl::StrCat("has more than ", kMaxOperands, " operands"));
    }
    for (uint64_t i = 0; i < n && c.ok(); ++i) p.operands.push_back(ReadValue(c));
    p.ends.push_back(static_cast<uint32_t>(p.operands.size()));
    if (!c.ok()) return;
  }
  if (left > 0) c.Fail(at, info->mnemonic, absl::StrCat("has ", left, " operands too many"));
}

Value* BodyReader::ReadValue(Cursor& c) {
  const uint64_t i = c.Index("value", values_.size());
  return c.ok() ? values_[i] : nullptr;
}

void BodyReader::Define(absl::Span<Value* const> values) {
  values_.insert(values_.end(), values.begin(), values.end());
  num_values_ += static_cast<int64_t>(values.size());
}

void BodyReader::ReadRegions(Cursor& c, Op* op, int depth) {
  if (op->num_regions() == 0) return;
  const uint64_t at = c.offset();
  const uint64_t n = c.Varint("regions");
  if (c.ok() && n != static_cast<uint64_t>(op->num_regions())) {
    c.Fail(at, op->info()->mnemonic, absl::StrCat("has ", n, " regions, expected ", op->num_regions()));
  }
  for (int r = 0; r < op->num_regions() && c.ok(); ++r) op->set_region(r, ReadBlock(c, op, r, depth + 1));
}

Block* BodyReader::ReadBlock(Cursor& c, Op* op, int region, int depth) {
  const uint64_t at = c.offset();
  const std::string what = absl::StrCat("region `", op->info()->format->regions[region], "` of ", op->info()->mnemonic);
  const uint64_t blocks = c.Varint(what);
  if (blocks > 1) c.Fail(at, what, absl::StrCat("has ", blocks, " blocks, expected 1"));
  if (depth > kMaxNesting) c.Fail(at, what, absl::StrCat("is nested more than ", kMaxNesting, " deep"));
  if (!c.ok() || blocks == 0) return nullptr;
  std::vector<Type> args;
  const uint64_t n = c.Count(what, 1, kMaxOperands);
  for (uint64_t i = 0; i < n && c.ok(); ++i) args.push_back(types_->ReadValueType(c));
  const uint64_t ops = c.Count(what, 1);
  if (!c.ok()) return nullptr;
  Block* block = module_->CreateBlock(args);
  op->set_region(region, block);
  const size_t outside = values_.size();
  Define(block->args());
  for (uint64_t i = 0; i < ops && c.ok(); ++i) ReadOp(c, block, depth);
  values_.resize(outside);
  return block;
}

}  // namespace tile::ir::tileir
