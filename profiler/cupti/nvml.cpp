#include "profiler/cupti/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "profiler/cupti/range_stack.hpp"

namespace debubble {

namespace {

template <class Pointer>
bool find_symbol(void* library, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
  return pointer != nullptr;
}

}  // namespace

ClockSampler::ClockSampler(std::string library) : library_(std::move(library)) {}

void ClockSampler::add(std::uint32_t device, const std::string& uuid) {
  const std::lock_guard lock(mutex_);
  uuids_[device] = uuid;
}

void ClockSampler::load() {
  tried_ = true;
  void* const library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const bool all = find_symbol(library, "nvmlInit_v2", nvml_.init) &&
                   find_symbol(library, "nvmlDeviceGetHandleByUUID", nvml_.by_uuid) &&
                   find_symbol(library, "nvmlDeviceGetClockInfo", nvml_.clock) &&
                   find_symbol(library, "nvmlSystemGetDriverVersion", nvml_.driver);
  if (!all) return;
  // Renamed in CUDA 12; both names are asked for.
  if (!find_symbol(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml_.reasons)) {
    find_symbol(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml_.reasons);
  }
  works_ = nvml_.init() == 0;
  std::array<char, 96> text{};
  if (works_ && nvml_.driver(text.data(), text.size() - 1) == 0) driver_ = text.data();
}

void ClockSampler::sample(const std::function<void(const ClockRecord&)>& take) {
  if (!tried_) load();
  if (!works_) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [device, uuid] : uuids_) {
    Handle& handle = handles_[device];
    if (handle == nullptr && nvml_.by_uuid(uuid.c_str(), &handle) != 0) continue;
    unsigned mhz = 0;
    unsigned long long reasons = 0;
    if (nvml_.clock(handle, kClockSm, &mhz) != 0) continue;
    if (nvml_.reasons != nullptr && nvml_.reasons(handle, &reasons) != 0) reasons = 0;
    take({.device = device,
          .time = now(),
          .sm_mhz = static_cast<std::int32_t>(mhz & 0x7FFF'FFFFU),
          .slowed_by = reasons});
  }
}

}  // namespace debubble
