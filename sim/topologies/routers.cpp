#include "sim/topologies/routers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

class RingRouter final : public Router {
 public:
  explicit RingRouter(std::int32_t devices) : devices_(devices) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    const std::int32_t ahead = (to - from + devices_) % devices_;
    const bool clockwise = 2 * ahead <= devices_;
    while (from != to) {
      const std::int32_t next = (from + (clockwise ? 1 : devices_ - 1)) % devices_;
      links.push_back(clockwise ? 2 * from : 2 * next + 1);
      from = next;
    }
  }

 private:
  std::int32_t devices_;
};

class FullyConnectedRouter final : public Router {
 public:
  explicit FullyConnectedRouter(std::int32_t devices) : devices_(devices) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from != to) links.push_back(from * (devices_ - 1) + (to < from ? to : to - 1));
  }

 private:
  std::int32_t devices_;
};

class TreeRouter final : public Router {
 public:
  TreeRouter(std::vector<TreePlace> places, std::vector<std::int32_t> devices)
      : places_(std::move(places)), devices_(std::move(devices)), depth_(places_.size(), 0) {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      for (std::int32_t node = places_[k].parent; node >= 0; node = place(node).parent) ++depth_[k];
    }
  }

  void route(std::int32_t from_device, std::int32_t to_device, std::vector<std::int32_t>& links) const override {
    std::int32_t from = at(devices_, from_device);
    std::int32_t to = at(devices_, to_device);
    std::vector<std::int32_t> down;
    while (from != to) {
      if (depth(from) >= depth(to)) {
        links.push_back(place(from).up);
        from = place(from).parent;
      } else {
        down.push_back(place(to).down);
        to = place(to).parent;
      }
    }
    links.insert(links.end(), down.rbegin(), down.rend());
  }

  bool host_route(std::int32_t device, bool to_host, std::vector<std::int32_t>& links) const override {
    std::vector<std::int32_t> path;
    std::int32_t node = at(devices_, device);
    while (node >= 0 && !place(node).host) {
      path.push_back(to_host ? place(node).up : place(node).down);
      node = place(node).parent;
    }
    if (node < 0) return false;
    if (!to_host) std::reverse(path.begin(), path.end());
    links.insert(links.end(), path.begin(), path.end());
    return true;
  }

 private:
  [[nodiscard]] const TreePlace& place(std::int32_t node) const { return at(places_, node); }
  [[nodiscard]] int depth(std::int32_t node) const { return at(depth_, node); }

  std::vector<TreePlace> places_;
  std::vector<std::int32_t> devices_;
  std::vector<int> depth_;
};

}  // namespace

std::shared_ptr<const Router> ring_router(std::int32_t devices) { return std::make_shared<RingRouter>(devices); }

std::shared_ptr<const Router> fully_connected_router(std::int32_t devices) {
  return std::make_shared<FullyConnectedRouter>(devices);
}

std::shared_ptr<const Router> tree_router(std::vector<TreePlace> places, std::vector<std::int32_t> devices) {
  return std::make_shared<TreeRouter>(std::move(places), std::move(devices));
}

}  // namespace debubble
