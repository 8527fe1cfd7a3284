// The tilec command: `tilec K --sm=90` compiles, `tilec doctor` tells what was found on this machine.
#include <string>
#include <vector>

#include "codegen/child_process.h"
#include "tools/tilec_commands.h"

int main(int argc, char** argv) {
  using namespace tile::tools;
  tile::codegen::CleanUpOnSignals();
  // What is no command is a kernel to compile.
  std::string compile = "compile";
  std::vector<char*> args(argv, argv + argc);
  if (argc > 1) {
    const std::string first = argv[1];
    const bool command = first == "compile" || first == "doctor" || first == "help" || first == "--help" ||
                         first == "-h" || first == "--version";
    if (!command) args.insert(args.begin() + 1, compile.data());
  }
  return RunTool("tilec", "tilec: compiles tile kernels for NVIDIA GPUs\n  `tilec K --sm=90` is short for `tilec compile K --sm=90`\n",
                 {&kCompileCommand, &kDoctorCommand}, static_cast<int>(args.size()), args.data());
}
