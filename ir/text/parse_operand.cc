// Operands that the text writes in short: numbers, which become constants, and scalars or tiles with sizes of 1 that
// stand for a larger tile, which are broadcast. Both happen once all operands are read, because each takes its type
// from the others; what is inserted stands in front of the operation and has the place of the operand.
#include "absl/strings/str_join.h"
#include "ir/text/infer.h"
#include "ir/text/number.h"
#include "ir/text/parser_internal.h"

namespace tile::ir::text {

bool Parser::NumberStarts() const {
  if (tok_.kind == Tok::kInt || tok_.kind == Tok::kFloat || tok_.is("-")) return true;
  return tok_.is("true") || tok_.is("false") || tok_.is("inf") || tok_.is("nan");
}

bool Parser::ParseOperand(PendingOp& op, int field) {
  std::vector<Value*>& values = op.operands[field];
  op.places[field].push_back(tok_.pos);
  if (!NumberStarts()) return ParseUse(op, &values);
  PendingOp::Number number;
  number.field = field;
  number.index = values.size();
  number.at = tok_;
  number.negative = Accept("-");
  number.digits = tok_;
  if (!NumberStarts() || tok_.is("-")) {
    return FailExpected("a number", tok_.kind == Tok::kValue
                                        ? absl::StrCat("a value has no sign: %m = negf %", tok_.text, ", or negi")
                                        : "");
  }
  Advance();
  op.numbers.push_back(number);
  values.push_back(nullptr);
  return true;
}

bool Parser::ParseOperands(PendingOp& op, int field) {
  if (tok_.kind != Tok::kValue && (!NumberStarts() || tok_.first_on_line)) return true;
  do {
    if (!ParseOperand(op, field)) return false;
  } while (Accept(","));
  return true;
}

OpenOp Parser::Open(const PendingOp& op, std::vector<Value*>* values, std::vector<uint32_t>* ends) {
  values->clear();
  ends->clear();
  for (const std::vector<Value*>& field : op.operands) {
    values->insert(values->end(), field.begin(), field.end());
    ends->push_back(static_cast<uint32_t>(values->size()));
  }
  return {*op.info, *values, *ends, op.attrs, op.list_shape};
}

Value* Parser::Insert(PendingOp& op, Block* block, Opcode opcode, Value* operand, Attr attr, Type type, SourcePos pos) {
  PendingOp extra;
  extra.info = GetOp(opcode);
  extra.mnemonic = op.mnemonic;
  extra.mnemonic.pos = pos;
  if (operand != nullptr) extra.operands.push_back({operand});
  if (attr.present()) extra.attrs.push_back(attr);
  Op* created = Create(extra, {type}, block);
  if (created == nullptr) return nullptr;
  op.inserted.push_back(created);
  return created->result(0);
}

std::string Parser::ConstantFor(const PendingOp& op, const PendingOp::Number& n) const {
  bool is_float = n.digits.kind == Tok::kFloat || n.digits.is("inf") || n.digits.is("nan");
  const bool is_bit = n.digits.is("true") || n.digits.is("false");
  std::string type;
  // The accumulator of a product of an MxK and a KxN tile, or of batches of them.
  const FormatInfo& format = *op.info->format;
  const int lhs = format.operand_index("lhs"), rhs = format.operand_index("rhs");
  const auto shape_of = [&](int field) {
    const bool known = field >= 0 && op.operands[field].size() == 1 && op.operands[field][0] != nullptr;
    const Type t = known ? op.operands[field][0]->type() : Type();
    return t && t.is_tile() ? std::vector<int64_t>(t.shape().begin(), t.shape().end()) : std::vector<int64_t>();
  };
  if (op.info->family == Family::kMma && n.field == format.operand_index("acc")) {
    std::vector<int64_t> shape = shape_of(lhs);
    const std::vector<int64_t> right = shape_of(rhs);
    is_float = op.info->opcode != Opcode::kMmaI;
    if (shape.size() >= 2 && right.size() == shape.size()) {
      // Where the inner sizes differ, but would not of the transposed factor, that is what is meant.
      const size_t inner = right.size() - 2;
      const bool transposed = shape.back() != right[inner] && shape.back() == right.back();
      shape.back() = transposed ? right[inner] : right.back();
      type = absl::StrCat(" : tile<", absl::StrJoin(shape, "x"), is_float ? "xf32>" : "xi32>");
    }
  }
  const absl::string_view digits = n.digits.text.substr(0, 32);
  const bool point = is_float && n.digits.kind == Tok::kInt && digits.size() < 20 && digits.substr(0, 2) != "0x";
  return absl::StrCat("constant <",
                      is_bit     ? "i1: "
                      : is_float ? "f32: "
                                 : "i32: ",
                      n.negative ? "-" : "", digits, point ? ".0" : "", ">", type);
}

bool Parser::PlaceNumbers(PendingOp& op, Block* block, std::optional<Element> fallback) {
  if (op.poisoned) return true;
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  for (const PendingOp::Number& n : op.numbers) {
    const OpenOp open = Open(op, &values, &ends);
    std::optional<Element> element = ElementOfNumber(open, n.field);
    if (!element) element = fallback;
    if (!element) {
      return Fail(n.at, "number_type", absl::StrCat("the type of this number does not follow in ", op.info->mnemonic),
                  absl::StrCat("make it a value: %c = ", ConstantFor(op, n)));
    }
    if (element->kind == Elem::kPtr) {
      return Fail(n.at, "number_type", "a pointer is wanted here, not a number", "make one with int_to_ptr");
    }
    uint64_t bits = 0;
    if (const auto wrong = ReadNumber(element->kind, n.negative, n.digits.text, &bits)) {
      return Fail(n.at, "number", *wrong, NumberAdvice(element->kind, n.digits));
    }
    Dense* dense = module_->arena().New<Dense>();
    dense->elem = element->kind;
    dense->splat = true;
    std::vector<uint8_t> bytes;
    for (int b = 0; b < StorageBytes(element->kind); ++b) bytes.push_back(static_cast<uint8_t>(bits >> (8 * b)));
    dense->bytes = Copy(bytes);
    const auto shape = StretchedShape(open, n.field);
    const Type type = module_->types().Tile(*element, shape.value_or(std::vector<int64_t>()));
    Value* v = Insert(op, block, Opcode::kConstant, nullptr, Attr::Of(dense), type, n.at.pos);
    if (v == nullptr) return false;
    op.operands[n.field][n.index] = v;
  }
  return true;
}

// An operand that must equal another one in type, and has other elements: repeated it would be as wrong, and its type another than the text's.
bool Parser::OfAnotherElement(const PendingOp& op, int field) const {
  const std::vector<FieldRule>& rules = TypeRuleOf(*op.info).operands;
  const auto element = [&](int f) {
    const Value* v = op.operands[f].size() == 1 ? op.operands[f][0] : nullptr;
    return v != nullptr && v->type() && v->type().is_tile() ? v->type().element() : Element();
  };
  const Element own = element(field);
  for (size_t f = 0; f < rules.size(); ++f) {
    if (rules[f].kind != FieldRule::kOperand) continue;
    const int a = static_cast<int>(f), b = rules[f].same;
    if (a != field && b != field) continue;
    const int other = a == field ? b : a;
    if (op.operands[other].size() == 1 && op.operands[other][0] != nullptr && !(element(other) == own)) return true;
  }
  return false;
}

// Types that are written as the operands have them say that nothing is repeated: what the printer writes of a program
// that breaks its constraints comes back as it was.
bool Parser::StretchOperands(PendingOp& op, Block* block, const std::vector<Type>& written) {
  if (op.poisoned) return true;
  std::vector<Value*> values;
  std::vector<uint32_t> ends;
  const auto as_they_are = [&] {
    if (written.empty()) return false;
    if (written == OperandTypes(*op.info, values, ends, true)) return true;
    return OperandsFollowRule(*op.info, values, ends) && written == OperandTypes(*op.info, values, ends, false);
  };
  bool decided = false;
  for (size_t f = 0; f < op.operands.size(); ++f) {
    const int field = static_cast<int>(f);
    const OperandRule& rule = OperandRulesOf(*op.info)[f];
    if (!rule.stretches || (rule.shape_group < 0 && !rule.of_view)) continue;
    const OpenOp open = Open(op, &values, &ends);  // what was inserted before counts
    const Type from = open.type(field);
    const auto shape = StretchedShape(open, field);
    if (!from || !shape || !Stretches(from, *shape) || OfAnotherElement(op, field)) continue;
    if (!decided && as_they_are()) return true;
    decided = true;
    const SourcePos pos = op.places[f][0];
    TypeContext& types = module_->types();
    const std::vector<int64_t> ones(shape->size(), 1);
    Value* v = op.operands[f][0];
    if (from.rank() == 0) v = Insert(op, block, Opcode::kReshape, v, Attr(), types.Tile(from.element(), ones), pos);
    if (v != nullptr && v->type().shape() != absl::MakeConstSpan(*shape)) {
      v = Insert(op, block, Opcode::kBroadcast, v, Attr(), types.Tile(from.element(), *shape), pos);
    }
    if (v == nullptr) return false;
    op.operands[f][0] = v;
  }
  return true;
}

}  // namespace tile::ir::text
