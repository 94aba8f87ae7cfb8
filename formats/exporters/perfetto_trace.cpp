#include "formats/exporters/perfetto_trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
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
#include "formats/exporters/perfetto_words.hpp"
#include "sim/core/at.hpp"
#include "sim/core/op_words.hpp"

namespace debubble {
namespace {

using trace_detail::cause_of;
using trace_detail::CauseTracks;
using trace_detail::in_running_order;
using trace_detail::InternedName;
using trace_detail::PerfettoPackets;
using trace_detail::process_name;
using trace_detail::TraceNames;
using trace_detail::TracePart;
using trace_detail::TraceStream;
using trace_detail::words_of;

class PerfettoWriter {
 public:
  PerfettoWriter(const TracedRun& run, TextBuffer& out, TracePart part)
      : timeline_(*run.timeline),
        schedule_(*run.schedule),
        memory_(*run.memory),
        part_(std::move(part)),
        packets_(out, static_cast<std::uint32_t>(part_.part) + 1),
        scratch_([](std::string_view) {}),
        names_(timeline_, schedule_, scratch_, 0),
        lanes_(timeline_, part_.causes),
        arrows_(timeline_) {
    if (part_.causes) causes_.emplace(timeline_);
    for (int kind = 0; kind < kOpKinds; ++kind) at(kinds_, kind).text = word_of(static_cast<OpKind>(kind));
    for (int cause = 0; cause < kIdleCauses; ++cause) {
      at(cause_names_, cause) = words_of(static_cast<IdleCause>(cause));
      at(cause_key_texts_, cause) = to_string(static_cast<IdleCause>(cause)) + std::string("_ns");
      at(cause_keys_, cause).text = at(cause_key_texts_, cause);
    }
  }

  std::int64_t write(const std::string& facts) {
    write_tracks();
    write_facts(facts);
    for (std::int32_t device = 0; device < timeline_.devices; ++device) write_compute(device);
    for (const std::int32_t index : in_running_order(timeline_.transfers)) {
      const Transfer& transfer = at(timeline_.transfers, index);
      if (!TraceLanes::shows(timeline_, transfer)) continue;
      write_transfer(transfer, static_cast<std::size_t>(index), true);
      write_transfer(transfer, static_cast<std::size_t>(index), false);
    }
    for (const CopySpan& copy : timeline_.copies) write_copy(copy);
    for (const StepSpan& step : timeline_.steps) {
      if (step.lane != StepTask::Lane::kCompute) write_step(step);
    }
    write_extra_work();
    write_causes();
    write_memory();
    return packets_.events();
  }

 private:
  [[nodiscard]] std::int64_t pid(std::int32_t device) const { return std::int64_t{part_.first_process} + device + 1; }
  [[nodiscard]] std::uint64_t process(std::int32_t device) const {
    return static_cast<std::uint64_t>(pid(device)) << 32U;
  }
  [[nodiscard]] std::uint64_t track(std::int32_t device, std::int64_t thread) const {
    return process(device) | static_cast<std::uint64_t>(thread);
  }
  [[nodiscard]] std::uint64_t path_track() const { return 1 + 2 * static_cast<std::uint64_t>(part_.part); }
  [[nodiscard]] std::uint64_t facts_track() const { return path_track() + 1; }
  [[nodiscard]] std::uint64_t counter(std::int32_t device, std::size_t number) const {
    return process(device) | 0x80000000U | number;
  }
  [[nodiscard]] std::int64_t extra_work_thread(std::int32_t device, std::int32_t step) const {
    const std::int64_t steps = part_.extra_work->iterations;
    return lanes_.stride() * timeline_.devices + device * steps + step + 1;
  }

  // What the JSON writer calls it. The text is good until the next one is made.
  template <typename Write>
  std::string_view text_of(const Write& write) {
    scratch_.out.text().clear();
    write(names_);
    return scratch_.out.text();
  }
  static std::string step_name(const StepSpan& step) { return step.what.empty() ? to_string(step.kind) : step.what; }

  std::string_view gate_text(const Gate& gate) {
    if (gate.kind == Gate::Kind::kStep && gate.index >= 0)
      return step_text_ = step_name(at(timeline_.steps, gate.index));
    return text_of([&](TraceNames& names) { names.write_gate(gate); });
  }

  void write_tracks() {
    packets_.add_track(facts_track(), 0, part_.label + "run", -2);
    if (causes_) packets_.add_track(path_track(), 0, part_.label + "critical path", -1);
    for (std::int32_t device = 0; device < timeline_.devices; ++device) {
      packets_.add_process(process(device), pid(device), part_.label + process_name(schedule_.placement, device));
      for (const TraceLanes::Lane& lane : lanes_.lanes(device)) {
        packets_.add_track(track(device, lane.thread), process(device), lane.name, lane.thread);
      }
      for (std::int32_t step = 0; part_.extra_work != nullptr && step < part_.extra_work->iterations; ++step) {
        packets_.add_track(
            track(device, extra_work_thread(device, step)), process(device),
            "extra work, step " + std::to_string(step + 1) + " of " + std::to_string(part_.extra_work->iterations),
            extra_work_thread(device, step));
      }
    }
  }

  // One point at time 0, whose arguments are the facts.
  void write_facts(const std::string& facts) {
    packets_.begin_point(facts_track(), 0, "facts", words_.facts);
    const nlohmann::ordered_json all = nlohmann::ordered_json::parse(facts);
    for (const auto& [key, value] : all.items()) {
      InternedName name{key};
      packets_.argument(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    packets_.end_point();
  }

  void write_op(const Op& op, InternedName& kind) {
    packets_.argument(words_.stage, std::int64_t{op.stage});
    packets_.argument(words_.microbatch, std::int64_t{op.microbatch / schedule_.pieces});
    packets_.argument(words_.kind, kind);
    if (schedule_.pieces == 1) return;
    packets_.argument(words_.piece, std::int64_t{op.microbatch});
    if (schedule_.sliced) packets_.argument(words_.slice, std::int64_t{op.microbatch % schedule_.pieces});
  }

  void write_wait(Nanoseconds ready, const Gate& gate, Nanoseconds waited) {
    packets_.argument(words_.ready, ready);
    packets_.argument(words_.waited_for, gate_text(gate));
    packets_.argument(words_.wait, waited);
    write_source();
  }
  void write_source() { packets_.argument(words_.source, timeline_.measured ? words_.measured : words_.modelled); }

  // Spans, and among them the tasks of the step that hold the lane: an end and a begin at one time come in that order.
  void write_compute(std::int32_t device) {
    while (next_step_ < timeline_.steps.size() && timeline_.steps[next_step_].device < device) ++next_step_;
    const auto pass_steps = [&](Nanoseconds until) {
      for (; next_step_ < timeline_.steps.size() && timeline_.steps[next_step_].device == device; ++next_step_) {
        const StepSpan& step = timeline_.steps[next_step_];
        if (step.lane != StepTask::Lane::kCompute) continue;
        if (step.begin > until || step.end > until) return;
        write_step(step);
      }
    };
    const std::int32_t first = at(timeline_.device_begin, device);
    const std::int32_t last = at(timeline_.device_begin, device + 1);
    for (std::int32_t index = first; index < last; ++index) {
      pass_steps(at(timeline_.spans, index).begin);
      write_span(index, index == first);
    }
    pass_steps(std::numeric_limits<Nanoseconds>::max());
  }

  void write_span(std::int32_t index, bool first) {
    const Span& span = at(timeline_.spans, index);
    packets_.begin_slice(track(span.device, lanes_.compute(span.device)), span.begin,
                         text_of([&](TraceNames& names) { names.write_cell(span); }), words_.compute);
    arrows_.pass(index, [&](std::int32_t transfer, bool leaves) {
      const auto id = static_cast<std::uint64_t>(part_.first_arrow + transfer);
      leaves ? packets_.arrow_from_here(id) : packets_.arrow_to_here(id);
    });
    write_op(span.op, kind_of(span.op));
    if (const Op* partner = timeline_.partner(span)) {
      packets_.argument(words_.partner_stage, std::int64_t{partner->stage});
      packets_.argument(words_.partner_microbatch, std::int64_t{partner->microbatch / schedule_.pieces});
      packets_.argument(words_.partner_kind, kind_of(*partner));
    }
    if (const Nanoseconds straggled = timeline_.straggled(span); straggled != 0) {
      packets_.argument(words_.beyond, straggled);
    }
    if (const Nanoseconds slowed = timeline_.slowed(span); slowed != 0) packets_.argument(words_.slowed, slowed);
    write_wait(span.ready, span.gate, span.begin - (first ? 0 : at(timeline_.spans, index - 1).end));
    packets_.end_slice(span.end);
  }
  InternedName& kind_of(const Op& op) { return kinds_[to_index(op.kind)]; }

  void write_transfer(const Transfer& t, std::size_t index, bool sends) {
    const std::int32_t device = sends ? t.from_device : t.to_device;
    packets_.begin_slice(track(device, sends ? lanes_.send(t, index) : lanes_.receive(t, index)), t.begin,
                         text_of([&](TraceNames& names) { names.write_transfer_name(t, sends); }), words_.transfer);
    Op end = sends ? t.op : names_.user_of(t);
    end.kind = t.op.kind;
    write_op(end, kind_of(end));
    packets_.argument(words_.bytes, t.bytes);
    packets_.argument(words_.from_device, std::int64_t{t.from_device});
    packets_.argument(words_.to_device, std::int64_t{t.to_device});
    packets_.argument(words_.latency, t.latency);
    if (t.contention != 0) packets_.argument(words_.contention, t.contention);
    const Nanoseconds ready = t.from_span < 0 ? t.begin : at(timeline_.spans, t.from_span).end;
    write_wait(ready, t.gate, t.begin - ready);
    packets_.end_slice(t.end);
  }

  void write_copy(const CopySpan& copy) {
    packets_.begin_slice(track(copy.device, lanes_.copy(copy.device)), copy.begin,
                         text_of([&](TraceNames& names) { names.write_copy_name(copy); }), words_.copy);
    write_op(copy.op, copy.way == Copy::Way::kOut ? words_.copy_out : words_.copy_back);
    packets_.argument(words_.bytes, copy.bytes);
    packets_.argument(words_.kept_on, copy.peer < 0 ? "host" : "device " + std::to_string(copy.peer));
    write_wait(copy.begin, copy.gate, 0);
    packets_.end_slice(copy.end);
  }

  void write_step(const StepSpan& step) {
    packets_.begin_slice(track(step.device, lanes_.step(step)), step.begin, step_name(step), words_.step);
    packets_.argument(words_.kind, std::string_view(to_string(step.kind)));
    packets_.argument(words_.bytes, step.bytes);
    if (step.contention != 0) packets_.argument(words_.contention, step.contention);
    if (step.waited_for_replica != 0) packets_.argument(words_.replica, step.waited_for_replica);
    write_wait(step.begin, step.gate, step.waited_for_replica);
    packets_.end_slice(step.end);
  }

  void write_extra_work() {
    if (part_.extra_work == nullptr) return;
    for (const std::int32_t index : in_running_order(part_.extra_work->items)) {
      const PlacedWork& item = at(part_.extra_work->items, index);
      std::string name = std::string(to_string(item.kind)) + " of stage " + std::to_string(item.stage);
      if (item.microbatch >= 0) name += ", microbatch " + std::to_string(item.microbatch);
      packets_.begin_slice(track(item.device, extra_work_thread(item.device, item.iteration)), item.begin, name,
                           words_.extra_work);
      packets_.argument(words_.stage, std::int64_t{item.stage});
      packets_.argument(words_.part, std::int64_t{item.part});
      packets_.argument(words_.step, std::int64_t{item.iteration});
      packets_.end_slice(item.end);
    }
  }

  void write_causes() {
    if (!causes_) return;
    for (const IdleGap& gap : causes_->gaps()) write_gap(gap);
    for (const CauseTracks::Stretch& stretch : causes_->path()) write_stretch(stretch);
  }

  void write_gap(const IdleGap& gap) {
    packets_.begin_slice(track(gap.device, lanes_.idle(gap.device)), gap.begin,
                         at(cause_names_, static_cast<int>(cause_of(gap))), words_.idle);
    const CauseTracks::GapEnd end = causes_->end_of(gap);
    if (end.step != nullptr) {
      packets_.argument(words_.before, step_name(*end.step));
      packets_.argument(words_.waited_for, gate_text(end.step->gate));
    } else if (end.span != nullptr) {
      packets_.argument(words_.before, text_of([&](TraceNames& names) { names.write_cell(*end.span); }));
      packets_.argument(words_.waited_for, gate_text(end.span->gate));
    } else {
      packets_.argument(words_.before, "the end of the step");
    }
    packets_.argument(words_.idle_time, gap.end - gap.begin);
    for (int i = 0; i < kIdleCauses; ++i) {
      if (at(gap.causes, i) != 0) packets_.argument(at(cause_keys_, i), at(gap.causes, i));
    }
    write_source();
    packets_.end_slice(gap.end);
  }

  void write_stretch(const CauseTracks::Stretch& stretch) {
    const Gate& thing = stretch.thing;
    const bool is_step = thing.kind == Gate::Kind::kStep;
    const std::string name = is_step
                                 ? step_name(at(timeline_.steps, thing.index))
                                 : std::string(text_of([&](TraceNames& names) { names.write_thing(thing, "wait"); }));
    packets_.begin_slice(path_track(), stretch.begin, name, words_.critical_path);
    switch (thing.kind) {
      case Gate::Kind::kStart:
        packets_.argument(words_.kind, words_.waits);
        break;
      case Gate::Kind::kSpan:
        write_place(words_.compute_kind, at(timeline_.spans, thing.index).device);
        break;
      case Gate::Kind::kTransfer: {
        const Transfer& transfer = at(timeline_.transfers, thing.index);
        packets_.argument(words_.kind, words_.transfer_kind);
        packets_.argument(words_.from_device, std::int64_t{transfer.from_device});
        packets_.argument(words_.to_device, std::int64_t{transfer.to_device});
        packets_.argument(words_.latency, transfer.latency);
        break;
      }
      case Gate::Kind::kCopy:
        write_place(words_.transfer_kind, at(timeline_.copies, thing.index).device);
        break;
      case Gate::Kind::kCollective:
        packets_.argument(words_.kind, words_.collective);
        break;
      case Gate::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, thing.index);
        write_place(step.lane == StepTask::Lane::kCompute ? words_.compute_kind : words_.collective, step.device);
        break;
      }
    }
    write_source();
    packets_.end_slice(stretch.end);
  }
  void write_place(InternedName& kind, std::int32_t device) {
    packets_.argument(words_.kind, kind);
    packets_.argument(words_.device, std::int64_t{device});
  }

  // The sum, and each category that is ever more than nothing.
  void write_memory() {
    for (std::size_t d = 0; d < memory_.size(); ++d) {
      const auto device = static_cast<std::int32_t>(d);
      write_curve(device, 0, "memory", [](const MemoryPoint& point) {
        return std::accumulate(point.bytes.begin(), point.bytes.end(), Bytes{0});
      });
      for (std::size_t c = 0; c < kMemoryCategories; ++c) {
        const auto of_category = [c](const MemoryPoint& point) { return point.bytes[c]; };
        if (std::none_of(memory_[d].begin(), memory_[d].end(), of_category)) continue;
        write_curve(device, c + 1, std::string("memory: ") + to_string(static_cast<MemoryCategory>(c)), of_category);
      }
    }
  }

  template <typename Value>
  void write_curve(std::int32_t device, std::size_t number, const std::string& name, const Value& value) {
    const std::vector<MemoryPoint>& curve = at(memory_, device);
    if (curve.empty()) return;
    packets_.add_counter(counter(device, number), process(device), name);
    std::optional<Bytes> last;
    for (const MemoryPoint& point : curve) {
      const Bytes bytes = value(point);
      if (last != bytes) packets_.count(counter(device, number), point.at, bytes);
      last = bytes;
    }
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const std::vector<std::vector<MemoryPoint>>& memory_;
  TracePart part_;
  PerfettoPackets packets_;
  TraceStream scratch_;
  TraceNames names_;
  std::string step_text_;
  TraceLanes lanes_;
  std::optional<CauseTracks> causes_;
  trace_detail::PerfettoWords words_;
  std::array<InternedName, kOpKinds> kinds_;
  std::array<std::string, kIdleCauses> cause_names_;
  std::array<std::string, kIdleCauses> cause_key_texts_;
  std::array<InternedName, kIdleCauses> cause_keys_;
  trace_detail::SpanArrows arrows_;
  std::size_t next_step_ = 0;
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
  const std::int64_t events =
      PerfettoWriter({&timeline, &schedule, &memory}, out, part).write(trace_facts(timeline, schedule, report, info));
  out.flush();
  return events;
}

void write_merged_perfetto_trace(const TracedRun& predicted, const TracedRun& measured, const std::string& facts,
                                 const TextSink& sink) {
  TextBuffer out(sink);
  const std::int32_t first_process = trace_detail::first_measured_process(predicted.timeline->devices);
  const auto arrows = static_cast<std::int64_t>(predicted.timeline->transfers.size()) + 1;
  (void)PerfettoWriter(predicted, out, {0, 1, "predicted ", 2, 0}).write(facts);
  (void)PerfettoWriter(measured, out, {first_process, arrows, "measured ", 2, 1}).write(facts);
  out.flush();
}

}  // namespace debubble
