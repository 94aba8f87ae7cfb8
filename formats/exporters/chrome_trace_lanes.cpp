#include "formats/exporters/chrome_trace_lanes.hpp"

#include <algorithm>
#include <tuple>

#include "sim/core/at.hpp"

namespace debubble {
namespace {

std::vector<std::size_t> in_order_of_begin(const Timeline& timeline) {
  const std::vector<Transfer>& transfers = timeline.transfers;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (TraceLanes::shows(timeline, transfers[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(transfer_key(transfers[a]), a) < std::tuple(transfer_key(transfers[b]), b);
  });
  return order;
}

void add_lanes(std::vector<TraceLanes::Lane>& lanes, std::int64_t first_thread, std::int32_t count,
               const std::string& name) {
  for (std::int32_t i = 0; i < count; ++i) {
    lanes.push_back({first_thread + i, i == 0 ? name : name + " " + std::to_string(i + 1)});
  }
}

}  // namespace

std::vector<std::string> copy_lanes(const Timeline& timeline) {
  std::vector<std::string> names(to_index(timeline.devices));
  for (const CopySpan& copy : timeline.copies) {
    std::string& name = at(names, copy.device);
    const std::string own = copy.peer < 0 ? "copy to host" : "copy to partner";
    name = name.empty() || name == own ? own : "copy";  // one lane for both
  }
  return names;
}

std::vector<bool> collective_lanes(const Timeline& timeline) {
  std::vector<bool> there(to_index(timeline.devices), false);
  for (const StepSpan& step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCollective) at(there, step.device) = true;
  }
  return there;
}

TraceLanes::TraceLanes(const Timeline& timeline, bool with_idle)
    : before_sends_(with_idle ? 2 : 1),
      send_(timeline.transfers.size(), 0),
      receive_(timeline.transfers.size(), 0),
      copies_(copy_lanes(timeline)),
      collectives_(collective_lanes(timeline)) {
  const auto devices = static_cast<std::size_t>(timeline.devices);
  std::vector<FirstFit> sending(devices);
  std::vector<FirstFit> receiving(devices);
  for (const std::size_t i : in_order_of_begin(timeline)) {
    const Transfer& transfer = timeline.transfers[i];
    send_[i] = at(sending, transfer.from_device).place(transfer);
    receive_[i] = at(receiving, transfer.to_device).place(transfer);
  }
  for (std::size_t d = 0; d < devices; ++d) {
    sends_.push_back(sending[d].lanes());
    receives_.push_back(receiving[d].lanes());
    while (before_sends_ + 2 + sends_[d] + receives_[d] >= stride_) stride_ *= 10;
  }
}

std::vector<TraceLanes::Lane> TraceLanes::lanes(std::int32_t device) const {
  const std::int32_t sends = at(sends_, device);
  std::vector<Lane> lanes{{compute(device), "compute"}};
  if (before_sends_ > 1) lanes.push_back({idle(device), "idle"});
  add_lanes(lanes, thread(device, before_sends_), sends, "send");
  add_lanes(lanes, thread(device, before_sends_ + sends), at(receives_, device), "recv");
  const std::string& copies = at(copies_, device);
  if (!copies.empty()) lanes.push_back({copy(device), copies});
  if (at(collectives_, device)) {
    lanes.push_back({thread(device, before_sends_ + 1 + sends + at(receives_, device)), "collective"});
  }
  return lanes;
}

}  // namespace debubble
