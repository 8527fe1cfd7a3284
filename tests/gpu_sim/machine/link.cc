#include "tests/gpu_sim/machine/link.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

using ptx::Kernel;
using ptx::Operand;

absl::Status Error(const ptx::Instruction& in, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("line ", in.line, ": the simulator does not know `", in.opcode, "`: ", why));
}

// The operands of a call: "(results), name, (arguments)", both lists optional.
struct Call {
  absl::string_view name;
  std::vector<Operand> results, arguments;
};
absl::StatusOr<Call> CallOf(const ptx::Instruction& in) {
  Call call;
  for (const Operand& o : in.operands) {
    if (o.kind == Operand::Kind::kList) {
      (call.name.empty() ? call.results : call.arguments) = o.parts;
    } else if (o.kind == Operand::Kind::kSymbol && call.name.empty()) {
      call.name = o.text;
    } else {
      return Error(in, "calls of functions by their names only");
    }
  }
  return call;
}

class Linker {
 public:
  explicit Linker(const ptx::Module& module) : module_(module) {}

  absl::StatusOr<Kernel> Run(const Kernel& kernel) {
    whole_ = kernel;
    whole_.code.clear();
    whole_.registers.clear();
    whole_.tables.clear();
    if (absl::Status s = Append(kernel, nullptr); !s.ok()) return s;
    while (!wanted_.empty()) {
      const Kernel* function = wanted_.back();
      wanted_.pop_back();
      if (absl::Status s = Append(*function, &placed_[function]); !s.ok()) return s;
    }
    for (const Pending& p : pending_) whole_.code[p.instruction].operands[0].number = placed_[p.function].entry;
    return std::move(whole_);
  }

 private:
  // Where a function is: its first instruction, and the register for the way back.
  struct Placed {
    uint64_t entry = 0, back = 0;
  };
  // A call whose function may yet come.
  struct Pending {
    size_t instruction;
    const Kernel* function;
  };

  absl::Status Append(const Kernel& part, Placed* placed) {
    const size_t registers = whole_.registers.size(), code = whole_.code.size(), tables = whole_.tables.size();
    if (placed != nullptr) {
      placed->entry = code;
      for (const auto* variables : {&part.params, &part.results, &part.variables})
        whole_.variables.insert(whole_.variables.end(), variables->begin(), variables->end());
    }
    whole_.registers.insert(whole_.registers.end(), part.registers.begin(), part.registers.end());
    for (ptx::TargetTable table : part.tables) {
      for (uint32_t& target : table.targets) target += static_cast<uint32_t>(code);
      whole_.tables.push_back(std::move(table));
    }
    for (ptx::Instruction in : part.code) {
      if (in.guard >= 0) in.guard += static_cast<int>(registers);
      for (Operand& o : in.operands) Move(&o, registers, code);
      if (in.words[0] == "brx") NameTable(part, tables, &in);
      if (in.words[0] == "ret" && placed != nullptr) in.operands.push_back(Register(placed->back));
      const bool calls = in.words[0] == "call" || in.words[0] == "received";
      whole_.code.push_back(std::move(in));
      if (!calls) continue;
      if (absl::Status s = Resolve(part); !s.ok()) return s;
    }
    if (module_.functions.empty()) return absl::OkStatus();
    // Other code follows.
    ptx::Instruction end;
    end.line = part.line;
    end.opcode = "ret";
    end.words = {"ret"};
    if (placed != nullptr) end.operands.push_back(Register(placed->back));
    whole_.code.push_back(std::move(end));
    return absl::OkStatus();
  }

  static Operand Register(uint64_t number) { return {.kind = Operand::Kind::kRegister, .number = number}; }

  static void Move(Operand* o, size_t registers, size_t code) {
    if (o->kind == Operand::Kind::kRegister) o->number += registers;
    if (o->kind == Operand::Kind::kLabel) o->number += code;
    for (Operand& part : o->parts) Move(&part, registers, code);
  }

  static void NameTable(const Kernel& part, size_t tables, ptx::Instruction* in) {
    for (size_t i = 0; i < part.tables.size() && in->operands.size() > 1; ++i) {
      Operand& o = in->operands[1];
      if (o.kind == Operand::Kind::kSymbol && o.text == part.tables[i].name)
        o = {.kind = Operand::Kind::kInteger, .number = tables + i};
    }
  }

  // The last instruction, a call or what follows it.
  absl::Status Resolve(const Kernel& caller) {
    ptx::Instruction& in = whole_.code.back();
    const absl::StatusOr<Call> call = CallOf(in);
    if (!call.ok()) return call.status();
    const Kernel* function = nullptr;
    for (const Kernel& f : module_.functions) {
      if (f.name == call->name) function = &f;
    }
    const bool before = in.words[0] == "call";
    if (function == nullptr && (call->name == "vprintf" || call->name == "__assertfail")) {
      in.words = {before ? call->name : in.words[0]};
      in.operands.clear();
      if (!before) in.operands.push_back({.kind = Operand::Kind::kList});
      return absl::OkStatus();
    }
    if (function == nullptr) return Error(in, absl::StrCat("the module has no function `", call->name, "`"));
    const std::vector<Operand>& passed = before ? call->arguments : call->results;
    const std::vector<ptx::Variable>& places = before ? function->params : function->results;
    if (passed.size() != places.size()) return Error(in, "it passes as many values as the function takes");
    Operand copies{.kind = Operand::Kind::kList};
    for (size_t i = 0; i < passed.size(); ++i) {
      Operand own = passed[i], of_function{.kind = Operand::Kind::kSymbol, .text = places[i].name};
      copies.parts.push_back(before ? own : of_function);
      copies.parts.push_back(before ? of_function : own);
      copies.parts.push_back({.kind = Operand::Kind::kInteger, .number = places[i].bytes});
    }
    in.operands.clear();
    if (before) {
      const auto [at, is_new] = placed_.try_emplace(function);
      if (is_new) {
        at->second.back = whole_.registers.size();
        whole_.registers.push_back({absl::StrCat("%back of ", function->name), 32});
        wanted_.push_back(function);
      }
      if (Reaches(*function, caller)) return Error(in, absl::StrCat("`", function->name, "` would call itself"));
      in.operands = {{.kind = Operand::Kind::kLabel}, Register(at->second.back)};
      pending_.push_back({whole_.code.size() - 1, function});
    }
    in.operands.push_back(std::move(copies));
    return absl::OkStatus();
  }

  // Whether a function is `other` or calls it, by way of others or not.
  bool Reaches(const Kernel& function, const Kernel& other) {
    absl::flat_hash_set<const Kernel*> seen;
    std::vector<const Kernel*> left = {&function};
    while (!left.empty()) {
      const Kernel* f = left.back();
      left.pop_back();
      if (f == &other) return true;
      if (!seen.insert(f).second) continue;
      for (const ptx::Instruction& in : f->code) {
        if (in.words[0] != "call") continue;
        const absl::StatusOr<Call> call = CallOf(in);
        for (const Kernel& g : module_.functions) {
          if (call.ok() && g.name == call->name) left.push_back(&g);
        }
      }
    }
    return false;
  }

  const ptx::Module& module_;
  Kernel whole_;
  std::vector<const Kernel*> wanted_;
  std::map<const Kernel*, Placed> placed_;
  std::vector<Pending> pending_;
};

}  // namespace

absl::StatusOr<Kernel> Link(const ptx::Module& module, const Kernel& kernel) { return Linker(module).Run(kernel); }

}  // namespace tile::gpu_sim
