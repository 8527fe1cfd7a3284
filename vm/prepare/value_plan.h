// Decides where values live, before any instruction is made.
//
// A Storage is a piece of the frame that one or more values share. Results of operations that move nothing (reshape,
// assume, views) have the storage of their source. A loop's carried value, the value passed to the next iteration and
// the loop's result share one if no copy is needed. Each storage is live from its first definition to its last use,
// loops included. Offsets are given out during emission, in program order (prepare.h), so that freed memory that is
// still in the cache is used again first.
//
// A value may be stored compactly: `Form{run, count}` says that element i of the tile is stored element (i / run) % count.
// A scalar that was broadcast is {1, 1}, a column broadcast over a row of 64 {64, rows}, a row repeated {1, columns}.
// Elementwise operations read compact operands as they are; others get them expanded.
#ifndef TILE_VM_PREPARE_VALUE_PLAN_H_
#define TILE_VM_PREPARE_VALUE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace tile::vm {

struct Form {
  int64_t run = 1;
  int64_t count = 1;
  friend bool operator==(const Form&, const Form&) = default;
};

// The form of a dense source of this shape in a broadcast to `to`; {0, 0} if no run and count describe it.
Form BroadcastForm(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

struct Storage {
  int64_t bytes = 0;
  int start = 0, end = 0;  // positions of the first definition and the last use
  bool constant = false;   // is in the constants
  int64_t offset = -1;     // given out during emission; of constants: into them
};

class Plan {
 public:
  explicit Plan(const ir::Function& f);

  size_t num_values() const { return values_.size(); }
  // Number of elements of the value: of its type, times the batch inside a batched body of reduce and scan.
  int64_t elements(const ir::Value* v) const;
  const Form& form(const ir::Value* v) const { return forms_[v->id]; }
  bool dense(const ir::Value* v) const { return form(v).count == elements(v); }
  // A weak load whose tile is read only by elementwise operations, folds and stores of the same block, before anything
  // writes memory: where the tile has the same layout in memory as in the frame, those may read it there.
  bool forwarded(const ir::Value* v) const { return forwarded_[static_cast<size_t>(v->id)] != 0; }
  // Storage index; -1 for tokens.
  int storage(const ir::Value* v) const { return storage_[v->id]; }
  Storage& at(int storage) { return storages_[storage]; }
  std::vector<Storage>& storages() { return storages_; }
  // Positions: before an op's regions and after them.
  int position(const ir::Op* op) const { return positions_.at(op).first; }
  int end_position(const ir::Op* op) const { return positions_.at(op).second; }
  // Lanes that the body of this reduce or scan works on at once.
  int64_t batch(const ir::Op* reduce) const;
  // Into how many parts of neighbours each line of it is cut, to be folded at once: a power of two. All are one batch, if
  // there are several.
  int64_t parts(const ir::Op* reduce) const;
  // Lanes in the body around this op; 1 outside of one.
  int64_t batch_around(const ir::Block* block) const;

 private:
  void Number(const ir::Block* block);
  void Assign(const ir::Block* block);
  void AssignOp(const ir::Op* op);
  int NewStorage(const ir::Value* v, const Form& form);
  void Share(const ir::Value* v, const ir::Value* with, const Form& form);
  void CoalesceLoops(const ir::Block* block);
  void TryCoalesce(const ir::Op* loop, const ir::Value* carried, const ir::Value* next);
  void FindForwarded(const ir::Block* block);
  void ComputeLiveness(const ir::Block* block);
  void Extend(int storage, int at);
  void UseAt(const ir::Value* v, const ir::Op* user);

  std::vector<Form> forms_;
  std::vector<int> storage_;
  std::vector<uint8_t> forwarded_;
  std::vector<const ir::Value*> values_;
  std::vector<Storage> storages_;
  std::vector<std::vector<const ir::Value*>> sharers_;  // values of each storage
  absl::flat_hash_map<const ir::Op*, std::pair<int, int>> positions_;
  absl::flat_hash_map<const ir::Op*, int64_t> batches_, parts_;
  int next_position_ = 0;
};

// The result is the same stored bytes as the first operand.
bool MovesNothing(const ir::Op* op);
// Operand i may share the place of the result: the result is written only after what it overwrites was read.
bool WorksInPlace(const ir::Op* op, int operand);
// The body holds only operations that work on many lanes at once.
bool IsBatchable(const ir::Block* body);
// Bytes of one stored element of a value of this type; views and tokens: of the whole value.
int64_t StoredElementBytes(ir::Type t);

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_VALUE_PLAN_H_
