// The mirror of body_reader.cc. What the target version cannot hold is an error unless it has its default: nothing that
// changes a program's meaning, or one of its promises, is left out silently.

#include "ir/tileir/body_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/tileir/dense_codec.h"

namespace tile::ir::tileir {

std::string BodyWriter::Write(const Function& f, std::vector<LocId>* locs) {
  numbers_.clear();
  next_ = 0;
  locs->push_back(f.loc);
  for (const Value* v : f.body()->args()) Define(v);
  Sink s;
  for (const Op* op : *f.body()) WriteOp(*op, s, locs);
  return s.Take();
}

void BodyWriter::WriteOp(const Op& op, Sink& s, std::vector<LocId>* locs) {
  const OpInfo& info = *op.info();
  const FormatLayout& layout = layouts_.Of(*info.format);
  errors_->set_place(absl::StrCat(module_->Where(op.loc, op.pos), ": ", info.mnemonic));
  errors_->Need(info.since, "the operation");
  locs->push_back(op.loc);
  s.Varint(static_cast<uint64_t>(info.opcode));
  WriteResults(op, s);
  if (layout.num_bits > 0) s.Varint(Flags(op));
  for (size_t i = 0; i < info.format->attrs.size(); ++i) {
    if (IsWritten(op, static_cast<int>(i))) WriteAttr(op, static_cast<int>(i), s);
  }
  WriteOperands(op, s);
  if (op.num_regions() > 0) s.Varint(op.num_regions());
  for (int r = 0; r < op.num_regions(); ++r) WriteRegion(op.region(r), s, locs);
  for (int i = 0; i < op.num_results(); ++i) Define(op.result(i));
}

void BodyWriter::WriteResults(const Op& op, Sink& s) {
  const FormatLayout& layout = layouts_.Of(*op.info()->format);
  int n = op.num_results();
  if (layout.max_results >= 0 && n > layout.max_results) {
    // Only trailing results are newer than their operation (the token of print_tko).
    for (int i = layout.max_results; i < n; ++i) {
      if (op.result(i)->has_uses()) errors_->Need(op.info()->format->results[i].since, "a used result");
    }
    n = layout.max_results;
  }
  if (op.info()->format->results_counted) s.Varint(n);
  for (int i = 0; i < n; ++i) s.Varint(pools_->types.Add(op.result(i)->type()));
}

uint64_t BodyWriter::Flags(const Op& op) {
  const FormatInfo& format = *op.info()->format;
  const FormatLayout& layout = layouts_.Of(format);
  uint64_t flags = 0;
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const Attr& a = op.attr(static_cast<int>(i));
    const bool set = format.attrs[i].kind == AttrKind::kFlag ? a.as_bool() : a.present();
    if (layout.attr_bits[i] >= 0 && set) flags |= uint64_t{1} << layout.attr_bits[i];
  }
  for (size_t f = 0; f < format.operands.size(); ++f) {
    const bool set = op.group_end(static_cast<int>(f)) > op.group_begin(static_cast<int>(f));
    if (layout.operand_bits[f] >= 0 && set) flags |= uint64_t{1} << layout.operand_bits[f];
  }
  return flags;
}

bool BodyWriter::IsWritten(const Op& op, int i) {
  const AttrInfo& info = op.info()->format->attrs[i];
  const Attr& a = op.attr(i);
  if (!Exists(info.since, errors_->version())) {
    const bool is_default = info.kind == AttrKind::kBools ? a.bools().empty() : a.as_int() == info.default_value;
    if (!is_default) errors_->Need(info.since, absl::StrCat("`", info.name, "`"));
    return false;
  }
  return info.kind != AttrKind::kFlag && a.present();
}

void BodyWriter::WriteAttr(const Op& op, int i, Sink& s) {
  const AttrInfo& info = op.info()->format->attrs[i];
  const Attr& a = op.attr(i);
  switch (info.kind) {
    case AttrKind::kFlag: break;
    case AttrKind::kBool: s.Fixed(a.as_bool(), 1); break;
    case AttrKind::kInt: s.Varint(static_cast<uint64_t>(a.as_int())); break;
    case AttrKind::kEnum: {
      const EnumValueInfo* value = FindEnumValue(info.enum_id, a.as_int());
      errors_->Need(value ? value->since : 0,
                    absl::StrCat(info.name, " ", value ? value->keyword : "of unknown number"));
      s.Varint(static_cast<uint64_t>(a.as_int()));
      break;
    }
    case AttrKind::kString:
    case AttrKind::kSymbol: s.Varint(pools_->String(a.as_string())); break;
    case AttrKind::kDense: s.Varint(pools_->Constant(a.dense())); break;
    case AttrKind::kInts: s.Ints(a.ints(), 4); break;
    case AttrKind::kBools: {
      // One for each operand of the `...` field; "all false" is empty in memory, but not in the container.
      size_t n = a.bools().size();
      for (size_t f = 0; n == 0 && f < op.info()->format->operands.size(); ++f) {
        if (op.info()->format->operands[f].arity != Arity::kVariadic) continue;
        n = op.group_end(static_cast<int>(f)) - op.group_begin(static_cast<int>(f));
      }
      s.Varint(n);
      for (size_t k = 0; k < n; ++k) s.Fixed(k < a.bools().size() && a.bools()[k], 1);
      break;
    }
    case AttrKind::kPredicate: WritePredicate(a.predicate(), s); break;
    case AttrKind::kHints: WriteHints(&a.hints(), s); break;
    case AttrKind::kScalars:
      s.Varint(a.scalars().size());
      for (const Scalar& v : a.scalars()) WriteScalar(v, s);
      break;
  }
}

void BodyWriter::WritePredicate(const Predicate& p, Sink& s) {
  const auto pair = [&](const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
    s.Varint((a ? 1 : 0) | (b ? 2 : 0));
    if (a) s.SignedVarint(*a);
    if (b) s.SignedVarint(*b);
  };
  switch (p.kind) {
    case Predicate::Kind::kDivBy:
      s.Tag(AttrTag::kDivBy);
      s.Varint(p.divisor);
      return pair(p.every, p.along);
    case Predicate::Kind::kBounded: s.Tag(AttrTag::kBounded); return pair(p.lower, p.upper);
    case Predicate::Kind::kSameElements: s.Tag(AttrTag::kSameElements); return s.Ints(p.groups, 8);
  }
}

void BodyWriter::WriteScalar(const Scalar& v, Sink& s) {
  const uint64_t bits = ToContainerBits(v.elem, v.bits);
  s.Tag(IsInt(v.elem) ? AttrTag::kInteger : AttrTag::kFloat);
  s.Varint(pools_->types.Add(Element::Number(v.elem)));
  if (IsInt(v.elem)) {
    s.Varint(bits);
  } else if (ElemInfoOf(v.elem).bits <= 8) {
    s.Fixed(bits, 1);
  } else {
    s.SignedVarint(static_cast<int64_t>(bits));
  }
}

void BodyWriter::WriteHints(const Hints* hints, Sink& s) {
  std::vector<ArchHints> archs;
  if (hints != nullptr) archs.assign(hints->archs.begin(), hints->archs.end());
  if (!Exists(kSinceDefaultHints, errors_->version())) {
    // `default` without a hint says nothing; frontends write it always.
    const auto says_nothing = [](const ArchHints& a) { return a.arch == "default" && a.hints.empty(); };
    archs.erase(std::remove_if(archs.begin(), archs.end(), says_nothing), archs.end());
  }
  s.Varint(archs.size());
  for (const ArchHints& arch : archs) {
    if (arch.arch == "default") errors_->Need(kSinceDefaultHints, "the hint key `default`");
    s.Varint(pools_->String(arch.arch));
    s.Tag(AttrTag::kDictionary);
    s.Varint(arch.hints.size());
    for (const Hint& hint : arch.hints) {
      s.Varint(pools_->String(hint.name));
      switch (hint.kind) {
        case Hint::Kind::kInt: {
          const Elem elem = hint.int_bits == 1    ? Elem::kI1
                            : hint.int_bits == 8  ? Elem::kI8
                            : hint.int_bits == 16 ? Elem::kI16
                            : hint.int_bits == 32 ? Elem::kI32
                                                  : Elem::kI64;
          WriteScalar({elem, FromContainerBits(elem, static_cast<uint64_t>(hint.number))}, s);
          break;
        }
        case Hint::Kind::kBool:
          s.Tag(AttrTag::kBool);
          s.Fixed(hint.number != 0, 1);
          break;
        case Hint::Kind::kString:
          s.Tag(AttrTag::kString);
          s.Varint(pools_->String(hint.text));
          break;
      }
    }
  }
}

void BodyWriter::WriteOperands(const Op& op, Sink& s) {
  const FormatInfo& format = *op.info()->format;
  if (format.operands_counted) s.Varint(op.num_operands());
  for (size_t i = 0; i < format.operands.size(); ++i) {
    const FieldInfo& field = format.operands[i];
    const int begin = op.group_begin(static_cast<int>(i)), end = op.group_end(static_cast<int>(i));
    if (!Exists(field.since, errors_->version())) {
      if (end > begin) errors_->Need(field.since, absl::StrCat("the operand `", field.name, "`"));
      continue;
    }
    if (field.arity == Arity::kVariadic && !format.operands_counted) s.Varint(end - begin);
    for (int k = begin; k < end; ++k) {
      const auto it = numbers_.find(op.operand(k));
      if (it == numbers_.end()) {
        errors_->Add(absl::StrCat("operand ", k, " is not defined before its use"));
        return;
      }
      s.Varint(it->second);
    }
  }
}

void BodyWriter::WriteRegion(const Block* block, Sink& s, std::vector<LocId>* locs) {
  s.Varint(block != nullptr);
  if (block == nullptr) return;
  const uint64_t outside = next_;
  s.Varint(block->num_args());
  for (const Value* v : block->args()) {
    s.Varint(pools_->types.Add(v->type()));
    Define(v);
  }
  Sink ops;
  uint64_t n = 0;
  for (const Op* op : *block) {
    WriteOp(*op, ops, locs);
    ++n;
  }
  s.Varint(n);
  s.Append(ops.data());
  next_ = outside;
}

}  // namespace tile::ir::tileir
