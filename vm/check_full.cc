#include "vm/check_full.h"

namespace tile::vm {
namespace {

// Follows nothing yet: the launch runs in order, on one thread.
class FullChecker : public Checker {
 public:
  void BeginBlock(BlockState&) override {}
  void EndBlock(BlockState&) override {}
  bool Before(BlockState&, const Instr*) override { return true; }
  void After(BlockState&, const Instr*) override {}
  bool OnAccess(BlockState&, const Instr*, const Access&) override { return true; }
  void OnUnspecified(BlockState&, const void*, int64_t) override {}
  void OnSpecified(BlockState&, const void*, int64_t) override {}
  void OnAllocate(BlockState&, const Allocation&) override {}
  void OnFree(BlockState&, const Allocation&) override {}
  void EndLaunch() override {}
};

}  // namespace

std::unique_ptr<Checker> MakeFullChecker(LaunchState&) { return std::make_unique<FullChecker>(); }

}  // namespace tile::vm
