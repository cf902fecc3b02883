/* Calls cuSOLVER from a library that a program loads as a plugin, so that cuSOLVER is in no global scope. */
int cusolverDnDgetrf_bufferSize(void* handle, int m, int n, double* a, int lda, int* lwork);

int query(void) {
  int lwork = 0;
  double a;
  return cusolverDnDgetrf_bufferSize(&lwork, 40, 40, &a, 40, &lwork) == 0 ? lwork : -1;
}
