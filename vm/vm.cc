#include "vm/vm.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/cpp_name.h"
#include "ir/platform/memory.h"
#include "vm/eval/prepare_op.h"
#include "vm/prepare/prepare.h"
#include "vm/schedule/orders.h"

namespace tile::vm {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 24) - 1;  // of one dimension, semantics 11.2

// Takes their bytes from `left`.
absl::Status AddGlobals(const ir::Module& module, uint64_t* left, Code* code) {
  for (const auto& g : module.globals) {
    const uint64_t element = static_cast<uint64_t>(ir::StorageBytes(g->value.elem));
    const uint64_t bytes = ir::IsSubByte(g->value.elem) ? (static_cast<uint64_t>(g->count) + 1) / 2
                                                        : static_cast<uint64_t>(g->count) * element;
    const uint64_t alignment = std::max<uint64_t>(64, std::min<uint64_t>(g->alignment, 1 << 20));
    const uint64_t size = (bytes + alignment) / alignment * alignment;
    if (size > *left) {
      return absl::ResourceExhaustedError(absl::StrCat(module.Where(g->loc, g->pos),
                                                       ": error[vm.out_of_memory]: global `", g->name, "` takes ", size,
                                                       " bytes; the limit leaves ", *left));
    }
    *left -= size;
    auto* data = static_cast<uint8_t*>(platform::AllocateAligned(alignment, size));
    if (data == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("no memory for global `", g->name, "` of ", bytes, " bytes"));
    }
    code->AddGlobal({g.get(), data, bytes});
    const uint8_t* value = g->value.bytes.data();
    for (int64_t i = 0; i < g->count; ++i) {
      const uint8_t* from = g->value.splat ? value : value + static_cast<uint64_t>(i) * element;
      if (ir::IsSubByte(g->value.elem)) {
        if (i % 2 == 0) data[i / 2] = 0;
        data[i / 2] = static_cast<uint8_t>(data[i / 2] | ((*from & 15) << (i % 2 * 4)));
      } else {
        std::memcpy(data + static_cast<uint64_t>(i) * element, from, element);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

Program::Program(std::unique_ptr<Code> code) : code_(std::move(code)) {}
Program::~Program() = default;

const ir::Function& Program::function() const { return *code_->function; }
uint64_t Program::frame_bytes() const { return code_->frame_bytes; }

absl::StatusOr<std::unique_ptr<Program>> Program::Prepare(const ir::Module& module, absl::string_view kernel,
                                                          const PrepareOptions& options) {
  const ir::Function* f = module.FindFunction(kernel);
  if (f == nullptr) return absl::NotFoundError(absl::StrCat("no kernel `", kernel, "` in the module"));
  auto code = std::make_unique<Code>();
  code->module = &module;
  code->function = f;
  uint64_t left = options.max_constant_bytes;
  if (absl::Status s = AddGlobals(module, &left, code.get()); !s.ok()) return s;
  ir::Walk(f->body(), [&](ir::Op* op) { code->must_park |= op->opcode() == ir::Opcode::kLoop; });
  Preparer preparer(code.get(), *f, PrepareOp, left);
  if (absl::Status s = preparer.PrepareFunction(); !s.ok()) return s;
  return std::unique_ptr<Program>(new Program(std::move(code)));
}

absl::Status Program::CheckLaunch(const Launch& launch) const {
  if (launch.params.size() != code_->params.size()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel `", ir::ReadableName(code_->function->name), "` takes ",
                                                   code_->params.size(), " parameters, not ", launch.params.size()));
  }
  for (int64_t n : launch.grid) {
    if (n >= 0 && n <= kMaxGrid) continue;
    return absl::InvalidArgumentError(absl::StrCat("a grid of ", launch.grid[0], " x ", launch.grid[1], " x ",
                                                   launch.grid[2], ": each dimension must be from 0 to ", kMaxGrid));
  }
  if (static_cast<double>(launch.grid[0]) * static_cast<double>(launch.grid[1]) * static_cast<double>(launch.grid[2]) >
      9e18) {
    return absl::InvalidArgumentError("the grid has more than 2^63 blocks");
  }
  if (code_->frame_bytes > launch.max_tile_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the tiles of one block take ", code_->frame_bytes,
                                                     " bytes, more than the limit of ", launch.max_tile_bytes));
  }
  return absl::OkStatus();
}

Outcome Program::Run(const Launch& launch) {
  if (absl::Status s = CheckLaunch(launch); !s.ok()) {
    Outcome outcome;
    outcome.status = s;
    return outcome;
  }
  if (launch.check == CheckLevel::kFull && !launch.order) return RunInOrders(*code_, launch);
  return RunOnce(*code_, launch, launch.order.value_or(StartOrder()), std::nullopt, {}).outcome;
}

}  // namespace tile::vm
