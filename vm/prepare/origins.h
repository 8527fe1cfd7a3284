// From which arrays the pointers of a kernel can come (machine/provenance.h), by its text alone.
//
// Origins go from operands to results: through offset, selections, shapes, views, branches and loops, and through integers if
// the kernel makes pointers of integers. The sum of an address and a number leads where the address does, a selection where
// each of its values does; what is computed otherwise may still be an address or not. A number that no pointer went into (it
// was loaded, or is a scalar parameter) becomes an origin of its own where a pointer is made of it.
#ifndef TILE_VM_PREPARE_ORIGINS_H_
#define TILE_VM_PREPARE_ORIGINS_H_

#include <deque>
#include <map>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "vm/machine/code.h"

namespace tile::vm {

class PointerOrigins {
 public:
  // Values have numbers (Value::id) below `num_values`. Fills Code::origins and Code::origin_sets.
  PointerOrigins(const ir::Function& f, size_t num_values, Code* code);

  // The number of the set of origins of a tile of pointers, or of a view.
  int SetOf(const ir::Value* v) const { return sets_[static_cast<size_t>(v->id)]; }
  // The origin that the operation makes; -1: none.
  int MadeBy(const ir::Op* op) const;
  // The sets that have this origin.
  const std::vector<int>& SetsWith(int origin) const { return sets_with_[static_cast<size_t>(origin)]; }

 private:
  // What is known of a value so far.
  struct Known {
    OriginSet origins;   // {kAny}: too many to tell
    bool plain = false;  // it may be a number that no pointer went into
  };

  bool Follows(const ir::Value* v) const;
  const Known& At(const ir::Value* v) const { return known_[static_cast<size_t>(v->id)]; }
  int Number(const PointerOrigin& origin, const void* key);
  void Join(const ir::Value* to, const Known& from);
  void Visit(const ir::Op& op);
  // All that the operands may be.
  Known OfOperands(const ir::Op& op) const;
  void VisitRegions(const ir::Op& op);
  bool MovesAddress(const ir::Op& op) const;
  void Compute(const ir::Op& op);
  void Make(const ir::Op& op, PointerOrigin::Kind kind);
  void NumberSets(const ir::Value* v);

  Code* const code_;
  bool integers_ = false;  // the kernel makes pointers of integers
  std::vector<Known> known_;
  std::vector<int> sets_;
  std::map<const void*, int> numbers_;  // of origins, by parameter, global or operation
  std::map<OriginSet, int> set_numbers_;
  std::vector<std::vector<int>> sets_with_;  // by origin
  std::deque<const ir::Op*> open_;
  absl::flat_hash_set<const ir::Op*> is_open_;
};

}  // namespace tile::vm

#endif  // TILE_VM_PREPARE_ORIGINS_H_
