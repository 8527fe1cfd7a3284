#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "program.h"

static void show_warning(void* user, const char* text) {
  Program* p = user;
  if (__atomic_exchange_n(&p->has_warned, 1, __ATOMIC_RELAXED) == 0) fprintf(stderr, "%s\n", text);
}

/* The arrays of the interface, once, under the mutex. */
static tilevm_status read_slots(Program* p, const tilevm_kernel* kernel) {
  tilevm_kernel_info info = {.struct_size = sizeof info};
  tilevm_status status = tilevm_kernel_get_info(kernel, &info);
  p->num_slots = p->num_args = p->num_rets = 0;
  for (uint32_t i = 0; i < info.num_arrays && i < kMaxSlots && status == TILEVM_OK; ++i) {
    tilevm_array_info a = {.struct_size = sizeof a};
    status = tilevm_kernel_get_array(kernel, i, &a);
    if (status != TILEVM_OK) break;
    const Slot slot = {a.name, a.type, a.rank, a.direction != TILEVM_OUT ? p->num_args++ : -1,
                       a.direction != TILEVM_IN ? p->num_rets++ : -1};
    p->slots[p->num_slots++] = slot;
  }
  return status;
}

/* The kernel on the device of the call. */
static tilevm_status open_place(Program* p, int ordinal) {
  Place* place = &p->on[ordinal];
  if (place->kernel != NULL) return TILEVM_OK;
  char name[16] = "cpu";
  if (p->is_gpu) snprintf(name, sizeof name, "cuda:%d", ordinal);
  tilevm_status status = place->device != NULL ? TILEVM_OK : tilevm_device_open(name, &place->device);
  if (status == TILEVM_OK) status = tilevm_kernel_create(place->device, p->module, p->name, &place->kernel);
  /* Names of arrays live as long as a kernel: those of the first one do. */
  if (status == TILEVM_OK && p->num_slots == 0) status = read_slots(p, place->kernel);
  return status;
}

static tilevm_status new_bound(Program* p, int device, void* native, Bound** bound) {
  Bound* b = calloc(1, sizeof *b + (size_t)p->num_slots * sizeof b->arrays[0]);
  if (b == NULL) return TILEVM_OUT_OF_MEMORY;
  b->device = device;
  b->native = native;
  tilevm_launch_options o = {
      .struct_size = sizeof o, .check = p->check, .threads = p->threads, .warning = show_warning, .warning_user = p};
  tilevm_status status = tilevm_launch_create(p->on[device].kernel, &b->launch);
  if (status == TILEVM_OK && p->is_gpu) status = tilevm_stream_wrap(p->on[device].device, native, &b->stream);
  if (status == TILEVM_OK) status = tilevm_launch_set_options(b->launch, &o);
  for (int i = 0; i < p->num_scalars && status == TILEVM_OK; ++i) {
    const Number* n = &p->scalars[i];
    status =
        n->is_float ? tilevm_launch_set_f64(b->launch, n->name, n->f) : tilevm_launch_set_i64(b->launch, n->name, n->i);
  }
  *bound = b;
  return status;
}

static void give_back(Program* p, Bound* bound) {
  pthread_mutex_lock(&p->mutex);
  bound->next = p->idle;
  p->idle = bound;
  pthread_mutex_unlock(&p->mutex);
}

/* Of XLA's types; integers are signless here. */
static int fits(tilevm_type type, int dtype) {
  static const signed char kTypes[] = {[kDataPred] = TILEVM_I1,           [kDataS8] = TILEVM_I8,
                                       [kDataS16] = TILEVM_I16,           [kDataS32] = TILEVM_I32,
                                       [kDataS64] = TILEVM_I64,           [kDataU8] = TILEVM_I8,
                                       [kDataU16] = TILEVM_I16,           [kDataU32] = TILEVM_I32,
                                       [kDataU64] = TILEVM_I64,           [kDataF16] = TILEVM_F16,
                                       [kDataF32] = TILEVM_F32,           [kDataF64] = TILEVM_F64,
                                       [kDataBf16] = TILEVM_BF16,         [kDataF8E5M2] = TILEVM_F8E5M2,
                                       [kDataF8E4M3FN] = TILEVM_F8E4M3FN, [kDataF8E8M0FNU] = TILEVM_F8E8M0FNU};
  if (dtype <= 0 || dtype >= (int)sizeof kTypes || (kTypes[dtype] == TILEVM_I1 && dtype != kDataPred)) return 0;
  return kTypes[dtype] == (type == TILEVM_TF32 ? TILEVM_F32 : type == TILEVM_F8E5M3FNU ? TILEVM_I8 : type);
}

static const TvBuffer* buffer_of(const TvCallFrame* frame, const Slot* slot) {
  return slot->ret >= 0 ? frame->rets.rets[slot->ret] : frame->args.args[slot->arg];
}

static const char* batches_differ(const Program* p, const TvCallFrame* frame, int batches) {
  const int64_t* sizes = ((const TvBuffer*)frame->rets.rets[0])->dims;
  for (int i = 0; i < p->num_slots; ++i) {
    const TvBuffer* b = buffer_of(frame, &p->slots[i]);
    for (int d = 0; d < batches; ++d) {
      if (b->dims[d] != sizes[d] && (p->slots[i].ret >= 0 || b->dims[d] != 1))
        return "has arrays of other batches than its result";
    }
  }
  return NULL;
}

/* How many dimensions of batches there are; NULL, or what is wrong with the buffers of the call. */
static const char* look_at(const Program* p, const TvCallFrame* frame, int* batches) {
  if (frame->args.size != p->num_args || frame->rets.size != p->num_rets)
    return "has other operands and results than the kernel";
  if (p->num_rets == 0) return "has no result";
  *batches = -1;
  for (int i = 0; i < p->num_slots; ++i) {
    const Slot* s = &p->slots[i];
    const TvBuffer* b = buffer_of(frame, s);
    if (!fits(s->type, b->dtype)) return "has an array of another type than the kernel";
    const int64_t more = b->rank - s->rank;
    if (more < 0 || more > kMaxBatches || (*batches >= 0 && more != *batches))
      return "has an array of another rank than the kernel";
    *batches = (int)more;
    if (s->arg >= 0 && s->ret >= 0 && ((const TvBuffer*)frame->args.args[s->arg])->data != b->data)
      return "changes a copy of an operand";
  }
  return batches_differ(p, frame, *batches);
}

/* Whether a launch is bound to the buffers of the call. */
static int is_bound_to(const Program* p, const Bound* bound, const TvCallFrame* frame) {
  for (int i = 0; i < p->num_slots; ++i) {
    const Slot* s = &p->slots[i];
    const TvBuffer* b = buffer_of(frame, s);
    if (!bound->arrays[i].is_set || bound->arrays[i].data != b->data) return 0;
    if (memcmp(bound->arrays[i].shape, b->dims + (b->rank - s->rank), (size_t)s->rank * sizeof *b->dims) != 0) return 0;
  }
  return 1;
}

/* One that waits, for the device and stream: bound to the buffers, or where there are enough, the one that was used least recently. */
static Bound* find_idle(Program* p, const TvCallFrame* frame, int device, void* native) {
  Bound **last = NULL, **found = NULL;
  int count = 0;
  for (Bound** at = &p->idle; *at != NULL && found == NULL; at = &(*at)->next) {
    if ((*at)->device != device || (*at)->native != native) continue;
    ++count;
    last = at;
    if (is_bound_to(p, *at, frame)) found = at;
  }
  if (found == NULL && count >= kMaxIdle) found = last;
  if (found == NULL) return NULL;
  Bound* bound = *found;
  *found = bound->next;
  return bound;
}

/* A launch for the call, or in `wrong` why there is none. */
static tilevm_status take(Program* p, const TvCallFrame* frame, int device, void* native, Bound** bound, int* batches,
                          const char** wrong) {
  pthread_mutex_lock(&p->mutex);
  tilevm_status status = open_place(p, device);
  if (status == TILEVM_OK) *wrong = look_at(p, frame, batches);
  if (status == TILEVM_OK && *wrong == NULL) {
    *bound = find_idle(p, frame, device, native);
    if (*bound == NULL) status = new_bound(p, device, native, bound);
  }
  pthread_mutex_unlock(&p->mutex);
  return status;
}

/* The buffer of a batch: where its elements begin. A size of 1 is there for all. NULL elements if a size does not fit. */
static char* part_of(const TvBuffer* b, int batches, const int64_t* at, int64_t bytes) {
  int64_t place = 0;
  for (int d = 0; d < batches; ++d) place = place * b->dims[d] + (b->dims[d] == 1 ? 0 : at[d]);
  for (int64_t d = batches; d < b->rank; ++d) bytes *= b->dims[d];
  return (char*)b->data + place * bytes;
}

static tilevm_status bind(const Program* p, Bound* bound, int i, void* data, const int64_t* dims) {
  const Slot* s = &p->slots[i];
  const size_t bytes = (size_t)s->rank * sizeof *dims;
  if (bound->arrays[i].is_set && bound->arrays[i].data == data && memcmp(bound->arrays[i].shape, dims, bytes) == 0)
    return TILEVM_OK;
  const tilevm_array array = {data, s->type, s->rank, dims, NULL};
  const tilevm_status status = tilevm_launch_set_array(bound->launch, s->name, &array);
  bound->arrays[i].is_set = status == TILEVM_OK;
  bound->arrays[i].data = data;
  memcpy(bound->arrays[i].shape, dims, bytes);
  return status;
}

static tilevm_status run_one(const Program* p, Bound* bound, const TvCallFrame* frame, int batches, const int64_t* at) {
  for (int i = 0; i < p->num_slots; ++i) {
    const TvBuffer* b = buffer_of(frame, &p->slots[i]);
    char* data = part_of(b, batches, at, tilevm_type_bits(p->slots[i].type) / 8);
    const tilevm_status status = bind(p, bound, i, data, b->dims + batches);
    if (status != TILEVM_OK) return status;
  }
  return tilevm_launch_run(bound->launch, bound->stream);
}

/* Each batch of the first result; the others have the same sizes, or 1. */
static tilevm_status run_all(const Program* p, Bound* bound, const TvCallFrame* frame, int batches) {
  const int64_t* sizes = ((const TvBuffer*)frame->rets.rets[0])->dims;
  int64_t at[kMaxBatches] = {0}, left = 1;
  for (int d = 0; d < batches; ++d) left *= sizes[d];
  for (; left > 0; --left) {
    const tilevm_status status = run_one(p, bound, frame, batches, at);
    if (status != TILEVM_OK) return status;
    for (int d = batches - 1; d >= 0 && ++at[d] == sizes[d]; --d) at[d] = 0;
  }
  return TILEVM_OK;
}

TvError* program_run(Program* p, const TvCallFrame* frame, void* native) {
  int32_t device = 0;
  if (p->is_gpu) {
    TvDeviceOrdinal_Get_Args get = {.struct_size = sizeof get, .ctx = frame->ctx};
    TvError* error = frame->api->DeviceOrdinal_Get(&get);
    if (error != NULL) return error;
    device = get.device_ordinal;
    if (device < 0 || device >= kMaxDevices)
      return make_error(frame->api, kErrorUnimplemented, "error[jax.device]: more than 16 GPUs");
  }
  Bound* bound = NULL;
  int batches = 0;
  const char* wrong = NULL;
  tilevm_status status = take(p, frame, device, native, &bound, &batches, &wrong);
  if (status == TILEVM_OK && wrong == NULL) status = run_all(p, bound, frame, batches);
  if (status == TILEVM_OK && wrong == NULL) {
    give_back(p, bound);
    return NULL;
  }
  TvError* error;
  if (wrong != NULL) {
    char text[200];
    snprintf(text, sizeof text, "error[jax.call]: the call of `%.60s` %s\n  fix: make the call by tilevm.jax",
             p->name != NULL ? p->name : "", wrong);
    error = make_error(frame->api, kErrorInvalidArgument, text);
  } else {
    error = library_error(frame->api, status);
  }
  if (bound != NULL) bound_free(bound);
  return error;
}
