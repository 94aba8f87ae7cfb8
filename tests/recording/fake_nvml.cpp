// A fake NVML: one GPU whose clock falls by 15 MHz with every sample, slowed by its power cap (reason 4).
#include <cstring>

#define FAKE_EXPORT extern "C" [[gnu::visibility("default")]]

FAKE_EXPORT int nvmlInit_v2() { return 0; }

FAKE_EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  static int gpu = 0;
  if (std::strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") != 0) return 6;
  *handle = &gpu;
  return 0;
}

FAKE_EXPORT int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  static unsigned clock = 1995;
  *mhz = which == 1 ? (clock -= 15) : 0;
  return 0;
}

FAKE_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 4;
  return 0;
}

FAKE_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.65.06", size);
  return 0;
}
