#include "ir/text/printer.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "ir/text/lexer.h"
#include "ir/text/print_internal.h"

namespace tile::ir::text {

std::string SymbolText(absl::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), IsNameChar);
  return absl::StrCat("@", plain ? std::string(name) : Quote(name));
}

void Printer::PutTypes(const std::vector<Type>& operands, const std::vector<Type>& results) {
  if (operands.empty() && results.empty()) return;
  Put(" : ", TypeList(operands));
  if (!results.empty()) Put(operands.empty() ? "" : " -> ", TypeList(results));
}

void Printer::PutValues(const std::vector<Value*>& values) {
  Put(absl::StrJoin(values, ", ", [&](std::string* out, Value* v) { out->append(names_.Of(v)); }));
}

void Printer::PutLoc(LocId loc) {
  if (options_.debug && loc != 0) Put(" loc(#", loc, ")");
}

// --- the syntax column ----------------------------------------------------------------------------------------------

namespace {

bool IsDefault(const AttrInfo& info, const Attr& attr) {
  if (!attr.present()) return true;
  switch (info.kind) {
    case AttrKind::kFlag:
    case AttrKind::kBool: return !attr.as_bool();
    case AttrKind::kEnum: return !info.optional && attr.as_int() == info.default_value;
    case AttrKind::kBools: return attr.bools().empty();
    default: return false;
  }
}

}  // namespace

bool Printer::GroupPrinted(const Op& op, const SyntaxItem& group) const {
  const SyntaxItem& item = Decider(group);
  if (item.kind == SyntaxItem::kOperand) return op.group_begin(item.field) != op.group_end(item.field);
  return !IsDefault(op.info()->format->attrs[item.field], op.attr(item.field));
}

// An absent operand of `(, $x)?` is written as `_` if the operand of such a group behind it is there, or if the one in
// front of it is no proper mask and would be taken for this one.
bool Printer::GroupSkipped(const Op& op, const std::vector<SyntaxItem>& items, size_t i) const {
  if (ListElement(items[i]) < 0) return false;
  const int before = i > 0 ? ListElement(items[i - 1]) : -1;
  if (before >= 0 && TypeRuleOf(*op.info()).operands[before].mask && GroupPrinted(op, items[i - 1])) {
    const Type t = op.operand(op.group_begin(before))->type();
    if (t.is_tile() && t.elem() != Elem::kI1) return true;
  }
  for (++i; i < items.size() && ListElement(items[i]) >= 0; ++i) {
    if (GroupPrinted(op, items[i])) return true;
  }
  return false;
}

void Printer::PutItems(const Op& op, const std::vector<SyntaxItem>& items, bool* first) {
  for (size_t i = 0; i < items.size(); ++i) {
    const SyntaxItem& item = items[i];
    if (item.kind == SyntaxItem::kGroup) {
      if (GroupPrinted(op, item)) {
        PutItems(op, item.items, first);
      } else if (GroupSkipped(op, items, i)) {
        Put(", _");
      }
      continue;
    }
    if (item.kind == SyntaxItem::kOperand && op.group_begin(item.field) == op.group_end(item.field)) continue;
    if (item.space || *first) Put(" ");
    *first = false;
    if (item.kind == SyntaxItem::kLiteral) {
      Put(item.literal);
    } else if (item.kind == SyntaxItem::kAttr) {
      Put(AttrText(op.info()->format->attrs[item.field], op.attr(item.field), op));
    } else {
      std::vector<Value*> values;
      for (int v = op.group_begin(item.field); v < op.group_end(item.field); ++v) values.push_back(op.operand(v));
      PutValues(values);
    }
  }
}

// --- operations -----------------------------------------------------------------------------------------------------

void Printer::PrintOp(const Op& op, int indent) {
  const int number = ++op_number_;
  if (!one_line_) out_.append(indent * 2, ' ');
  const std::string results = names_.Results(op);
  Put(results, results.empty() ? "" : " = ", op.info()->mnemonic);
  bool complete = true;  // operands that were dropped have no types
  for (int i = 0; i < op.num_operands(); ++i) complete &= op.operand(i) != nullptr;
  if (!complete) {
    Put(" <operands dropped>");
  } else if (HasCustomSyntax(*op.info()->format)) {
    PutCustom(op, indent);
  } else {
    bool first = true;
    PutItems(op, SyntaxOf(*op.info()->format), &first);
    std::vector<Value*> operands;
    std::vector<uint32_t> ends;
    for (int i = 0; i < op.num_operands(); ++i) operands.push_back(op.operand(i));
    for (size_t f = 0; f < op.info()->format->operands.size(); ++f) ends.push_back(op.group_end(static_cast<int>(f)));
    PutTypes(OperandTypes(*op.info(), operands, ends, !OperandsFollowRule(op)), ResultTypes(op));
  }
  if (!one_line_) PutAnnotations(op);
  PutLoc(op.loc);
  if (options_.numbers) Put("  // ", number);
  if (!one_line_) Put("\n");
}

void Printer::PutAnnotations(const Op& op) {
  if (op.annotations() == nullptr) return;
  const char* before = " {";
  for (const Annotation* a = op.annotations(); a != nullptr; a = a->next) {
    Put(before, a->info->kind == AttrKind::kFlag ? "" : absl::StrCat(a->info->name, " = "),
        AttrText(*a->info, a->value, op));
    before = ", ";
  }
  Put("}");
}

// A terminator that the parser adds by itself.
static bool IsImplied(const Op& op, const Op& parent, bool debug) {
  const int carried = parent.info()->format->operand_index("init_values");
  const std::optional<Opcode> want = ImpliedTerminator(
      *parent.info(), parent.num_results(), carried < 0 ? 0 : parent.group_end(carried) - parent.group_begin(carried));
  return want == op.opcode() && op.num_operands() == 0 && op.next() == nullptr && (op.loc == 0 || !debug) &&
         (op.prev() == nullptr || !op.prev()->info()->has(kTerminator));
}

void Printer::PutBody(const Op& op, int region, int indent) {
  if (one_line_) {
    Put("{ … }");
    return;
  }
  Put("{\n");
  const Block* body = op.region(region);
  if (body != nullptr) {
    for (Op* inner : *body) {
      if (!IsImplied(*inner, op, options_.debug)) {
        PrintOp(*inner, indent + 1);
      } else {
        ++op_number_;
      }
    }
  }
  out_.append(indent * 2, ' ');
  Put("}");
}

// --- module ---------------------------------------------------------------------------------------------------------

void Printer::PutGlobal(const Global& g) {
  Put("global ", g.visibility == Visibility::kPrivate ? "private " : "", g.constant ? "constant " : "",
      SymbolText(g.name));
  if (g.alignment != 0) Put(" alignment = ", g.alignment);
  Put(" ", DenseText(g.value, {}), " : ", g.type.ToString());
  PutLoc(g.loc);
  Put("\n");
}

void Printer::PutFunction(Function& f) {
  op_number_ = 0;
  names_ = Names(options_.keep_names);
  names_.AddBlock(f.body());
  Put("entry ", f.visibility == Visibility::kPrivate ? "private " : "", SymbolText(f.name), "(");
  for (int i = 0; i < f.num_params(); ++i) {
    Put(i == 0 ? "" : ", ", names_.Of(f.param(i)), ": ", f.param(i)->type().ToString());
  }
  Put(")");
  const int* c = f.blocks_per_cluster;
  if (c[0] != 1 || c[1] != 1 || c[2] != 1) Put(" blocks_per_cluster = (", c[0], ", ", c[1], ", ", c[2], ")");
  if (f.hints != nullptr) Put(" optimization_hints=", HintsText(*f.hints));
  if (f.interface != nullptr) Put(" interface {\n", InterfaceText(f, *f.interface, names_), "}");
  Put(" {\n");
  for (Op* op : *f.body()) PrintOp(*op, 1);
  Put("}");
  PutLoc(f.loc);
  Put("\n");
}

void Printer::PrintModule(const Module& m) {
  const bool empty = m.functions.empty() && m.globals.empty();
  if (m.name != "kernels" || !m.producer.empty() || empty) {
    Put("module ", SymbolText(m.name));
    if (!m.producer.empty()) Put(" producer ", Quote(m.producer));
    Put("\n");
  }
  for (const auto& g : m.globals) PutGlobal(*g);
  for (const auto& f : m.functions) {
    if (!out_.empty()) Put("\n");
    PutFunction(*f);
  }
  if (!options_.debug || m.debug.empty()) return;
  Put("\n");
  for (size_t i = 0; i < m.debug.size(); ++i) Put(DebugText(m.debug[i], static_cast<LocId>(i + 1)), "\n");
}

}  // namespace tile::ir::text

namespace tile::ir {
namespace {

// Names of a whole function, so that PrintOp and PrintValue agree on them.
void AddNames(text::Names& names, Block* block, const Op* op) {
  while (block != nullptr && block->parent() != nullptr && block->parent()->block() != nullptr) {
    block = block->parent()->block();
  }
  if (block != nullptr) {
    names.AddBlock(block->parent() != nullptr ? nullptr : block);
  } else if (op != nullptr) {
    names.AddOp(const_cast<Op*>(op));
  }
}

}  // namespace

std::string Print(const Module& module, const PrintOptions& options) {
  text::Printer printer(options, false);
  printer.PrintModule(module);
  return printer.Take();
}

std::string PrintOp(const Op& op) {
  text::Printer printer({.debug = false, .keep_names = true}, true);
  AddNames(printer.names(), op.block(), &op);
  printer.PrintOp(op, 0);
  return printer.Take();
}

std::string PrintValue(const Value& value) {
  text::Names names(true);
  AddNames(names, value.def() != nullptr ? value.def()->block() : value.block(), value.def());
  return names.Of(&value);
}

}  // namespace tile::ir
