// Fences and the dependency between grids. Tokens themselves have no value (lower_constant.cc).
#include "codegen/emit/context/emitter.h"

namespace tile::codegen {
namespace {

void Execute(Emitter& e, const char* text) { e.Ptx(e.b().getVoidTy(), text, "", {}, true); }

// griddepcontrol came with clusters. Below, a grid begins when the one before it has ended.
bool HasGridDependency(const Emitter& e) { return e.target().has(kCluster); }

}  // namespace

// Each thread fences what it did, then the barrier lets the others go on: a fence lies on every way from an access before
// to one after it, in whichever threads they are.
void LowerMemoryFenceAlias(Emitter& e, const ir::Op&) {
  Execute(e, "fence.proxy.alias;");
  e.Barrier();
}

// Every thread waits, so all see what the grid before has stored.
void LowerGdcWait(Emitter& e, const ir::Op&) {
  if (HasGridDependency(e)) Execute(e, "griddepcontrol.wait;");
}

void LowerGdcLaunchDependents(Emitter& e, const ir::Op&) {
  if (HasGridDependency(e)) Execute(e, "griddepcontrol.launch_dependents;");
}

}  // namespace tile::codegen
