#include "gpu/counting_device.hpp"

#include <algorithm>
#include <cstring>

namespace debubble {

DeviceAddress CountingDevice::allocate(Bytes bytes) {
  if (bytes <= 0) return 0;
  const DeviceAddress address = next_;
  next_ += (static_cast<DeviceAddress>(bytes) + 255) / 256 * 256;
  sizes_[address] = bytes;
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  return address;
}

void CountingDevice::release(DeviceAddress address) {
  const auto found = sizes_.find(address);
  if (found == sizes_.end()) return;
  live_ -= found->second;
  sizes_.erase(found);
}

void CountingDevice::download(void* to, DeviceAddress, Bytes bytes) {
  if (bytes > 0) std::memset(to, 0, static_cast<std::size_t>(bytes));
}

}  // namespace debubble
