// MaxMin: rates of flows that share links, max-min fairly: no flow can get more without another, no faster one, getting
// less. Progressive filling, as in SimGrid's fluid model (Casanova et al. 2014; Bertsekas and Gallager 1992, 6.5.2).
//
//     links a = 10, b = 6, c = 8;  flows over a | a, b | b, c | c       rates 7, 3, 3, 5
//
// All flows are raised together, each as 1 / penalty, until a link is full: sum of weight x rate of the flows on it.
// Its flows stay there, and so do flows that reach a bound of their own; the others go on. Links, flows and rates are
// in any one unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble {

class MaxMin {
 public:
  void clear();
  // `shared` false: the link limits every flow on it for itself (SimGrid's FATPIPE).
  std::int32_t add_link(double capacity, bool shared = true);
  // `bound`: the most it gets; 0: none. `penalty` above 1: a smaller share.
  std::int32_t add_flow(double bound = 0, double penalty = 1);
  // The flow added last takes weight x rate of that link.
  void cross(std::int32_t link, double weight = 1);
  // Rates of all flows; infinite where nothing limits one.
  void solve();
  [[nodiscard]] double rate(std::int32_t flow) const { return at(flows_, flow).rate; }

 private:
  struct SolvedLink {
    double capacity = 0;
    double left = 0;    // capacity not yet given away
    double demand = 0;  // sum (or, not shared, maximum) of weight / penalty of flows that are still rising
    std::int32_t rising = 0;
    bool shared = true;
  };
  struct SolvedFlow {
    double bound = 0;  // times penalty: the common level at which the flow stops
    double penalty = 1;
    double rate = -1;  // below 0: still rising
    std::int32_t begin = 0;
    std::int32_t end = 0;  // its part of crossings_
  };
  struct Crossing {
    std::int32_t link = 0;  // in on_link_: the flow
    double weight = 1;
  };

  void index_links();
  void measure(std::size_t link);
  [[nodiscard]] double lowest_full_link() const;
  void stop(std::size_t flow, double level);
  std::size_t stop_bounded(double level);
  std::size_t stop_at_full_links(double level);

  std::vector<SolvedLink> links_;
  std::vector<SolvedFlow> flows_;
  std::vector<Crossing> crossings_;       // by flow
  std::vector<std::int32_t> link_begin_;  // by link, one more: its part of on_link_
  std::vector<Crossing> on_link_;         // flows by link
  std::vector<std::int32_t> touched_;     // links whose flows have changed since they were measured
  std::vector<std::int32_t> full_;        // links at the current level
};

}  // namespace debubble
