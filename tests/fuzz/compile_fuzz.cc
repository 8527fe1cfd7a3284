// Any program under any name through tilec_compile, the C interface of libtilec.so. This process must survive whatever
// it asks for, and what it asks for must not be a mistake of the compiler.
//
// An input is one of
//   * a .tbc file, whole or damaged, or a program in text, all of whose kernels are compiled;
//   * else eight bytes, the seed of a random program (random_program.h), one of choices, and the kernel's name.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/target/target.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "runtime/jit/tilec_abi.h"
#include "tests/fuzz/random_program.h"

namespace tile {
namespace {

constexpr size_t kMaxKernels = 2;
// One of the table's GPUs, or 6.2, which is none.
int32_t Capability(size_t choice) {
  const auto targets = codegen::AllTargets();
  const size_t i = choice % (targets.size() + 1);
  return i < targets.size() ? targets[i].sm : 62;
}

void Require(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

struct Counts {
  int64_t ok = 0, rejected = 0, out_of_limits = 0;
  ~Counts() {
    std::fprintf(stderr, "compile_fuzz: %lld compiled, %lld rejected, %lld beyond a limit\n",
                 static_cast<long long>(ok), static_cast<long long>(rejected), static_cast<long long>(out_of_limits));
  }
};

// For the whole process: which program compiles, for how long, and that it leaves the rest to a driver unless it is
// told.
bool SetUp() {
  setenv("TILEC_WORKER", "codegen/library/tilec-worker", 0);
  setenv("TILEC_TIME_LIMIT", "20", 0);
  return true;
}

void CompileBytes(absl::string_view tbc, const std::string& kernel, int32_t capability, bool assemble, bool valid) {
  static Counts counts;
  if (assemble) {
    unsetenv("TILEC_PTXAS");
  } else {
    setenv("TILEC_PTXAS", "/nonexistent", 1);
  }
  tilec_output* output = nullptr;
  const tilec_status status = tilec_compile(tbc.data(), tbc.size(), kernel.c_str(), capability, &output);
  Require(output != nullptr, "no output");
  const std::string answer(tilec_output_bytes(output), tilec_output_size(output));
  tilec_output_free(output);
  const std::string of = absl::StrCat("@", absl::CHexEscape(kernel), " for ", capability, ": ");
  switch (status) {
    case TILEC_OK: {
      ++counts.ok;
      Require(valid, of + "compiled although the verifier rejects it");
      const auto read = ir::ReadTbc({reinterpret_cast<const uint8_t*>(answer.data()), answer.size()}, "answer");
      Require(read.ok() && (*read)->FindFunction(kernel) != nullptr, of + "the answer is no module with it");
      return;
    }
    case TILEC_ENVIRONMENT:
      ++counts.out_of_limits;
      Require(absl::StrContains(answer, "error[tilec.time]") || absl::StrContains(answer, "error[codegen.libdevice]"),
              of + answer);
      return;
    default:
      ++counts.rejected;
      Require(status == TILEC_REJECTED && absl::StrContains(answer, "error["), of + absl::StrCat(status, " ") + answer);
  }
}

void CompileModule(const ir::Module& module, int32_t capability, bool assemble, bool valid) {
  const absl::StatusOr<std::string> tbc = ir::WriteTbc(module);
  if (!tbc.ok()) return;
  for (size_t i = 0; i < module.functions.size() && i < kMaxKernels; ++i) {
    CompileBytes(*tbc, std::string(module.functions[i]->name), capability, assemble, valid);
  }
}

bool IsValid(const ir::Module& module) {
  ir::Diagnostics diagnostics;
  ir::Verify(module, &diagnostics);
  return diagnostics.ok();
}

}  // namespace
}  // namespace tile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tile;
  [[maybe_unused]] static const bool ready = SetUp();
  const absl::Span<const uint8_t> bytes(data, size);
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (ir::LooksLikeTbc(bytes)) {
    const auto module = ir::ReadTbc(bytes, "fuzz.tbc");
    const bool valid = module.ok() && IsValid(**module);
    CompileBytes(text, module.ok() && !(*module)->functions.empty() ? std::string((*module)->functions[0]->name) : "k",
                 90, false, valid);
    return 0;
  }
  if (size > 64 && ir::LooksLikeText(text)) {
    ir::Diagnostics ignored;
    const std::unique_ptr<ir::Module> module = ir::Parse(text, "fuzz.tile", &ignored);
    if (module == nullptr || !IsValid(*module)) return -1;  // of no use to find others
    CompileModule(*module, Capability(text.size()), text.size() % 8 == 0, true);
    return 0;
  }
  if (size < 9) return -1;
  uint64_t seed = 0;
  std::memcpy(&seed, data, 8);
  const uint8_t choices = data[8];
  // Half of them products.
  seed = seed % fuzz::kProductSeeds + (seed >> 63) * fuzz::kProductSeeds;
  const fuzz::RandomProgram program =
      fuzz::MakeRandomProgram({.seed = seed, .steps = choices % 16 == 0 ? -1 : choices % 16});
  ir::Function& f = *program.module->functions[0];
  if (size > 9) f.name = program.module->Copy(text.substr(9));
  CompileModule(*program.module, Capability(choices >> 4 & 15), choices >> 7 != 0, IsValid(*program.module));
  return 0;
}
