// OwnedHandle: one handle of a C library, given back at the end of its life.
#pragma once

#include <utility>

namespace debubble {

template <typename Handle>
class OwnedHandle {
 public:
  using Free = int (*)(Handle);

  OwnedHandle() = default;
  OwnedHandle(Handle handle, Free free) : handle_(handle), free_(free) {}
  OwnedHandle(OwnedHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), free_(other.free_) {}
  OwnedHandle& operator=(OwnedHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(free_, other.free_);
    return *this;
  }
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() {
    if (handle_ != nullptr) free_(handle_);
  }

  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  Free free_ = nullptr;
};

}  // namespace debubble
