/* The interface of libtilec.so, the compiler as a library that programs open at run time. C11; grows by additions only.
 *
 *   tilec_output* output = NULL;
 *   if (tilec_compile(bytes, size, "vector_add", 90, &output) != TILEC_OK) puts(tilec_output_bytes(output));
 *
 * Functions may be called from any thread at any time; two compilations may run at the same time.
 *
 * No input ends or harms the process that calls. Each compilation is done by a process of its own, the program
 * tilevm/tilec-worker in the folder of the library (TILEC_WORKER names another): a fatal error of LLVM, a crash, a stack that
 * overflows, want of memory are statuses here. The library holds no LLVM. It installs no signal handlers, and leaves
 * those of the host and its signal mask alone. It needs no standard files. No process, open file or temporary file remains after
 * a call. The host may block or ignore signals (SIGCHLD, too) and collect children itself. If the host ends, the program does.
 * The host must have memory for request and answer, and may have its own limits on processes and open files.
 *
 * The environment may set limits for one compilation: TILEC_TIME_LIMIT (seconds) and TILEC_MEMORY_LIMIT (MiB of address
 * space). By default there is no limit, but a system that runs out of memory ends the program first. */
#ifndef TILEC_ABI_H_
#define TILEC_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEC_ABI_VERSION 1

typedef int32_t tilec_status;
enum {
  TILEC_OK = 0,
  TILEC_REJECTED = 1, /* the module or the GPU: no .tbc, no such kernel, what the target lacks */
  TILEC_ENVIRONMENT =
      5, /* something is missing on this machine: libdevice, tilec-worker, memory, time that a limit allows */
  TILEC_INTERNAL = 70 /* a mistake of the compiler: it crashed or gave up, or ptxas refuses what it made */
};

uint32_t tilec_abi_version(void);

/* Names everything that decides the machine code: release, build, LLVM, ptxas. Two compilers of one version give equal output
 * for equal input. Never NULL, lives as long as the library. */
const char* tilec_version(void);

/* Compiles one kernel of a .tbc file for GPUs of a compute capability (90: 9.0). The output is a .tbc file with the
 * same tile code and images of the kernel, the fastest first, the last for any arguments: cubins or, where there is no
 * ptxas, PTX. The kernel may have any name that a file may hold; images record what it is called in the machine code. On failure it is the message, as text:
 * "where: error[code]: what". Give *output to tilec_output_free either way; NULL only if there is no memory. */
typedef struct tilec_output tilec_output;
tilec_status tilec_compile(const void* tbc, size_t size, const char* kernel, int32_t compute_capability,
                           tilec_output** output);
/* With a zero byte after the last. */
const char* tilec_output_bytes(const tilec_output* output);
size_t tilec_output_size(const tilec_output* output);
void tilec_output_free(tilec_output* output);

#ifdef __cplusplus
}
#endif

#endif /* TILEC_ABI_H_ */
