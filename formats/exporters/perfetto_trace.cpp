#include "formats/exporters/perfetto_trace.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "formats/exporters/chrome_trace_facts.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/exporters/perfetto_arrows.hpp"
#include "formats/exporters/perfetto_slices.hpp"
#include "formats/exporters/perfetto_sources.hpp"
#include "sim/core/at.hpp"

namespace debubble {
namespace {

using trace_detail::CauseTracks;
using trace_detail::InternedName;
using trace_detail::PerfettoPackets;
using trace_detail::PerfettoSlices;
using trace_detail::PerfettoWords;
using trace_detail::SliceOrder;
using trace_detail::TraceNames;
using trace_detail::TracePart;
using trace_detail::TraceStream;
using trace_detail::TrackSource;
using trace_detail::TrackSources;

class PerfettoWriter {
 public:
  PerfettoWriter(const TracedRun& run, TextBuffer& out, TracePart part)
      : timeline_(*run.timeline),
        schedule_(*run.schedule),
        memory_(*run.memory),
        part_(std::move(part)),
        slices_(out, schedule_, part_, timeline_.measured),
        packets_(slices_.packets()),
        words_(slices_.words()),
        scratch_([](std::string_view) {}),
        names_(timeline_, schedule_, scratch_, 0),
        arrows_(timeline_) {
    if (part_.causes) causes_.emplace(timeline_);
  }

  std::int64_t write(const std::string& facts) {
    slices_.write_head(facts);
    add_lanes();
    TrackSources(timeline_, memory_, part_.extra_work, causes_ ? &*causes_ : nullptr)
        .pass([&](const TrackSource& source) { write_next(source); });
    return packets_.events();
  }

 private:
  using Things = TrackSource::Things;

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

  // Those that no run without spans has.
  void add_lanes() {
    const std::vector<std::string> copies = copy_lanes(timeline_);
    const std::vector<bool> collectives = collective_lanes(timeline_);
    for (std::int32_t device = 0; device < timeline_.devices; ++device) {
      if (!at(copies, device).empty()) slices_.add_lane(device, SliceOrder::kCopy, 0, at(copies, device));
      if (at(collectives, device)) slices_.add_lane(device, SliceOrder::kCollective, 0, "collective");
      const std::int32_t steps = part_.extra_work == nullptr ? 0 : part_.extra_work->iterations;
      for (std::int32_t step = 0; step < steps; ++step) {
        slices_.add_lane(device, SliceOrder::kExtraWork, step,
                         "extra work, step " + std::to_string(step + 1) + " of " + std::to_string(steps));
      }
    }
  }

  void write_next(const TrackSource& source) {
    const std::int32_t index = source.index();
    const std::int32_t device = source.next.device;
    switch (source.things) {
      case Things::kSpans:
        return write_span(index, index == at(timeline_.device_begin, device));
      case Things::kLaneSteps:
      case Things::kSteps:
        return write_step(at(timeline_.steps, index));
      case Things::kGaps:
        return write_gap(at(causes_->gaps(), index));
      case Things::kTransfers:
        return write_transfer(at(timeline_.transfers, index), source.next.group == SliceOrder::kSend);
      case Things::kCopies:
        return write_copy(at(timeline_.copies, index));
      case Things::kExtraWork:
        return write_extra_work(at(part_.extra_work->items, index));
      case Things::kPath:
        return write_stretch(at(causes_->path(), index));
      case Things::kLevels: {
        const MemoryPoint& point = at(at(memory_, device), index);
        return slices_.write_level(device, point.at, point.bytes);
      }
    }
  }

  void write_span(std::int32_t index, bool first) {
    const Span& span = at(timeline_.spans, index);
    PerfettoSlices::Cell cell;
    cell.op = span.op;
    cell.partner = timeline_.partner(span);
    cell.device = span.device;
    cell.begin = span.begin;
    cell.end = span.end;
    cell.ready = span.ready;
    cell.wait = span.begin - (first ? 0 : at(timeline_.spans, index - 1).end);
    cell.straggled = timeline_.straggled(span);
    cell.slowed = timeline_.slowed(span);
    cell.waited_for = gate_text(span.gate);
    leaving_.clear();
    arriving_.clear();
    arrows_.pass(index, [&](std::int32_t number, bool leaves) {
      const Transfer& transfer = at(timeline_.transfers, number);
      (leaves ? leaving_ : arriving_).push_back(slices_.arrow(transfer.op, transfer.to_device));
    });
    std::sort(leaving_.begin(), leaving_.end());
    std::sort(arriving_.begin(), arriving_.end());
    cell.leaving = &leaving_;
    cell.arriving = &arriving_;
    slices_.write_cell(cell);
  }

  void write_transfer(const Transfer& t, bool sends) {
    const Nanoseconds ready = t.from_span < 0 ? t.begin : at(timeline_.spans, t.from_span).end;
    slices_.write_transfer(t, sends, ready, gate_text(t.gate));
  }

  void write_copy(const CopySpan& copy) {
    packets_.begin_slice(slices_.track(copy.device, SliceOrder::kCopy, 0), copy.begin,
                         text_of([&](TraceNames& names) { names.write_copy_name(copy); }), words_.copy);
    slices_.write_op(copy.op, copy.way == Copy::Way::kOut ? words_.copy_out : words_.copy_back);
    packets_.argument(words_.bytes, copy.bytes);
    packets_.argument(words_.kept_on, copy.peer < 0 ? "host" : "device " + std::to_string(copy.peer));
    slices_.write_wait(copy.begin, gate_text(copy.gate), 0);
    packets_.end_slice(copy.end);
  }

  void write_step(const StepSpan& step) {
    const bool computes = step.lane == StepTask::Lane::kCompute;
    packets_.begin_slice(slices_.track(step.device, computes ? SliceOrder::kCompute : SliceOrder::kCollective, 0),
                         step.begin, step_name(step), words_.step);
    packets_.argument(words_.kind, std::string_view(to_string(step.kind)));
    packets_.argument(words_.bytes, step.bytes);
    if (step.contention != 0) packets_.argument(words_.contention, step.contention);
    if (step.waited_for_replica != 0) packets_.argument(words_.replica, step.waited_for_replica);
    slices_.write_wait(step.begin, gate_text(step.gate), step.waited_for_replica);
    packets_.end_slice(step.end);
  }

  void write_extra_work(const PlacedWork& item) {
    std::string name = std::string(to_string(item.kind)) + " of stage " + std::to_string(item.stage);
    if (item.microbatch >= 0) name += ", microbatch " + std::to_string(item.microbatch);
    packets_.begin_slice(slices_.track(item.device, SliceOrder::kExtraWork, item.iteration), item.begin, name,
                         words_.extra_work);
    packets_.argument(words_.stage, std::int64_t{item.stage});
    packets_.argument(words_.part, std::int64_t{item.part});
    packets_.argument(words_.step, std::int64_t{item.iteration});
    packets_.end_slice(item.end);
  }

  void write_gap(const IdleGap& gap) {
    PerfettoSlices::Gap written{gap.device, gap.begin, gap.end, {}, {}, &gap.causes};
    const CauseTracks::GapEnd end = causes_->end_of(gap);
    if (end.step != nullptr || end.span != nullptr) {
      before_ = end.step != nullptr ? step_name(*end.step)
                                    : std::string(text_of([&](TraceNames& names) { names.write_cell(*end.span); }));
      written.before = before_;
      written.waited_for = gate_text(end.step != nullptr ? end.step->gate : end.span->gate);
    }
    slices_.write_gap(written);
  }

  void write_stretch(const CauseTracks::Stretch& stretch) {
    const Gate& thing = stretch.thing;
    if (thing.kind == Gate::Kind::kStep) {
      slices_.open_stretch(stretch.begin, step_name(at(timeline_.steps, thing.index)));
    } else {
      slices_.open_stretch(stretch.begin, text_of([&](TraceNames& names) { names.write_thing(thing, "wait"); }));
    }
    write_place(thing);
    slices_.close_stretch(stretch.end);
  }

  void write_place(const Gate& thing) {
    switch (thing.kind) {
      case Gate::Kind::kStart:
        packets_.argument(words_.kind, words_.waits);
        break;
      case Gate::Kind::kSpan:
        slices_.write_device_place(words_.compute_kind, at(timeline_.spans, thing.index).device);
        break;
      case Gate::Kind::kTransfer:
        slices_.write_transfer_place(at(timeline_.transfers, thing.index));
        break;
      case Gate::Kind::kCopy:
        slices_.write_device_place(words_.transfer_kind, at(timeline_.copies, thing.index).device);
        break;
      case Gate::Kind::kCollective:
        packets_.argument(words_.kind, words_.collective);
        break;
      case Gate::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, thing.index);
        slices_.write_device_place(step.lane == StepTask::Lane::kCompute ? words_.compute_kind : words_.collective,
                                   step.device);
        break;
      }
    }
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const std::vector<std::vector<MemoryPoint>>& memory_;
  TracePart part_;
  PerfettoSlices slices_;
  PerfettoPackets& packets_;
  PerfettoWords& words_;
  TraceStream scratch_;
  TraceNames names_;
  std::string step_text_;
  std::string before_;
  std::optional<CauseTracks> causes_;
  trace_detail::SpanArrows arrows_;
  std::vector<std::uint64_t> leaving_;
  std::vector<std::uint64_t> arriving_;
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
