/* Loads a plugin as Python loads PyTorch's, and prints the workspace that it is asked for. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* const plugin = count == 2 ? dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
  int (*query)(void) = NULL;
  if (plugin != NULL) *(void**)&query = dlsym(plugin, "query");
  if (query == NULL) {
    puts(dlerror());
    return 1;
  }
  const int elements = query();
  printf("%s: %d elements\n", elements > 7 ? "gaussweep" : "cuSOLVER", elements); /* the fake's are 7 */
}
