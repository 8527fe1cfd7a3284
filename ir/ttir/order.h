// Program order of memory operations as tokens. TTIR has none: its loads and stores happen as they are written. Writes,
// atomics, fences and barriers form one chain; a load comes after the last of them, and the next one after all loads since.
// Loads do not order each other.
//
//   Order order;
//   auto [value, token] = op::LoadPtr(b, p, {.token = order.ForRead()});
//   order.NoteRead(token);
//   order.NoteWrite(op::StorePtr(b, p, value, {.token = order.ForWrite(b)}));
//
// Nothing is known of which pointers may meet, so that all are taken to.
#ifndef TILE_IR_TTIR_ORDER_H_
#define TILE_IR_TTIR_ORDER_H_

#include <vector>

#include "ir/ops.h"

namespace tile::ir::ttir {

// What an operation, or all of a region, does to memory.
enum Effect : uint8_t { kNone, kReads, kWrites };

class Order {
 public:
  Order() = default;
  // After `written`, and nothing read since.
  explicit Order(Value* written) : written_(written) {}

  Value* ForRead() const { return written_; }
  // Null if nothing came before.
  Value* ForWrite(Builder& b) {
    if (reads_.empty()) return written_;
    Value* reads = JoinReads(b);
    // Each load came after what was written, so that its token stands for both.
    reads_.assign(1, reads);
    return reads;
  }
  void NoteRead(Value* token) { reads_.push_back(token); }
  void NoteWrite(Value* token) {
    written_ = token;
    reads_.clear();
  }
  // ForWrite, or a token that waits for nothing.
  Value* ForRegion(Builder& b) { return OrNothing(b, ForWrite(b)); }
  // A token after the loads since the last write.
  Value* Reads(Builder& b) { return OrNothing(b, reads_.empty() ? written_ : JoinReads(b)); }
  // The same, with other loads: those of a region so far.
  Order WithReads(Value* reads) const {
    Order o(written_);
    o.reads_.assign(1, reads);
    return o;
  }
  // After a region of this effect that gave `token`.
  Order After(Effect effect, Value* token) const {
    return effect == kWrites ? Order(token) : effect == kReads ? WithReads(token) : *this;
  }

 private:
  Value* JoinReads(Builder& b) { return reads_.size() == 1 ? reads_[0] : ops::JoinTokens(b, reads_); }
  static Value* OrNothing(Builder& b, Value* token) { return token != nullptr ? token : ops::MakeToken(b); }

  Value* written_ = nullptr;
  std::vector<Value*> reads_;
};

}  // namespace tile::ir::ttir

#endif  // TILE_IR_TTIR_ORDER_H_
