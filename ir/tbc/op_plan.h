// The operation table, prepared for reading and writing: names of attributes and operand fields as small numbers, and
// per format what must be there. Everything follows from ops.def and formats.def. Internal to ir/tbc; immutable, any
// thread.
#ifndef TILE_IR_TBC_OP_PLAN_H_
#define TILE_IR_TBC_OP_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/attr.h"
#include "ir/op_info.h"

namespace tile::ir {

struct FormatPlan {
  int fixed_operands = 0;  // operands of fields that have exactly one
  bool grouped = false;    // has optional or variadic operand fields
  int min_results = 0;
  int max_results = 0;                // -1: any number
  std::vector<int8_t> attr_of_name;   // index of the attribute with this name number, -1: none
  std::vector<int8_t> field_of_name;  // index of the optional or variadic operand field
  std::vector<int> required_attrs;    // must be in the file: neither optional nor with a default
};

const FormatPlan& PlanOf(const FormatInfo& format);

// Number of the name of an attribute or operand field, -1 if no format has it.
int FindFieldName(absl::string_view name);

// Can the attribute be left out because a reader fills in the same value?
bool IsDefault(const AttrInfo& info, const Attr& attr);

// The same as FindEnumValue(id, number) != nullptr, but fast.
bool IsEnumValue(EnumId id, int64_t number);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_OP_PLAN_H_
