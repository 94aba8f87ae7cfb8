#include "formats/exporters/chrome_trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "formats/exporters/chrome_trace_facts.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/exporters/trace_slices.hpp"
#include "formats/exporters/trace_words.hpp"
#include "formats/json/json_text.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

using trace_detail::CauseTracks;
using trace_detail::InternedName;
using trace_detail::process_name;
using trace_detail::TraceNames;
using trace_detail::TracePart;
using trace_detail::TraceSlices;
using trace_detail::TraceStream;
using trace_detail::TraceWords;
using ChromeEvent = trace_detail::TraceEvent;

// One slice after another.
class ChromeSlices {
 public:
  struct Place {
    std::int32_t device = 0;
    std::int64_t thread = 0;
  };

  explicit ChromeSlices(TraceNames& text) : text_(text) {}

  template <typename Name>
  void begin(const Place& place, Nanoseconds begin, Nanoseconds end, const InternedName& category, const Name& name) {
    text_.next_line();
    text_.out << "{\"name\":\"";
    name();
    text_.out << "\",\"cat\":\"" << category.text;
    text_.open_event("X", place.device, place.thread, begin);
    text_.write_time("dur", end - begin);
    text_.out << ",\"args\":{";
    first_ = true;
  }
  void arrows(std::int32_t) {}  // are events of their own
  void arg(const InternedName& key, std::int64_t value) { open(key.text) << "\":" << value; }
  void arg(const InternedName& key, std::string_view value) { open(key.text) << "\":\"" << value << "\""; }
  void arg(const InternedName& key, const InternedName& value) { arg(key, value.text); }
  template <typename Name>
  void named(const InternedName& key, const Name& name) {
    open(key.text) << "\":\"";
    name();
    text_.out << "\"";
  }
  void time(const InternedName& key, Nanoseconds time) {
    open(key.text.substr(0, key.text.size() - 2)) << "us\":";
    append_microseconds(text_.out.text(), time);
  }
  void end() { text_.close_event(); }

 private:
  TextBuffer& open(std::string_view key) {
    text_.out << (first_ ? "\"" : ",\"") << key;
    first_ = false;
    return text_.out;
  }

  TraceNames& text_;
  bool first_ = true;
};

class TraceWriter : private TraceNames {
 public:
  TraceWriter(const TracedRun& run, TraceStream& stream, TracePart part = {})
      : TraceNames(*run.timeline, *run.schedule, stream, part.first_process),
        timeline_(*run.timeline),
        schedule_(*run.schedule),
        memory_(*run.memory),
        part_(std::move(part)),
        lanes_(*run.timeline, part_.causes),
        chrome_(*this),
        slices_(timeline_, schedule_, causes_, *this, words_, chrome_) {
    if (part_.causes) causes_.emplace(*run.timeline);
    for (const auto& curve : memory_) shown_.push_back(ever_nonzero(curve));
  }

  [[nodiscard]] std::int64_t stride() const { return lanes_.stride(); }
  void set_first_thread(std::int64_t first) { lanes_.set_first(first); }

  void write_all_names() {
    if (causes_) write_path_names();
    for (std::int32_t device = 0; device < timeline_.devices; ++device) write_names(device);
  }

  [[nodiscard]] std::vector<ChromeEvent> events() const {
    std::vector<ChromeEvent> events;
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) {
      const Span& s = timeline_.spans[i];
      events.push_back({s.begin, s.end - s.begin, ChromeEvent::Kind::kCompute, s.device, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; i < timeline_.transfers.size(); ++i) {
      add_transfer(events, timeline_.transfers[i], static_cast<std::int32_t>(i));
    }
    for (std::size_t i = 0; i < timeline_.copies.size(); ++i) {
      const CopySpan& c = timeline_.copies[i];
      events.push_back({c.begin, c.end - c.begin, ChromeEvent::Kind::kCopy, c.device, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; i < timeline_.steps.size(); ++i) {
      const StepSpan& s = timeline_.steps[i];
      events.push_back({s.begin, s.end - s.begin, ChromeEvent::Kind::kStep, s.device, static_cast<std::int32_t>(i)});
    }
    for (std::size_t i = 0; part_.extra_work != nullptr && i < part_.extra_work->items.size(); ++i) {
      const PlacedWork& item = part_.extra_work->items[i];
      const Nanoseconds duration = item.end - item.begin;
      events.push_back(
          {item.begin, duration, ChromeEvent::Kind::kExtraWork, item.device, static_cast<std::int32_t>(i)});
    }
    if (causes_) causes_->add_events(events);
    for (std::size_t d = 0; d < memory_.size(); ++d) {
      for (std::size_t i = 0; i < memory_[d].size(); ++i) {
        if (i > 0 && memory_[d][i].bytes == memory_[d][i - 1].bytes) continue;
        events.push_back({memory_[d][i].at, 0, ChromeEvent::Kind::kMemory, static_cast<std::int32_t>(d),
                          static_cast<std::int32_t>(i)});
      }
    }
    std::sort(events.begin(), events.end());
    return events;
  }

  void write_event(const ChromeEvent& event) {
    const std::int32_t device = event.device;
    const std::int32_t index = event.index;
    switch (event.kind) {
      case ChromeEvent::Kind::kCompute:
        return slices_.write_span(index, {device, lanes_.compute(device)});
      case ChromeEvent::Kind::kSend:
        return slices_.write_transfer(transfer(index), true, {device, lanes_.send(transfer(index), to_index(index))});
      case ChromeEvent::Kind::kReceive:
        return slices_.write_transfer(transfer(index), false,
                                      {device, lanes_.receive(transfer(index), to_index(index))});
      case ChromeEvent::Kind::kCopy:
        return slices_.write_copy(at(timeline_.copies, index), {device, lanes_.copy(device)});
      case ChromeEvent::Kind::kStep:
        return slices_.write_step(at(timeline_.steps, index), {device, lanes_.step(at(timeline_.steps, index))});
      case ChromeEvent::Kind::kExtraWork: {
        const PlacedWork& item = at(part_.extra_work->items, index);
        return slices_.write_extra_work(item, {device, extra_work_thread(device, item.iteration)});
      }
      case ChromeEvent::Kind::kIdle:
        return slices_.write_gap(at(causes_->gaps(), index), {device, lanes_.idle(device)});
      case ChromeEvent::Kind::kCriticalPath:
        return slices_.write_stretch(at(causes_->path(), index), {device, path_thread()});
      case ChromeEvent::Kind::kMemory:
        return write_memory(event);
      case ChromeEvent::Kind::kArrowBegin:
      case ChromeEvent::Kind::kArrowEnd:
        return write_arrow(event);
    }
  }

 private:
  using Categories = std::vector<std::size_t>;

  static Categories ever_nonzero(const std::vector<MemoryPoint>& curve) {
    Categories shown;
    for (std::size_t c = 0; c < kMemoryCategories; ++c) {
      const auto holds = [c](const MemoryPoint& point) { return point.bytes[c] != 0; };
      if (std::any_of(curve.begin(), curve.end(), holds)) shown.push_back(c);
    }
    return shown;
  }

  [[nodiscard]] const Span& span(std::int32_t index) const { return at(timeline_.spans, index); }
  [[nodiscard]] const Transfer& transfer(std::int32_t index) const { return at(timeline_.transfers, index); }

  // After all other threads.
  [[nodiscard]] std::int64_t path_thread() const {
    const std::int64_t steps = part_.extra_work == nullptr ? 0 : part_.extra_work->iterations;
    return lanes_.compute(timeline_.devices) + steps * timeline_.devices;
  }

  // A process before those of the devices: what the whole step waits for is what one looks at first.
  void write_path_names() {
    open_metadata("process_name", timeline_.devices) << ",\"args\":{\"name\":";
    append_json_string(out.text(), part_.label + "critical path");
    close_event();
    open_metadata("process_sort_index", timeline_.devices) << ",\"args\":{\"sort_index\":" << part_.part - part_.parts;
    close_event();
    write_lane_names(timeline_.devices, {path_thread(), "critical path"});
  }

  void write_lane_names(std::int32_t device, const TraceLanes::Lane& lane) {
    open_metadata("thread_name", device) << ",\"tid\":" << lane.thread << ",\"args\":{\"name\":\"" << lane.name << "\"";
    close_event();
    open_metadata("thread_sort_index", device)
        << ",\"tid\":" << lane.thread << ",\"args\":{\"sort_index\":" << lane.thread;
    close_event();
  }

  // Slices for a transfer that takes time, and an arrow where there is a slice to attach it to at both ends.
  void add_transfer(std::vector<ChromeEvent>& events, const Transfer& t, std::int32_t index) const {
    if (TraceLanes::shows(timeline_, t)) {
      events.push_back({t.begin, t.end - t.begin, ChromeEvent::Kind::kSend, t.from_device, index});
      events.push_back({t.begin, t.end - t.begin, ChromeEvent::Kind::kReceive, t.to_device, index});
    }
    if (t.from_span < 0 || t.to_span < 0) return;
    const Span& from = span(t.from_span);
    const Span& to = span(t.to_span);
    const Nanoseconds middle = from.begin + (from.end - from.begin) / 2;
    if (from.end <= from.begin || to.end <= to.begin || to.begin < middle) return;
    events.push_back({middle, 0, ChromeEvent::Kind::kArrowBegin, from.device, index});
    events.push_back({to.begin, 0, ChromeEvent::Kind::kArrowEnd, to.device, index});
  }

  void write_names(std::int32_t device) {
    open_metadata("process_name", device) << ",\"args\":{\"name\":";
    append_json_string(out.text(), part_.label + process_name(schedule_.placement, device));
    close_event();
    open_metadata("process_sort_index", device)
        << ",\"args\":{\"sort_index\":" << std::int64_t{device} * part_.parts + part_.part;
    close_event();
    std::vector<TraceLanes::Lane> lanes = lanes_.lanes(device);
    for (std::int32_t step = 0; part_.extra_work != nullptr && step < part_.extra_work->iterations; ++step) {
      const std::string name =
          "extra work, step " + std::to_string(step + 1) + " of " + std::to_string(part_.extra_work->iterations);
      lanes.push_back({extra_work_thread(device, step), name});
    }
    for (const TraceLanes::Lane& lane : lanes) write_lane_names(device, lane);
  }

  // One lane per step of a refresh, after all other lanes: they fill the same bubbles one after another.
  [[nodiscard]] std::int64_t extra_work_thread(std::int32_t device, std::int32_t step) const {
    const std::int64_t steps = part_.extra_work->iterations;
    return lanes_.stride() * timeline_.devices + device * steps + step + 1;
  }

  void write_arrow(const ChromeEvent& event) {
    const bool begins = event.kind == ChromeEvent::Kind::kArrowBegin;
    next_line();
    out << "{\"name\":\"" << (transfer(event.index).op.kind == OpKind::kForward ? "activation" : "gradient")
        << "\",\"cat\":\"transfer";
    open_event(begins ? "s" : "f", event.device, lanes_.compute(event.device), event.begin);
    out << ",\"id\":" << (part_.first_arrow + event.index) << (begins ? "}" : ",\"bp\":\"e\"}");
    out.end_record();
  }

  // Two tracks, for chrome://tracing stacks the keys of one counter: the total must not be stacked on its parts.
  void write_memory(const ChromeEvent& event) {
    const auto device = static_cast<std::size_t>(event.device);
    const BytesByCategory& bytes = at(memory_[device], event.index).bytes;
    Bytes total = 0;
    for (const Bytes part : bytes) total += part;
    open_counter("memory", event);
    write_size("total", total);
    close_event();
    if (shown_[device].empty()) return;
    open_counter("memory by category", event);
    for (std::size_t i = 0; i < shown_[device].size(); ++i) {
      const std::size_t category = shown_[device][i];
      out << (i == 0 ? "" : ",");
      write_size(to_string(static_cast<MemoryCategory>(category)), bytes[category]);
    }
    close_event();
  }

  void open_counter(std::string_view name, const ChromeEvent& event) {
    next_line();
    out << "{\"name\":\"" << name << "\",\"ph\":\"C\",\"pid\":" << process(event.device);
    write_time("ts", event.begin);
    out << ",\"args\":{";
  }

  void write_size(std::string_view key, Bytes bytes) {
    out << "\"" << key << " MiB\":";
    append_mebibytes(out.text(), bytes);
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const std::vector<std::vector<MemoryPoint>>& memory_;
  TracePart part_;
  TraceLanes lanes_;
  std::optional<CauseTracks> causes_;
  std::vector<Categories> shown_;  // by device
  TraceWords words_;
  ChromeSlices chrome_;
  TraceSlices<ChromeSlices> slices_;
};

}  // namespace

void write_chrome_trace(const Timeline& timeline, const Schedule& schedule, const Report& report,
                        const std::vector<std::vector<MemoryPoint>>& memory, const TraceInfo& info,
                        const TextSink& sink) {
  TraceStream stream(sink);
  stream.begin(trace_facts(timeline, schedule, report, info));
  TracePart part;
  part.causes = info.causes;
  if (report.extra_work) part.extra_work = &*report.extra_work;
  TraceWriter writer({&timeline, &schedule, &memory}, stream, part);
  writer.write_all_names();
  for (const ChromeEvent& event : writer.events()) writer.write_event(event);
  stream.end();
}

void write_merged_trace(const TracedRun& predicted, const TracedRun& measured, const std::string& facts,
                        const TextSink& sink) {
  const std::int32_t first_process = trace_detail::first_measured_process(predicted.timeline->devices);
  TraceStream stream(sink);
  stream.begin(facts);
  const auto arrows = static_cast<std::int64_t>(predicted.timeline->transfers.size()) + 1;
  TraceWriter one(predicted, stream, {0, 1, "predicted ", 2, 0});
  TraceWriter other(measured, stream, {first_process, arrows, "measured ", 2, 1});
  other.set_first_thread(first_process * std::max(one.stride(), other.stride()));
  one.write_all_names();
  other.write_all_names();
  const std::vector<ChromeEvent> ours = one.events();
  const std::vector<ChromeEvent> theirs = other.events();
  auto next = theirs.begin();
  for (const ChromeEvent& event : ours) {
    for (; next != theirs.end() && *next < event; ++next) other.write_event(*next);
    one.write_event(event);
  }
  for (; next != theirs.end(); ++next) other.write_event(*next);
  stream.end();
}

}  // namespace debubble
