#include "codegen/assemble/ptxas.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/assemble/child_process.h"
#include "codegen/assemble/cuda_files.h"
#include "codegen/assemble/frequencies.h"
#include "codegen/assemble/nvjitlink.h"
#include "codegen/assemble/version_number.h"

namespace tile::codegen {
namespace {

// The number before `what` in the log of `ptxas -v`.
int NumberBefore(const std::string& log, const std::string& what) {
  int best = 0;
  for (size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) {
    size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(log[begin - 1])) != 0) --begin;
    int n = 0;
    if (absl::SimpleAtoi(log.substr(begin, at - begin), &n)) best = std::max(best, n);
  }
  return best;
}

std::string VersionOf(const std::string& ptxas) {
  TemporaryFolder folder;
  if (ptxas.empty() || !folder.ok()) return "";
  const std::string log = folder.File("log");
  int status = 0;
  return Run({ptxas, "--version"}, log, log, &status) ? ReadAll(log) : "";
}

int NewestPtxOf(const std::string& said) {
  // "Cuda compilation tools, release 12.8, V12.8.61". PTX counts on by itself: what a release of CUDA brings is in its notes.
  static constexpr struct {
    int cuda, ptx;
  } kReleases[] = {{118, 78}, {120, 80}, {121, 81}, {122, 82}, {123, 83}, {124, 84}, {125, 85},
                   {126, 85}, {127, 86}, {128, 87}, {129, 88}, {130, 90}, {131, 91}};
  const size_t at = said.find("release ");
  if (at == std::string::npos) return 0;
  const int cuda = VersionNumber(said.substr(at + 8, said.find(',', at) - at - 8));
  int ptx = 0;
  for (const auto& r : kReleases) {
    if (r.cuda <= cuda) ptx = r.ptx;
  }
  return ptx;
}

// What this assembler may know more than others. Its version, which takes 7 ms, is asked for once.
std::string For(const std::string& ptxas, const std::string& ptx) {
  if (!HasFrequencies(ptx)) return ptx;
  static std::mutex mutex;
  static auto& newest = *new absl::flat_hash_map<std::string, int>();
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [it, is_new] = newest.try_emplace(ptxas, 0);
  if (is_new) it->second = NewestPtxOf(VersionOf(ptxas));
  return it->second >= kPtxOfFrequencies ? WithFrequencies(ptx) : ptx;
}

}  // namespace

std::string FindPtxas() { return FindCudaProgram("ptxas", "TILEC_PTXAS"); }

std::string PtxasVersion() { return VersionOf(FindPtxas()); }

int NewestPtx() { return NewestPtxOf(PtxasVersion()); }

std::string FindLibdevice() {
  if (const std::string path = Environment("TILEC_LIBDEVICE"); !path.empty()) return IsReadable(path) ? path : "";
  return FindBelowCuda("nvvm/libdevice/libdevice.10.bc", /*executable=*/false);
}

Assembler FindAssembler() {
  // What is named is used, and nothing else.
  if (!Environment("TILEC_PTXAS").empty()) return {FindPtxas(), false};
  if (!Environment("TILEC_NVJITLINK").empty()) return {FindNvJitLink(), true};
  const std::string ptxas = FindPtxas();
  return ptxas.empty() ? Assembler{FindNvJitLink(), true} : Assembler{ptxas, false};
}

namespace {

// Registers, spills and warnings, from the log of ptxas.
void ReadLog(Assembled* result) {
  result->registers = NumberBefore(result->log, " registers");
  result->spill_bytes =
      NumberBefore(result->log, " bytes spill stores") + NumberBefore(result->log, " bytes spill loads");
  result->stack_bytes = NumberBefore(result->log, " bytes stack frame");
}

absl::Status Rejection(const std::string& text) {
  if (const size_t at = text.find("Unsupported .version"); at != std::string::npos) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    return absl::UnavailableError(
        absl::StrCat("error[codegen.old_assembler]: the assembler is older than what this kernel needs: ", line,
                     "\n  fix: install a newer CUDA toolkit, or name its ptxas in TILEC_PTXAS"));
  }
  // It spills no more where instructions read or write all that lives, as asynchronous products do.
  return absl::StrContains(text, "Register allocation failed") ? absl::ResourceExhaustedError(text)
                                                               : absl::InternalError(text);
}

absl::StatusOr<Assembled> AssembleByLibrary(const std::string& library, const std::string& ptx, const std::string& arch,
                                            const AssembleOptions& options) {
  // -O of its own knows 0 and 3 only.
  std::vector<std::string> words = {absl::StrCat("-arch=", arch), absl::StrCat("-Xptxas=-O", options.opt_level),
                                    "-Xptxas=-v"};
  if (options.line_info) words.push_back("-lineinfo");
  absl::StatusOr<Linked> linked = AssembleInProcess(library, ptx, words);
  if (absl::IsInternal(linked.status())) return Rejection(std::string(linked.status().message()));
  if (!linked.ok()) return linked.status();
  Assembled result;
  result.cubin = std::move(linked->cubin);
  result.log = std::move(linked->log);
  ReadLog(&result);
  return result;
}

// Half of the time in which ptxas is in the kernel it takes pages of 4 KiB: 12 % of its time with glibc's malloc.
constexpr char kLargePages[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432";

// ptxas with its files.
struct PtxasRun {
  TemporaryFolder folder;
  std::string program;
  std::string in = folder.File("kernel.ptx"), out = folder.File("kernel.cubin"), log = folder.File("log");
  std::unique_ptr<Child> child;

  explicit PtxasRun(std::string path) : program(std::move(path)) {}

  void Start(const std::string& arch, const AssembleOptions& options) {
    std::vector<std::string> words = {program, "-v", absl::StrCat("-O", options.opt_level),
                                      absl::StrCat("-arch=", arch)};
    if (options.line_info) words.push_back("-lineinfo");
    words.insert(words.end(), {in, "-o", out});
    child = std::make_unique<Child>(std::move(words), log, log, std::vector<std::string>{kLargePages});
  }

  absl::StatusOr<Assembled> Result() {
    int status = 0;
    if (!child->Wait(&status)) {
      return absl::UnavailableError(absl::StrCat("error[codegen.ptxas]: ", program, " could not be started"));
    }
    Assembled result;
    result.log = ReadAll(log);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      return Rejection(
          absl::StrCat("error[codegen.ptxas]: ptxas rejects the PTX of this kernel, which is an "
                       "error of the code generator:\n",
                       result.log));
    }
    result.cubin = ReadAll(out);
    ReadLog(&result);
    return result;
  }
};

}  // namespace

absl::StatusOr<Assembled> Assemble(const std::string& ptx, const std::string& arch, const AssembleOptions& options) {
  const auto [ptxas, in_process] = FindAssembler();
  if (ptxas.empty()) {
    return absl::NotFoundError(
        "error[codegen.ptxas]: no ptxas and no nvJitLink was found, so there is no machine code. Install the CUDA toolkit (or "
        "nvJitLink alone), name its folder in CUDA_HOME, the program in TILEC_PTXAS or the library in TILEC_NVJITLINK, or use "
        "--emit=ptx and let the driver compile");
  }
  if (in_process) return AssembleByLibrary(ptxas, ptx, arch, options);
  PtxasRun run(ptxas);
  if (!run.folder.ok()) return absl::UnavailableError("error[codegen.io]: no temporary folder could be made");
  WriteAll(run.in, For(ptxas, ptx));
  run.Start(arch, options);
  return run.Result();
}

struct Assembly::Running : PtxasRun {
  using PtxasRun::PtxasRun;
};

Assembly::Assembly(const std::string& arch, const AssembleOptions& options) : arch_(arch), options_(options) {
  const auto [ptxas, in_process] = FindAssembler();
  if (ptxas.empty() || in_process) return;
  auto running = std::make_unique<Running>(ptxas);
  if (!running->folder.ok() || !MakeLateFile(running->in)) return;
  running->Start(arch, options);
  if (running->child->started()) running_ = std::move(running);
}

Assembly::~Assembly() = default;

absl::StatusOr<Assembled> Assembly::Finish(const std::string& ptx) {
  if (running_ != nullptr) {
    running_->folder.File("kernel.ptx.all");
    FillLateFile(running_->in, For(running_->program, ptx), *running_->child);
    absl::StatusOr<Assembled> result = running_->Result();
    // An assembler that does not take its input from a pipe gets a file.
    if (result.ok()) return result;
  }
  return Assemble(ptx, arch_, options_);
}

}  // namespace tile::codegen
