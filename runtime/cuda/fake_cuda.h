/* A CUDA driver for tests: memory is the host's, everything happens at once, calls are recorded. "Machine code" is a
 * text: a line `FAKECUBIN SYMBOL SIZE…` for each kernel with the bytes of its parameters. What a launch does is a
 * function of the test, or of fake_cuda.c for the symbols that it knows.
 *
 * The environment plays a machine: FAKE_CUDA_INIT (what cuInit answers), FAKE_CUDA_VERSION (13000), FAKE_CUDA_DEVICES (1),
 * FAKE_CUDA_CC (90), FAKE_CUDA_SMS (4), FAKE_CUDA_OCCUPANCY (2),
 * FAKE_CUDA_FAULT (what waiting for a stream answers after a launch, 0). */
#ifndef TILE_RUNTIME_CUDA_FAKE_CUDA_H_
#define TILE_RUNTIME_CUDA_FAKE_CUDA_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FakeLaunch {
  const char* symbol;
  unsigned grid[3], block[3], cluster[3], shared_bytes, cooperative, programmatic;
  void** params; /* pointers to copies of the values */
  unsigned num_params;
} FakeLaunch;

typedef void (*FakeKernel)(const FakeLaunch* launch, void* context);

/* Found with dlsym in the library that the code under test opened. */
typedef const char* (*FakeLogFn)(void); /* fake_cuda_log: one call a line since the last reset */
typedef void (*FakeResetFn)(void);      /* fake_cuda_reset: log, failures, kernel */
typedef void (*FakeSetKernelFn)(FakeKernel kernel, void* context); /* fake_cuda_set_kernel */
typedef void (*FakeFailFn)(const char* function, int result);      /* fake_cuda_fail: its next call answers this */
typedef long (*FakeLiveFn)(void);                                  /* fake_cuda_live: objects not yet freed */

#ifdef __cplusplus
}
#endif

#endif /* TILE_RUNTIME_CUDA_FAKE_CUDA_H_ */
