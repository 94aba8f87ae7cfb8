// What a schedule needs in addition to time, as marks for a table: "ws" is more weights and a split backward.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

struct ScheduleNeeds {
  bool more_weights = false;       // w: several copies, or several versions, of the weights
  bool split_backward = false;     // s: input and weight gradients as separate ops
  bool even_devices = false;       // e: an even number of devices
  bool asynchronous = false;       // a: no flush, so gradients of old weights
  bool moves_activations = false;  // o: activations leave the device and come back
  bool slices = false;             // q: sequences cut into slices (causal attention)
  std::string frameworks;          // who runs it today; empty: nobody that we know of
  // What it must do and its step time leaves out, in a word or two each: "slicing", "prediction", "gradient sums".
  std::vector<std::string> not_charged;
  // Of a comparison: the frameworks of which it is the fastest run, and the stages per device among which its own were
  // found to be fastest (one or none: there was nothing to choose).
  std::vector<std::string> best_in;
  std::vector<int> chunks_tried;
};

// `entry` is null for a table's file, of which only the schedule itself speaks.
[[nodiscard]] ScheduleNeeds needs_of(const ScheduleEntry* entry, const Schedule& schedule);

inline constexpr const char* kGradientSums = "gradient sums";  // of copies of the weights inside one pipeline

// "ws", or "-" for none.
[[nodiscard]] std::string marks(const ScheduleNeeds& needs);

// The meaning of the marks that occur: "w more weights   s split backward".
[[nodiscard]] std::string legend(std::span<const ScheduleNeeds> all);

}  // namespace debubble
