// Any bytes, read as .tbc or as text: an error, or a module whose kernels run. What the verifier accepts must prepare and
// run on arbitrary memory and arbitrary arguments without a crash, under every check level that promises this, and stay
// inside the limits that the launch sets.
//
// How a kernel is launched (grid, scalars, sizes, contents and aliasing of buffers) is drawn from a hash of the input, so that
// an input is nothing but a program and any .tile or .tbc file can be a seed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/clone.h"
#include "ir/compare.h"
#include "ir/tbc/reader.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "vm/vm.h"

namespace tile {
namespace {

constexpr size_t kMaxKernels = 4;
constexpr int64_t kMaxRounds = 24;
constexpr uint64_t kMaxTileBytes = 128 << 10;
constexpr uint64_t kMaxConstantBytes = 256 << 10;
constexpr uint64_t kMaxAllocaBytes = 64 << 10;

void Require(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

// SplitMix64.
class Random {
 public:
  explicit Random(absl::Span<const uint8_t> bytes) {
    for (uint8_t b : bytes) state_ = (state_ ^ b) * 0x100000001b3;
  }
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

// Memory of exactly this many bytes, so that a sanitizer sees what lies beside it.
struct Block {
  std::unique_ptr<uint8_t[]> memory;
  uint64_t bytes = 0;
  uint64_t seed = 0;

  void Fill() const {
    Random random({reinterpret_cast<const uint8_t*>(&seed), sizeof(seed)});
    const uint64_t kind = random.Below(4);
    for (uint64_t i = 0; i < bytes; i += 4) {
      const float f = static_cast<float>(random.Below(100)) / 8;
      uint32_t word = 0;                                              // kind 0: zeros
      if (kind == 1) word = static_cast<uint32_t>(random.Below(64));  // numbers that can be indices
      if (kind == 2) word = static_cast<uint32_t>(random.Next());
      if (kind == 3) std::memcpy(&word, &f, 4);
      std::memcpy(memory.get() + i, &word, std::min<uint64_t>(4, bytes - i));
    }
  }
};

struct Arguments {
  std::vector<Block> blocks;
  vm::Launch launch;
};

void AddPointer(ir::Elem pointee, Random& random, Arguments* a) {
  static constexpr uint64_t kSizes[] = {0, 7, 64, 1000, 4096, 4096, 16384, 16384};
  if (!a->blocks.empty() && random.Below(8) == 0) {  // two parameters, one buffer
    a->launch.params.push_back(reinterpret_cast<uintptr_t>(a->blocks.back().memory.get()));
    return;
  }
  Block block;
  block.bytes = kSizes[random.Below(8)];
  block.seed = random.Next();
  block.memory = std::make_unique<uint8_t[]>(block.bytes);
  vm::Buffer buffer;
  buffer.name = absl::StrCat("p", a->launch.params.size());
  buffer.address = block.memory.get();
  buffer.bytes = block.bytes;
  buffer.element = ir::Element::Number(pointee);
  buffer.initialized = random.Below(4) != 0;
  const uint64_t wild = random.Below(16) == 0 ? random.Next() >> random.Below(64) : 0;
  a->launch.params.push_back(buffer.address + wild);
  a->launch.buffers.push_back(std::move(buffer));
  a->blocks.push_back(std::move(block));
}

void RunKernel(const ir::Module& module, const ir::Function& f, Random& random) {
  auto program = vm::Program::Prepare(module, f.name, {.max_constant_bytes = kMaxConstantBytes});
  if (!program.ok()) {
    // What an engine may refuse: an operation it lacks, a size that is too large.
    Require(absl::IsUnimplemented(program.status()) || absl::IsResourceExhausted(program.status()),
            program.status().ToString());
    return;
  }
  Arguments a;
  for (int i = 0; i < f.num_params(); ++i) {
    const ir::Element e = f.param(i)->type().element();
    if (e.is_pointer()) {
      AddPointer(e.pointee, random, &a);
    } else {
      a.launch.params.push_back(random.Below(4) != 0 ? random.Below(65) : random.Next() >> random.Below(64));
    }
  }
  a.launch.grid[0] = static_cast<int64_t>(1 + random.Below(2));
  a.launch.grid[1] = static_cast<int64_t>(1 + random.Below(2));
  a.launch.threads = 1;
  a.launch.max_rounds = kMaxRounds;
  a.launch.max_tile_bytes = kMaxTileBytes;
  a.launch.max_alloca_bytes = kMaxAllocaBytes;
  a.launch.print = [](absl::string_view) {};
  for (vm::CheckLevel level : {vm::CheckLevel::kBounds, vm::CheckLevel::kFull}) {
    for (const Block& block : a.blocks) block.Fill();
    a.launch.check = level;
    const vm::Outcome outcome = (*program)->Run(a.launch);
    Require(outcome.ok() || !outcome.status.ok() || !outcome.reports[0].ToString().empty(), "failed without a reason");
  }
}

std::unique_ptr<ir::Module> Read(absl::Span<const uint8_t> bytes) {
  if (ir::LooksLikeTbc(bytes)) {
    auto module = ir::ReadTbc(bytes, "fuzz.tbc");
    return module.ok() ? *std::move(module) : nullptr;
  }
  ir::Diagnostics ignored;
  return ir::Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz.tile", &ignored);
}

}  // namespace
}  // namespace tile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tile;
  std::unique_ptr<ir::Module> module = Read({data, size});
  if (module == nullptr) return -1;  // of no use to find others
  ir::Diagnostics diagnostics;
  ir::Verify(*module, &diagnostics);
  if (!diagnostics.ok()) return 0;
  // What runs is a clone, which refers to nothing of the original.
  std::unique_ptr<ir::Module> clone = ir::CloneModule(*module);
  const std::string difference = ir::FirstDifference(*module, *clone);
  Require(difference.empty(), "the clone differs: " + difference);
  module = std::move(clone);
  Random random({data, size});
  for (size_t i = 0; i < module->functions.size() && i < kMaxKernels; ++i)
    RunKernel(*module, *module->functions[i], random);
  return 0;
}
