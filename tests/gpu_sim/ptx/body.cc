// Bodies of kernels and device functions: scopes, registers, labels, parameters of calls, instructions.
#include <algorithm>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/gpu_sim/ptx/tokens.h"

namespace tile::gpu_sim::ptx {
namespace {

constexpr int kMostRegisters = 1 << 22;

// %r<100>: a hundred registers from `first` on. One of 128 bits is two, the upper half behind the lower one.
struct Family {
  int first = 0;
  uint64_t count = 0;
  int numbers = 1;  // that each has
};

// A branch to a label that may yet come: the operand `operand` of an instruction, or an entry of a table.
struct Pending {
  absl::string_view label;
  int line = 0;
  size_t index = 0, operand = 0;
  bool in_table = false;
};

struct Scope {
  absl::flat_hash_map<absl::string_view, int> registers;
  absl::flat_hash_map<absl::string_view, Family> families;
  absl::flat_hash_map<absl::string_view, uint32_t> labels;
  absl::flat_hash_map<std::string, absl::string_view> params;  // their names in the module
  std::vector<Pending> pending;
};

class BodyParser {
 public:
  BodyParser(Tokens& tokens, Module* module, Kernel* kernel) : tokens_(tokens), module_(*module), kernel_(*kernel) {}

  absl::Status Run(bool is_function) {
    if (absl::Status s = tokens_.Expect("{"); !s.ok()) return s;
    scopes_.emplace_back();
    if (is_function) {
      for (Variable& v : kernel_.params) NameParam(&v);
      for (Variable& v : kernel_.results) NameParam(&v);
    }
    while (!scopes_.empty()) {
      if (absl::Status s = Statement(); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Statement() {
    if (tokens_.AtEnd()) return tokens_.Error("a body does not end");
    if (tokens_.Take("{")) {
      scopes_.emplace_back();
      return absl::OkStatus();
    }
    if (tokens_.Take("}")) return CloseScope();
    if (tokens_.Take(";")) return absl::OkStatus();
    if (tokens_.Is(".loc") || tokens_.Is(".file") || tokens_.Is(".pragma")) {
      tokens_.SkipLine();
      return absl::OkStatus();
    }
    if (tokens_.Take(".reg")) return Registers();
    if (tokens_.Take(".shared")) return BodyVariable(Space::kShared);
    if (tokens_.Take(".local")) return BodyVariable(Space::kLocal);
    if (tokens_.Take(".param")) return BodyVariable(Space::kParam);
    if (tokens_.Peek().kind == TokenKind::kWord && tokens_.Peek(1).text == ":") return Label();
    return ParseInstruction();
  }

  absl::Status CloseScope() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    for (const Pending& p : scope.pending) {
      const auto found = scope.labels.find(p.label);
      if (found == scope.labels.end()) {
        if (scopes_.empty())
          return absl::InvalidArgumentError(absl::StrCat("line ", p.line, ": no label `", p.label, "`"));
        scopes_.back().pending.push_back(p);
      } else if (p.in_table) {
        kernel_.tables[p.index].targets[p.operand] = found->second;
      } else {
        Operand& operand = kernel_.code[p.index].operands[p.operand];
        operand.kind = Operand::Kind::kLabel;
        operand.number = found->second;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Registers() {
    const int bits = BitsOfType(tokens_.Next().text);
    if (bits == 0) return tokens_.Error("the type of a register is expected");
    do {
      absl::string_view name;
      if (absl::Status s = tokens_.ExpectWord(&name); !s.ok()) return s;
      const int first = static_cast<int>(kernel_.registers.size());
      if (tokens_.Take("<")) {
        uint64_t count = 0;
        if (absl::Status s = tokens_.ExpectInteger(&count); !s.ok()) return s;
        if (count + kernel_.registers.size() > kMostRegisters) return tokens_.Error("too many registers");
        for (uint64_t i = 0; i < count; ++i) AddRegister(absl::StrCat(name, i), bits);
        scopes_.back().families[name] = {first, count, bits == 128 ? 2 : 1};
        if (absl::Status s = tokens_.Expect(">"); !s.ok()) return s;
      } else {
        if (first >= kMostRegisters) return tokens_.Error("too many registers");
        AddRegister(std::string(name), bits);
        scopes_.back().registers[name] = first;
      }
    } while (tokens_.Take(","));
    return tokens_.Expect(";");
  }

  void AddRegister(const std::string& name, int bits) {
    kernel_.registers.push_back({name, bits});
    if (bits == 128) kernel_.registers.push_back({absl::StrCat("upper half of ", name), 64});
  }

  absl::Status BodyVariable(Space space) {
    Variable variable;
    variable.space = space;
    if (absl::Status s = ParseVariable(tokens_, &variable); !s.ok()) return s;
    if (space == Space::kParam) NameParam(&variable);
    kernel_.variables.push_back(std::move(variable));
    return tokens_.Expect(";");
  }

  void NameParam(Variable* variable) {
    absl::string_view& name = scopes_.back().params[variable->name];
    name = module_.names.emplace_back(absl::StrCat(variable->name, "#", module_.names.size()));
    variable->name = std::string(name);
  }

  absl::Status Label() {
    const absl::string_view name = tokens_.Next().text;
    tokens_.Next();
    if (tokens_.Take(".branchtargets")) return Targets(name);
    const auto at = static_cast<uint32_t>(kernel_.code.size());
    if (!scopes_.back().labels.emplace(name, at).second) {
      return tokens_.Error(absl::StrCat("label `", name, "` stands twice in one scope"));
    }
    return absl::OkStatus();
  }

  absl::Status Targets(absl::string_view name) {
    TargetTable table{std::string(name), {}};
    do {
      absl::string_view label;
      const int line = tokens_.Peek().line;
      if (absl::Status s = tokens_.ExpectWord(&label); !s.ok()) return s;
      scopes_.back().pending.push_back({label, line, kernel_.tables.size(), table.targets.size(), true});
      table.targets.push_back(0);
    } while (tokens_.Take(","));
    kernel_.tables.push_back(std::move(table));
    return tokens_.Expect(";");
  }

  // The number of a register, or -1.
  int FindRegister(absl::string_view name) const {
    size_t digits = name.size();
    while (digits > 0 && absl::ascii_isdigit(name[digits - 1])) --digits;
    uint64_t number = 0;
    const bool is_numbered = digits < name.size() && absl::SimpleAtoi(name.substr(digits), &number);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto r = scope->registers.find(name); r != scope->registers.end()) return r->second;
      if (!is_numbered) continue;
      const auto f = scope->families.find(name.substr(0, digits));
      if (f != scope->families.end() && number < f->second.count)
        return f->second.first + static_cast<int>(number) * f->second.numbers;
    }
    return -1;
  }

  // The variable in the module that a word names.
  absl::string_view FindName(absl::string_view word) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto p = scope->params.find(word); p != scope->params.end()) return p->second;
    }
    return word;
  }

  absl::Status ParseInstruction() {
    Instruction in;
    in.line = tokens_.Peek().line;
    if (tokens_.Take("@")) {
      in.guard_negated = tokens_.Take("!");
      in.guard = FindRegister(tokens_.Peek().text);
      if (in.guard < 0) return tokens_.Error("no such register");
      tokens_.Next();
    }
    if (absl::Status s = tokens_.ExpectWord(&in.opcode); !s.ok()) return s;
    in.words = absl::StrSplit(in.opcode, '.');
    const bool is_branch = in.words[0] == "bra";
    while (!tokens_.Is(";")) {
      Operand operand;
      if (absl::Status s = ParseOperand(&operand); !s.ok()) return s;
      if (is_branch) {
        if (operand.kind != Operand::Kind::kSymbol) return tokens_.Error("a label is expected");
        scopes_.back().pending.push_back({operand.text, in.line, kernel_.code.size(), in.operands.size(), false});
      }
      in.operands.push_back(std::move(operand));
      if (!tokens_.Take(",")) break;
    }
    kernel_.code.push_back(in);
    if (in.words[0] == "call") {
      in.words = {"received"};
      kernel_.code.push_back(std::move(in));
    }
    return tokens_.Expect(";");
  }

  absl::Status ParseOperand(Operand* out) {
    if (tokens_.Take("!")) {
      out->negated = true;
      if (absl::Status s = ParsePlain(out); !s.ok()) return s;
      return out->kind == Operand::Kind::kRegister ? absl::OkStatus() : tokens_.Error("a predicate is expected");
    }
    if (tokens_.Take("{")) return ParseList(out, "}");
    if (tokens_.Take("(")) return ParseList(out, ")");
    if (tokens_.Take("[")) return ParseAddress(out);
    if (absl::Status s = ParsePlain(out); !s.ok()) return s;
    if (!tokens_.Take("|")) return absl::OkStatus();
    Operand pair{.kind = Operand::Kind::kPair, .parts = {*out, {}}};
    if (absl::Status s = ParsePlain(&pair.parts[1]); !s.ok()) return s;
    *out = std::move(pair);
    return absl::OkStatus();
  }

  // A register, number, or symbol with an offset.
  absl::Status ParsePlain(Operand* out) {
    const bool minus = tokens_.Take("-");
    const Token& token = tokens_.Peek();
    out->text = token.text;
    out->number = minus ? -token.bits : token.bits;
    switch (token.kind) {
      case TokenKind::kInteger: out->kind = Operand::Kind::kInteger; break;
      case TokenKind::kFloat32: out->kind = Operand::Kind::kFloat32; break;
      case TokenKind::kFloat64: out->kind = Operand::Kind::kFloat64; break;
      case TokenKind::kWord: break;
      default: return tokens_.Error("an operand is expected");
    }
    if (minus && out->kind != Operand::Kind::kInteger) return tokens_.Error("only integers have a sign");
    tokens_.Next();
    if (token.kind != TokenKind::kWord) return absl::OkStatus();
    out->number = 0;
    if (const int r = FindRegister(out->text); r >= 0) {
      out->kind = Operand::Kind::kRegister;
      out->number = static_cast<uint64_t>(r);
      return absl::OkStatus();
    }
    out->kind = Operand::Kind::kSymbol;
    out->text = FindName(out->text);
    return Offset(&out->number);
  }

  // "+8", "+-8", "-8", or nothing.
  absl::Status Offset(uint64_t* offset) {
    const bool plus = tokens_.Take("+"), minus = tokens_.Take("-");
    if (!plus && !minus) return absl::OkStatus();
    if (absl::Status s = tokens_.ExpectInteger(offset); !s.ok()) return s;
    if (minus) *offset = -*offset;
    return absl::OkStatus();
  }

  absl::Status ParseList(Operand* out, absl::string_view end) {
    out->kind = Operand::Kind::kList;
    if (tokens_.Take(end)) return absl::OkStatus();
    do {
      out->parts.emplace_back();
      if (absl::Status s = ParseOperand(&out->parts.back()); !s.ok()) return s;
    } while (tokens_.Take(","));
    return tokens_.Expect(end);
  }

  absl::Status ParseAddress(Operand* out) {
    out->kind = Operand::Kind::kAddress;
    out->parts.emplace_back();
    if (absl::Status s = ParsePlain(&out->parts[0]); !s.ok()) return s;
    if (out->parts[0].kind == Operand::Kind::kSymbol) {
      std::swap(out->number, out->parts[0].number);
    } else if (absl::Status s = Offset(&out->number); !s.ok()) {
      return s;
    }
    while (tokens_.Take(",")) {
      out->parts.emplace_back();
      if (absl::Status s = ParseOperand(&out->parts.back()); !s.ok()) return s;
    }
    return tokens_.Expect("]");
  }

  Tokens& tokens_;
  Module& module_;
  Kernel& kernel_;
  std::vector<Scope> scopes_;
};

}  // namespace

absl::Status ParseBody(Tokens& tokens, Module* module, Kernel* kernel, bool is_function) {
  return BodyParser(tokens, module, kernel).Run(is_function);
}

}  // namespace tile::gpu_sim::ptx
