// The tables of a file being written: what goes in gets the index of its first equal.
#ifndef TILE_IR_TILEIR_POOLS_H_
#define TILE_IR_TILEIR_POOLS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/attr.h"
#include "ir/tileir/sink.h"
#include "ir/type.h"

namespace tile::ir::tileir {

// What the version cannot say. Only the first is kept.
class WriteErrors {
 public:
  explicit WriteErrors(int version) : version_(version) {}
  int version() const { return version_; }
  // Where the next errors are, "k.py:9:4: addi" or "kernel k".
  void set_place(std::string place) { place_ = std::move(place); }
  void Add(absl::string_view message);
  // An item that came with version `since` (0: an extension); nothing happens if the file may hold it.
  void Need(int since, absl::string_view item);
  const absl::Status& status() const { return status_; }

 private:
  int version_;
  std::string place_;
  absl::Status status_;
};

// Items with offsets of `width` bytes.
class Pool {
 public:
  explicit Pool(int width) : width_(width) {}
  uint64_t Add(std::string item);
  bool empty() const { return items_.empty(); }
  // Count, offsets and items, as the section holds them.
  std::string Encode() const;

 private:
  int width_;
  std::vector<const std::string*> items_;
  absl::node_hash_map<std::string, uint64_t> index_;
};

class TypePool {
 public:
  explicit TypePool(WriteErrors* errors) : errors_(errors) {}
  uint64_t Add(Type t);
  uint64_t Add(Element e);
  // The signature of a kernel with these parameters.
  uint64_t AddSignature(absl::Span<Type const> params);
  const Pool& pool() const { return pool_; }

 private:
  void EncodeView(Type t, Sink& s);

  WriteErrors* errors_;
  Pool pool_{4};
  absl::flat_hash_map<const TypeData*, uint64_t> known_;
};

// Everything that bodies refer to.
struct Pools {
  explicit Pools(WriteErrors* errors) : types(errors) {}
  Pool strings{4};
  Pool constants{8};
  TypePool types;

  uint64_t String(absl::string_view s) { return strings.Add(std::string(s)); }
  uint64_t Constant(const Dense& d);
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_POOLS_H_
