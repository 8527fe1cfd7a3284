#include "ir/clone.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "ir/create_like.h"

namespace tile::ir {
namespace {

class Cloner {
 public:
  explicit Cloner(Module* to) : to_(*to) {}

  void CopyModule(const Module& from) {
    to_.name = from.name;
    to_.producer = from.producer;
    to_.source_name = from.source_name;
    for (const DebugRecord& record : from.debug) {
      DebugRecord& copy = to_.debug.emplace_back(record);
      copy.name = to_.Copy(record.name);
      copy.directory = to_.Copy(record.directory);
      copy.linkage_name = to_.Copy(record.linkage_name);
    }
    for (const auto& g : from.globals) {
      Global* copy = to_.AddGlobal(g->name, g->value.elem, g->count);
      copy->value = CopyOf(g->value);
      copy->alignment = g->alignment;
      copy->constant = g->constant;
      copy->visibility = g->visibility;
      copy->type = CopyOf(g->type);
      copy->loc = g->loc;
      copy->pos = g->pos;
    }
  }

  Function* CopyFunction(const Function& from, absl::string_view name) {
    absl::InlinedVector<Type, 16> params;
    for (const Value* param : from.body()->args()) params.push_back(CopyOf(param->type()));
    Function* f = to_.AddFunction(name, params);
    f->visibility = from.visibility;
    if (from.hints != nullptr) f->hints = CopyOf(*from.hints);
    std::copy(std::begin(from.blocks_per_cluster), std::end(from.blocks_per_cluster), f->blocks_per_cluster);
    if (from.interface != nullptr) f->interface = std::make_unique<Interface>(*from.interface);
    f->loc = from.loc;
    f->pos = from.pos;
    CopyBlock(*from.body(), f->body());
    return f;
  }

 private:
  Type CopyOf(Type t) {
    Type& copy = types_[t];
    if (!copy) copy = to_.types().Import(t);
    return copy;
  }

  Dense CopyOf(const Dense& d) { return {d.elem, d.splat, to_.arena().Copy(d.bytes)}; }

  const Hints* CopyOf(const Hints& from) {
    ArchHints* archs = to_.arena().NewArray<ArchHints>(from.archs.size());
    for (size_t i = 0; i < from.archs.size(); ++i) {
      const absl::Span<const Hint> given = from.archs[i].hints;
      Hint* hints = to_.arena().NewArray<Hint>(given.size());
      for (size_t k = 0; k < given.size(); ++k) {
        hints[k] = given[k];
        hints[k].name = to_.Copy(given[k].name);
        hints[k].text = to_.Copy(given[k].text);
      }
      archs[i] = {to_.Copy(from.archs[i].arch), {hints, given.size()}};
    }
    Hints* copy = to_.arena().New<Hints>();
    copy->archs = {archs, from.archs.size()};
    return copy;
  }

  Attr CopyOf(const Attr& a) {
    if (!a.present()) return a;
    switch (a.kind()) {
      case AttrKind::kFlag:
      case AttrKind::kBool:
      case AttrKind::kInt:
      case AttrKind::kEnum: return a;
      case AttrKind::kString:
      case AttrKind::kSymbol: return Attr::String(a.kind(), to_.Copy(a.as_string()));
      case AttrKind::kDense: return Attr::Of(to_.arena().New<Dense>(CopyOf(a.dense())));
      case AttrKind::kInts: return Attr::Ints(to_.arena().Copy(a.ints()));
      case AttrKind::kBools: return Attr::Bools(to_.arena().Copy(a.bools()));
      case AttrKind::kScalars: return Attr::Scalars(to_.arena().Copy(a.scalars()));
      case AttrKind::kHints: return Attr::Of(CopyOf(a.hints()));
      case AttrKind::kPredicate: {
        auto* copy = to_.arena().New<Predicate>(a.predicate());
        copy->groups = to_.arena().Copy(copy->groups);
        return Attr::Of(copy);
      }
    }
    return a;
  }

  void Define(const Value* from, Value* to) {
    to->name = to_.Copy(from->name);
    values_[from] = to;
  }

  void CopyBlock(const Block& from, Block* to) {
    for (int i = 0; i < from.num_args(); ++i) Define(from.arg(i), to->arg(i));
    for (const Op* op : from) to_.Append(to, CopyOp(*op));
  }

  Op* CopyOp(const Op& from) {
    absl::InlinedVector<Value*, 8> operands;
    absl::InlinedVector<Type, 4> results;
    for (int i = 0; i < from.num_operands(); ++i) {
      const auto it = values_.find(from.operand(i));
      operands.push_back(it == values_.end() ? nullptr : it->second);
    }
    for (int i = 0; i < from.num_results(); ++i) results.push_back(CopyOf(from.result(i)->type()));
    Op* op = CreateLike(&to_, from, operands, results);
    // What attributes and annotations point to belongs to the other module.
    for (size_t i = 0; i < from.info()->format->attrs.size(); ++i) {
      op->set_attr(static_cast<int>(i), CopyOf(op->attr(static_cast<int>(i))));
    }
    for (const Annotation* a = from.annotations(); a != nullptr; a = a->next) {
      to_.Annotate(op, *a->info, CopyOf(a->value));
    }
    for (int i = 0; i < from.num_regions(); ++i) {
      const Block* region = from.region(i);
      if (region == nullptr) continue;
      absl::InlinedVector<Type, 8> args;
      for (const Value* arg : region->args()) args.push_back(CopyOf(arg->type()));
      op->set_region(i, to_.CreateBlock(args));
      CopyBlock(*region, op->region(i));
    }
    // Results are seen by what follows only.
    for (int i = 0; i < from.num_results(); ++i) Define(from.result(i), op->result(i));
    return op;
  }

  Module& to_;
  absl::flat_hash_map<Type, Type> types_;
  absl::flat_hash_map<const Value*, Value*> values_;
};

}  // namespace

std::unique_ptr<Module> CloneModule(const Module& module) {
  auto copy = std::make_unique<Module>();
  Cloner cloner(copy.get());
  cloner.CopyModule(module);
  for (const auto& f : module.functions) cloner.CopyFunction(*f, f->name);
  return copy;
}

std::unique_ptr<Module> CloneModule(const Module& module, const Function& only) {
  auto copy = std::make_unique<Module>();
  Cloner cloner(copy.get());
  cloner.CopyModule(module);
  cloner.CopyFunction(only, only.name);
  return copy;
}

Function* CloneFunction(const Function& function, absl::string_view name, Module* into) {
  return Cloner(into).CopyFunction(function, name);
}

}  // namespace tile::ir
