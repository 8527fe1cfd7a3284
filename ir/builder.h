// Appends operations to a block. `Create` works for every operation from the table alone: operands are given field by
// field, result types explicitly, attributes by name.
//
//   Builder b(&module, function->body());
//   Op* add = b.Create(Opcode::kAddf, {{x}, {y}}, {x->type()});
//   Op* load = b.Create(Opcode::kLoadView, {{view}, {i, j}, {token}}, {tile, token_type},
//                       {{"ordering", Attr::Enum(MemoryOrdering::kWeak)}});
//   {
//     Builder::Scope s(b, b.AddRegion(loop, 0, {i32}));   // what follows goes into the region
//     b.Create(Opcode::kContinue, {{}}, {});
//   }
//
// ir/ops.h has one short function per operation on top of this. Not thread-safe.
#ifndef TILE_IR_BUILDER_H_
#define TILE_IR_BUILDER_H_

#include <initializer_list>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace tile::ir {

class Builder {
 public:
  Builder(Module* module, Block* block) : module_(module), block_(block) {}

  Module* module() const { return module_; }
  TypeContext& types() const { return module_->types(); }
  Block* block() const { return block_; }
  void set_block(Block* b) { block_ = b; }
  void set_loc(LocId loc) { loc_ = loc; }

  using Groups = std::vector<std::vector<Value*>>;
  using NamedAttrs = std::vector<std::pair<absl::string_view, Attr>>;

  // One group per operand field of the format (an absent optional operand is an empty group or a null value).
  Op* Create(Opcode opcode, const Groups& operands, absl::Span<const Type> results, const NamedAttrs& attrs = {}) {
    return Create(GetOp(opcode), operands, results, attrs);
  }
  // Of any table.
  Op* Create(const OpInfo* info, const Groups& operands, absl::Span<const Type> results, const NamedAttrs& attrs = {}) {
    std::vector<Value*> flat;
    std::vector<uint32_t> ends;
    for (size_t f = 0; f < info->format->operands.size(); ++f) {
      if (f < operands.size()) {
        for (Value* v : operands[f]) {
          if (v != nullptr) flat.push_back(v);
        }
      }
      ends.push_back(static_cast<uint32_t>(flat.size()));
    }
    std::vector<Attr> list(info->format->attrs.size());
    for (const auto& [name, attr] : attrs) list[info->format->attr_index(name)] = attr;
    OpSpec spec;
    spec.info = info;
    spec.operands = flat;
    spec.operand_ends = ends;
    spec.results = results;
    spec.attrs = list;
    spec.loc = loc_;
    Op* op = module_->CreateOp(spec);
    module_->Append(block_, op);
    return op;
  }

  // Gives region i of the op its block, with arguments of these types.
  Block* AddRegion(Op* op, int i, absl::Span<const Type> args) {
    Block* b = module_->CreateBlock(args);
    op->set_region(i, b);
    return b;
  }

  // Moves the insertion point into a block for as long as the object lives.
  class Scope {
   public:
    Scope(Builder& b, Block* block) : builder_(b), saved_(b.block_) { b.block_ = block; }
    ~Scope() { builder_.block_ = saved_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    Block* saved_;
  };

 private:
  Module* module_;
  Block* block_;
  LocId loc_ = 0;
};

}  // namespace tile::ir

#endif  // TILE_IR_BUILDER_H_
