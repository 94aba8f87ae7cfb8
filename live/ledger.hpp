// Ledger: what one device's allocator handed out and got back during an iteration, in the model's bytes, and when.
//
// Within one instant: earlier cells' ends, arrivals, then the next begin. A cell's own changes count as one.
#pragma once

#include <vector>

#include "sim/core/units.hpp"

namespace debubble::live {

class Ledger {
 public:
  struct Peaks {
    Bytes activation = 0;  // activations and what is held from I to W
    Bytes memory = 0;      // everything
  };

  // `resident`: what the device holds before anything runs, and throughout.
  void start(Bytes resident);
  // A cell begins or ends; changes until the next of these belong to it.
  void cell_begins(Nanoseconds at) { steps_.push_back({at, false, 0, 0}); }
  void cell_ends(Nanoseconds at) { steps_.push_back({at, true, 0, 0}); }
  // More or, negative, fewer bytes: of activations and what is held for W; of anything else.
  void change_activation(Bytes more) { steps_.back().activation += more; }
  void change_other(Bytes more) { steps_.back().other += more; }
  // An input from another device has come. Whoever frees it says so by change_other at the end of its cell.
  void arrived(Nanoseconds at, Bytes bytes) { arrivals_.push_back({at, bytes}); }

  [[nodiscard]] Peaks peaks() const;

 private:
  struct Step {
    Nanoseconds at = 0;
    bool is_end = false;
    Bytes activation = 0;
    Bytes other = 0;
  };
  struct Arrival {
    Nanoseconds at = 0;
    Bytes bytes = 0;
  };

  Bytes resident_ = 0;
  std::vector<Step> steps_;
  std::vector<Arrival> arrivals_;
};

}  // namespace debubble::live
