// The reference VM: runs a kernel of a verified module on this CPU. It defines what a program means.
//
//   auto program = vm::Program::Prepare(module, "vadd");           // once
//   vm::Launch launch;
//   launch.grid[0] = 16;
//   launch.params = {Word(x), Word(y), 65536};                     // one 64-bit word per parameter
//   launch.buffers = {{"x", x, bytes}, {"y", y, bytes}};           // what the kernel may touch
//   vm::Outcome outcome = (*program)->Run(launch);
//   if (!outcome.ok()) …outcome.reports[0].ToString()
//
// A Program is immutable but for the module's globals, which keep their contents from launch to launch: run one launch of
// it at a time. It refers to the module, which must live longer and not change.
#ifndef TILE_VM_VM_H_
#define TILE_VM_VM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "vm/machine/launch.h"  // IWYU pragma: export

namespace tile::vm {

struct PrepareOptions {
  // Memory for constants (iota among them) and globals: a short program can ask for any amount.
  uint64_t max_constant_bytes = uint64_t{8} << 30;
};

struct Code;

class Program {
 public:
  // Errors: no such kernel, an operation that the VM refuses (named, with its place), or more constants than allowed.
  static absl::StatusOr<std::unique_ptr<Program>> Prepare(const ir::Module& module, absl::string_view kernel,
                                                          const PrepareOptions& options = {});
  ~Program();

  Outcome Run(const Launch& launch);

  const ir::Function& function() const;
  // Bytes of tile memory that one running block takes.
  uint64_t frame_bytes() const;

 private:
  explicit Program(std::unique_ptr<Code> code);
  absl::Status CheckLaunch(const Launch& launch) const;
  std::unique_ptr<Code> code_;
};

}  // namespace tile::vm

#endif  // TILE_VM_VM_H_
