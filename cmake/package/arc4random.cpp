// Stands in for glibc 2.36's function of this name, for which the static libstdc++ of a newer system asks, so that what we
// link runs on glibc 2.34 (see cmake/DebubbleStaticCxx.cmake). As random as the system's: it is what std::random_device
// would return.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept;

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (::getentropy(&number, sizeof number) != 0) std::abort();  // as glibc's does without a source of entropy
  return number;
}
