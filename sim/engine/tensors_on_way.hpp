// TensorsOnWay: what devices have made for others that these have not taken yet. Internal to sim/engine.
//
// By channel, in pages of pieces: a page is there while one of its tensors is on its way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/units.hpp"

namespace debubble {

class TensorsOnWay {
 public:
  struct Made {
    std::int64_t maker = -1;
    Nanoseconds end = 0;
  };

  TensorsOnWay(std::size_t channels, std::int32_t pieces)
      : per_page_(std::clamp<std::size_t>(static_cast<std::size_t>(pieces), 1, kMostPerPage)),
        pages_each_((static_cast<std::size_t>(pieces) + per_page_ - 1) / per_page_),
        channels_(channels) {}

  // Before every run.
  void clear() {
    for (std::vector<Page>& channel : channels_) channel.clear();
  }

  void put(std::int32_t channel, std::int32_t piece, const Made& made) {
    std::vector<Page>& pages = at(channels_, channel);
    if (pages.empty()) pages.resize(pages_each_);
    Page& page = at(pages, to_index(piece) / per_page_);
    if (page.on_way++ == 0) page.made = new_page();
    page.made[to_index(piece) % per_page_] = made;
  }
  [[nodiscard]] const Made& find(std::int32_t channel, std::int32_t piece) const {
    return at(channels_, channel)[to_index(piece) / per_page_].made[to_index(piece) % per_page_];
  }
  void take(std::int32_t channel, std::int32_t piece) {
    Page& page = at(channels_, channel)[to_index(piece) / per_page_];
    if (--page.on_way == 0) unused_.push_back(std::move(page.made));
  }

 private:
  static constexpr std::size_t kMostPerPage = 256;

  struct Page {
    std::unique_ptr<Made[]> made;
    std::size_t on_way = 0;
  };

  [[nodiscard]] std::unique_ptr<Made[]> new_page() {
    if (unused_.empty()) return std::make_unique<Made[]>(per_page_);
    std::unique_ptr<Made[]> page = std::move(unused_.back());
    unused_.pop_back();
    return page;
  }

  std::size_t per_page_;
  std::size_t pages_each_;
  std::vector<std::vector<Page>> channels_;
  std::vector<std::unique_ptr<Made[]>> unused_;
};

}  // namespace debubble
