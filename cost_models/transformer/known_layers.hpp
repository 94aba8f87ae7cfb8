// KnownLayers: what collectives inside layers take on one cluster, kept for all runs of a study: most of them share
// their ranks' places, and many their layers' bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "cost_models/transformer/modelled_profile.hpp"

namespace debubble {

// Of one graph. Safe to use from any thread. Its memory is bounded.
class KnownLayers {
 public:
  // links_inside of all devices of the pipeline, as the class of each: equal links, equal class. Classes count from 0
  // in the order of their first device.
  [[nodiscard]] std::vector<std::size_t> classes(const RankLayout& layout,
                                                 const std::function<std::vector<std::size_t>()>& make);

  // What one collective takes, before calibration, at the request's place. Its request has a layout and a generation.
  [[nodiscard]] OpTime time(const LayerOp& op, Bytes bytes, const ModelRequest& request,
                            const std::function<OpTime()>& make);

 private:
  using Layout = std::tuple<std::array<int, 6>, std::vector<Dimension>, std::vector<std::int32_t>>;
  using Collective = std::tuple<int, Dimension, CollectiveKind, TokenExchange, Bytes, LinkGeneration>;  // at this place
  [[nodiscard]] static Layout layout_of(const RankLayout& layout);

  void make_room();

  std::mutex mutex_;
  std::map<Layout, std::vector<std::size_t>> classes_;
  std::map<Layout, std::map<Collective, OpTime>> times_;
  std::size_t kept_ = 0;
};

}  // namespace debubble
