// The layout of a value: the encoding of its type.
//
//   LayoutTable layouts;                          // owns them; must live as long as a program whose types have them
//   SetLayout(module, v, layouts.Intern(layout)); // equal layouts are one pointer
//   LayoutOf(v->type());                          // null: a scalar, or nobody decided yet
//
// Not thread-safe for writing.
#ifndef TILE_CODEGEN_PLAN_TILE_LAYOUT_H_
#define TILE_CODEGEN_PLAN_TILE_LAYOUT_H_

#include <utility>

#include "absl/container/node_hash_set.h"
#include "codegen/layout/layout.h"
#include "ir/module.h"

namespace tile::codegen {

class LayoutTable {
 public:
  const Layout* Intern(const Layout& layout) { return &*layouts_.insert(layout).first; }

 private:
  absl::node_hash_set<Layout> layouts_;  // stable addresses
};

inline const Layout* LayoutOf(ir::Type t) { return static_cast<const Layout*>(t->encoding); }
// A tile of rank 0 is held by every thread; others need a layout.
inline bool NeedsLayout(ir::Type t) { return t.is_tile() && t.rank() > 0; }

// Null: none.
inline void SetLayout(ir::Module* module, ir::Value* v, const Layout* layout) {
  ir::TypeData data = *v->type().data();
  data.encoding = layout;
  v->set_type(module->types().Intern(std::move(data)));
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_TILE_LAYOUT_H_
