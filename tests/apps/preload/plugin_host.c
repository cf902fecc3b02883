/* Loads a plugin with RTLD_LOCAL, as Python loads PyTorch. Prints which library answers the plugin's
 * workspace query and the size that it returns. */
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
  printf("%s: %d elements\n", elements > 7 ? "gaussweep" : "cuSOLVER",
         elements); /* the fake cuSOLVER returns 7 */
}
