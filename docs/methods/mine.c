/* A method for gaussweep in C: C = A B with plain loops. Change the name, the problem and the body.
 *
 *   gaussweep methods --template header > method.h
 *   cc -O2 -shared -fPIC mine.c -o mine.so
 *   gaussweep methods --methods ./mine.so mine
 */
#include "method.h"

/* Column-major: element (i, j) of A is a[i + j * lda]. */
static int multiply(const gaussweep_call *call) {
  const double *a = call->a, *b = call->b;
  double *c = call->x;
  gaussweep_stage(call, "multiply");
  for (int64_t j = 0; j < call->n * call->batch; ++j) {
    const double *system_a = a + j / call->n * call->k * call->lda; /* A of this system of the batch */
    for (int64_t i = 0; i < call->m; ++i) c[i + j * call->ldx] = 0;
    for (int64_t k = 0; k < call->k; ++k) {
      const double factor = b[k + j * call->ldb];
      for (int64_t i = 0; i < call->m; ++i) c[i + j * call->ldx] += system_a[i + k * call->lda] * factor;
    }
  }
  return GAUSSWEEP_OK;
}

static const gaussweep_method methods[] = {{
    .name = "mine",
    .problem = "gemm",
    .summary = "plain loops over columns",
    .host = {.float64 = multiply}, /* .float32 for float */
    .answer = 'x',
    .keeps_inputs = 1,
    .max_batch = 1 << 20,
}};

const gaussweep_library *gaussweep_methods(void) {
  static const gaussweep_library library = {GAUSSWEEP_METHOD_VERSION, sizeof methods / sizeof methods[0], methods};
  return &library;
}
