// Bodies of kernels, encoded by the rows of ir/formats.def.
#ifndef TILE_IR_TILEIR_BODY_WRITER_H_
#define TILE_IR_TILEIR_BODY_WRITER_H_

#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/tileir/format.h"
#include "ir/tileir/pools.h"

namespace tile::ir::tileir {

class BodyWriter {
 public:
  BodyWriter(const Module* module, Pools* pools, WriteErrors* errors)
      : layouts_(errors->version()), module_(module), pools_(pools), errors_(errors) {}

  // The operations of `f`. `locs` gets the debug record of the kernel and of each operation in the order written.
  std::string Write(const Function& f, std::vector<LocId>* locs);
  // Hints without and with the tag before them; null is no hints.
  void WriteHints(const Hints* hints, Sink& s);

 private:
  void WriteOp(const Op& op, Sink& s, std::vector<LocId>* locs);
  void WriteResults(const Op& op, Sink& s);
  uint64_t Flags(const Op& op);
  // True if the attribute stands in the file; false if the version lacks the field and nothing is lost.
  bool IsWritten(const Op& op, int i);
  void WriteAttr(const Op& op, int i, Sink& s);
  void WritePredicate(const Predicate& p, Sink& s);
  void WriteScalar(const Scalar& v, Sink& s);
  void WriteOperands(const Op& op, Sink& s);
  void WriteRegion(const Block* block, Sink& s, std::vector<LocId>* locs);
  void Define(const Value* v) { numbers_[v] = next_++; }

  FormatLayouts layouts_;
  const Module* module_;
  Pools* pools_;
  WriteErrors* errors_;
  absl::flat_hash_map<const Value*, uint64_t> numbers_;
  uint64_t next_ = 0;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_BODY_WRITER_H_
