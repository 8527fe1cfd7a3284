// The tilevm command: see commands.h.
#include "tools/cli/tool.h"
#include "tools/tilevm/commands.h"

int main(int argc, char** argv) {
  using namespace tile::tools;
  return RunTool({"tilevm",
                  "tilevm: runs and inspects tile kernels on any CPU\n",
                  {&kRunCommand, &kReplayCommand, &kDiffCommand, &kBenchCommand, &kAsCommand, &kDisCommand,
                   &kVerifyCommand, &kInfoCommand, &kOpsCommand, &kImportCommand, &kExportCommand}},
                 argc, argv);
}
