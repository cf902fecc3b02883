/* Calls every routine of libgaussweep and compares the answers with their definition, computed here.
 *
 *   calls [DEVICE]      the index of a GPU; without it, the kernels run emulated on the CPU
 *
 * Prints a line per failure and "N checks, N failed". */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/c_api/gaussweep.h"

#ifdef GAUSSWEEP_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

static int device = GAUSSWEEP_EMULATED;
static int checks, failed;
static pthread_mutex_t counts_mutex = PTHREAD_MUTEX_INITIALIZER;

static void check(int good, const char* what, long n, double value) {
  pthread_mutex_lock(&counts_mutex);
  ++checks;
  if (!good) {
    ++failed;
    printf("%s, n = %ld: %g\n", what, n, value);
  }
  pthread_mutex_unlock(&counts_mutex);
}

/* Memory that the CPU and the device can access. */
static void* allocate(size_t bytes) {
  void* memory = NULL;
#ifdef GAUSSWEEP_HAS_CUDA
  if (device >= 0) {
    if (cudaMallocManaged(&memory, bytes + 1, cudaMemAttachGlobal) != cudaSuccess) abort();
    return memory;
  }
#endif
  /* Aligned, so that the library does not copy operands without padding. */
  memory = aligned_alloc(256, (bytes + 256) / 256 * 256);
  if (memory == NULL) abort();
  return memory;
}

static void release(void* memory) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (device >= 0) {
    cudaFree(memory);
    return;
  }
#endif
  free(memory);
}

/* Waits for the device, which need not be the thread's current one. */
static void finish(void) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (device < 0) return;
  int current;
  cudaGetDevice(&current);
  cudaSetDevice(device);
  cudaDeviceSynchronize();
  cudaSetDevice(current);
#endif
}

/* Returns a number in [-1, 1] that looks random. */
static double element(int64_t i, int64_t j, int64_t seed) {
  const int64_t mixed = (i * 7919 + j * 104729 + seed * 1299709) % 2003;
  return (double)mixed / 1001.5 - 1;
}

enum { kUnset = 12345 }; /* the value of padding, which no routine may change */

#define T double
#define P(name) gaussweep_d##name
#define TOLERANCE 1e-12
#define NAMED(name) name##_d
#include "tests/apps/c_api/routines.inc"
#undef T
#undef P
#undef TOLERANCE
#undef NAMED
#define T float
#define P(name) gaussweep_s##name
#define TOLERANCE 1e-4
#define NAMED(name) name##_s
#include "tests/apps/c_api/routines.inc"

static void test_refusals(gaussweep_handle handle) {
  double *const a = allocate(4 * sizeof *a), *const b = allocate(2 * sizeof *b);
  int *const info = allocate(sizeof *info), pivots[2];
  for (int i = 0; i < 4; ++i) a[i] = 4 - i;
  b[0] = b[1] = 1;
  *info = -99;
  size_t bytes;
  static char work[1 << 20];
  check(gaussweep_create(NULL, device) == GAUSSWEEP_INVALID_ARGUMENT, "create without a handle", 0, 0);
  gaussweep_handle none;
  check(gaussweep_create(&none, 4096) == GAUSSWEEP_DEVICE_ERROR && none == NULL, "create for no GPU", 0, 0);
  check(gaussweep_dgetrf(NULL, 2, a, 2, pivots, info, 1, work, 1 << 20) == GAUSSWEEP_INVALID_ARGUMENT,
        "a null handle", 0, 0);
  struct {
    gaussweep_status status;
    const char* name;
  } calls[12];
  int count = 0;
#define REFUSED(call, word)                                                  \
  calls[count].status = call;                                                \
  calls[count].name = word;                                                  \
  check(calls[count].status == GAUSSWEEP_INVALID_ARGUMENT &&                 \
            strstr(gaussweep_last_error(handle), calls[count].name) != NULL, \
        word, count, calls[count].status);                                   \
  ++count
  REFUSED(gaussweep_dgetrf(handle, -1, a, 2, pivots, info, 1, work, 1 << 20), "n = -1");
  REFUSED(gaussweep_dgetrf(handle, 2, a, 1, pivots, info, 1, work, 1 << 20), "lda = 1");
  REFUSED(gaussweep_dgetrf(handle, 2, NULL, 2, pivots, info, 1, work, 1 << 20), "a is a null");
  REFUSED(gaussweep_dgetrf(handle, 2, a, 2, NULL, info, 1, work, 1 << 20), "pivots");
  REFUSED(gaussweep_dgetrs(handle, 2, 1, a, 2, pivots, b, 2, info, work, 1), "work has 1 bytes");
  REFUSED(gaussweep_dgetrs(handle, 2, 1, a, 2, NULL, b, 2, info, work, 1 << 20), "pivots");
  REFUSED(gaussweep_dtrsm(handle, 0, 2, 0, 2, 1, a, 2, b, 2, work, 1 << 20), "op: allowed");
  REFUSED(gaussweep_dpotrs(handle, 0, 2, 1, a, 2, b, 1, info, work, 1 << 20), "ldb = 1");
  REFUSED(gaussweep_dgesv(handle, 2, 1, a, 2, b, 1, info, 1, work, 1 << 20), "ldb = 1");
  REFUSED(gaussweep_dgetrf(handle, 2, a, 2, pivots, info, 1, work, 1), "work has 1 bytes");
  REFUSED(gaussweep_dgetrf(handle, 2, a, 2, pivots, info, 1, NULL, 1 << 20), "work is a null pointer");
  REFUSED(gaussweep_dpotrf(handle, (gaussweep_uplo)7, 2, a, 2, info, 1, work, 1 << 20), "uplo");
  REFUSED(gaussweep_dgemm(handle, 2, 2, -1, a, 2, a, 2, a, 2, work, 1 << 20), "k = -1");
  check(a[0] == 4 && a[1] == 3 && b[0] == 1 && *info == -99, "a refused call changes nothing", 2, a[0]);
  check(gaussweep_dgetrf_work(handle, 2, 1, &bytes) == GAUSSWEEP_SUCCESS && bytes > 0, "work", 2,
        (double)bytes);
  check(gaussweep_dgetrf(handle, 0, NULL, 1, NULL, NULL, 1, NULL, 0) == GAUSSWEEP_SUCCESS, "order 0", 0, 0);
  check(strcmp(gaussweep_last_error(handle), "") == 0, "the message of a success", 0, 0);
  check(
      strstr(gaussweep_last_error(NULL), "GPU") != NULL || strstr(gaussweep_last_error(NULL), "CUDA") != NULL,
      "the message of a failed create", 0, 0);
  gaussweep_status status = gaussweep_dgesv(handle, 2, 0, a, 2, b, 2, info, 1, work, 1 << 20);
  finish();
  check(status == GAUSSWEEP_SUCCESS && *info == 0, "no right-hand sides", 2, *info);
  status = gaussweep_dgemm(handle, 2, 2, 0, b, 2, b, 1, a, 2, work, 1 << 20);
  finish();
  check(status == GAUSSWEEP_SUCCESS && a[0] == 0 && a[3] == 0, "k = 0", 2, a[0]);
  check(gaussweep_dgemm_work(handle, INT32_MAX, INT32_MAX, INT32_MAX, &bytes) == GAUSSWEEP_OUT_OF_MEMORY,
        "huge", 0, 0);
  if (device == GAUSSWEEP_EMULATED) {
    check(gaussweep_dgeinv_work(handle, 1000000000, 1, &bytes) == GAUSSWEEP_NOT_SUPPORTED &&
              strstr(gaussweep_last_error(handle), "n = 1000000000 on the emulated device") != NULL,
          "no method", 0, 0);
  }
  check(gaussweep_api_version() == GAUSSWEEP_API_VERSION, "version", 0, gaussweep_api_version());
  release(a);
  release(b);
  release(info);
}

/* Uses the library in one thread, with its own handle. */
static void* run_thread(void* unused) {
  gaussweep_handle handle;
  (void)unused;
  if (gaussweep_create(&handle, device) != GAUSSWEEP_SUCCESS) abort();
  for (int round = 0; round < 5; ++round) test_gesv_d(handle, 30 + round, 3, 2);
  gaussweep_destroy(handle);
  return NULL;
}

int main(int count, char** arguments) {
  if (count > 1) device = atoi(arguments[1]);
  gaussweep_handle handle;
  if (gaussweep_create(&handle, device) != GAUSSWEEP_SUCCESS) {
    printf("no handle for device %d\n", device);
    return 1;
  }
  const int64_t orders[] = {1, 2, 5, 33, 70};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
    for (int64_t padding = 0; padding <= 3; padding += 3) {
      test_all_d(handle, orders[i], padding);
      test_all_s(handle, orders[i], padding);
    }
  }
  test_triangles_d(handle, 600, 1, 9);              /* three blocks of rows */
  test_potrf_d(handle, 530, 0, 2, GAUSSWEEP_LOWER); /* too large for one batched run */
  test_singular_d(handle);
  test_singular_s(handle);
  test_refusals(handle);
  gaussweep_destroy(handle);
  gaussweep_destroy(NULL);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, run_thread, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  printf("%d checks, %d failed\n", checks, failed);
  return failed > 0;
}
