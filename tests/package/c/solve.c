#include <gaussweep/gaussweep.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  double a[] = {0, 4, 2, 0}, b[] = {6, 8}; /* by columns */
  int info;
  size_t bytes;
  gaussweep_handle handle;
  if (gaussweep_create(&handle, GAUSSWEEP_EMULATED) != GAUSSWEEP_SUCCESS) return 1;
  gaussweep_dgesv_work(handle, 2, 1, 1, &bytes);
  void* work = malloc(bytes);
  if (gaussweep_dgesv(handle, 2, 1, a, 2, b, 2, &info, 1, work, bytes) != GAUSSWEEP_SUCCESS) {
    puts(gaussweep_last_error(handle));
    return 1;
  }
  printf("info %d, x = (%g, %g)\n", info, b[0], b[1]);
  free(work);
  gaussweep_destroy(handle);
}
