// A GPU as an engine for tests (tests/harness/op_file.h): each kernel is compiled by our code generator, loaded and
// launched.
//
//   Gpu gpu{*runtime::OpenDevice("cuda:0"), codegen::FindTarget(90)};
//   RunCall(module, call, false, gpu.Engine());
//
// One thread.
#ifndef TILE_TESTS_GPU_ON_GPU_H_
#define TILE_TESTS_GPU_ON_GPU_H_

#include <memory>

#include "absl/status/statusor.h"
#include "codegen/target/target.h"
#include "ir/tbc/image.h"
#include "runtime/open_device.h"
#include "tests/harness/op_file.h"

namespace tile::ops {

struct Compiled {
  std::shared_ptr<const runtime::Program> program;
  std::shared_ptr<runtime::LoadedKernel> kernel;  // null without a device
};

struct Gpu {
  std::shared_ptr<runtime::Device> device;  // null: compile only
  const codegen::Target* target = nullptr;
  int opt_level = 3;                  // of LLVM and ptxas
  int num_warps = 0;                  // 0: as many as code generation likes
  bool joins = false;                 // blocks are joined in small grids, too
  bool recomputes_addresses = false;  // in loops, and not only where registers spill
  ir::ImageKind kind = ir::ImageKind::kCubin;

  absl::StatusOr<Compiled> Load(const ir::Module& module, absl::string_view kernel) const;
  // Needs a device. A kernel that asserts or that the hardware stops is a report.
  Answer Launch(const Compiled& compiled, Arguments* arguments) const;
  Answer Run(const ir::Module& module, absl::string_view kernel, Arguments* arguments) const;
  ops::Engine Engine() const {
    return [this](const ir::Module& m, absl::string_view kernel, Arguments* a) { return Run(m, kernel, a); };
  }
};

}  // namespace tile::ops

#endif  // TILE_TESTS_GPU_ON_GPU_H_
