/* A fake libcuda.so.1 for tests without a GPU. Host memory serves as device memory, and the only device is
 * -1, which is libgaussweep's emulated one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int capturing, allocations, context;
static _Thread_local unsigned long long stream_id = 1;

/* For tests: begins or ends the recording of a CUDA graph. */
void fake_set_capturing(int on) {
  capturing = on;
}
/* For tests: makes another stream the default stream of this thread. */
void fake_set_stream(unsigned long long id) {
  stream_id = id;
}
/* For tests: returns the number of allocations so far. */
int fake_allocations(void) {
  return allocations;
}

int cuCtxGetCurrent(void** current) {
  *current = &context;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = -1; /* GAUSSWEEP_EMULATED */
  return 0;
}
int cuDeviceGetName(char* name, int length, int device) {
  (void)device;
  strncpy(name, "emulated", (size_t)length);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)1 << 30;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** primary, int device) {
  (void)device;
  *primary = &context;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return 0;
}
int cuStreamGetId(void* stream, unsigned long long* id) {
  (void)stream;
  *id = stream_id;
  return 0;
}
int cuStreamIsCapturing(void* stream, int* status) {
  (void)stream;
  *status = capturing;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  static _Thread_local int current;
  const int before = current;
  current = *mode;
  *mode = before;
  return 0;
}
int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  ++allocations;
  *pointer = (uint64_t)(uintptr_t)aligned_alloc(256, bytes);
  return *pointer == 0 ? 2 : 0;
}
