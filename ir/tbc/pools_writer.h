// The pools of a code section while it is written: each string, type, constant and hint set once, numbered in the order
// of first use, so that equal modules give equal pools. Internal to ir/tbc.
#ifndef TILE_IR_TBC_POOLS_WRITER_H_
#define TILE_IR_TBC_POOLS_WRITER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "ir/tbc/schema.h"
#include "ir/tbc/version.h"

namespace tile::ir {

class PoolsWriter {
 public:
  PoolsWriter(flatbuffers::FlatBufferBuilder* fbb, Requirements* needs) : fbb_(*fbb), needs_(*needs) {}

  // Numbers in the pools. What the format can't hold is kept in status().
  uint16_t Name(absl::string_view name);
  uint32_t String(absl::string_view s);
  uint32_t TypeOf(Type type);
  uint32_t Constant(const Dense& value);
  uint32_t Numbers(absl::Span<const int64_t> list);
  uint32_t Scalars(absl::Span<const Scalar> list);
  uint32_t PredicateOf(const Predicate& predicate);
  uint32_t HintSetOf(const Hints& hints);

  const absl::Status& status() const { return status_; }
  void Fail(absl::string_view what);

  // The vectors of the code section; call after the last number was asked for.
  struct Vectors {
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> names, strings;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::Type>>> types;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::Constant>>> constants;
    flatbuffers::Offset<flatbuffers::Vector<int64_t>> numbers;
    flatbuffers::Offset<flatbuffers::Vector<const fbs::Scalar*>> scalars;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::Predicate>>> predicates;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::HintSet>>> hints;
  };
  Vectors Finish();

 private:
  void NeedElement(Element e);

  flatbuffers::FlatBufferBuilder& fbb_;
  Requirements& needs_;
  absl::Status status_;

  std::vector<std::string> names_, strings_;
  absl::flat_hash_map<std::string, uint32_t> name_numbers_, string_numbers_;
  std::vector<flatbuffers::Offset<fbs::Type>> types_;
  absl::flat_hash_map<const TypeData*, uint32_t> type_numbers_;
  std::vector<flatbuffers::Offset<fbs::Constant>> constants_;
  struct ConstantKey {
    int elem_and_splat;
    absl::string_view bytes;  // of the module
    friend bool operator==(const ConstantKey&, const ConstantKey&) = default;
    template <class H>
    friend H AbslHashValue(H h, const ConstantKey& k) {
      return H::combine(std::move(h), k.elem_and_splat, k.bytes);
    }
  };
  absl::flat_hash_map<ConstantKey, uint32_t> constant_numbers_;
  std::vector<int64_t> numbers_;
  std::vector<fbs::Scalar> scalars_;
  std::vector<flatbuffers::Offset<fbs::Predicate>> predicates_;
  std::vector<flatbuffers::Offset<fbs::HintSet>> hints_;
  absl::flat_hash_map<std::string, uint32_t> hint_numbers_;
};

}  // namespace tile::ir

#endif  // TILE_IR_TBC_POOLS_WRITER_H_
