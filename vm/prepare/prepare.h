// Turns a kernel into instructions: one Prepare function per operation, declared from the operation table, so that a
// forgotten one is a link error. Elementwise operations share one.
//
// A Prepare function picks what the instruction needs (kernel, sizes, places of its operands), puts it into the program's
// arena and emits the instruction:
//
//   void PrepareIota(Preparer& p, const ir::Op& op) {
//     auto* d = p.New<IotaData>();
//     d->out = p.result(op, 0);
//     p.Emit(op, RunIota, d);
//   }
//
// p.dense(v) gives the place of a value with all of its elements, expanding a compact one; p.temp(bytes) gives scratch
// memory for the operation; p.Refuse(op, why) makes preparing fail.
#ifndef TILE_VM_PREPARE_PREPARE_H_
#define TILE_VM_PREPARE_PREPARE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vm/machine/code.h"
#include "vm/prepare/origins.h"
#include "vm/prepare/reliance.h"
#include "vm/prepare/value_plan.h"

namespace tile::vm {

class Preparer;
using PrepareFn = void (*)(Preparer&, const ir::Op&);

class Preparer {
 public:
  // `prepare_op` prepares any operation (eval/prepare_op.h).
  Preparer(Code* code, const ir::Function& f, PrepareFn prepare_op, uint64_t max_constant_bytes)
      : code_(code),
        plan_(f),
        origins_(f, plan_.num_values(), code),
        prepare_op_(prepare_op),
        max_constant_bytes_(max_constant_bytes) {}

  absl::Status PrepareFunction();

  Code& code() { return *code_; }
  Plan& plan() { return plan_; }
  // Where pointers come from.
  const PointerOrigins& origins() const { return origins_; }
  // Whose elements outside of memory take part in results.
  Reliance& reliance() { return reliance_; }

  template <class T>
  T* New() {
    return code_->arena.New<T>();
  }
  template <class T>
  T* NewArray(size_t n) {
    return code_->arena.NewArray<T>(n);
  }

  // Appends an instruction; the index is its name for jumps.
  int Emit(const ir::Op& op, ExecFn fn, const void* data, Role role = Role::kWork);
  int next_instr() const { return static_cast<int>(code_->instrs.size()); }
  // Sets where an instruction jumps to.
  void SetTarget(int instr, int target) { targets_.push_back({instr, target}); }

  // Place of a value as it is stored (see Plan::form).
  Slot raw(const ir::Value* v);
  // Its own place in the frame, also of a forwarded value.
  Slot home(const ir::Value* v);
  // Where the pointer to a forwarded value is.
  Slot pointer_to(const ir::Value* v);
  // Place of a value with all of its elements; emits the expansion of a compact one.
  Slot dense(const ir::Value* v) { return dense(v, plan_.elements(v)); }
  // The same for a value that stands for this many elements (a scalar from outside of a batched body).
  Slot dense(const ir::Value* v, int64_t elements);
  Slot result(const ir::Op& op, int i) { return raw(op.result(i)); }
  // Scratch memory until the operation ends.
  Slot temp(int64_t bytes);
  // Scratch memory for as long as the block runs.
  Slot permanent(int64_t bytes);
  // The memory of a global of the module.
  uint8_t* global(absl::string_view name);
  // Emits copies of values to the dense places of others as one parallel assignment.
  void EmitCopies(const ir::Op& op, absl::Span<const ir::Value* const> from, absl::Span<const ir::Value* const> to);

  // The operations of a block, in order.
  void PrepareBlock(const ir::Block* block);
  // Gives memory to the storages that begin at this position, and takes back those that end.
  void OpenStorages(int position);
  void CloseStorages(int position);

  void Refuse(const ir::Op& op, absl::string_view why);

  // Where `continue` and `break` of the innermost loop go: filled in by the loop.
  struct LoopContext {
    const ir::Op* op;
    std::vector<int> continues, breaks;  // instructions to aim at the latch and the exit
  };
  std::vector<LoopContext> loops;
  // Yields of the innermost if jump to its end.
  std::vector<std::pair<const ir::Op*, std::vector<int>>> ifs;

 private:
  int64_t AllocateFrame(int64_t bytes);
  void FreeFrame(int64_t offset, int64_t bytes);
  void PlaceConstant(const ir::Op& op);
  Slot ExpandedConstant(const ir::Value* v, int64_t elements);
  void PrepareOp(const ir::Op& op);
  void EmitEffect(const ir::Op& op);
  void EmitMade(const ir::Op& op);
  int64_t InPlaceOffset(const ir::Op& op, int storage);
  OpPlaces* PlacesOf(const ir::Op& op);
  Place PlaceOf(const ir::Value* v);

  Code* code_;
  Plan plan_;
  const PointerOrigins origins_;
  Reliance reliance_;
  const PrepareFn prepare_op_;
  const uint64_t max_constant_bytes_;
  absl::Status status_;
  std::map<int, int64_t> pointers_;                   // of forwarded values, by storage
  std::map<std::pair<int, int64_t>, Slot> expanded_;  // constants of one element, by storage and elements
  std::vector<std::pair<int, int>> targets_;
  std::map<int64_t, int64_t> free_;                 // offset -> bytes, of the frame
  std::vector<std::pair<int64_t, int64_t>> temps_;  // offset, bytes of the current operation
  std::vector<std::vector<int>> starts_, ends_;     // storages by position
  std::vector<int> constant_storages_;
  const OpPlaces* places_ = nullptr;  // of the current operation
  std::vector<int32_t> same_value_;   // by number of the value: the first that is the same
};

void PrepareElementwise(Preparer& p, const ir::Op& op);
#define TILE_OP(number, Name, ...) void Prepare##Name(Preparer& p, const ir::Op& op);
#include "ir/ops.def"

// --- for the eval files ---------------------------------------------------------------------------------------------

// Up to 2^31 elements can't be: tiles are limited to 2^24 by the verifier.
struct CopyItem {
  Slot from, to;
  int64_t elements;    // of the destination
  int64_t run, count;  // form of the source
  int element_bytes;
};
// Writes a value of the given form to a dense place.
void ExpandCopy(void* to, const void* from, const CopyItem& item);

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_PREPARE_H_
