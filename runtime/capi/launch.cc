// Launches of tilevm.h.
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/float.h"
#include "runtime/capi/handles.h"

using tile::runtime::ArrayValue;
using tile::runtime::Stream;
using tile::runtime::capi::Invalid;
using tile::runtime::capi::OnStream;
using tile::runtime::capi::Report;
namespace ir = tile::ir;

tilevm_status tilevm_launch_create(tilevm_kernel* kernel, tilevm_launch** launch) try {
  TILEVM_NEED(launch);
  *launch = nullptr;
  TILEVM_NEED(kernel);
  *launch = new tilevm_launch{kernel->device, std::make_unique<tile::runtime::ArrayLaunch>(
                                                  kernel->device.device, kernel->program, *kernel->function,
                                                  kernel->kernel, kernel->device.buffers)};
  return TILEVM_OK;
}
TILEVM_CATCH

void tilevm_launch_destroy(tilevm_launch* launch) { delete launch; }

tilevm_status tilevm_launch_set_array(tilevm_launch* launch, const char* name, const tilevm_array* array) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  ArrayValue value;
  if (const tilevm_status s = tile::runtime::capi::ReadArray(array, name, &value); s != TILEVM_OK) return s;
  return Report(launch->launch->SetArray(name, *ir::FindElemByTag(array->type), std::move(value)));
}
TILEVM_CATCH

namespace {

// `T`: int64_t or uint64_t.
template <class T>
tilevm_status SetInteger(tilevm_launch* launch, const char* name, T value) {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  auto type = launch->launch->ScalarType(name);
  if (!type.ok()) return Report(type.status());
  if (ir::IsFloat(*type)) return tilevm_launch_set_f64(launch, name, static_cast<double>(value));
  const int bits = ir::ElemInfoOf(*type).bits;
  const __int128 wide = value;  // both kinds of numbers, and their limits
  if (wide < -(__int128{1} << (bits - 1)) || wide >= __int128{1} << bits) {
    return Invalid(
        absl::StrCat("scalar `", name, "` is ", value, ", which does not fit ", ir::ElemInfoOf(*type).spelling));
  }
  const uint64_t mask = bits < 64 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0};
  return Report(launch->launch->SetScalar(name, static_cast<uint64_t>(value) & mask));
}

}  // namespace

tilevm_status tilevm_launch_set_i64(tilevm_launch* launch, const char* name, int64_t value) try {
  return SetInteger(launch, name, value);
}
TILEVM_CATCH
tilevm_status tilevm_launch_set_u64(tilevm_launch* launch, const char* name, uint64_t value) try {
  return SetInteger(launch, name, value);
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_f64(tilevm_launch* launch, const char* name, double value) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  auto type = launch->launch->ScalarType(name);
  if (!type.ok()) return Report(type.status());
  if (!ir::IsFloat(*type)) {
    return Invalid(absl::StrCat("scalar `", name, "` is of ", ir::ElemInfoOf(*type).spelling, ", not a float"));
  }
  return Report(launch->launch->SetScalar(name, ir::FromDouble(*type, value)));
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_bits(tilevm_launch* launch, const char* name, uint64_t bits) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  return Report(launch->launch->SetScalar(name, bits));
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_parameter(tilevm_launch* launch, uint32_t index, uint64_t word) try {
  TILEVM_NEED(launch);
  return Report(launch->launch->SetParameter(index, word));
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_pointer(tilevm_launch* launch, uint32_t index, const char* name,
                                        const tilevm_array* array) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  ArrayValue value;
  if (const tilevm_status s = tile::runtime::capi::ReadArray(array, name, &value); s != TILEVM_OK) return s;
  return Report(launch->launch->SetPointer(index, name, *ir::FindElemByTag(array->type), std::move(value)));
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_grid(tilevm_launch* launch, int64_t x, int64_t y, int64_t z) try {
  TILEVM_NEED(launch);
  if (x < 0 || y < 0 || z < 0) return Invalid("a size of the grid is negative");
  launch->launch->SetGrid({x, y, z});
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_launch_add_memory(tilevm_launch* launch, const char* name, const tilevm_array* array) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  ArrayValue value;
  if (const tilevm_status s = tile::runtime::capi::ReadArray(array, name, &value); s != TILEVM_OK) return s;
  return Report(launch->launch->AddMemory(name, *ir::FindElemByTag(array->type), value));
}
TILEVM_CATCH

tilevm_status tilevm_launch_set_written(tilevm_launch* launch, const void* begin, uint64_t bytes,
                                        uint8_t* written) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(begin);
  TILEVM_NEED(written);
  return Report(launch->launch->SetWritten({begin, bytes, written}));
}
TILEVM_CATCH

namespace {

void TellCoverage(const tile::runtime::Coverage& c, tilevm_coverage_fn tell, void* user) {
  const tilevm_coverage said = {sizeof said,
                                static_cast<int32_t>(c.choice),
                                c.sides,
                                c.kernel.c_str(),
                                c.where.c_str(),
                                c.op.c_str(),
                                c.predicate.c_str(),
                                {c.left.least, c.left.most},
                                {c.right.least, c.right.most},
                                {c.gap.least, c.gap.most}};
  tell(user, &said);
}

}  // namespace

tilevm_status tilevm_launch_set_options(tilevm_launch* launch, const tilevm_launch_options* options) try {
  TILEVM_NEED(launch);
  tilevm_launch_options o;
  if (const tilevm_status s = tile::runtime::capi::ReadOptions(options, &o); s != TILEVM_OK) return s;
  if (o.check < TILEVM_CHECK_DEFAULT || o.check > TILEVM_CHECK_FULL) {
    return Invalid(absl::StrCat("there is no check level ", o.check));
  }
  if (o.threads < 0) return Invalid("a negative number of threads");
  if (o.unspecified < TILEVM_UNSPECIFIED_ZERO || o.unspecified > TILEVM_UNSPECIFIED_RANDOM) {
    return Invalid(absl::StrCat("there are no unspecified values of kind ", o.unspecified));
  }
  tile::runtime::RunOptions run;
  run.check = static_cast<tile::runtime::CheckLevel>(o.check);
  run.threads = o.threads;
  if (o.interrupt != nullptr) run.interrupted = [ask = o.interrupt, user = o.interrupt_user] { return ask(user) != 0; };
  run.unspecified = static_cast<tile::runtime::Unspecified>(o.unspecified);
  run.any_array = o.any_array != 0;
  if (o.order != nullptr) run.order = o.order;
  if (o.warning != nullptr) {
    run.warn = [tell = o.warning, user = o.warning_user](const ir::RunReport& r) { tell(user, r.ToString().c_str()); };
  }
  if (o.coverage != nullptr) {
    run.cover = [tell = o.coverage, user = o.coverage_user](const tile::runtime::Coverage& c) {
      TellCoverage(c, tell, user);
    };
  }
  return Report(launch->launch->SetOptions(std::move(run)));
}
TILEVM_CATCH

tilevm_status tilevm_launch_get_array(tilevm_launch* launch, const char* name, tilevm_array* array) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(name);
  TILEVM_NEED(array);
  ir::Element element;
  auto value = launch->launch->GetArray(name, &element);
  if (!value.ok()) return Report(value.status());
  array->data = reinterpret_cast<void*>((*value)->address);
  array->type = ir::ElemInfoOf(element.kind).tag;
  array->rank = static_cast<int32_t>((*value)->shape.size());
  array->shape = (*value)->shape.data();
  array->strides = (*value)->strides.empty() ? nullptr : (*value)->strides.data();
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_launch_get_grid(tilevm_launch* launch, int64_t grid[3]) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(grid);
  auto sizes = launch->launch->GetGrid();
  if (!sizes.ok()) return Report(sizes.status());
  for (size_t d = 0; d < 3; ++d) grid[d] = (*sizes)[d];
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_launch_prepare(tilevm_launch* launch) try {
  TILEVM_NEED(launch);
  return Report(launch->launch->Prepare());
}
TILEVM_CATCH

tilevm_status tilevm_launch_add_to_graph(tilevm_launch* launch, void* graph) try {
  TILEVM_NEED(launch);
  TILEVM_NEED(graph);
  return Report(launch->launch->AddTo(graph));
}
TILEVM_CATCH

tilevm_status tilevm_launch_run(tilevm_launch* launch, tilevm_stream* stream) try {
  TILEVM_NEED(launch);
  return OnStream(launch->device, stream, [&](Stream* on) { return launch->launch->Run(on); });
}
TILEVM_CATCH
