// tilec K --sm=90: compiles kernels to cubin, PTX or a .tbc that carries them.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/assemble/disassemble.h"
#include "codegen/build_image.h"
#include "codegen/explain.h"
#include "codegen/llvm/llvm_version.h"
#include "codegen/program_text.h"
#include "codegen/target/chips.h"
#include "codegen/target/tuning.h"
#include "ir/escape.h"
#include "ir/limits.h"
#include "ir/release.h"
#include "ir/tbc/writer.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/data/files.h"
#include "tools/data/json.h"
#include "tools/module/image_text.h"
#include "tools/module/load.h"
#include "tools/tilec/c_header.h"
#include "tools/tilec/compile_targets.h"
#include "tools/tilec/crash_bundle.h"
#include "tools/tilec/launch_sizes.h"
#include "tools/tilec/tilec_commands.h"
#include "tools/tilec/time_limit.h"

namespace tile::tools {
namespace {

// What --emit takes. Stages print the text of a pass and stop there.
enum class Emit { kStage, kPtx, kCubin, kSass, kTbc, kHeader, kExplain };

struct EmitInfo {
  const char* name;
  Emit emit;
  const char* extension;
  const char* pass = "";
};
constexpr EmitInfo kEmits[] = {
    {"cubin", Emit::kCubin, ".cubin"},       {"tbc", Emit::kTbc, ".tbc"},
    {"header", Emit::kHeader, ".h"},         {"ptx", Emit::kPtx, ".ptx"},
    {"tile", Emit::kStage, "", "slice"},     {"gpu", Emit::kStage, "", "account-memory"},
    {"llvm", Emit::kStage, "", "emit-llvm"}, {"llvm-opt", Emit::kStage, "", "mark-rare"},
    {"sass", Emit::kSass, ".sass"},          {"explain", Emit::kExplain, ""},
};

// "/dev/null" and other things that have no extension to tell from.
bool IsDevice(const std::string& path) {
  struct stat s;
  return path == "-" || (stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
}

bool IsText(Emit emit) { return emit == Emit::kStage || emit == Emit::kExplain; }

// --emit=ptx -o k.cubin would leave a file that is not what it is called.
int CheckExtension(const EmitInfo& emit, const std::string& out) {
  // Programs in the forms that Load reads.
  static constexpr const char* kSources[] = {".tile", ".tilebc", ".ttir", ".mlir"};
  if (IsDevice(out) || (emit.extension[0] != '\0' && absl::EndsWith(out, emit.extension))) return kOk;
  std::string other;
  for (const EmitInfo& e : kEmits) {
    if (e.extension[0] != '\0' && absl::EndsWith(out, e.extension)) other = e.name;
  }
  const bool is_source =
      std::any_of(std::begin(kSources), std::end(kSources), [&](const char* s) { return absl::EndsWith(out, s); });
  const bool is_tile_text = emit.emit == Emit::kStage && absl::EndsWith(out, ".tile");
  if (other.empty() && (!is_source || is_tile_text)) return kOk;
  const std::string option = emit.emit == Emit::kExplain ? "--explain" : absl::StrCat("--emit=", emit.name);
  const std::string name = IsText(emit.emit) ? "FILE.txt" : absl::StrCat("FILE", emit.extension);
  return FailAt(out, kUsage, "output.form", absl::StrCat(option, " does not write what the extension says"),
                absl::StrCat("write -o ", name,
                             other.empty() ? "" : absl::StrCat("; without ", option, ", -o ", out, " writes ", other)));
}

// By --emit, else by the output's extension. Null after an error on stderr.
const EmitInfo* FindEmit(const Options& options) {
  const std::string out = options.value("output");
  std::string what = options.has("explain") ? "explain" : options.value("emit");
  if (what.empty() && options.has("embed")) what = "tbc";
  std::vector<std::string> names, extensions;
  for (const EmitInfo& e : kEmits) {
    if (!what.empty() ? what == e.name : e.extension[0] != '\0' && absl::EndsWith(out, e.extension)) {
      // In the place of the input is an error of its own.
      const bool replaces = !options.has("embed") && out == options.positional()[0];
      return replaces || CheckExtension(e, out) == kOk ? &e : nullptr;
    }
    names.push_back(e.name);
    if (e.extension[0] != '\0') extensions.push_back(e.extension);
  }
  if (!what.empty()) {
    Fail(kUsage, "usage", absl::StrCat("--emit=", what), absl::StrCat("takes ", absl::StrJoin(names, ", ")));
    return nullptr;
  }
  if (out.empty() || IsDevice(out)) return &kEmits[0];
  FailAt(out, kUsage, "output.form", "the extension does not say what to write",
         absl::StrCat("known are ", absl::StrJoin(extensions, ", "), "; or say --emit"));
  return nullptr;
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

// What the compilation is asked to tell: --print-after, --remarks, --opt-bisect-limit.
int MakeTrace(const Options& options, codegen::Trace* trace, std::vector<std::string>* remarks) {
  const std::vector<std::string> passes = options.values("print-after");
  for (const std::string& p : passes) {
    bool known = p == "all";
    std::vector<std::string> names;
    for (const codegen::PassInfo& i : codegen::AllPasses()) {
      known |= p == i.name;
      names.push_back(i.name);
    }
    if (known) continue;
    return Fail(kUsage, "usage", absl::StrCat("--print-after=", p, ": no such pass"),
                absl::StrCat("passes are ", absl::StrJoin(names, ", "), "; or say all"));
  }
  trace->wants_text = [passes](absl::string_view pass) {
    for (const std::string& p : passes) {
      if (p == "all" || absl::string_view(p) == pass) return true;
    }
    return false;
  };
  trace->on_warning = [](const std::string& line) { std::fprintf(stderr, "%s\n", ir::Escaped(line).c_str()); };
  if (options.has("remarks") || options.has("json")) {
    trace->on_remark = [print = options.has("remarks"), remarks](const std::string& line) {
      remarks->push_back(line);
      if (print) std::fprintf(stderr, "%s\n", ir::Escaped(line).c_str());
    };
  }
  if (!options.has("opt-bisect-limit")) return kOk;
  absl::StatusOr<int64_t> limit = options.Integer("opt-bisect-limit", 0, -1, int64_t{1} << 40);
  if (!limit.ok()) return Fail(kUsage, "usage", limit.status());
  trace->step_limit = *limit;
  trace->on_step = [](int64_t number, bool taken, absl::string_view step, absl::string_view of) {
    std::fprintf(stderr, "bisect: %s step %lld: %s: %s\n", taken ? "taking" : "leaving out",
                 static_cast<long long>(number), std::string(step).c_str(), ir::Escaped(of).c_str());
  };
  return kOk;
}

// Which place the pass has in the table; -1: none.
int PlaceOf(absl::string_view pass) {
  const absl::Span<const codegen::PassInfo> all = codegen::AllPasses();
  for (size_t i = 0; i < all.size(); ++i) {
    if (pass == all[i].name) return static_cast<int>(i);
  }
  return -1;
}

// --start-after: which outputs it makes sense for.
int CheckStart(const Options& options, const EmitInfo& emit, size_t num_targets) {
  const std::string start = options.value("start-after");
  if (start.empty()) return kOk;
  const int place = PlaceOf(start);
  if (place < 0 || !codegen::AllPasses()[static_cast<size_t>(place)].of_program) {
    std::vector<std::string> names;
    for (const codegen::PassInfo& i : codegen::AllPasses()) {
      if (i.of_program) names.push_back(i.name);
    }
    return Fail(kUsage, "usage", absl::StrCat("--start-after=", start, ": no pass over tile code has this name"),
                absl::StrCat("they are ", absl::StrJoin(names, ", ")));
  }
  if (emit.emit == Emit::kTbc || emit.emit == Emit::kHeader || emit.emit == Emit::kExplain || options.has("embed")) {
    return Fail(kUsage, "usage",
                absl::StrCat("--start-after with ", emit.name, ": the program as it was written is not known"),
                "say --emit=ptx, cubin or a stage");
  }
  if (emit.emit == Emit::kStage && PlaceOf(emit.pass) <= place) {
    return Fail(
        kUsage, "usage",
        absl::StrCat("--emit=", emit.name, " is the text of pass ", emit.pass, ", which does not run after ", start));
  }
  return num_targets == 1 ? kOk : Fail(kUsage, "usage", "one --sm at a time with --start-after");
}

void PrintTimes(const codegen::Trace& trace) {
  double all = 0;
  for (const auto& t : trace.times()) all += t.seconds;
  std::fprintf(stderr, "%10s %7s %5s  pass\n", "ms", "share", "runs");
  for (const auto& t : trace.times()) {
    std::fprintf(stderr, "%10.3f %5.1f %% %5d  %s\n", t.seconds * 1e3, all > 0 ? t.seconds / all * 100 : 0.0, t.runs,
                 t.pass.c_str());
  }
  std::fprintf(stderr, "%10.3f                 all\n", all * 1e3);
}

std::string Versions() {
  return absl::StrCat("tilec ", ir::kRelease, "\n", codegen::LlvmVersion(),
                      "\nassembler: ", codegen::FindAssembler().path, "\n", codegen::PtxasVersion(),
                      "libdevice: ", codegen::FindLibdevice(), "\n");
}

absl::Status Append(absl::StatusOr<codegen::BuiltImage> image, std::vector<codegen::BuiltImage>* all) {
  if (!image.ok()) return image.status();
  all->push_back(*std::move(image));
  return absl::OkStatus();
}

absl::Status Append(absl::StatusOr<std::vector<codegen::BuiltImage>> images, std::vector<codegen::BuiltImage>* all) {
  if (!images.ok()) return images.status();
  *all = *std::move(images);
  return absl::OkStatus();
}

// For --verbose: what is known of an image. Registers and spills are known of machine code only, as the assembler told them.
std::string FiguresOf(const ir::Function& f, const codegen::BuiltImage& image) {
  const bool assembled = image.image.kind == ir::ImageKind::kCubin;
  const codegen::Compiled& c = image.compiled;
  return absl::StrCat(c.threads, " threads, ", assembled ? absl::StrCat(image.assembled.registers, " registers, ") : "",
                      c.shared_bytes, " bytes of shared memory, ",
                      assembled ? absl::StrCat(image.assembled.spill_bytes, " bytes spilled, ") : "",
                      c.llvm_instructions, " LLVM instructions", image.image.tma.empty() ? "" : ", takes descriptors",
                      c.symbol == f.name ? "" : absl::StrCat(", symbol ", c.symbol));
}

// A compilation of all kernels that are wanted for all targets.
class Compilation {
 public:
  Compilation(const Options& options, const EmitInfo& emit, CrashBundle* bundle, TimeLimit* limit)
      : options_(options), emit_(emit), bundle_(*bundle), limit_(*limit) {}

  int Run(const ir::Module& module, const std::vector<const ir::Function*>& kernels,
          const std::vector<const codegen::Target*>& targets, codegen::CompileOptions compile, codegen::Trace* trace) {
    const bool ptx_only = emit_.emit == Emit::kPtx || emit_.emit == Emit::kStage;
    compile.trace = trace;
    if (bundle_.active()) {
      trace->wants_text = nullptr;
      trace->on_remark = nullptr;
      trace->on_warning = nullptr;
      trace->on_step = nullptr;
    } else if (emit_.emit == Emit::kStage) {
      trace->wants_text = [this, asked = trace->wants_text](absl::string_view pass) {
        return pass == emit_.pass || asked(pass);
      };
    }
    // Where other lines go to stderr, no bar is drawn between them.
    const bool talks = trace->on_remark || trace->on_step || options_.has("print-after") || bundle_.active();
    Progress progress(!talks);
    const double count = static_cast<double>(kernels.size() * targets.size());
    double number = 0;
    trace->on_warning = [&progress, warn = trace->on_warning](const std::string& line) {
      progress.End();
      if (warn) warn(line);
    };
    for (const ir::Function* f : kernels) {
      int64_t count_of_ops = 0;
      ir::Walk(f->body(), [&](const ir::Op*) { ++count_of_ops; });
      const std::string operations = absl::StrCat("the kernel has ", count_of_ops, " operations");
      for (const codegen::Target* t : targets) {
        const std::string of = absl::StrCat("@", f->name, " for ", t->arch);
        trace->largest_tile.clear();
        limit_.Begin();
        trace->on_pass = [&, from = number++](absl::string_view pass) {
          const std::string what = absl::StrCat(of, ": ", pass);
          limit_.At(what, trace->largest_tile.empty() ? operations
                                                      : absl::StrCat("the largest tile is at ", trace->largest_tile));
          const absl::Span<const codegen::PassInfo> all = codegen::AllPasses();
          const auto at =
              std::find_if(all.begin(), all.end(), [&](const codegen::PassInfo& i) { return pass == i.name; });
          const double part = static_cast<double>(at - all.begin()) / static_cast<double>(all.size());
          progress.Begin(what, (from + part) / count, (from + part) / count, 0);
        };
        trace->on_text = [&](absl::string_view pass, absl::string_view text) {
          if (bundle_.active()) return bundle_.Add(absl::StrCat(f->name, ".", t->arch, ".", pass, ".txt"), text);
          if (emit_.emit == Emit::kStage && pass == emit_.pass) stage_text_ = std::string(text);
          if (!options_.has("print-after")) return;
          std::fprintf(stderr, "%s%s", codegen::HeadOf(pass, of).c_str(), std::string(text).c_str());
        };
        compile.target = t;
        // A .tbc has room for what descriptors must be; beside a cubin nothing says it.
        const bool in_tbc = emit_.emit == Emit::kTbc || emit_.emit == Emit::kHeader;
        compile.permissions.Allow(codegen::May::kTakeDescriptors, options_.has("descriptors"));
        compile.permissions.Allow(codegen::May::kAssumeAligned, options_.has("aligned"));
        const ir::ImageKind kind = ptx_only ? ir::ImageKind::kPtx : ir::ImageKind::kCubin;
        std::vector<codegen::BuiltImage> made;
        if (emit_.emit == Emit::kExplain) {
          codegen::CompileOptions now = compile;
          const int exit = ExplainKernel(module, *f, &now, &made);
          if (exit != kOk) {
            progress.End();
            limit_.Lift();
            return exit;
          }
        } else if (const absl::Status s = in_tbc ? Append(codegen::BuildImages(module, *f, compile, kind), &made)
                                                 : Append(codegen::BuildImage(module, *f, compile, kind), &made);
                   !s.ok()) {
          progress.End();
          limit_.Lift();
          return Failed(s);
        }
        progress.End();
        for (codegen::BuiltImage& image : made) {
          if (options_.has("verbose") && !bundle_.active()) {
            std::fprintf(stderr, "%s: %s\n", ir::Escaped(of).c_str(), FiguresOf(*f, image).c_str());
          }
          const bool told = image.image.kind == ir::ImageKind::kCubin;
          json_.push_back(
              ImageJson(image.image, *f,
                        absl::StrCat(",\"spill_bytes\":", told ? absl::StrCat(image.assembled.spill_bytes) : "null",
                                     ",\"llvm_instructions\":", image.compiled.llvm_instructions)));
          built_.push_back(std::move(image));
          images_.push_back(built_.back().image);
        }
      }
    }
    trace->on_pass = nullptr;  // which speaks of what ends here
    return kOk;
  }

  // Of a stage, or the explanation.
  const std::string& stage_text() const { return stage_text_; }
  const std::string& payload() const { return *built_[0].payload; }
  absl::Span<const ir::Image> images() const { return images_; }
  // A list of ImageJson.
  std::string json() const { return absl::StrCat("[", absl::StrJoin(json_, ","), "]"); }

 private:
  // The text about the image that a .tbc would have first: with descriptors, else for aligned arrays.
  int ExplainKernel(const ir::Module& module, const ir::Function& f, codegen::CompileOptions* compile,
                    std::vector<codegen::BuiltImage>* made) {
    const codegen::Target& target = *compile->target;
    const codegen::Chip* chip = codegen::FindChip(target.sm, options_.value("chip"));
    if (chip == nullptr && options_.has("chip")) {
      return Fail(kUsage, "usage",
                  absl::StrCat("--chip=", options_.value("chip"), ": nothing was measured on such a ", target.arch),
                  absl::StrCat("measured are ", codegen::ChipNames()));
    }
    const auto sizes = ReadLaunchSizes(options_, f, chip == nullptr ? 1 : chip->multiprocessors);
    if (!sizes.ok()) return Fail(kUsage, "usage", sizes.status());
    codegen::LaunchSizes none;
    none.params.resize(static_cast<size_t>(f.num_params()));
    codegen::ProgramFacts program;
    compile->on_tile_code = [&](const ir::Function& now, const codegen::Schedule& schedule) {
      program = {schedule, codegen::WorkOf(now, schedule, *sizes ? **sizes : none)};
    };
    auto kind = ir::ImageKind::kCubin;
    const auto build = [&](bool descriptors) {
      compile->permissions.Allow(codegen::May::kTakeDescriptors, descriptors);
      compile->permissions.Allow(codegen::May::kAssumeAligned, !descriptors);
      return codegen::BuildImage(module, f, *compile, kind);
    };
    absl::StatusOr<codegen::BuiltImage> built = build(true);
    if (absl::IsNotFound(built.status())) {  // there is no assembler
      kind = ir::ImageKind::kPtx;
      built = build(true);
    }
    if (built.ok() && built->image.tma.empty()) built = build(false);
    if (!built.ok()) return Failed(built.status());
    const codegen::MachineFacts machine = {built->compiled.threads, built->assembled.registers,
                                           built->assembled.spill_bytes, built->compiled.shared_bytes};
    stage_text_ =
        codegen::Explain(target, std::string(f.name), program, machine, chip, *sizes ? &**sizes : nullptr).text;
    made->push_back(*std::move(built));
    return kOk;
  }

  int Failed(const absl::Status& s) {
    // A stage that was reached is shown although a later one fails.
    if (!stage_text_.empty() && !bundle_.active()) {
      const std::string out = options_.value("output");
      if (const int e = WriteOutput(out.empty() ? "-" : out, stage_text_, false); e != kOk) return e;
    }
    switch (s.code()) {
      case absl::StatusCode::kInternal: return bundle_.Fail(s);
      case absl::StatusCode::kNotFound:
      case absl::StatusCode::kUnavailable: return Fail(kEnvironment, "codegen", s);
      default: return Fail(kRejected, "codegen", s);
    }
  }

  const Options& options_;
  const EmitInfo& emit_;
  CrashBundle& bundle_;
  TimeLimit& limit_;
  std::deque<codegen::BuiltImage> built_;
  std::vector<ir::Image> images_;
  std::vector<std::string> json_;
  std::string stage_text_;
};

int Compile(const Options& options);

constexpr char kSmHelp[] =
    "GPUs to compile for, also without sm_ and a: "
#define TILE_TARGET(sm, arch, ...) arch ", "
#include "codegen/target/targets.def"
    "all; native: those of this machine";

}  // namespace

const Command kCompileCommand = {
    "compile",
    "K --sm=90[,80,…]",
    "compiles a kernel for NVIDIA GPUs",
    {
        {"sm", 0, "LIST", kSmHelp, true},
        {"output", 'o', "FILE",
         "FILE.cubin, FILE.ptx, FILE.tbc (all kernels and targets), FILE.h (the .tbc as an array for C and C++)"},
        {"emit", 0, "WHAT",
         "cubin, ptx, tbc, header; or text, on stdout without -o: tile (tile code after the passes), gpu (with layouts), llvm, "
         "llvm-opt, sass (machine code), explain"},
        {"explain", 0, nullptr,
         "what limits the kernel, on stdout; with sizes also estimated microseconds and what could help"},
        {"arg", 0, "NAME=SIZES",
         "for --explain: the shape of an array (a=4096x4096) or an integer (n=7), as the kernel's interface names them; without an "
         "interface parameters by number (3=4096)",
         true},
        {"grid", 'g', "X[,Y[,Z]]", "for --explain: blocks of the launch, instead of the launch rule"},
        {"chip", 0, "NAME", "for --explain: the GPU to estimate for: "
#define TILE_CHIP(name, ...) name " "
#include "codegen/target/chips.def"
        },
        {"embed", 0, nullptr, "a .tbc with images; may replace the input"},
        {"kernel", 'k', "NAME", "which kernel, if there are several"},
        {"opt", 'O', "LEVEL", "0 to 3; default 3"},
        {"descriptors", 0, nullptr,
         "for ptx, cubin and stages: the variant that takes TMA descriptors after its parameters, if a .tbc would have it"},
        {"aligned", 0, nullptr,
         "for ptx, cubin and stages: the variant that assumes aligned arrays; a .tbc contains both (--remarks says what it needs)"},
        {"warps", 0, "N", "warps of a block: 1, 2, 4, 8 or 16; default: chosen for the tiles (see --remarks)"},
        {"time-limit", 0, "SECONDS",
         "give up after this time with exit code 5 and name the step; default: 120 for each kernel and GPU"},
        {"lineinfo", 0, nullptr, "source lines in the machine code"},
        {"verbose", 'v', nullptr,
         "threads, shared memory, registers and spills of each image on stderr; its symbol if that is not the kernel's name"},
        {"remarks", 0, nullptr,
         "the schedule, access widths and skipped optimizations, each with its reason, on stderr"},
        {"print-after", 0, "PASS", "the program after a pass, on stderr: all"
#define TILE_PASS(Function, level, optional, name, text) ", " name
#define TILE_TOOL(name, text) ", " name
#include "codegen/passes.def"
         ,
         true},
        {"start-after", 0, "PASS",
         "resume after PASS: K is the output of --print-after=PASS; for ptx, cubin and stages"},
        {"verify-each", 0, nullptr, "verify the program after each pass, for those who change passes"},
        {"schedule-seeds", 0, "N",
         "with --verify-each: how many times to run the schedule of copies and barriers, without data; default 10"},
        {"time-passes", 0, nullptr, "time of each pass, on stderr"},
        {"json", 0, nullptr, "print one JSON object about the result, see below"},
        {"opt-bisect-limit", 0, "N", "run only the first N optional steps, and name them on stderr; -1: all"},
    },
    "K is a .tbc, .tile or Tile IR bytecode file, recognised by its content.\n\n"
    "--json prints one object on stdout:\n"
    "  result: \"ok\" (else \"rejected\" or another word for the exit code, and diagnostics), output, emit\n"
    "  images: a list of kernel, arch, kind, symbol, threads, registers, shared_bytes, cluster, requires, descriptors,\n"
    "    workspaces, bytes, driver, spill_bytes (null if no assembler reported them), llvm_instructions\n"
    "  remarks, as with --remarks\n"
    "  diagnostics: warnings, a list of severity, code, file, line, col, message, fix, details\n\n"
    "When the compiler itself fails (exit code 70), the input, all stages and a script that repeats the failure are "
    "put into a\n"
    "new folder below $TMPDIR or /tmp; stderr says where.\n\n"
    "examples:\n"
    "  tilec kernel.tbc --sm=90                     writes kernel.cubin\n"
    "  tilec kernel.tile --sm=80,90 -o kernel.tbc   portable tile code with machine code for two GPUs\n"
    "  tilec kernel.tile --sm=80,90 -o kernel.h     the same as an array, kernel_tbc, of kernel_tbc_size bytes\n"
    "  tilec kernel.tile --sm=90 --emit=ptx -o -    prints PTX\n"
    "  tilec kernel.tile --sm=90 --remarks          explains the choices that decide its speed\n"
    "  tilec kernel.tile --sm=90 --explain --arg a=4096x4096 --arg b=4096x4096\n"
    "                                               what limits a launch of these sizes\n",
    Compile};

namespace {

// What is compiled: the kernels of a file, or with --start-after the program that a pass left.
class Source {
 public:
  int Read(const std::string& path, const std::string& start_after, const codegen::Target& target) {
    int exit = kOk;
    if (start_after.empty()) {
      loaded_ = Load(path, &exit);
      return exit;
    }
    absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path, ir::kMaxFileBytes);
    if (!file.ok()) return FailAt(NameOf(path), kRejected, "file.read", file.status());
    text_.assign(reinterpret_cast<const char*>(file->span().data()), file->span().size());
    auto program = codegen::ReadProgramText(text_, NameOf(path), start_after, target);
    if (!program.ok()) return Fail(kRejected, "codegen", program.status());
    program_ = *std::move(program);
    return kOk;
  }
  const ir::Module& module() const { return program_ != nullptr ? *program_->module : *loaded_->module; }
  // As a file that says the same and needs no other.
  absl::StatusOr<std::string> Plain() const {
    if (program_ != nullptr) return text_;
    return ir::WriteTbc(module());
  }

 private:
  std::unique_ptr<LoadedModule> loaded_;
  std::unique_ptr<codegen::ProgramText> program_;
  std::string text_;
};

// What was asked for, into `out`.
int WriteResult(const EmitInfo& emit, const ir::Module& module, const Compilation& compilation,
                const std::string& input, const std::string& out) {
  if (emit.emit == Emit::kStage || emit.emit == Emit::kExplain)
    return WriteOutput(out, compilation.stage_text(), false);
  if (emit.emit == Emit::kSass) {
    absl::StatusOr<std::string> text = codegen::Disassemble(compilation.payload());
    return text.ok() ? WriteOutput(out, *text, false) : Fail(kEnvironment, "codegen", text.status());
  }
  if (emit.emit != Emit::kTbc && emit.emit != Emit::kHeader)
    return WriteOutput(out, compilation.payload(), emit.emit == Emit::kCubin);
  absl::StatusOr<std::string> bytes = ir::WriteTbc(module, {.images = compilation.images()});
  if (!bytes.ok()) return FailAt(NameOf(input), kRejected, "tbc.write", bytes.status());
  if (emit.emit == Emit::kTbc) return WriteOutput(out, *bytes, true);
  std::vector<std::string> contents;
  for (const auto& f : module.functions) {
    std::vector<std::string> archs;
    for (const ir::Image& i : compilation.images()) {
      // One GPU may have several, for different arguments.
      const bool is_new = archs.empty() || archs.back() != i.arch;
      if (module.functions[i.kernel].get() == f.get() && is_new) archs.push_back(i.arch);
    }
    contents.push_back(absl::StrCat("kernel ", f->name, ": tile code", archs.empty() ? "" : ", machine code for ",
                                    absl::StrJoin(archs, ", ")));
  }
  return WriteOutput(out, CHeader(out == "-" ? NameOf(input) : out, *bytes, contents), false);
}

int Compile(const Options& options) {
  if (options.positional().size() != 1) {
    return Fail(kUsage, "usage", options.positional().empty() ? "no input file" : "more than one input file");
  }
  std::vector<const codegen::Target*> targets;
  if (const int exit = ReadTargets(options.values("sm"), &targets); exit != kOk) return exit;
  absl::StatusOr<int64_t> level = options.Integer("opt", 3, 0, 3);
  if (!level.ok()) return Fail(kUsage, "usage", level.status().message());
  absl::StatusOr<int64_t> seconds = options.Integer("time-limit", 0, 1, 1000000);
  if (!seconds.ok()) return Fail(kUsage, "usage", seconds.status().message());
  absl::StatusOr<int64_t> warps = options.Integer("warps", 0, 1, codegen::tuning::kMaxWarps);
  if (!warps.ok()) return Fail(kUsage, "usage", warps.status().message());
  if ((*warps & (*warps - 1)) != 0)
    return Fail(kUsage, "usage", absl::StrCat("--warps=", *warps, " is no power of two"));
  codegen::CompileOptions compile;
  absl::StatusOr<int64_t> seeds = options.Integer("schedule-seeds", compile.schedule_seeds, 0, 1000000);
  if (!seeds.ok()) return Fail(kUsage, "usage", seeds.status().message());
  const EmitInfo* emit = FindEmit(options);
  if (emit == nullptr) return kUsage;
  codegen::Trace trace;
  std::vector<std::string> remarks;
  if (const int exit = MakeTrace(options, &trace, &remarks); exit != kOk) return exit;
  const bool whole_module = emit->emit == Emit::kTbc || emit->emit == Emit::kHeader;
  if (!whole_module && targets.size() > 1) {
    return Fail(kUsage, "usage", "one --sm at a time for this output",
                "use -o FILE.tbc, which holds any number of them");
  }

  if (const int exit = CheckStart(options, *emit, targets.size()); exit != kOk) return exit;

  int exit = kOk;
  const std::string& input = options.positional()[0];
  Source source;
  if (exit = source.Read(input, options.value("start-after"), *targets[0]); exit != kOk) return exit;
  const ir::Module& module = source.module();
  std::vector<const ir::Function*> kernels;
  if (options.has("kernel") || !whole_module) {
    const ir::Function* f = PickKernel(module, NameOf(input), options.value("kernel"), &exit);
    if (f == nullptr) return exit;
    kernels.push_back(f);
  } else {
    for (const auto& f : module.functions) kernels.push_back(f.get());
  }
  std::string out = options.value("output");
  if (out.empty())
    out = emit->extension[0] == '\0' || emit->emit == Emit::kSass ? "-" : DefaultOutput(input, emit->extension);
  if (out == "-" && options.has("json"))
    return Fail(kUsage, "usage", "--json prints on stdout: give the output a file with -o");
  if (out == input && input != "-" && !options.has("embed")) {
    return FailAt(input, kUsage, "output.same", "the output would replace the input",
                  "name another file with -o, or say --embed");
  }
  absl::StatusOr<std::string> plain = source.Plain();
  if (!plain.ok()) return FailAt(NameOf(input), kRejected, "tbc.write", plain.status());

  CrashBundle bundle(kCompileCommand, options);
  bundle.SetInput(input, *std::move(plain), bundle.active() ? Versions() : "");
  compile.opt_level = static_cast<int>(*level);
  compile.line_info = options.has("lineinfo");
  compile.verify_each = options.has("verify-each");
  compile.schedule_seeds = static_cast<int>(*seeds);
  compile.start_after = options.value("start-after");
  compile.num_warps = static_cast<int>(*warps);
  TimeLimit limit(*seconds);
  Compilation compilation(options, *emit, &bundle, &limit);
  if (exit = compilation.Run(module, kernels, targets, compile, &trace); exit != kOk) return exit;
  limit.Lift();
  if (bundle.active()) return bundle.DidNotFail();
  if (options.has("time-passes")) PrintTimes(trace);

  if (exit = WriteResult(*emit, module, compilation, input, out); exit != kOk || !options.has("json")) return exit;
  for (std::string& r : remarks) r = JsonQuote(ir::Escaped(r));
  PrintJson(absl::StrCat("{\"result\":\"ok\",\"output\":", JsonQuote(ir::Escaped(out)), ",\"emit\":\"", emit->name,
                         "\",\"images\":", compilation.json(), ",\"remarks\":[", absl::StrJoin(remarks, ","),
                         "],\"diagnostics\":", DiagnosticsJson(TakeDiagnostics()), "}"));
  return kOk;
}

}  // namespace
}  // namespace tile::tools
