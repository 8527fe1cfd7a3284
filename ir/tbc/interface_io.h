// Expressions and kernel interfaces, both ways. Internal to ir/tbc.
#ifndef TILE_IR_TBC_INTERFACE_IO_H_
#define TILE_IR_TBC_INTERFACE_IO_H_

#include <memory>
#include <vector>

#include "ir/interface.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

// `what` names the expression in an error. An absent expression is an empty one.
bool ReadExpr(const fbs::Expr* from, absl::string_view what, ReadContext* context, Expr* to);
flatbuffers::Offset<fbs::Expr> WriteExpr(const Expr& expr, flatbuffers::FlatBufferBuilder* fbb);  // 0 if empty

bool ReadExprs(const flatbuffers::Vector<flatbuffers::Offset<fbs::Expr>>* from, absl::string_view what,
               ReadContext* context, std::vector<Expr>* to);
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::Expr>>> WriteExprs(
    const std::vector<Expr>& exprs, flatbuffers::FlatBufferBuilder* fbb);  // 0 if empty

// Every number that refers to a parameter is -1 or one of `num_params`; the other rules are verify_interface.cc's.
bool ReadInterface(const fbs::KernelInterface& from, int num_params, ReadContext* context, Interface* to);
flatbuffers::Offset<fbs::KernelInterface> WriteInterface(const Interface& from, uint32_t kernel,
                                                         flatbuffers::FlatBufferBuilder* fbb);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_INTERFACE_IO_H_
