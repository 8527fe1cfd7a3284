// tilec K --sm=90: compiles kernels to cubin, PTX or a .tbc that carries them.
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/image.h"
#include "ir/tbc/writer.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"
#include "tools/load.h"
#include "tools/tilec_commands.h"

namespace tile::tools {
namespace {

// What --emit takes. Stages print text and stop there.
enum class Emit { kStage, kPtx, kCubin, kTbc };

int ReadTargets(const Options& options, std::vector<const codegen::Target*>* targets) {
  for (const std::string& list : options.values("sm")) {
    for (absl::string_view word : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      absl::string_view number = word;
      if (absl::StartsWith(number, "sm_")) number.remove_prefix(3);
      int sm = 0;
      const codegen::Target* t = absl::SimpleAtoi(number, &sm) ? codegen::FindTarget(sm) : nullptr;
      if (t == nullptr) {
        std::string known;
        for (const codegen::Target& k : codegen::AllTargets()) absl::StrAppend(&known, known.empty() ? "" : ", ", k.sm);
        return Fail(kUsage, "usage", absl::StrCat("--sm=", std::string(word), ": no such target"), absl::StrCat("known are ", known));
      }
      targets->push_back(t);
    }
  }
  return targets->empty() ? Fail(kUsage, "usage", "no --sm", "say which GPU to compile for, for example --sm=90") : kOk;
}

int Write(const std::string& path, absl::string_view bytes, bool binary) {
  OutputFile file;
  absl::Status s = file.Open(path);
  if (s.ok() && binary && file.is_terminal()) {
    return Fail(kUsage, "output.terminal", "will not write a binary file to a terminal", "name a file with -o, or redirect the output");
  }
  if (s.ok()) s = file.Write(bytes);
  if (s.ok()) s = file.Commit();
  return s.ok() ? kOk : Fail(kRejected, "output.write", s);
}

// "dir/kernel.tile" -> "kernel.cubin", in the folder where tilec runs.
std::string DefaultOutput(const std::string& input, const char* extension) {
  if (input == "-") return "-";
  const size_t slash = input.find_last_of('/');
  std::string name = slash == std::string::npos ? input : input.substr(slash + 1);
  const size_t dot = name.find_last_of('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return absl::StrCat(name, extension);
}

int FailedToCompile(const absl::Status& s) {
  const bool missing = s.code() == absl::StatusCode::kNotFound;
  const bool ours = s.code() == absl::StatusCode::kInternal;
  return Fail(missing ? kEnvironment : ours ? kInternal : kRejected, "codegen", s);
}

int Compile(const Options& options) {
  if (options.positional().size() != 1) {
    return Fail(kUsage, "usage", options.positional().empty() ? "no input file" : "more than one input file");
  }
  std::vector<const codegen::Target*> targets;
  if (const int exit = ReadTargets(options, &targets); exit != kOk) return exit;
  absl::StatusOr<int64_t> level = options.Integer("opt", 3, 0, 3);
  if (!level.ok()) return Fail(kUsage, "usage", level.status().message());

  const std::string& input = options.positional()[0];
  std::string out = options.value("output"), what = options.value("emit");
  if (what.empty()) what = options.has("embed") || absl::EndsWith(out, ".tbc") ? "tbc" : absl::EndsWith(out, ".ptx") ? "ptx" : "cubin";
  const Emit emit = what == "ptx" ? Emit::kPtx : what == "cubin" ? Emit::kCubin : what == "tbc" ? Emit::kTbc : Emit::kStage;
  if (emit == Emit::kStage && what != "layouts" && what != "llvm" && what != "llvm-opt") {
    return Fail(kUsage, "usage", absl::StrCat("--emit=", what), "takes layouts, llvm, llvm-opt, ptx, cubin or tbc");
  }

  int exit = kOk;
  auto loaded = Load(input, &exit);
  if (loaded == nullptr) return exit;
  const ir::Module& module = *loaded->module;
  std::vector<const ir::Function*> kernels;
  if (options.has("kernel") || emit != Emit::kTbc) {
    const ir::Function* f = PickKernel(module, NameOf(input), options.value("kernel"), &exit);
    if (f == nullptr) return exit;
    kernels.push_back(f);
  } else {
    for (const auto& f : module.functions) kernels.push_back(f.get());
  }
  if (emit != Emit::kTbc && targets.size() > 1) {
    return Fail(kUsage, "usage", "one --sm at a time for this output", "use -o FILE.tbc, which holds any number of them");
  }

  std::deque<codegen::BuiltImage> built;
  std::vector<ir::Image> images;
  std::string stage_text;
  for (const ir::Function* f : kernels) {
    for (const codegen::Target* t : targets) {
      codegen::CompileOptions compile;
      compile.target = t;
      compile.opt_level = static_cast<int>(*level);
      compile.line_info = options.has("lineinfo");
      if (emit == Emit::kStage) {
        compile.print = [&](absl::string_view stage, absl::string_view text) {
          if (stage == what) stage_text = std::string(text);
        };
      }
      const bool ptx_only = emit == Emit::kPtx || emit == Emit::kStage;
      absl::StatusOr<codegen::BuiltImage> image =
          codegen::BuildImage(module, *f, compile, ptx_only ? ir::ImageKind::kPtx : ir::ImageKind::kCubin);
      if (!image.ok() && emit == Emit::kStage && !stage_text.empty()) {
        if (const int e = Write(out.empty() ? "-" : out, stage_text, false); e != kOk) return e;
      }
      if (!image.ok()) return FailedToCompile(image.status());
      if (options.has("verbose")) {
        std::fprintf(stderr, "@%s for %s: %d threads, %d registers, %llu bytes of shared memory, %d bytes spilled, %d LLVM instructions\n",
                     std::string(f->name).c_str(), t->arch, image->compiled.threads, image->assembled.registers,
                     static_cast<unsigned long long>(image->compiled.shared_bytes), image->assembled.spill_bytes,
                     image->compiled.llvm_instructions);
      }
      built.push_back(*std::move(image));
      images.push_back(built.back().image);
    }
  }
  if (emit == Emit::kStage) return Write(out.empty() ? "-" : out, stage_text, false);
  if (emit == Emit::kPtx) return Write(out.empty() ? DefaultOutput(input, ".ptx") : out, *built[0].payload, false);
  if (emit == Emit::kCubin) return Write(out.empty() ? DefaultOutput(input, ".cubin") : out, *built[0].payload, true);
  absl::StatusOr<std::string> bytes = ir::WriteTbc(module, {.images = images});
  if (!bytes.ok()) return Fail(kRejected, "tbc.write", bytes.status());
  if (out.empty()) out = DefaultOutput(input, ".tbc");
  if (out == input && !options.has("embed")) {
    return Fail(kUsage, "output.same", absl::StrCat(input, ": the output would replace the input"), "name another file with -o, or say --embed");
  }
  return Write(out, *bytes, true);
}

}  // namespace

const Command kCompileCommand = {
    "compile",
    "K --sm=90[,80,…]",
    "compiles a kernel for NVIDIA GPUs",
    {
        {"sm", 0, "LIST", "GPUs to compile for: 75, 80, 86, 89, 90, 100, 120", true},
        {"output", 'o', "FILE", "FILE.cubin, FILE.ptx, or FILE.tbc with images of all kernels and targets"},
        {"emit", 0, "WHAT", "layouts, llvm, llvm-opt (text of a stage, on stdout without -o), ptx, cubin, tbc"},
        {"embed", 0, nullptr, "a .tbc with images; may replace the input"},
        {"kernel", 'k', "NAME", "which kernel, if there are several"},
        {"opt", 'O', "LEVEL", "0 to 3; default 3"},
        {"lineinfo", 0, nullptr, "source lines in the machine code"},
        {"verbose", 'v', nullptr, "threads, registers, shared memory and spills of each image, on stderr"},
    },
    "K is a .tbc, .tile or Tile IR bytecode file, told apart by content.\n\n"
    "examples:\n"
    "  tilec kernel.tbc --sm=90                     writes kernel.cubin\n"
    "  tilec kernel.tile --sm=80,90 -o kernel.tbc   portable tile code with machine code for two GPUs\n"
    "  tilec kernel.tile --sm=90 --emit=ptx -o -    prints PTX\n",
    Compile};

}  // namespace tile::tools
