/* What jax.ffi registers: TilevmInstantiate… and TilevmExecute… for the platforms cpu and CUDA, and the type of their state. */
#include "error.h"
#include "program.h"
#include "run.h"

#define EXPORT __attribute__((visibility("default")))

static void free_state(void* state) { program_free(state); }

EXPORT TvTypeId TilevmTypeId = {0}; /* XLA fills it in at registration */
EXPORT TvTypeInfo TilevmTypeInfo = {sizeof(TvTypeInfo), NULL, free_state};

/* XLA asks each handler once for what it is. */
static int answers_metadata(TvCallFrame* frame) {
  TvExtension_Base* e = frame->extension_start;
  if (e == NULL || e->type != kExtensionMetadata) return 0;
  TvMetadata* m = ((TvMetadata_Extension*)e)->metadata;
  m->api_version.major_version = kFfiMajor;
  m->api_version.minor_version = kFfiMinor;
  m->traits = 0;
  m->state_type_id = TilevmTypeId;
  return 1;
}

static TvError* instantiate(TvCallFrame* frame, int is_gpu) {
  if (answers_metadata(frame)) return NULL;
  TvError* error = NULL;
  Program* p = program_read(frame, is_gpu, &error);
  if (p == NULL) return error;
  TvState_Set_Args set = {sizeof set, NULL, frame->ctx, kStageInstantiate, &TilevmTypeId, p};
  error = frame->api->State_Set(&set);
  if (error != NULL) program_free(p);
  return error;
}

static TvError* execute(TvCallFrame* frame, int is_gpu) {
  if (answers_metadata(frame)) return NULL;
  TvState_Get_Args get = {sizeof get, NULL, frame->ctx, kStageInstantiate, &TilevmTypeId, NULL};
  TvError* error = frame->api->State_Get(&get);
  if (error != NULL) return error;
  TvStream_Get_Args on = {sizeof on, NULL, frame->ctx, NULL};
  if (is_gpu && (error = frame->api->Stream_Get(&on)) != NULL) return error;
  return program_run(get.state, frame, on.stream);
}

EXPORT TvError* TilevmInstantiateCpu(TvCallFrame* frame) { return instantiate(frame, 0); }
EXPORT TvError* TilevmInstantiateCuda(TvCallFrame* frame) { return instantiate(frame, 1); }
EXPORT TvError* TilevmExecuteCpu(TvCallFrame* frame) { return execute(frame, 0); }
EXPORT TvError* TilevmExecuteCuda(TvCallFrame* frame) { return execute(frame, 1); }
