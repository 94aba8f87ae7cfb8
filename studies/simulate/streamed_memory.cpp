#include "studies/simulate/streamed_memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

constexpr Nanoseconds kEndOfTime = std::numeric_limits<Nanoseconds>::max();
constexpr std::size_t kKeptAtLeast = 4;  // cells; fewer are not worth a look

Timeline timeline_without_spans(int devices) {
  Timeline timeline;
  timeline.devices = devices;
  return timeline;
}

}  // namespace

StreamedMemory::StreamedMemory(const Job& job, const RowStream& stream, const std::vector<Bytes>& capacities,
                               LevelObserver* observer)
    : job_(job),
      stream_(stream),
      observer_(observer),
      empty_(timeline_without_spans(job.schedule.devices)),
      walk_(empty_, job.schedule, job.costs),
      devices_(job.schedule.rows.size()) {
  for (std::int32_t device = 0; device < job.schedule.devices; ++device) start(device, capacities);
  const Program& program = stream.program();
  for (std::size_t k = 0; k < program.channels.size(); ++k) {
    const Program::Channel& channel = program.channels[k];
    if (stream.tables().channel_bytes[k] == 0 || channel.from_device == channel.to_device) continue;
    std::vector<std::int32_t>& senders = at(devices_, channel.to_device).senders;
    if (std::find(senders.begin(), senders.end(), channel.from_device) != senders.end()) continue;
    senders.push_back(channel.from_device);
  }
}

void StreamedMemory::start(std::int32_t number, const std::vector<Bytes>& capacities) {
  Device& device = at(devices_, number);
  device.bytes = walk_.resident(number);
  device.report.device = number;
  device.report.peak_by_category = device.bytes;
  device.report.peak_memory = total(device.bytes);
  device.ended = row_of(device).empty();
  device.settle_at = kKeptAtLeast;
  if (observer_ != nullptr) observer_->level(number, 0, device.bytes);
  if (capacities.empty()) return;
  device.memory.capacity = capacities.size() == 1 ? capacities.front() : at(capacities, number);
  device.replay = make_long_replay(job_.costs, device.memory.capacity, job_.memory.allocator);
  for (const Bytes bytes : device.bytes) {
    if (device.replay->take_resident(bytes)) continue;
    device.memory.missing = bytes;
    device.memory.fits = false;
    return;
  }
  device.memory.reserved = device.replay->reserved();
}

void StreamedMemory::add(const StreamedCell& cell) {
  Device& device = at(devices_, cell.device);
  device.last_end = cell.end;
  device.ended = cell.position + (cell.paired ? 2 : 1) == row_of(device).size();
  Cell kept;
  kept.span.op = cell.op;
  if (cell.paired) kept.span.partner = cell.partner;
  kept.span.paired = cell.paired;
  kept.span.begin = cell.begin;
  kept.span.end = cell.end;
  kept.position = cell.position;
  for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
    const Op& op = member == 0 ? cell.op : cell.partner;
    if (const StreamedTensor& in = cell.in[member]; in.maker >= 0) {
      const Nanoseconds arrival = in.sent + at(stream_.tables().channels, in.channel).total();
      const auto order = static_cast<std::int64_t>(cell.position + member);
      kept.in[member] = {arrival, at(stream_.tables().channel_bytes, in.channel), in.channel, op.microbatch, order};
    }
    if (cell.out[member].channel >= 0) add_arrival(op, cell.out[member]);
  }
  device.cells.push_back(kept);
  if (device.cells.size() < device.settle_at) return;
  settle(device, bound_of(device));
  device.settle_at = std::max(kKeptAtLeast, 2 * device.cells.size());
}

void StreamedMemory::add_arrival(const Op& op, const StreamedTensor& out) {
  const Bytes bytes = at(stream_.tables().channel_bytes, out.channel);
  if (bytes == 0) return;
  Device& target = at(devices_, at(stream_.program().channels, out.channel).to_device);
  const Nanoseconds arrival = out.sent + at(stream_.tables().channels, out.channel).total();
  target.arrivals.push_back({arrival, bytes, out.channel, op.microbatch, 0});
  std::push_heap(target.arrivals.begin(), target.arrivals.end(),
                 [](const Arrival& a, const Arrival& b) { return a.at > b.at; });
}

// Whoever sends to it begins nothing before.
Nanoseconds StreamedMemory::bound_of(const Device& device) const {
  Nanoseconds bound = kEndOfTime;
  for (const std::int32_t sender : device.senders) {
    const Device& from = at(devices_, sender);
    if (!from.ended) bound = std::min(bound, from.last_end);
  }
  return bound;
}

// What has arrived by a cell's begin counts before it allocates, what arrives before its end before it releases.
void StreamedMemory::settle(Device& device, Nanoseconds bound) {
  std::size_t settled = 0;
  for (; settled < device.cells.size(); ++settled) {
    Cell& cell = device.cells[settled];
    if (!cell.begun) {
      if (cell.span.begin >= bound) break;
      settle_arrivals(device, cell.span.begin, true);
      begin(device, cell);
      cell.begun = true;
      device.settled = cell.span.begin;
    }
    if (cell.span.end >= bound) break;
    settle_arrivals(device, cell.span.end, false);
    end(device, cell);
    device.settled = cell.span.end;
    device.position = cell.position + (cell.span.paired ? 2 : 1);
  }
  device.cells.erase(device.cells.begin(), device.cells.begin() + static_cast<std::ptrdiff_t>(settled));
}

void StreamedMemory::settle_arrivals(Device& device, Nanoseconds until, bool inclusive) {
  const auto later = [](const Arrival& a, const Arrival& b) { return a.at > b.at; };
  std::vector<Arrival>& heap = device.arrivals;
  std::vector<Arrival> together;
  while (!heap.empty() && (heap.front().at < until || (inclusive && heap.front().at == until))) {
    together.clear();
    const Nanoseconds time = heap.front().at;
    while (!heap.empty() && heap.front().at == time) {
      std::pop_heap(heap.begin(), heap.end(), later);
      together.push_back(heap.back());
      heap.pop_back();
    }
    if (together.size() > 1) order_by_user(device, together);
    for (const Arrival& arrival : together) {
      const Cause cause{false, true, {}, arrival, device.position};
      device.bytes[to_index(MemoryCategory::kReceived)] += arrival.bytes;
      change(device, time, {HeldThing::What::kReceived, -1 - arrival.channel, arrival.piece}, arrival.bytes, cause);
      take_level(device, time, cause);
    }
  }
}

void StreamedMemory::order_by_user(Device& device, std::vector<Arrival>& arrivals) const {
  for (Arrival& arrival : arrivals) {
    arrival.order = static_cast<std::int64_t>(position_of_user(device, device.position, arrival));
  }
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.order < b.order; });
}

void StreamedMemory::begin(Device& device, Cell& cell) {
  const Cause cause{false, false, cell.span, {}, cell.position};
  walk_.begin_changes(cell.span.op, cell.span.with(), [&](const MemoryWalk::Change& made) {
    device.bytes[to_index(made.category)] += made.bytes;
    change(device, cell.span.begin, made.thing, made.bytes, cause);
  });
  take_level(device, cell.span.begin, cause);
}

void StreamedMemory::end(Device& device, Cell& cell) {
  const Cause cause{false, false, cell.span, {}, cell.position};
  if (cell.in[1].at < cell.in[0].at) std::swap(cell.in[0], cell.in[1]);
  for (const Arrival& arrival : cell.in) {
    device.bytes[to_index(MemoryCategory::kReceived)] -= arrival.bytes;
    change(device, cell.span.end, {HeldThing::What::kReceived, -1 - arrival.channel, arrival.piece}, -arrival.bytes,
           cause);
  }
  walk_.end_changes(cell.span.op, cell.span.with(), [&](const MemoryWalk::Change& made) {
    device.bytes[to_index(made.category)] += made.bytes;
    change(device, cell.span.end, made.thing, made.bytes, cause);
  });
  take_level(device, cell.span.end, cause);
}

void StreamedMemory::change(Device& device, Nanoseconds at, const HeldThing& thing, Bytes bytes,
                            const Cause& cause) const {
  if (bytes == 0 || !device.replay || !device.memory.fits) return;
  device.memory.fits = device.replay->change(thing, bytes);
  const Bytes reserved = device.replay->reserved();
  if (device.memory.fits && reserved <= device.memory.reserved) return;
  device.memory.at = at;
  device.memory.reserved = std::max(device.memory.reserved, reserved);
  device.most = cause;
  if (!device.memory.fits) device.memory.missing = bytes;
}

void StreamedMemory::take_level(Device& device, Nanoseconds at, const Cause& cause) const {
  if (observer_ != nullptr) observer_->level(device.report.device, at, device.bytes);
  if (add_level(device.bytes, at, device.report)) device.peak = cause;
}

void StreamedMemory::settle_all() {
  for (Device& device : devices_) settle(device, bound_of(device));
}

Nanoseconds StreamedMemory::settled_until() const {
  Nanoseconds earliest = kEndOfTime;
  for (const Device& device : devices_) {
    if (!device.ended || !device.cells.empty()) earliest = std::min(earliest, device.settled);
  }
  return earliest;
}

void StreamedMemory::finish(std::vector<DeviceReport>& reports) {
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    Device& device = devices_[k];
    settle(device, kEndOfTime);
    settle_arrivals(device, kEndOfTime, false);
    DeviceReport& report = reports[k];
    report.peak_memory = device.report.peak_memory;
    report.peak_memory_at = device.report.peak_memory_at;
    report.peak_by_category = device.report.peak_by_category;
    report.peak_activation = device.report.peak_activation;
    report.peak_memory_op = peak_op(device, device.peak);
    device.memory.allocated = report.peak_memory;
    device.memory.op = peak_op(device, device.most);
  }
}

std::vector<DeviceMemory> StreamedMemory::memories() const {
  std::vector<DeviceMemory> memories;
  for (const Device& device : devices_) {
    if (device.replay) memories.push_back(device.memory);
  }
  return memories;
}

PeakOp StreamedMemory::peak_op(const Device& device, const Cause& cause) const {
  if (cause.nothing) return {};
  if (!cause.arrived) {
    return {cause.span.paired ? PeakOp::Kind::kPair : PeakOp::Kind::kOp, cause.span.op, cause.span.partner};
  }
  const std::vector<Op>& row = row_of(device);
  std::size_t position = position_of_user(device, cause.position, cause.arrival);
  if (position > 0 && row[position - 1].paired_with_next) --position;
  if (!row[position].paired_with_next) return {PeakOp::Kind::kOp, row[position], {}};
  return {PeakOp::Kind::kPair, row[position], row[position + 1]};
}

// Channels: those of activations by replica, then stage; then those of gradients.
std::size_t StreamedMemory::position_of_user(const Device& device, std::size_t from, const Arrival& arrival) const {
  const std::int32_t stages = job_.schedule.stages;
  const bool gradient = arrival.channel >= job_.schedule.placement.replicas() * stages;
  const std::int32_t stage = arrival.channel % stages + (gradient ? 0 : 1);
  const std::vector<Op>& row = row_of(device);
  const auto takes_it = [&](const Op& op) {
    if (op.stage != stage || op.microbatch != arrival.piece) return false;
    return gradient ? makes_input_gradient(op.kind) : op.kind == OpKind::kForward;
  };
  const auto found = std::find_if(row.begin() + static_cast<std::ptrdiff_t>(from), row.end(), takes_it);
  return static_cast<std::size_t>(found - row.begin());
}

}  // namespace debubble
