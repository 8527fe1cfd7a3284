// The table of codegen/variants.def as data.
//
//   for (const Variant& v : AllVariants()) { if (v.tried(so_far)) … }
//
// Pure functions; safe from any thread.
#ifndef TILE_CODEGEN_VARIANTS_H_
#define TILE_CODEGEN_VARIANTS_H_

#include <array>
#include <cstddef>

#include "absl/types/span.h"
#include "codegen/compile.h"
#include "codegen/target/permissions.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

enum class VariantId : uint8_t {
#define TILE_VARIANT(Name, ...) k##Name,
#include "codegen/variants.def"
};

inline constexpr size_t kNumVariants = 0
#define TILE_VARIANT(...) +1
#include "codegen/variants.def"
    ;

// The images of a kernel that are compiled so far.
struct ImagesSoFar {
  const ir::Function& function;
  Joining joining;
  std::array<const Compiled*, kNumVariants> by_variant = {};  // null: there is none

  const Compiled* Of(VariantId id) const { return by_variant[static_cast<size_t>(id)]; }
};

struct Variant {
  VariantId id;
  const char* name;
  const char* purpose;
  int place;
  int most_spills;  // bytes of a thread; -1: any
  Permissions permissions;
  bool (*tried)(const ImagesSoFar&);
  bool (*useful)(const Compiled&, const ImagesSoFar&);
  void (*require)(const Compiled&, Joining, ir::Image*);
};

// In the order in which they are compiled.
absl::Span<const Variant> AllVariants();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_VARIANTS_H_
