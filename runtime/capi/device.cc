// Devices, modules and kernels of tilevm.h.
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "runtime/capi/handles.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"
#include "runtime/open_device.h"

using tile::runtime::capi::Invalid;
using tile::runtime::capi::Report;
namespace capi = tile::runtime::capi;
namespace ir = tile::ir;

tilevm_status tilevm_device_open(const char* name, tilevm_device** device) try {
  TILEVM_NEED(device);
  *device = nullptr;
  TILEVM_NEED(name);
  auto opened = tile::runtime::OpenDevice(name);
  if (!opened.ok()) return Report(opened.status());
  *device = new tilevm_device{{*std::move(opened)}};
  return TILEVM_OK;
}
TILEVM_CATCH

void tilevm_device_close(tilevm_device* device) { delete device; }

tilevm_status tilevm_device_get_info(const tilevm_device* device, tilevm_device_info* info) try {
  TILEVM_NEED(device);
  const tile::runtime::DeviceInfo& i = device->shared.device->info();
  return capi::FillInfo(
      tilevm_device_info{0, i.name.c_str(), i.description.c_str(), i.kind != tile::runtime::DeviceKind::kCpu, i.ordinal,
                         i.num_sms, i.compute_major, i.compute_minor, i.driver_version, i.memory_bytes},
      info);
}
TILEVM_CATCH

tilevm_status tilevm_device_set_print(tilevm_device* device, tilevm_print_fn print, void* user) try {
  TILEVM_NEED(device);
  if (print == nullptr) {
    device->shared.device->set_print(nullptr);
  } else {
    auto one = std::make_shared<std::mutex>();  // kernels of several threads print one after the other
    device->shared.device->set_print([=](absl::string_view text) {
      std::lock_guard<std::mutex> lock(*one);
      print(user, text.data(), text.size());
    });
  }
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_device_allow_compile(tilevm_device* device, const tilevm_compile_options* options) try {
  TILEVM_NEED(device);
  tilevm_compile_options o;
  if (const tilevm_status s = capi::ReadOptions(options, &o); s != TILEVM_OK) return s;
  if (device->shared.device->info().kind == tile::runtime::DeviceKind::kCpu) return TILEVM_OK;
  tile::runtime::JitOptions jit;
  if (o.library != nullptr) jit.library = o.library;
  if (o.cache_folder != nullptr) jit.cache_folder = o.cache_folder;
  jit.use_cache = o.cache_folder == nullptr || o.cache_folder[0] != '\0';
  if (o.cache_bytes != 0) jit.cache_bytes = o.cache_bytes;
  auto opened = tile::runtime::Jit::Open(jit);
  if (!opened.ok()) return Report(opened.status());
  device->shared.device->set_jit(*std::move(opened));
  return TILEVM_OK;
}
TILEVM_CATCH

// --- modules --------------------------------------------------------------------------------------------------------

namespace {

tilevm_status MakeModule(absl::StatusOr<std::shared_ptr<const tile::runtime::Program>> program,
                         tilevm_module** module) {
  if (!program.ok()) {
    const tilevm_status status = Report(program.status());
    return status == TILEVM_INVALID_ARGUMENT ? TILEVM_INVALID_MODULE : status;
  }
  auto made = std::make_unique<tilevm_module>();
  made->program = *std::move(program);
  for (const auto& f : made->program->module->functions) made->kernel_names.emplace_back(f->name);
  *module = made.release();
  return TILEVM_OK;
}

}  // namespace

tilevm_status tilevm_module_from_bytes(const void* bytes, size_t size, const char* name, tilevm_module** module) try {
  TILEVM_NEED(module);
  *module = nullptr;
  TILEVM_NEED(bytes);
  return MakeModule(tile::runtime::Program::FromBytes({static_cast<const uint8_t*>(bytes), size},
                                                      name != nullptr ? name : "<memory>"),
                    module);
}
TILEVM_CATCH

tilevm_status tilevm_module_from_file(const char* path, tilevm_module** module) try {
  TILEVM_NEED(module);
  *module = nullptr;
  TILEVM_NEED(path);
  return MakeModule(tile::runtime::Program::FromFile(path), module);
}
TILEVM_CATCH

void tilevm_module_destroy(tilevm_module* module) { delete module; }

size_t tilevm_module_num_kernels(const tilevm_module* module) {
  return module == nullptr ? 0 : module->kernel_names.size();
}
const char* tilevm_module_kernel_name(const tilevm_module* module, size_t index) {
  return index < tilevm_module_num_kernels(module) ? module->kernel_names[index].c_str() : nullptr;
}

// --- kernels --------------------------------------------------------------------------------------------------------

tilevm_status tilevm_kernel_create(tilevm_device* device, const tilevm_module* module, const char* name,
                                   tilevm_kernel** kernel) try {
  TILEVM_NEED(kernel);
  *kernel = nullptr;
  TILEVM_NEED(device);
  TILEVM_NEED(module);
  const auto& functions = module->program->module->functions;
  if (name == nullptr && functions.size() != 1) {
    return Invalid(absl::StrCat("the module has ", functions.size(), " kernels: name one of ",
                                ir::ListKernels(*module->program->module)));
  }
  std::vector<const ir::Function*> found;
  if (name == nullptr) {
    found = {functions[0].get()};
  } else {
    found = ir::FindKernels(*module->program->module, name);
  }
  if (found.size() != 1) {
    const std::string list = ir::ListKernels(*module->program->module);
    if (!found.empty()) {
      return Invalid(absl::StrCat(found.size(), " kernels of the module are called `", name,
                                  "`: add template arguments or "
                                  "parameters, or give the symbol; it has ",
                                  list));
    }
    return Report(tile::runtime::MakeError(absl::StatusCode::kNotFound, "run.no_kernel",
                                           absl::StrCat("the module has no kernel `", name, "`; it has ", list)));
  }
  const ir::Function* f = found[0];
  auto loaded = device->shared.device->Load(module->program, *f);
  if (!loaded.ok()) return Report(loaded.status());
  *kernel = new tilevm_kernel{device->shared, module->program, f, *std::move(loaded), std::string(f->name)};
  return TILEVM_OK;
}
TILEVM_CATCH

void tilevm_kernel_destroy(tilevm_kernel* kernel) { delete kernel; }

tilevm_status tilevm_kernel_get_info(const tilevm_kernel* kernel, tilevm_kernel_info* info) try {
  TILEVM_NEED(kernel);
  const ir::Interface* in = kernel->function->interface.get();
  return capi::FillInfo(
      tilevm_kernel_info{0, kernel->name.c_str(), static_cast<uint32_t>(kernel->function->num_params()),
                         in ? static_cast<uint32_t>(in->arrays.size()) : 0,
                         in ? static_cast<uint32_t>(in->scalars.size()) : 0, in && !in->grid.empty()},
      info);
}
TILEVM_CATCH

tilevm_status tilevm_kernel_get_array(const tilevm_kernel* kernel, uint32_t index, tilevm_array_info* info) try {
  TILEVM_NEED(kernel);
  const ir::Interface* in = kernel->function->interface.get();
  if (in == nullptr || index >= in->arrays.size()) return Invalid(absl::StrCat("there is no array ", index));
  const ir::ArrayArg& a = in->arrays[index];
  tilevm_array_info i = {};
  i.name = a.name.c_str();
  i.direction = static_cast<int32_t>(a.direction);
  i.type = ir::ElemInfoOf(a.element.kind).tag;
  i.rank = static_cast<int32_t>(a.shape.size());
  for (size_t d = 0; d < std::size(i.fixed_shape); ++d) {
    i.fixed_shape[d] = d < a.shape.size() ? a.shape[d].constant.value_or(-1) : -1;
  }
  return capi::FillInfo(i, info);
}
TILEVM_CATCH
static_assert(TILEVM_IN == static_cast<int>(ir::Direction::kIn) &&
              TILEVM_OUT == static_cast<int>(ir::Direction::kOut) &&
              TILEVM_INOUT == static_cast<int>(ir::Direction::kInOut));

tilevm_status tilevm_kernel_get_scalar(const tilevm_kernel* kernel, uint32_t index, tilevm_scalar_info* info) try {
  TILEVM_NEED(kernel);
  const ir::Interface* in = kernel->function->interface.get();
  if (in == nullptr || index >= in->scalars.size()) return Invalid(absl::StrCat("there is no scalar ", index));
  const ir::ScalarArg& s = in->scalars[index];
  return capi::FillInfo(
      tilevm_scalar_info{0, s.name.c_str(), ir::ElemInfoOf(kernel->function->param(s.param)->type().elem()).tag,
                         s.default_bits.has_value() || !s.value.empty()},
      info);
}
TILEVM_CATCH
