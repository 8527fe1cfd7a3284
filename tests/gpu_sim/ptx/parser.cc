#include "tests/gpu_sim/ptx/parser.h"

#include <algorithm>
#include <array>

#include "tests/gpu_sim/ptx/tokens.h"

namespace tile::gpu_sim::ptx {

int BitsOfType(absl::string_view type) {
  static constexpr std::pair<absl::string_view, int> kTypes[] = {
      {".pred", 1}, {".b8", 8},   {".u8", 8},   {".s8", 8},   {".b16", 16},  {".u16", 16},
      {".s16", 16}, {".f16", 16}, {".b32", 32}, {".u32", 32}, {".s32", 32},  {".f32", 32},
      {".b64", 64}, {".u64", 64}, {".s64", 64}, {".f64", 64}, {".b128", 128}};
  for (const auto& [name, bits] : kTypes) {
    if (name == type) return bits;
  }
  return 0;
}

namespace {

absl::Status ParseInitial(Tokens& tokens, int bits, Variable* variable) {
  const bool is_list = tokens.Take("{");
  do {
    const bool minus = tokens.Take("-");
    const Token& token = tokens.Peek();
    const bool fits = token.kind == TokenKind::kInteger || (token.kind == TokenKind::kFloat32 && bits == 32) ||
                      (token.kind == TokenKind::kFloat64 && bits == 64);
    if (!fits) return tokens.Error("the simulator knows only numbers as initial values");
    const uint64_t value = minus ? -token.bits : token.bits;
    for (int b = 0; b < bits; b += 8) variable->initial.push_back(static_cast<uint8_t>(value >> b));
    tokens.Next();
  } while (is_list && tokens.Take(","));
  return is_list ? tokens.Expect("}") : absl::OkStatus();
}

}  // namespace

absl::Status ParseVariable(Tokens& tokens, Variable* variable) {
  variable->line = tokens.Peek().line;
  int bits = 0;
  while (tokens.Peek().text.substr(0, 1) == ".") {
    const absl::string_view word = tokens.Next().text;
    if (word == ".align") {
      if (absl::Status s = tokens.ExpectInteger(&variable->alignment); !s.ok()) return s;
    } else if (BitsOfType(word) != 0) {
      bits = BitsOfType(word);
    } else if (word != ".ptr" && word != ".global" && word != ".const" && word != ".shared" && word != ".local") {
      return tokens.Error(absl::StrCat("the simulator does not know `", word, "` of a variable"));
    }
  }
  if (bits < 8) return tokens.Error("a variable has a type of at least a byte");
  absl::string_view name;
  if (absl::Status s = tokens.ExpectWord(&name); !s.ok()) return s;
  variable->name = std::string(name);
  variable->bytes = static_cast<uint64_t>(bits / 8);
  variable->alignment = std::max(variable->alignment, variable->bytes);
  while (tokens.Take("[")) {
    uint64_t count = 0;
    if (!tokens.Is("]")) {
      if (absl::Status s = tokens.ExpectInteger(&count); !s.ok()) return s;
    }
    variable->bytes *= count;
    if (variable->bytes > uint64_t{1} << 32) return tokens.Error("a variable of more than 4 GiB");
    if (absl::Status s = tokens.Expect("]"); !s.ok()) return s;
  }
  if (tokens.Take("=")) {
    if (absl::Status s = ParseInitial(tokens, bits, variable); !s.ok()) return s;
    if (variable->bytes == 0) variable->bytes = variable->initial.size();
    if (variable->initial.size() > variable->bytes) return tokens.Error("more initial values than the variable holds");
  }
  return absl::OkStatus();
}

namespace {

class ModuleParser {
 public:
  ModuleParser(Tokens& tokens, Module* module) : tokens_(tokens), module_(*module) {}

  absl::Status Run() {
    while (!tokens_.AtEnd()) {
      if (absl::Status s = Declaration(); !s.ok()) return s;
    }
    return module_.target.empty() ? tokens_.Error("a module names its .target") : absl::OkStatus();
  }

 private:
  absl::Status Declaration() {
    if (tokens_.Is(".version") || tokens_.Is(".address_size") || tokens_.Is(".file") || tokens_.Is(".loc") ||
        tokens_.Is(".pragma")) {
      tokens_.SkipLine();
      return absl::OkStatus();
    }
    if (tokens_.Take(".section")) {  // of debug information
      while (!tokens_.AtEnd() && !tokens_.Is("}")) tokens_.Next();
      return tokens_.Expect("}");
    }
    if (tokens_.Take(".target")) {
      module_.target = std::string(tokens_.Peek().text);
      tokens_.SkipLine();
      return absl::OkStatus();
    }
    bool is_extern = false;
    while (tokens_.Is(".visible") || tokens_.Is(".extern") || tokens_.Is(".weak") || tokens_.Is(".common")) {
      is_extern |= tokens_.Is(".extern");
      tokens_.Next();
    }
    if (tokens_.Take(".entry")) return Entry();
    if (tokens_.Take(".func")) return Function();
    const std::pair<absl::string_view, Space> kSpaces[] = {
        {".global", Space::kGlobal}, {".const", Space::kConst}, {".shared", Space::kShared}};
    for (const auto& [word, space] : kSpaces) {
      if (!tokens_.Take(word)) continue;
      Variable variable;
      variable.space = space;
      variable.is_extern = is_extern;
      if (absl::Status s = ParseVariable(tokens_, &variable); !s.ok()) return s;
      if (is_extern && space != Space::kShared)
        return tokens_.Error("the simulator links no modules: an extern variable");
      module_.variables.push_back(std::move(variable));
      return tokens_.Expect(";");
    }
    return tokens_.Error("the simulator does not know this declaration");
  }

  absl::Status Entry() {
    Kernel kernel;
    kernel.line = tokens_.Peek().line;
    absl::string_view name;
    if (absl::Status s = tokens_.ExpectWord(&name); !s.ok()) return s;
    kernel.name = std::string(name);
    if (absl::Status s = Params(&kernel.params); !s.ok()) return s;
    if (absl::Status s = Directives(&kernel); !s.ok()) return s;
    if (absl::Status s = ParseBody(tokens_, &module_, &kernel, false); !s.ok()) return s;
    module_.kernels.push_back(std::move(kernel));
    return absl::OkStatus();
  }

  // "(.param .b64 result) name(.param .b64 x) { … }", or `;` for the body, which then stands elsewhere.
  absl::Status Function() {
    Kernel function;
    function.line = tokens_.Peek().line;
    if (absl::Status s = Params(&function.results); !s.ok()) return s;
    absl::string_view name;
    if (absl::Status s = tokens_.ExpectWord(&name); !s.ok()) return s;
    function.name = std::string(name);
    if (absl::Status s = Params(&function.params); !s.ok()) return s;
    tokens_.Take(".noreturn");
    if (tokens_.Take(";")) return absl::OkStatus();
    if (absl::Status s = ParseBody(tokens_, &module_, &function, true); !s.ok()) return s;
    module_.functions.push_back(std::move(function));
    return absl::OkStatus();
  }

  // "(.param .b32 x, …)", or nothing.
  absl::Status Params(std::vector<Variable>* params) {
    if (!tokens_.Take("(") || tokens_.Take(")")) return absl::OkStatus();
    do {
      if (absl::Status s = tokens_.Expect(".param"); !s.ok()) return s;
      Variable param;
      param.space = Space::kParam;
      if (absl::Status s = ParseParam(&param); !s.ok()) return s;
      params->push_back(std::move(param));
    } while (tokens_.Take(","));
    return tokens_.Expect(")");
  }

  // ".u64 .ptr .align 16 name": the alignment is that of what it points to.
  absl::Status ParseParam(Variable* param) {
    const bool is_pointer = tokens_.Peek(1).text == ".ptr";
    if (absl::Status s = ParseVariable(tokens_, param); !s.ok()) return s;
    if (is_pointer) param->alignment = 8;
    return absl::OkStatus();
  }

  absl::Status Directives(Kernel* kernel) {
    while (!tokens_.Is("{")) {
      const absl::string_view word = tokens_.Next().text;
      if (word == ".pragma") {
        tokens_.SkipLine();
        continue;
      }
      std::array<uint64_t, 3> numbers = {1, 1, 1};
      size_t n = 0;
      while (n < 3 && tokens_.Peek().kind == TokenKind::kInteger) {
        numbers[n++] = tokens_.Next().bits;
        if (!tokens_.Take(",")) break;
      }
      const unsigned product = static_cast<unsigned>(numbers[0] * numbers[1] * numbers[2]);
      if (word == ".maxntid" || word == ".reqntid") {
        kernel->max_threads = product;
        kernel->requires_threads = word == ".reqntid";
      } else if (word == ".reqnctapercluster") {
        kernel->cluster = product;
      } else if (word != ".minnctapersm" && word != ".maxnreg" && word != ".explicitcluster" &&
                 word != ".maxclusterrank" && word != ".blocksareclusters") {
        return tokens_.Error(absl::StrCat("the simulator does not know `", word, "` of a kernel"));
      }
    }
    return absl::OkStatus();
  }

  Tokens& tokens_;
  Module& module_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Parse(absl::string_view text) {
  auto module = std::make_unique<Module>();
  module->source = std::string(text);
  absl::StatusOr<std::vector<Token>> tokens = Tokenize(module->source);
  if (!tokens.ok()) return tokens.status();
  Tokens reader(*std::move(tokens));
  if (absl::Status s = ModuleParser(reader, module.get()).Run(); !s.ok()) return s;
  return module;
}

}  // namespace tile::gpu_sim::ptx
