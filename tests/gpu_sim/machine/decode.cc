#include "tests/gpu_sim/machine/decode.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/link.h"
#include "tests/gpu_sim/machine/ops.h"

namespace tile::gpu_sim {
namespace {

using Symbols = absl::flat_hash_map<std::string, Symbol>;

uint64_t AlignUp(uint64_t v, uint64_t alignment) { return (v + alignment - 1) / alignment * alignment; }

const absl::flat_hash_map<absl::string_view, const OpRow*>& AllOps() {
  static const auto* const ops = [] {
    auto* all = new absl::flat_hash_map<absl::string_view, const OpRow*>;
    for (const auto& rows : {ArithmeticOps(), BitOps(), MathOps(), CompareOps(), MoveOps(), MemoryOps(), AtomicOps(),
                             ControlOps(), BarrierOps(), WarpOps(), MatrixOps(), CopyOps(), MbarrierOps(),
                             TensormapOps(), Tcgen05Ops(), LaunchControlOps()}) {
      for (const OpRow& row : rows) all->emplace(row.name, &row);
    }
    return all;
  }();
  return *ops;
}

// Gives the variables places; those of shared memory that are sized at launch share one, behind the others. Parameters of functions are in
// local memory, with generic addresses.
void PlaceVariables(const std::vector<ptx::Variable>& variables, Program* p, Symbols* symbols,
                    std::vector<const ptx::Variable*>* dynamic) {
  for (const ptx::Variable& v : variables) {
    if (v.space == ptx::Space::kShared && v.bytes == 0) {
      dynamic->push_back(&v);
    } else if (v.space == ptx::Space::kShared) {
      p->shared_bytes = AlignUp(p->shared_bytes, v.alignment);
      (*symbols)[v.name] = {v.space, p->shared_bytes};
      p->shared_bytes += v.bytes;
    } else if (v.space == ptx::Space::kLocal || v.space == ptx::Space::kParam) {
      p->local_bytes = AlignUp(p->local_bytes, v.alignment);
      const uint64_t window = v.space == ptx::Space::kParam ? kLocalWindow : 0;
      (*symbols)[v.name] = {ptx::Space::kLocal, window | p->local_bytes};
      p->local_bytes = AlignUp(p->local_bytes + v.bytes, 16);
    }
  }
}

void PlaceParams(const ptx::Kernel& kernel, Program* p, Symbols* symbols) {
  for (const ptx::Variable& v : kernel.params) {
    p->param_bytes = AlignUp(p->param_bytes, v.alignment);
    (*symbols)[v.name] = {v.space, p->param_bytes};
    p->params.push_back({p->param_bytes, v.bytes});
    p->param_bytes += v.bytes;
  }
}

absl::Status Decode(const ptx::Kernel& kernel, const Symbols& symbols, Program* p) {
  Constants constants(p, symbols);
  const auto& ops = AllOps();
  p->code.resize(kernel.code.size() + 1);
  for (size_t k = 0; k < kernel.code.size(); ++k) {
    const ptx::Instruction& in = kernel.code[k];
    Instr& i = p->code[k];
    i.line = in.line;
    i.guard = in.guard;
    i.guard_negated = in.guard_negated;
    Form form(kernel, in, constants);
    const auto row = ops.find(in.words[0]);
    if (row == ops.end()) return form.Unknown("there is no such instruction in tests/gpu_sim/machine");
    if (absl::Status s = row->second->decode(form, &i); !s.ok()) return s;
    p->lists.push_back(form.Uses());
    i.uses = p->lists.back().data();
    i.num_uses = static_cast<uint32_t>(p->lists.back().size());
  }
  // Behind the last one a thread ends.
  p->code.back().run = [](Thread&, const Instr&) { return Step::kExit; };
  p->num_slots = p->num_registers + static_cast<uint32_t>(p->constants.size());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> DecodeKernel(const ptx::Module& module, const ptx::Kernel& alone,
                                                      Symbols symbols) {
  const absl::StatusOr<ptx::Kernel> linked = Link(module, alone);
  if (!linked.ok()) return linked.status();
  const ptx::Kernel& kernel = *linked;
  auto p = std::make_unique<Program>();
  p->name = kernel.name;
  p->num_registers = static_cast<uint32_t>(kernel.registers.size());
  p->max_threads = kernel.max_threads;
  p->requires_threads = kernel.requires_threads;
  std::vector<const ptx::Variable*> dynamic;
  PlaceParams(kernel, p.get(), &symbols);
  PlaceVariables(module.variables, p.get(), &symbols, &dynamic);
  PlaceVariables(kernel.variables, p.get(), &symbols, &dynamic);
  p->dynamic_shared = p->shared_bytes;
  for (const ptx::Variable* v : dynamic) p->dynamic_shared = AlignUp(p->dynamic_shared, v->alignment);
  for (const ptx::Variable* v : dynamic) symbols[v->name] = {v->space, p->dynamic_shared};
  if (absl::Status s = Decode(kernel, symbols, p.get()); !s.ok()) return s;
  return p;
}

}  // namespace

absl::StatusOr<LoadedModule> LoadModule(const ptx::Module& module, DeviceMemory* memory) {
  LoadedModule loaded;
  Symbols symbols;
  absl::Status status;
  for (const ptx::Variable& v : module.variables) {
    if (v.space != ptx::Space::kGlobal && v.space != ptx::Space::kConst) continue;
    absl::StatusOr<uint64_t> address = memory->Allocate(std::max<uint64_t>(v.bytes, 1), 0);
    if (!address.ok()) {
      status = address.status();
      break;
    }
    std::copy(v.initial.begin(), v.initial.end(), reinterpret_cast<uint8_t*>(*address));
    loaded.variables.push_back({v.name, *address, v.bytes});
    symbols[v.name] = {v.space, *address};
  }
  for (const ptx::Kernel& k : module.kernels) {
    if (!status.ok()) break;
    absl::StatusOr<std::unique_ptr<Program>> program = DecodeKernel(module, k, symbols);
    status = program.status();
    if (program.ok()) loaded.programs.push_back(*std::move(program));
  }
  if (status.ok()) return loaded;
  for (const LoadedVariable& v : loaded.variables) memory->Free(v.address);
  return status;
}

}  // namespace tile::gpu_sim
