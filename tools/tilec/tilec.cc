// The tilec command: `tilec K --sm=90` compiles, `tilec doctor` lists what was found on this machine.
#include "codegen/assemble/child_process.h"
#include "codegen/llvm/large_pages.h"
#include "codegen/llvm/large_stack.h"
#include "tools/cli/tool.h"
#include "tools/tilec/tilec_commands.h"

int main(int argc, char** argv) {
  using namespace tile::tools;
  tile::codegen::TakeLargePages();
  tile::codegen::TakeLargeStack();
  tile::codegen::CleanUpOnSignals();
  return RunTool(
      {"tilec",
       "tilec: compiles tile kernels for NVIDIA GPUs\n  `tilec K --sm=90` is short for `tilec compile K --sm=90`\n",
       {&kCompileCommand, &kDoctorCommand},
       &kCompileCommand},
      argc, argv);
}
