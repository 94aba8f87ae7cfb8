#include "formats/exporters/perfetto_trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "formats/exporters/chrome_trace_facts.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/exporters/perfetto_arrows.hpp"
#include "formats/exporters/perfetto_packets.hpp"
#include "formats/exporters/perfetto_sources.hpp"
#include "formats/exporters/trace_slices.hpp"
#include "formats/exporters/trace_words.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

using trace_detail::CauseTracks;
using trace_detail::InternedName;
using trace_detail::PerfettoPackets;
using trace_detail::SliceOrder;
using trace_detail::TraceNames;
using trace_detail::TracePart;
using trace_detail::TraceSlices;
using trace_detail::TraceStream;
using trace_detail::TraceWords;
using trace_detail::TrackSource;
using trace_detail::TrackSources;

// One slice after another, with the arrows that leave and arrive at it.
class PerfettoSlices {
 public:
  using Place = std::uint64_t;  // a track

  PerfettoSlices(const Timeline& timeline, const Schedule& schedule, int part, PerfettoPackets& packets,
                 TextBuffer& scratch)
      : timeline_(timeline),
        schedule_(schedule),
        part_(part),
        packets_(packets),
        scratch_(scratch),
        arrows_(timeline) {}

  template <typename Name>
  void begin(std::uint64_t track, Nanoseconds begin, Nanoseconds end, InternedName& category, const Name& name) {
    packets_.begin_slice(track, begin, text_of(name), category);
    end_ = end;
  }
  void arrows(std::int32_t span) {
    leaving_.clear();
    arriving_.clear();
    arrows_.pass(span, [&](std::int32_t number, bool leaves) {
      const Transfer& transfer = at(timeline_.transfers, number);
      (leaves ? leaving_ : arriving_).push_back(arrow(transfer.op, transfer.to_device));
    });
    std::sort(leaving_.begin(), leaving_.end());
    std::sort(arriving_.begin(), arriving_.end());
    for (const std::uint64_t arrow : leaving_) packets_.arrow_from_here(arrow);
    for (const std::uint64_t arrow : arriving_) packets_.arrow_to_here(arrow);
  }
  void arg(InternedName& key, std::int64_t value) { packets_.argument(key, value); }
  void arg(InternedName& key, std::string_view value) { packets_.argument(key, value); }
  void arg(InternedName& key, InternedName& value) { packets_.argument(key, value); }
  template <typename Name>
  void named(InternedName& key, const Name& name) {
    packets_.argument(key, text_of(name));
  }
  void time(InternedName& key, Nanoseconds time) { packets_.argument(key, time); }
  void end() { packets_.end_slice(end_); }

 private:
  // Good until the next one is made.
  template <typename Name>
  std::string_view text_of(const Name& name) {
    scratch_.text().clear();
    name();
    return scratch_.text();
  }

  // An arrow's number, by the op whose output travels and where to.
  [[nodiscard]] std::uint64_t arrow(const Op& op, std::int32_t to_device) const {
    const auto number = static_cast<std::uint64_t>(op.stage) * static_cast<std::uint64_t>(schedule_.total_pieces()) +
                        static_cast<std::uint64_t>(op.microbatch);
    const OpKind kind = makes_input_gradient(op.kind) ? OpKind::kBackward : op.kind;
    const std::uint64_t of_op = number * kOpKinds + static_cast<std::uint64_t>(kind);
    const std::uint64_t of_arrow =
        of_op * static_cast<std::uint64_t>(schedule_.devices) + static_cast<std::uint64_t>(to_device);
    return (static_cast<std::uint64_t>(part_) << 62U) + of_arrow + 1;
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  int part_;
  PerfettoPackets& packets_;
  TextBuffer& scratch_;
  trace_detail::SpanArrows arrows_;
  Nanoseconds end_ = 0;
  std::vector<std::uint64_t> leaving_;
  std::vector<std::uint64_t> arriving_;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const TracedRun& run, TextBuffer& out, TracePart part)
      : timeline_(*run.timeline),
        schedule_(*run.schedule),
        memory_(*run.memory),
        part_(std::move(part)),
        packets_(out, static_cast<std::uint32_t>(part_.part) + 1),
        scratch_([](std::string_view) {}),
        names_(timeline_, schedule_, scratch_, 0, false),
        perfetto_(timeline_, schedule_, part_.part, packets_, scratch_.out),
        slices_(timeline_, schedule_, causes_, names_, words_, perfetto_),
        lanes_(to_index(schedule_.devices)),
        levels_(to_index(schedule_.devices)) {
    if (part_.causes) causes_.emplace(timeline_);
  }

  std::int64_t write(const std::string& facts) {
    write_head(facts);
    add_lanes();
    TrackSources(timeline_, memory_, part_.extra_work, causes_ ? &*causes_ : nullptr)
        .pass([&](const TrackSource& source) { write_next(source); });
    return packets_.events();
  }

 private:
  using Things = TrackSource::Things;

  // What the counters of a device show.
  struct Levels {
    bool begun = false;
    Nanoseconds first = 0;
    Bytes total = 0;
    BytesByCategory bytes{};
    std::array<bool, kMemoryCategories> shown{};
  };

  [[nodiscard]] std::int64_t pid(std::int32_t device) const { return std::int64_t{part_.first_process} + device + 1; }
  [[nodiscard]] std::uint64_t process(std::int32_t device) const {
    return static_cast<std::uint64_t>(pid(device)) << 32U;
  }
  [[nodiscard]] std::uint64_t path_track() const { return 1 + 2 * static_cast<std::uint64_t>(part_.part); }
  [[nodiscard]] std::uint64_t facts_track() const { return path_track() + 1; }
  [[nodiscard]] std::uint64_t counter(std::int32_t device, std::size_t number) const {
    return process(device) | 0x80000000U | number;
  }
  [[nodiscard]] std::uint64_t track(std::int32_t device, std::uint8_t group, std::int64_t lane) const {
    return process(device) | std::uint64_t{group} << 24U | static_cast<std::uint64_t>(lane + 1);
  }

  // The tracks that there always are, and one point at time 0 whose arguments are the facts.
  void write_head(const std::string& facts) {
    packets_.add_track(facts_track(), 0, part_.label + "run", -2);
    if (causes_) packets_.add_track(path_track(), 0, part_.label + "critical path", -1);
    for (std::int32_t device = 0; device < schedule_.devices; ++device) {
      packets_.add_process(process(device), pid(device),
                           part_.label + trace_detail::process_name(schedule_.placement, device));
      add_lane(device, SliceOrder::kCompute, 0, "compute");
      if (causes_) add_lane(device, SliceOrder::kIdle, 0, "idle");
    }
    packets_.begin_point(facts_track(), 0, "facts", words_.facts);
    const nlohmann::ordered_json all = nlohmann::ordered_json::parse(facts);
    for (const auto& [key, value] : all.items()) {
      InternedName name{key};
      packets_.argument(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    packets_.end_point();
  }

  void add_lane(std::int32_t device, SliceOrder::Group group, std::int64_t lane, std::string_view name) {
    constexpr std::int64_t kMostLanes = 1'000'000;
    packets_.add_track(track(device, group, lane), process(device), name, group * kMostLanes + lane);
  }

  // Those that no run without spans has.
  void add_lanes() {
    const std::vector<std::string> copies = copy_lanes(timeline_);
    const std::vector<bool> collectives = collective_lanes(timeline_);
    for (std::int32_t device = 0; device < timeline_.devices; ++device) {
      if (!at(copies, device).empty()) add_lane(device, SliceOrder::kCopy, 0, at(copies, device));
      if (at(collectives, device)) add_lane(device, SliceOrder::kCollective, 0, "collective");
      const std::int32_t steps = part_.extra_work == nullptr ? 0 : part_.extra_work->iterations;
      for (std::int32_t step = 0; step < steps; ++step) {
        add_lane(device, SliceOrder::kExtraWork, step,
                 "extra work, step " + std::to_string(step + 1) + " of " + std::to_string(steps));
      }
    }
  }

  // That of the lane that the transfer takes.
  std::uint64_t transfer_track(std::int32_t device, SliceOrder::Group group, const Transfer& transfer) {
    const bool sends = group == SliceOrder::kSend;
    FirstFit& lanes = at(lanes_, device)[sends ? 0 : 1];
    const std::int32_t known = lanes.lanes();
    const std::int32_t lane = lanes.place(transfer);
    if (lane == known) {
      const std::string name = sends ? "send" : "recv";
      add_lane(device, group, lane, lane == 0 ? name : name + " " + std::to_string(lane + 1));
    }
    return track(device, group, lane);
  }

  void write_next(const TrackSource& source) {
    const std::int32_t index = source.index();
    const std::int32_t device = source.next.device;
    const auto group = static_cast<SliceOrder::Group>(source.next.group);
    switch (source.things) {
      case Things::kSpans:
        return slices_.write_span(index, track(device, group, 0));
      case Things::kLaneSteps:
      case Things::kSteps:
        return slices_.write_step(at(timeline_.steps, index), track(device, group, 0));
      case Things::kGaps:
        return slices_.write_gap(at(causes_->gaps(), index), track(device, group, 0));
      case Things::kTransfers: {
        const Transfer& transfer = at(timeline_.transfers, index);
        return slices_.write_transfer(transfer, group == SliceOrder::kSend, transfer_track(device, group, transfer));
      }
      case Things::kCopies:
        return slices_.write_copy(at(timeline_.copies, index), track(device, group, 0));
      case Things::kExtraWork: {
        const PlacedWork& item = at(part_.extra_work->items, index);
        return slices_.write_extra_work(item, track(device, group, item.iteration));
      }
      case Things::kPath:
        return slices_.write_stretch(at(causes_->path(), index), path_track());
      case Things::kLevels: {
        const MemoryPoint& point = at(at(memory_, device), index);
        return write_level(device, point.at, point.bytes);
      }
    }
  }

  // The sum, and from when it is first more than nothing each category, which until then was nothing.
  void write_level(std::int32_t device, Nanoseconds time, const BytesByCategory& bytes) {
    Levels& levels = at(levels_, device);
    const Bytes total = std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
    if (!levels.begun) {
      packets_.add_counter(counter(device, 0), process(device), "memory");
      levels.first = time;
    }
    if (!levels.begun || total != levels.total) packets_.count(counter(device, 0), time, total);
    levels.begun = true;
    levels.total = total;
    for (std::size_t c = 0; c < kMemoryCategories; ++c) {
      if (bytes[c] == levels.bytes[c]) continue;
      if (!levels.shown[c]) {
        packets_.add_counter(counter(device, c + 1), process(device),
                             std::string("memory: ") + to_string(static_cast<MemoryCategory>(c)));
        if (time > levels.first) packets_.count(counter(device, c + 1), levels.first, 0);
      }
      levels.shown[c] = true;
      packets_.count(counter(device, c + 1), time, bytes[c]);
    }
    levels.bytes = bytes;
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const std::vector<std::vector<MemoryPoint>>& memory_;
  TracePart part_;
  PerfettoPackets packets_;
  TraceStream scratch_;
  TraceNames names_;
  TraceWords words_;
  std::optional<CauseTracks> causes_;
  PerfettoSlices perfetto_;
  TraceSlices<PerfettoSlices> slices_;
  std::vector<std::array<FirstFit, 2>> lanes_;  // by device: sends, receives
  std::vector<Levels> levels_;                  // by device
};

}  // namespace

bool names_perfetto_trace(std::string_view path) { return path.ends_with(".pftrace") || path.ends_with(".pftrace.gz"); }

std::int64_t write_perfetto_trace(const Timeline& timeline, const Schedule& schedule, const Report& report,
                                  const std::vector<std::vector<MemoryPoint>>& memory, const TraceInfo& info,
                                  const TextSink& sink) {
  TextBuffer out(sink);
  TracePart part;
  part.causes = info.causes;
  if (report.extra_work) part.extra_work = &*report.extra_work;
  const std::int64_t events = PerfettoWriter({&timeline, &schedule, &memory}, out, part)
                                  .write(trace_facts(timeline, schedule, report, info, TraceRows::kLeaveOut));
  out.flush();
  return events;
}

void write_merged_perfetto_trace(const TracedRun& predicted, const TracedRun& measured, const std::string& facts,
                                 const TextSink& sink) {
  TextBuffer out(sink);
  const std::int32_t first_process = trace_detail::first_measured_process(predicted.timeline->devices);
  (void)PerfettoWriter(predicted, out, {0, 0, "predicted ", 2, 0}).write(facts);
  (void)PerfettoWriter(measured, out, {first_process, 0, "measured ", 2, 1}).write(facts);
  out.flush();
}

}  // namespace debubble
