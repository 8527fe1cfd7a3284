/* A compiler for tests: its answers are in the environment.
 *
 *   FAKE_TILEC_OUTPUT   a file whose contents it answers
 *   FAKE_TILEC_FAIL     instead of that: a status, a space and a message
 *   FAKE_TILEC_VERSION  "fake 1" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/jit/tilec_abi.h"

struct tilec_output {
  size_t size;
  char bytes[];
};

static int calls, last_capability;

__attribute__((visibility("default"))) int fake_tilec_calls(void) { return calls; }
__attribute__((visibility("default"))) int fake_tilec_capability(void) { return last_capability; }

static tilec_output* make(const char* bytes, size_t size) {
  tilec_output* output = malloc(sizeof *output + size + 1);
  if (output == NULL) return NULL;
  output->size = size;
  memcpy(output->bytes, bytes, size);
  output->bytes[size] = 0;
  return output;
}

uint32_t tilec_abi_version(void) { return TILEC_ABI_VERSION; }

const char* tilec_version(void) {
  const char* version = getenv("FAKE_TILEC_VERSION");
  return version != NULL ? version : "fake 1";
}

tilec_status tilec_compile(const void* tbc, size_t size, const char* kernel, int32_t compute_capability,
                           tilec_output** output) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&last_capability, compute_capability, __ATOMIC_RELAXED);
  const char* fail = getenv("FAKE_TILEC_FAIL");
  if (fail != NULL) {
    char* message;
    const long status = strtol(fail, &message, 10);
    *output = make(message + 1, strlen(message + 1));
    return (tilec_status)status;
  }
  if (tbc == NULL || size < 8 || kernel == NULL) return TILEC_INTERNAL;
  const char* path = getenv("FAKE_TILEC_OUTPUT");
  FILE* file = path != NULL ? fopen(path, "rb") : NULL;
  if (file == NULL) {
    *output = make("error[fake]: no output", 22);
    return TILEC_ENVIRONMENT;
  }
  static const size_t kMost = 1 << 20;
  char* bytes = malloc(kMost);
  const size_t n = bytes != NULL ? fread(bytes, 1, kMost, file) : 0;
  fclose(file);
  *output = make(bytes, n);
  free(bytes);
  return TILEC_OK;
}

const char* tilec_output_bytes(const tilec_output* output) { return output->bytes; }
size_t tilec_output_size(const tilec_output* output) { return output->size; }
void tilec_output_free(tilec_output* output) { free(output); }
