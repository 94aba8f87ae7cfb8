#include "formats/exporters/finding_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/exporters/memory_fit_text.hpp"
#include "sim/core/quantities.hpp"
#include "sim/rows/deadlock.hpp"

namespace debubble {
namespace {

// "1, 2 and 5", at most eight by number.
std::string device_list(const std::vector<int>& devices) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(devices.size(), kMost); ++k) {
    const bool last = k + 1 == devices.size();
    text += (k == 0 ? "" : last ? " and " : ", ") + std::to_string(devices[k]);
  }
  return devices.size() <= kMost ? text : text + " and " + std::to_string(devices.size() - kMost) + " more";
}

// The sentence of each type of finding.
struct Message {
  const Report& report;

  std::string operator()(const DeadlockFound&) const {
    return report.deadlock ? "deadlock: " + to_string(*report.deadlock) : "deadlock";
  }
  std::string operator()(const OutOfMemory&) const {
    return report.memory_fit ? memory_fit_words(report) : "out of memory";
  }
  std::string operator()(const OverMemoryLimit& found) const {
    return "needs " + format_size(found.peak) + " on device " + std::to_string(found.device) + ", " +
           format_size(found.peak - found.limit) + " beyond the limit of " + format_size(found.limit);
  }
  std::string operator()(const AbovePlannedMemory& found) const {
    return "above the memory_limit=" + found.limit + " that " + found.planner +
           " was planned for: " + format_size(found.peak) + " on device " + std::to_string(found.device) + ", " +
           format_size(found.above) + " too much";
  }
  std::string operator()(const SlowCollectives& found) const {
    const std::string by = found.factor == 0 ? "" : fmt::format(" (up to {:.2g} times as long)", found.factor);
    return "collectives inside layers take longer on device" + std::string(found.devices.size() > 1 ? "s " : " ") +
           device_list(found.devices) + by +
           ": tensor, context or expert ranks lie on different machines there, or on slower links, than elsewhere. "
           "Ranks are placed on GPUs in order; --rank-devices places them otherwise";
  }
  std::string operator()(const HostBound& found) const {
    return fmt::format(
               "the GPU waits for the host, {:.3g} % of the layers' time: kernels are shorter than their launches",
               found.share * 100) +
           " (" + found.layer + ": " + format_duration(found.waits) + " of " + format_duration(found.time) +
           "). CUDA graphs (--cuda-graphs on) or larger microbatches avoid that";
  }
  std::string operator()(const LeftOutOfModel& found) const { return found.what; }
  std::string operator()(const ScheduleNote& found) const { return found.note; }
  std::string operator()(const PreconditionTime& found) const {
    return "each step takes " + format_duration(found.time) + " more to precondition, not counted in the step time";
  }
  std::string operator()(const StallFound& found) const {
    std::string text = found.stall.cause + ":";
    const char* separator = " ";
    for (const DevicePosition& device : found.stall.devices) {
      text += separator + to_string(device);
      separator = "; ";
    }
    return text;
  }
  std::string operator()(const WrongData& found) const { return found.what; }
  std::string operator()(const Refused& found) const { return found.reason.message; }
};

// What to do about those that have a remedy.
struct Help {
  const Report& report;

  std::string operator()(const DeadlockFound& found) const {
    if (found.meeting_transfers) {
      return "each device meets the others for one message after another, which this order does not survive: try --p2p "
             "overlapped or --p2p blocking";
    }
    if (!found.coupled_transfers) return "";
    return "with coupled transfers every receive is posted just before the op that uses it, which this order does not "
           "survive: try --p2p overlapped or --p2p blocking";
  }
  std::string operator()(const OutOfMemory& found) const {
    return found.remedies_tried && report.memory_fit ? remedies_words(report.memory_fit->remedies) : "";
  }
  std::string operator()(const Refused& found) const { return found.reason.help; }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

Json positions_json(const Stall& stall) {
  return json_list(stall.devices, [](const DevicePosition& one) -> Json {
    return {{"device", one.device},
            {"position", one.position},
            {"op", one.finished ? Json(nullptr) : Json(to_string(one.op))},
            {"finished", one.finished},
            {"waits_for", one.waits_for.empty() ? Json(nullptr) : Json(one.waits_for)}};
  });
}

// What scripts may want of each. What the report itself has ("deadlock", "memory_fit") is there.
struct Arguments {
  Json operator()(const DeadlockFound& found) const { return {{"coupled_transfers", found.coupled_transfers}}; }
  Json operator()(const OutOfMemory& found) const { return {{"remedies_tried", found.remedies_tried}}; }
  Json operator()(const OverMemoryLimit& found) const {
    return {{"device", found.device}, {"peak_bytes", found.peak}, {"limit_bytes", found.limit}};
  }
  Json operator()(const AbovePlannedMemory& found) const {
    return {{"planner", found.planner},
            {"memory_limit", found.limit},
            {"device", found.device},
            {"peak_bytes", found.peak},
            {"above_bytes", found.above}};
  }
  Json operator()(const SlowCollectives& found) const {
    return {{"devices", Json(found.devices)}, {"factor", found.factor == 0 ? Json(nullptr) : Json(found.factor)}};
  }
  Json operator()(const HostBound& found) const {
    return {{"layer", found.layer}, {"waits_ns", found.waits}, {"time_ns", found.time}, {"share", found.share}};
  }
  Json operator()(const LeftOutOfModel& found) const { return {{"left_out", found.what}}; }
  Json operator()(const ScheduleNote& found) const { return {{"note", found.note}}; }
  Json operator()(const PreconditionTime& found) const { return {{"time_ns", found.time}}; }
  Json operator()(const StallFound& found) const {
    return {{"cause", found.stall.cause}, {"devices", positions_json(found.stall)}};
  }
  Json operator()(const WrongData& found) const { return {{"wrong_data", found.what}}; }
  Json operator()(const Refused& found) const {
    return {{"place", found.reason.place}, {"reason", found.reason.message}, {"help", found.reason.help}};
  }
};

}  // namespace

std::string finding_help(const Finding& finding, const Report& report) { return std::visit(Help{report}, finding); }

std::string finding_text(const Finding& finding, const Report& report) {
  const std::string message = std::visit(Message{report}, finding);
  const std::string help = finding_help(finding, report);
  return help.empty() ? message : message + "; " + help;
}

Json finding_json(const Finding& finding, const Report& report) {
  return {{"severity", to_string(severity_of(finding))},
          {"code", code_of(finding)},
          {"message", finding_text(finding, report)},
          {"arguments", std::visit(Arguments{}, finding)}};
}

}  // namespace debubble
