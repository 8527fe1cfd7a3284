/* See fake_cuda.h. Built as it is, and with FAKE_CUDA_INCOMPLETE as a library that lacks cuLaunchKernel, and with
 * FAKE_CUDA_OLD as one that lacks what came after CUDA 11.4. */
#include "runtime/cuda/fake_cuda.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_PARAMS 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 18];
static size_t log_size;
static char fail_function[64];
static int fail_result;
static FakeKernel kernel;
static void* kernel_context;
static long live;
static int launched;
static __thread void* current_context;

static int number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

/* Records the call; the result that a test asked for, or 0. */
__attribute__((format(printf, 2, 3))) static int call(const char* function, const char* format, ...) {
  int result = 0;
  va_list args;
  pthread_mutex_lock(&mutex);
  if (log_size + 256 < sizeof log_text) {
    log_size += (size_t)snprintf(log_text + log_size, 64, "%s ", function);
    va_start(args, format);
    log_size += (size_t)vsnprintf(log_text + log_size, 180, format, args);
    va_end(args);
    log_size += (size_t)snprintf(log_text + log_size, 2, "\n");
  }
  if (strcmp(function, fail_function) == 0) {
    result = fail_result;
    fail_function[0] = 0;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}
#define CALL(...)                             \
  do {                                        \
    int failed = call(__func__, __VA_ARGS__); \
    if (failed) return failed;                \
  } while (0)

/* As the driver's global mode has it: a call that is no work on a stream ends a capture, except in a thread that has opted out. */
static int captures, lost_captures;
static __thread int capture_mode;
#define ASIDE()                              \
  do {                                       \
    if (captures > 0 && capture_mode != 2) { \
      lost_captures = captures;              \
      return 900;                            \
    }                                        \
  } while (0)

static void count(int n) { __atomic_add_fetch(&live, n, __ATOMIC_SEQ_CST); }

const char* fake_cuda_log(void) { return log_text; }
void fake_cuda_reset(void) {
  pthread_mutex_lock(&mutex);
  log_size = 0;
  log_text[0] = fail_function[0] = 0;
  kernel = NULL;
  pthread_mutex_unlock(&mutex);
}
void fake_cuda_set_kernel(FakeKernel f, void* context) {
  kernel = f;
  kernel_context = context;
}
void fake_cuda_fail(const char* function, int result) {
  snprintf(fail_function, sizeof fail_function, "%s", function);
  fail_result = result;
}
long fake_cuda_live(void) { return live; }

/* --- driver, devices, contexts --- */

int cuInit(unsigned flags) {
  CALL("%u", flags);
  return number("FAKE_CUDA_INIT", 0);
}
int cuDriverGetVersion(int* v) {
  *v = number("FAKE_CUDA_VERSION", 13000);
  return 0;
}
int cuGetErrorName(int e, const char** s) {
  *s = e == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
       : e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
       : e == 999 ? "CUDA_ERROR_UNKNOWN"
                  : NULL;
  return *s ? 0 : 1;
}
int cuGetErrorString(int e, const char** s) {
  *s = e == 700 ? "an illegal memory access was encountered" : e == 999 ? "unknown error" : NULL;
  return *s ? 0 : 1;
}
int cuDeviceGetCount(int* n) {
  *n = number("FAKE_CUDA_DEVICES", 1);
  return 0;
}
int cuDeviceGet(int* d, int i) {
  *d = i + 40;
  return i < number("FAKE_CUDA_DEVICES", 1) ? 0 : 101;
}
int cuDeviceGetName(char* name, int size, int d) {
  snprintf(name, (size_t)size, "Fake %d", d - 40);
  return 0;
}
int cuDeviceGetAttribute(int* v, int what, int d) {
  (void)d;
  const int cc = number("FAKE_CUDA_CC", 90);
  switch (what) {
    case 5: *v = 2147483647; break;
    case 6:
    case 7: *v = 65535; break;
    case 16: *v = number("FAKE_CUDA_SMS", 4); break;
    case 75: *v = cc / 10; break;
    case 76: *v = cc % 10; break;
    case 97: *v = 232448; break;
    default: return 1;
  }
  return 0;
}
int cuDeviceTotalMem_v2(size_t* n, int d) {
  (void)d;
  *n = (size_t)1 << 34;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** c, int d) {
  CALL("%d", d);
  *c = (void*)(uintptr_t)(0x1000 + d);
  count(1);
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int d) {
  CALL("%d", d);
  count(-1);
  return 0;
}
int cuCtxGetCurrent(void** c) { return *c = current_context, 0; }
int cuCtxSetCurrent(void* c) { return current_context = c, 0; }
static __thread void* context_stack[16];
static __thread int context_depth;
int cuCtxPushCurrent_v2(void* c) { return context_stack[context_depth++] = current_context, current_context = c, 0; }
int cuCtxPopCurrent_v2(void** c) {
  *c = current_context;
  current_context = context_stack[--context_depth];
  return 0;
}

/* --- code --- */

typedef struct Function {
  char symbol[64];
  unsigned num_params, size[FAKE_PARAMS];
  struct Function* next;
} Function;

int cuModuleLoadDataEx(Function** module, const char* image, unsigned n, int* options, void** values) {
  CALL("%.9s options=%u", image, n);
  ASIDE();
  *module = NULL;
  if (strncmp(image, "FAKECUBIN ", 10) != 0) {
    for (unsigned i = 0; i < n; ++i) {
      if (options[i] == 5) strcpy(values[i], "fake: not a program");
    }
    return 200;
  }
  for (const char* line = image; strncmp(line, "FAKECUBIN ", 10) == 0;) {
    Function* f = calloc(1, sizeof *f);
    int used = 0, value;
    sscanf(line, "FAKECUBIN %63s%n", f->symbol, &used);
    line += used;
    while (f->num_params < FAKE_PARAMS && *line != '\n' && sscanf(line, "%d%n", &value, &used) == 1) {
      f->size[f->num_params++] = (unsigned)value;
      line += used;
    }
    line += *line == '\n';
    f->next = *module;
    *module = f;
    count(1);
  }
  return 0;
}
int cuModuleUnload(Function* module) {
  CALL(" ");
  ASIDE();
  while (module) {
    Function* next = module->next;
    free(module);
    count(-1);
    module = next;
  }
  return 0;
}
int cuModuleGetFunction(Function** f, Function* module, const char* name) {
  for (*f = module; *f; *f = (*f)->next) {
    if (strcmp((*f)->symbol, name) == 0) return 0;
  }
  return 500;
}
int cuModuleGetGlobal_v2(uint64_t* p, size_t* n, void* m, const char* name) {
  (void)p, (void)n, (void)m, (void)name;
  return 500;
}
int cuFuncSetAttribute(Function* f, int what, int value) {
  CALL("%s %d=%d", f->symbol, what, value);
  return 0;
}
int cuFuncGetAttribute(int* value, int what, Function* f) {
  (void)f;
  *value = what == 0 ? 256 : what == 1 ? 1024 : what == 4 ? 32 : 0;
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* f, int threads, size_t shared) {
  (void)f, (void)threads, (void)shared;
  *blocks = number("FAKE_CUDA_OCCUPANCY", 2);
  return 0;
}

/* --- work: done at once, or kept by a capture --- */

typedef struct Work {
  enum { kLaunch, kCopy, kFill, kHost } kind;
  void (*host)(void*);
  Function* function;
  FakeLaunch launch;
  uint64_t values[FAKE_PARAMS][16];
  void* params[FAKE_PARAMS];
  void *to, *from;
  size_t bytes;
  unsigned char value;
  struct Work* next;
} Work;
/* Recorded work, of a graph and of those that were made executable from it; a user object has one reference of each graph. */
typedef struct Object {
  void (*destroy)(void*);
  void* pointer;
  unsigned references;
} Object;
typedef struct Kept {
  Object* object;
  struct Kept* next;
} Kept;
typedef struct Graph {
  Work *first, **last, *newest;
  Kept* kept;
  int references;
} Graph;
typedef struct Stream {
  Graph* graph; /* while it records one */
} Stream;

/* c = a + b over f32[n]: what the command line's test runs. */
static void vector_add(const FakeLaunch* l) {
  const float *a = *(float**)l->params[0], *b = *(float**)l->params[1];
  float* c = *(float**)l->params[2];
  const int64_t n = *(int64_t*)l->params[3];
  for (int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

static void run(Work* w) {
  if (w->kind == kCopy) {
    memmove(w->to, w->from, w->bytes);
  } else if (w->kind == kFill) {
    memset(w->to, w->value, w->bytes);
  } else if (w->kind == kHost) {
    w->host(w->to);
  } else if (kernel) {
    kernel(&w->launch, kernel_context);
  } else if (strcmp(w->launch.symbol, "vector_add") == 0) {
    vector_add(&w->launch);
  }
}
static Graph* new_graph(void) {
  Graph* graph = calloc(1, sizeof *graph);
  graph->last = &graph->first;
  graph->references = 1;
  return graph;
}
static Work* append(Graph* graph, const Work* work) {
  Work* copy = malloc(sizeof *copy);
  *copy = *work;
  for (unsigned i = 0; i < copy->launch.num_params; ++i) copy->params[i] = copy->values[i];
  copy->launch.params = copy->params;
  copy->next = NULL;
  *graph->last = copy;
  graph->last = &copy->next;
  return copy;
}
static int submit(Stream* s, const Work* work) {
  if (s && s->graph) {
    append(s->graph, work);
  } else {
    run((Work*)work);
  }
  return 0;
}
static void set_launch(Work* w, Function* f, FakeLaunch l, void** params) {
  memset(w, 0, sizeof *w);
  w->kind = kLaunch;
  w->launch = l;
  w->launch.symbol = f->symbol;
  w->launch.num_params = f->num_params;
  for (unsigned i = 0; i < f->num_params; ++i) {
    memcpy(w->values[i], params[i], f->size[i]);
    w->params[i] = w->values[i];
  }
  w->launch.params = w->params;
}
static int launch(Function* f, FakeLaunch l, void** params, Stream* s) {
  Work w;
  set_launch(&w, f, l, params);
  launched = 1;
  return submit(s, &w);
}
#ifndef FAKE_CUDA_INCOMPLETE
int cuLaunchKernel(Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream* s, void** params, void** extra) {
  FakeLaunch l = {NULL, {gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, shared, 0, 0, NULL, 0};
  CALL("%s grid=%u,%u,%u block=%u shared=%u", f->symbol, gx, gy, gz, bx, shared);
  return extra ? 1 : launch(f, l, params, s);
}
#endif
#ifndef FAKE_CUDA_OLD
typedef struct Attribute {
  int id, pad;
  union {
    char size[64];
    int flag;
    unsigned cluster[3];
  } value;
} Attribute;
typedef struct Config {
  unsigned grid[3], block[3], shared;
  Stream* stream;
  Attribute* attributes;
  unsigned num_attributes;
} Config;
int cuLaunchKernelEx(const Config* c, Function* f, void** params, void** extra) {
  FakeLaunch l = {NULL,
                  {c->grid[0], c->grid[1], c->grid[2]},
                  {c->block[0], c->block[1], c->block[2]},
                  {1, 1, 1},
                  c->shared,
                  0,
                  0,
                  NULL,
                  0};
  for (unsigned i = 0; i < c->num_attributes; ++i) {
    if (c->attributes[i].id == 2) l.cooperative = (unsigned)c->attributes[i].value.flag;
    if (c->attributes[i].id == 4) memcpy(l.cluster, c->attributes[i].value.cluster, sizeof l.cluster);
    if (c->attributes[i].id == 6) l.programmatic = (unsigned)c->attributes[i].value.flag;
  }
  CALL("%s grid=%u,%u,%u block=%u shared=%u cluster=%u,%u,%u coop=%u pdl=%u", f->symbol, l.grid[0], l.grid[1],
       l.grid[2], l.block[0], l.shared_bytes, l.cluster[0], l.cluster[1], l.cluster[2], l.cooperative, l.programmatic);
  return extra ? 1 : launch(f, l, params, c->stream);
}
int cuTensorMapEncodeTiled(uint64_t* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
                           const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                           int swizzle, int promotion, int fill) {
  (void)steps, (void)interleave, (void)promotion, (void)fill;
  CALL("type=%d rank=%u sizes=%llu,%llu stride=%llu box=%u,%u swizzle=%d", type, rank, (unsigned long long)sizes[0],
       rank > 1 ? (unsigned long long)sizes[1] : 0ull, rank > 1 ? (unsigned long long)strides[0] : 0ull, box[0],
       rank > 1 ? box[1] : 0, swizzle);
  if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0) return 1;
  memset(map, 0, 128);
  map[0] = (uint64_t)(uintptr_t)address;
  map[1] = sizes[0];
  return 0;
}
#endif

/* --- memory --- */

int cuMemAlloc_v2(uint64_t* p, size_t n) {
  CALL("%zu", n);
  ASIDE();
  if (n == 0) return 1;
  if (n > (size_t)1 << 34) return 2;
  void* memory = aligned_alloc(512, (n + 511) / 512 * 512);
  if (!memory) return 2;
  memset(memory, 0xCD, n);
  *p = (uint64_t)(uintptr_t)memory;
  count(1);
  return 0;
}
int cuMemFree_v2(uint64_t p) {
  CALL(" ");
  ASIDE();
  free((void*)(uintptr_t)p);
  count(-1);
  return 0;
}
int cuMemHostAlloc(void** p, size_t n, unsigned flags) {
  CALL("%zu flags=%u", n, flags);
  ASIDE();
  *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096);
  memset(*p, 0xCD, n);
  count(1);
  return 0;
}
int cuMemFreeHost(void* p) {
  CALL(" ");
  ASIDE();
  free(p);
  count(-1);
  return 0;
}
static int copy(uint64_t to, uint64_t from, size_t n, Stream* s) {
  Work w;
  memset(&w, 0, sizeof w);
  w.kind = kCopy;
  w.to = (void*)(uintptr_t)to;
  w.from = (void*)(uintptr_t)from;
  w.bytes = n;
  return submit(s, &w);
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t n, Stream* s) {
  CALL("%zu", n);
  return copy(to, (uint64_t)(uintptr_t)from, n, s);
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t n, Stream* s) {
  CALL("%zu", n);
  return copy((uint64_t)(uintptr_t)to, from, n, s);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, Stream* s) {
  CALL("%zu", n);
  return copy(to, from, n, s);
}
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, Stream* s) {
  Work w;
  CALL("%u %zu", v, n);
  memset(&w, 0, sizeof w);
  w.kind = kFill;
  w.to = (void*)(uintptr_t)p;
  w.value = v;
  w.bytes = n;
  return submit(s, &w);
}
int cuLaunchHostFunc(Stream* s, void (*function)(void*), void* user) {
  Work w;
  CALL(" ");
  memset(&w, 0, sizeof w);
  w.kind = kHost;
  w.host = function;
  w.to = user;
  return submit(s, &w);
}
int cuPointerGetAttribute(void* value, int what, uint64_t p) {
  (void)p;
  *(int*)value = what == 2 ? 2 : 0;
  return 0;
}

/* --- streams, events, graphs --- */

int cuStreamCreate(Stream** s, unsigned flags) {
  CALL("%u", flags);
  *s = calloc(1, sizeof **s);
  count(1);
  return 0;
}
int cuStreamDestroy_v2(Stream* s) {
  CALL(" ");
  free(s);
  count(-1);
  return 0;
}
int cuStreamSynchronize(Stream* s) {
  CALL("%s", s ? "stream" : "default");
  return launched ? number("FAKE_CUDA_FAULT", 0) : 0;
}
int cuStreamQuery(Stream* s) {
  CALL("%s", s ? "stream" : "default");
  ASIDE();
  return s && s->graph ? 900 : 0;
}
int cuStreamWaitEvent(Stream* s, void* e, unsigned flags) {
  (void)s, (void)e;
  CALL("%u", flags);
  return 0;
}
int cuStreamBeginCapture_v2(Stream* s, int mode) {
  CALL("%d", mode);
  if (!s || s->graph) return 901;
  s->graph = new_graph();
  ++captures;
  return 0;
}
int cuStreamEndCapture(Stream* s, Graph** graph) {
  CALL(" ");
  if (!s->graph) return 901;
  *graph = s->graph;
  s->graph = NULL;
  count(1);
  --captures;
  if (lost_captures == 0) return 0;
  --lost_captures;
  return 901;
}
int cuStreamGetCaptureInfo_v2(Stream* s, int* status, uint64_t* id, Graph** graph, void*** dependencies, size_t* n) {
  *status = s && s->graph;
  if (!*status) return 0;
  if (graph) *graph = s->graph;
  if (id) *id = (uint64_t)(uintptr_t)s->graph;
  if (!dependencies) return 0;
  for (Work* w = s->graph->first; w; w = w->next) s->graph->newest = w;
  *dependencies = (void**)&s->graph->newest;
  *n = s->graph->newest ? 1 : 0;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}
int cuGraphCreate(Graph** graph, unsigned flags) {
  CALL("%u", flags);
  *graph = new_graph();
  count(1);
  return 0;
}
/* Nodes run in the order in which they were added; whoever depends on another order fails. */
static int add_node(Work** node, Graph* graph, Work* const* after, size_t n, const Work* work) {
  Work* last = graph->first;
  while (last && last->next) last = last->next;
  if (n > 1 || (n == 1 && after[0] != last)) return 1;
  *node = append(graph, work);
  return 0;
}
typedef struct KernelNode {
  Function* function;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
} KernelNode;
int cuGraphAddKernelNode(Work** node, Graph* graph, Work* const* after, size_t n, const KernelNode* k) {
  FakeLaunch l = {NULL,
                  {k->grid[0], k->grid[1], k->grid[2]},
                  {k->block[0], k->block[1], k->block[2]},
                  {1, 1, 1},
                  k->shared,
                  0,
                  0,
                  NULL,
                  0};
  Work w;
  CALL("%s grid=%u,%u,%u block=%u shared=%u", k->function->symbol, l.grid[0], l.grid[1], l.grid[2], l.block[0],
       k->shared);
  set_launch(&w, k->function, l, k->params);
  return k->extra ? 1 : add_node(node, graph, after, n, &w);
}
int cuGraphKernelNodeSetAttribute(Work* node, int attribute, const void* value) {
  CALL("%d", attribute);
  if (node->kind != kLaunch) return 1;
  if (attribute == 2) memcpy(&node->launch.cooperative, value, sizeof(int));
  if (attribute == 4) memcpy(node->launch.cluster, value, sizeof node->launch.cluster);
  return attribute == 2 || attribute == 4 ? 0 : 1;
}
typedef struct FillNode {
  uint64_t to;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
} FillNode;
int cuGraphAddMemsetNode(Work** node, Graph* graph, Work* const* after, size_t n, const FillNode* f, void* context) {
  Work w;
  CALL("%u %zu", f->value, f->width);
  if (context == NULL || f->element != 1 || f->height != 1) return 1;
  memset(&w, 0, sizeof w);
  w.kind = kFill;
  w.to = (void*)(uintptr_t)f->to;
  w.value = (unsigned char)f->value;
  w.bytes = f->width;
  return add_node(node, graph, after, n, &w);
}
typedef struct HostNode {
  void (*function)(void*);
  void* user;
} HostNode;
int cuGraphAddHostNode(Work** node, Graph* graph, Work* const* after, size_t n, const HostNode* h) {
  Work w;
  CALL(" ");
  memset(&w, 0, sizeof w);
  w.kind = kHost;
  w.host = h->function;
  w.to = h->user;
  return add_node(node, graph, after, n, &w);
}

int cuUserObjectCreate(Object** object, void* pointer, void (*destroy)(void*), unsigned references, unsigned flags) {
  CALL("%u %u", references, flags);
  if (flags != 1 || references == 0) return 1;
  *object = malloc(sizeof **object);
  **object = (Object){destroy, pointer, references};
  count(1);
  return 0;
}
int cuUserObjectRelease(Object* object, unsigned n) {
  CALL("%u", n);
  object->references -= n;
  if (object->references > 0) return 0;
  object->destroy(object->pointer);
  free(object);
  count(-1);
  return 0;
}
int cuGraphRetainUserObject(Graph* graph, Object* object, unsigned n, unsigned flags) {
  CALL("%u %u", n, flags);
  if (n != 1) return 1;
  if (flags != 1) object->references += n;
  Kept* kept = malloc(sizeof *kept);
  *kept = (Kept){object, graph->kept};
  graph->kept = kept;
  return 0;
}
static void release(Graph* graph) {
  count(-1);
  if (--graph->references > 0) return;
  for (Work* w = graph->first; w;) {
    Work* next = w->next;
    free(w);
    w = next;
  }
  for (Kept* k = graph->kept; k;) {
    Kept* next = k->next;
    cuUserObjectRelease(k->object, 1);
    free(k);
    k = next;
  }
  free(graph);
}
int cuGraphInstantiateWithFlags(Graph** exec, Graph* graph, unsigned long long flags) {
  CALL("%llu", flags);
  *exec = graph;
  ++graph->references;
  count(1);
  return 0;
}
int cuGraphLaunch(Graph* exec, Stream* s) {
  (void)s;
  CALL(" ");
  for (Work* w = exec->first; w; w = w->next) run(w);
  return 0;
}
int cuGraphExecDestroy(Graph* exec) {
  CALL(" ");
  release(exec);
  return 0;
}
int cuGraphDestroy(Graph* graph) {
  CALL(" ");
  release(graph);
  return 0;
}
int cuEventCreate(void** e, unsigned flags) {
  CALL("%u", flags);
  *e = malloc(1);
  count(1);
  return 0;
}
int cuEventDestroy_v2(void* e) {
  CALL(" ");
  free(e);
  count(-1);
  return 0;
}
int cuEventRecord(void* e, Stream* s) {
  (void)e, (void)s;
  CALL(" ");
  return 0;
}
int cuEventQuery(void* e) {
  (void)e;
  CALL(" ");
  ASIDE();
  return 0;
}
int cuEventSynchronize(void* e) {
  (void)e;
  CALL(" ");
  return 0;
}
int cuEventElapsedTime(float* ms, void* from, void* to) {
  (void)from, (void)to;
  *ms = 0.25f;
  return 0;
}
