#include "ir/module.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "ir/check.h"

namespace tile::ir {

// --- values and uses ------------------------------------------------------------------------------------------------

void Value::ReplaceAllUsesWith(Value* other) {
  assert(other != this);
  while (uses_ != nullptr) {
    Use* use = uses_;
    uses_ = use->next;
    if (uses_ != nullptr) uses_->link = &uses_;
    use->value = other;
    use->next = other->uses_;
    if (use->next != nullptr) use->next->link = &use->next;
    use->link = &other->uses_;
    other->uses_ = use;
  }
}

void Op::set_operand(int i, Value* v) {
  Use& use = operands_[i];
  if (use.value != nullptr) {
    *use.link = use.next;
    if (use.next != nullptr) use.next->link = use.link;
  }
  use.value = v;
  use.next = nullptr;
  use.link = nullptr;
  if (v == nullptr) return;
  use.next = v->uses_;
  if (use.next != nullptr) use.next->link = &use.next;
  use.link = &v->uses_;
  v->uses_ = &use;
}

// --- operations -----------------------------------------------------------------------------------------------------

Value* Op::operand(absl::string_view field) const {
  const int f = info_->format->operand_index(field);
  TILE_CHECK(f >= 0, "the format has no such operand");
  return group_begin(f) == group_end(f) ? nullptr : operand(group_begin(f));
}

std::vector<Value*> Op::group(absl::string_view field) const {
  const int f = info_->format->operand_index(field);
  TILE_CHECK(f >= 0, "the format has no such operand");
  std::vector<Value*> values;
  for (int i = group_begin(f); i < group_end(f); ++i) values.push_back(operand(i));
  return values;
}

Value* Op::result(absl::string_view field) const {
  const int f = info_->format->result_index(field);
  TILE_CHECK(f >= 0, "the format has no such result");
  return f < num_results() ? result(f) : nullptr;
}

const Attr& Op::attr(absl::string_view name) const {
  const int i = info_->format->attr_index(name);
  TILE_CHECK(i >= 0, "the format has no such attribute");
  return attrs_[i];
}

void Op::set_attr(absl::string_view name, Attr a) {
  const int i = info_->format->attr_index(name);
  TILE_CHECK(i >= 0, "the format has no such attribute");
  attrs_[i] = a;
}

Attr Op::annotation(const AttrInfo& info) const {
  for (const Annotation* a = annotations_; a != nullptr; a = a->next) {
    if (a->info == &info) return a->value;
  }
  return Attr();
}

void Op::set_region(int i, Block* b) {
  regions_[i] = b;
  if (b == nullptr) return;
  b->parent_ = this;
  b->region_index_ = i;
}

void Op::Unlink() {
  if (block_ == nullptr) return;
  (prev_ ? prev_->next_ : block_->first_) = next_;
  (next_ ? next_->prev_ : block_->last_) = prev_;
  block_ = nullptr;
  prev_ = next_ = nullptr;
}

void Op::DropOperands() {
  for (int i = 0; i < num_operands(); ++i) set_operand(i, nullptr);
}

void Op::Erase() {
  assert(unused());
  for (int r = 0; r < num_regions(); ++r) Walk(regions_[r], [](Op* op) { op->DropOperands(); });
  DropOperands();
  Unlink();
}

bool Op::unused() const {
  for (int i = 0; i < num_results(); ++i) {
    if (results_[i].has_uses()) return false;
  }
  return true;
}

// --- blocks ---------------------------------------------------------------------------------------------------------

Block::Iterator& Block::Iterator::operator++() {
  op_ = op_->next();
  return *this;
}

Function* Block::function() const {
  const Block* b = this;
  while (b->parent_ != nullptr && b->parent_->block() != nullptr) b = b->parent_->block();
  return b->function_;
}

Op* Block::terminator() const { return last_ != nullptr && last_->info()->has(kTerminator) ? last_ : nullptr; }

// --- module ---------------------------------------------------------------------------------------------------------

Module::Module() = default;
Module::~Module() = default;

Block* Module::CreateBlock(absl::Span<const Type> args) {
  Block* block = arena_.New<Block>();
  Value** list = arena_.NewArray<Value*>(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    Value* v = arena_.New<Value>();
    v->type_ = args[i];
    v->block_ = block;
    v->index_ = static_cast<int>(i);
    list[i] = v;
  }
  block->args_ = {list, args.size()};
  return block;
}

Function* Module::AddFunction(absl::string_view fn_name, absl::Span<const Type> params) {
  functions.push_back(std::make_unique<Function>());
  Function* f = functions.back().get();
  f->name = Copy(fn_name);
  f->module_ = this;
  f->body_ = CreateBlock(params);
  f->body_->function_ = f;
  return f;
}

Global* Module::AddGlobal(absl::string_view global_name, Elem elem, int64_t count) {
  globals.push_back(std::make_unique<Global>());
  Global* g = globals.back().get();
  g->name = Copy(global_name);
  g->value.elem = elem;
  g->count = count;
  g->type = types_.Tile(Element::Number(elem), {count});
  global_by_name_.try_emplace(g->name, g);
  return g;
}

Function* Module::FindFunction(absl::string_view fn_name) const {
  for (const auto& f : functions) {
    if (f->name == fn_name) return f.get();
  }
  return nullptr;
}

Global* Module::FindGlobal(absl::string_view global_name) const {
  const auto it = global_by_name_.find(global_name);
  return it == global_by_name_.end() ? nullptr : it->second;
}

void Module::Annotate(Op* op, const AttrInfo& info, Attr value) {
  Annotation** at = &op->annotations_;
  while (*at != nullptr && (*at)->info != &info) at = &(*at)->next;
  if (*at == nullptr) {
    *at = arena_.New<Annotation>();
    (*at)->info = &info;
  }
  (*at)->value = value;
}

Op* Module::CreateOp(const OpSpec& spec) {
  const FormatInfo& format = *spec.info->format;
  Op* op = arena_.New<Op>();
  op->info_ = spec.info;
  op->loc = spec.loc;
  op->pos = spec.pos;

  op->num_operands_ = static_cast<uint32_t>(spec.operands.size());
  op->operands_ = arena_.NewArray<Use>(spec.operands.size());
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    op->operands_[i].owner = op;
    op->set_operand(static_cast<int>(i), spec.operands[i]);
  }
  assert(spec.operand_ends.size() == format.operands.size());
  op->operand_ends_ = arena_.NewArray<uint32_t>(spec.operand_ends.size());
  std::copy(spec.operand_ends.begin(), spec.operand_ends.end(), op->operand_ends_);

  op->num_results_ = static_cast<uint32_t>(spec.results.size());
  op->results_ = arena_.NewArray<Value>(spec.results.size());
  for (size_t i = 0; i < spec.results.size(); ++i) {
    op->results_[i].type_ = spec.results[i];
    op->results_[i].def_ = op;
    op->results_[i].index_ = static_cast<int>(i);
  }

  op->attrs_ = arena_.NewArray<Attr>(format.attrs.size());
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const AttrInfo& info = format.attrs[i];
    if (i < spec.attrs.size() && spec.attrs[i].present()) {
      op->attrs_[i] = spec.attrs[i];
    } else if (info.kind == AttrKind::kEnum && !info.optional) {
      op->attrs_[i] = Attr::Int(AttrKind::kEnum, info.default_value);
    } else if (info.kind == AttrKind::kFlag || info.kind == AttrKind::kBool) {
      op->attrs_[i] = Attr::Int(info.kind, 0);
    } else if (info.kind == AttrKind::kBools) {
      op->attrs_[i] = Attr::Bools({});
    }
  }

  op->num_regions_ = static_cast<uint16_t>(format.regions.size());
  op->regions_ = arena_.NewArray<Block*>(format.regions.size());
  return op;
}

void Module::InsertBefore(Block* block, Op* where, Op* op) {
  assert(op->block_ == nullptr);
  op->block_ = block;
  op->next_ = where;
  op->prev_ = where ? where->prev_ : block->last_;
  (op->prev_ ? op->prev_->next_ : block->first_) = op;
  (where ? where->prev_ : block->last_) = op;
}

std::string Module::Where(LocId loc, SourcePos pos) const {
  // A call site stands for the place of the caller's code it came from: the callee's own line tells more, if there is one.
  for (int depth = 0; depth < 32; ++depth) {
    const DebugRecord* d = FindDebug(loc);
    if (d == nullptr) break;
    if (d->kind == DebugRecord::Kind::kLocation) return absl::StrCat(d->name, ":", d->line, ":", d->column);
    if (d->kind != DebugRecord::Kind::kCallSite) break;
    loc = d->callee != 0 ? d->callee : d->caller;
  }
  if (pos.line == 0) {
    // Readers of files without lines put the number of the operation in place of a column.
    const std::string file = source_name.empty() ? "<unknown>" : source_name;
    return pos.column == 0 ? file : absl::StrCat(file, ": operation ", pos.column);
  }
  return absl::StrCat(source_name.empty() ? "<input>" : source_name, ":", pos.line, ":", pos.column);
}

}  // namespace tile::ir
