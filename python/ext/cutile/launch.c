#include "python/ext/cutile/launch.h"

#include <stdlib.h>
#include <string.h>

#include "python/ext/cutile/error.h"
#include "python/ext/frontend/driver.h"

enum { kMaxRank = 16, kMaxName = 256 };

static int64_t signed_bits(uint64_t word, int bits) {
  if (bits >= 64) return (int64_t)word;
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  word = low_bits(word, bits);
  return (int64_t)((word ^ sign) - sign);
}

/* `words`: address, shape, strides. `parameter`: the first of them, or -1 of an array in a list. */
static tilevm_status add_words(tilevm_launch* launch, const Parameter* a, const char* name, const uint64_t* words,
                               int bits, int64_t parameter) {
  int64_t shape[kMaxRank], strides[kMaxRank];
  for (int d = 0; d < a->rank; ++d) {
    shape[d] = signed_bits(words[1 + d], bits);
    strides[d] = signed_bits(words[1 + a->rank + d], bits);
  }
  const tilevm_array array = {(void*)(uintptr_t)words[0], a->type, a->rank, shape, strides};
  const tilevm_status status = add_array(launch, name, &array);
  if (status != TILEVM_OK || parameter < 0) return status;
  return tilevm_launch_set_pointer(launch, (uint32_t)parameter, name, &array);
}

/* The table of a list, and the arrays that it names. */
static tilevm_status add_list(tilevm_launch* launch, const Parameter* a, const uint64_t* words) {
  const uint64_t* table = (const uint64_t*)(uintptr_t)words[0];
  const int64_t length = signed_bits(words[1], 32), row = 1 + 2 * a->rank;
  const int64_t shape[2] = {length, row};
  const tilevm_array rows = {(void*)table, TILEVM_I64, 2, shape, NULL};
  char name[kMaxName];
  PyOS_snprintf(name, sizeof name, "%.200s (the list)", a->name);
  tilevm_status status = tilevm_launch_add_memory(launch, name, &rows);
  for (int64_t i = 0; status == TILEVM_OK && i < length; ++i) {
    PyOS_snprintf(name, sizeof name, "%.200s[%lld]", a->name, (long long)i);
    status = add_words(launch, a, name, table + i * row, 64, -1);
  }
  return status;
}

static tilevm_status add_memory(tilevm_launch* launch, const Call* call) {
  const Kernel* kernel = call->arguments;
  const uint64_t* words = call->words;
  tilevm_status status = TILEVM_OK;
  for (int i = 0; i < kernel->num_arguments && status == TILEVM_OK; ++i) {
    const Parameter* a = &kernel->arguments[i];
    if (a->kind == kArrayParameter) status = add_words(launch, a, a->name, words, a->bits, words - call->words);
    if (a->kind == kListParameter) status = add_list(launch, a, words);
    words += a->kind == kArrayParameter ? 1 + 2 * a->rank : a->kind == kListParameter ? 2 : 1;
  }
  return status;
}

int launch_kernel(const LaunchConfig* config, Kernel* kernel, void** parameters, void* graph) {
  uint64_t few[64], *words = few;
  Call call = {&kernel->run, NULL, (int)kernel->run.num_words + 3, kernel->has_lists && !driver.is_gpu, add_memory,
               kernel,       graph};
  if (call.num_words > 64) words = malloc((size_t)call.num_words * sizeof *words);
  if (words == NULL) return CU_OUT_OF_MEMORY;
  call.words = words;
  int at = 0;
  for (int i = 0; i < kernel->num_arguments; ++i) {
    const Parameter* a = &kernel->arguments[i];
    const int count = a->kind == kArrayParameter ? 1 + 2 * a->rank : a->kind == kListParameter ? 2 : 1;
    for (int j = 0; j < count; ++j, ++at) {
      const int bits = j == 0 && a->kind != kScalarParameter ? 64 : a->kind == kListParameter ? 32 : a->bits;
      uint64_t word;
      memcpy(&word, parameters[at], sizeof word);
      words[at] = low_bits(word, bits);
    }
  }
  int result = CU_SUCCESS;
  for (int d = 0; d < 3; ++d) {
    words[at + d] = config->grid[d];
    if (config->grid[d] == 0 || (d > 0 && config->grid[d] > 65535)) result = CU_INVALID_VALUE; /* as every GPU says */
  }
  if (result == CU_SUCCESS && run_call(&call, config->stream) != 0) result = keep_error(CU_LAUNCH_FAILED);
  if (words != few) free(words);
  return result;
}
