#pragma once
/// Defines GAUSSWEEP_ASAN if the program is compiled with the address sanitizer.

#if defined(__SANITIZE_ADDRESS__)
#define GAUSSWEEP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GAUSSWEEP_ASAN 1
#endif
#endif
