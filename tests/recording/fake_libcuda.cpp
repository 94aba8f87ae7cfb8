// A CUDA driver that only tells its version: $FAKE_DRIVER_CUDA, 12040 for 12.4.
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] int cuDriverGetVersion(int* version) {
  const char* const text = std::getenv("FAKE_DRIVER_CUDA");
  *version = text == nullptr ? 0 : std::atoi(text);
  return text == nullptr ? 1 : 0;
}
