// What each thing of a run says of itself in a trace: its name, category and arguments, in their order. Both formats
// write it, each with an `Out` of its own:
//
//     begin(place, from, to, category, name)    a slice; name() writes its name with the TraceNames given here
//     arrows(span)                              that leave or arrive at the slice just begun
//     arg(key, number | text | word)            text without characters that JSON escapes
//     named(key, name)                          a text that name() writes
//     time(key, nanoseconds)                    in the format's unit
//     end()
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "formats/exporters/chrome_trace_names.hpp"
#include "formats/exporters/trace_words.hpp"
#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

template <class Out>
class TraceSlices {
 public:
  using Place = typename Out::Place;

  // All of them must outlive it.
  TraceSlices(const Timeline& timeline, const Schedule& schedule, const std::optional<CauseTracks>& causes,
              TraceNames& names, TraceWords& words, Out& out)
      : timeline_(timeline), schedule_(schedule), causes_(causes), names_(names), words_(words), out_(out) {}

  void write_span(std::int32_t index, const Place& place) {
    const Span& span = at(timeline_.spans, index);
    begin(place, span, words_.compute, [&] { names_.write_cell(span); });
    out_.arrows(index);
    write_op(words_.op, span.op, kind_of(span.op));
    if (const Op* const partner = timeline_.partner(span)) write_op(words_.partner, *partner, kind_of(*partner));
    write_time_above_0(words_.beyond, timeline_.straggled(span));
    write_time_above_0(words_.slowed, timeline_.slowed(span));
    const bool first = index == at(timeline_.device_begin, span.device);
    write_wait(span.ready, span.gate, span.begin - (first ? 0 : at(timeline_.spans, index - 1).end));
    out_.end();
  }

  // One end of it; ready, and waiting, is the tensor.
  void write_transfer(const Transfer& transfer, bool sends, const Place& place) {
    begin(place, transfer, words_.transfer, [&] { names_.write_transfer_name(transfer, sends); });
    Op end = sends ? transfer.op : names_.user_of(transfer);  // the receiver's slice is that of the stage that receives
    end.kind = transfer.op.kind;
    write_op(words_.op, end, kind_of(end));
    out_.arg(words_.bytes, transfer.bytes);
    out_.arg(words_.from_device, std::int64_t{transfer.from_device});
    out_.arg(words_.to_device, std::int64_t{transfer.to_device});
    out_.time(words_.latency, transfer.latency);
    write_time_above_0(words_.contention, transfer.contention);
    const Nanoseconds ready = transfer.from_span < 0 ? transfer.begin : at(timeline_.spans, transfer.from_span).end;
    write_wait(ready, transfer.gate, transfer.begin - ready);
    out_.end();
  }

  void write_copy(const CopySpan& copy, const Place& place) {
    begin(place, copy, words_.copy, [&] { names_.write_copy_name(copy); });
    write_op(words_.op, copy.op, copy.way == Copy::Way::kOut ? words_.copy_out : words_.copy_back);
    out_.arg(words_.bytes, copy.bytes);
    out_.arg(words_.kept_on, copy.peer < 0 ? "host" : "device " + std::to_string(copy.peer));
    write_wait(copy.begin, copy.gate, 0);
    out_.end();
  }

  // A task of the training step, such as "all-reduce of stage 3's gradients".
  void write_step(const StepSpan& step, const Place& place) {
    begin(place, step, words_.step, [&] { names_.write_step_name(step); });
    out_.arg(words_.op.kind, std::string_view(to_string(step.kind)));
    out_.arg(words_.bytes, step.bytes);
    write_time_above_0(words_.contention, step.contention);
    write_time_above_0(words_.replica, step.waited_for_replica);
    write_wait(step.begin, step.gate, step.waited_for_replica);
    out_.end();
  }

  // "curvature A of stage 3, microbatch 5", "inverse B of stage 3"
  void write_extra_work(const PlacedWork& item, const Place& place) {
    begin(place, item, words_.extra_work, [&] {
      names_.out << to_string(item.kind) << " of stage " << item.stage;
      if (item.microbatch >= 0) names_.out << ", microbatch " << item.microbatch;
    });
    out_.arg(words_.op.stage, std::int64_t{item.stage});
    out_.arg(words_.part, std::int64_t{item.part});
    out_.arg(words_.step, std::int64_t{item.iteration});
    out_.end();
  }

  // Named by what caused most of it.
  void write_gap(const IdleGap& gap, const Place& place) {
    begin(place, gap, words_.idle, [&] { names_.out << words_of(cause_of(gap.causes)); });
    const CauseTracks::GapEnd end = causes_->end_of(gap);
    if (end.step == nullptr && end.span == nullptr) {
      out_.arg(words_.before, std::string_view("the end of the step"));
    } else {
      out_.named(words_.before,
                 [&] { end.step != nullptr ? names_.write_step_name(*end.step) : names_.write_cell(*end.span); });
      write_gate(end.step != nullptr ? end.step->gate : end.span->gate);
    }
    out_.arg(words_.idle_time, gap.end - gap.begin);
    for (int cause = 0; cause < kIdleCauses; ++cause) {
      if (at(gap.causes, cause) != 0) out_.arg(at(words_.causes, cause), at(gap.causes, cause));
    }
    write_source();
    out_.end();
  }

  // One thing on the critical path, or a wait.
  void write_stretch(const CauseTracks::Stretch& stretch, const Place& place) {
    begin(place, stretch, words_.critical_path, [&] { names_.write_thing(stretch.thing, "wait"); });
    write_path_args(stretch.thing);
    write_source();
    out_.end();
  }

 private:
  template <typename Thing, typename Name>
  void begin(const Place& place, const Thing& thing, InternedName& category, const Name& name) {
    out_.begin(place, thing.begin, thing.end, category, name);
  }

  [[nodiscard]] InternedName& kind_of(const Op& op) { return words_.kinds[to_index(op.kind)]; }

  // Where microbatches are cut, the op's own number is that of a piece, and which part of its microbatch that is
  // comes next to it.
  void write_op(TraceWords::OfOp& words, const Op& op, InternedName& kind) {
    out_.arg(words.stage, std::int64_t{op.stage});
    out_.arg(words.microbatch, std::int64_t{op.microbatch / schedule_.pieces});
    out_.arg(words.kind, kind);
    if (schedule_.pieces == 1) return;
    out_.arg(words.piece, std::int64_t{op.microbatch});
    if (schedule_.sliced) out_.arg(words.slice, std::int64_t{op.microbatch % schedule_.pieces});
  }

  void write_time_above_0(InternedName& key, Nanoseconds time) {
    if (time != 0) out_.time(key, time);
  }

  void write_gate(const Gate& gate) {
    out_.named(words_.waited_for, [&] { names_.write_gate(gate); });
  }

  // What the slice waited for last, and for how long its lane (of a transfer: its tensor) had been waiting.
  void write_wait(Nanoseconds ready, const Gate& gate, Nanoseconds waited) {
    out_.time(words_.ready, ready);
    write_gate(gate);
    out_.arg(words_.wait, waited);
    write_source();
  }

  void write_source() { out_.arg(words_.source, timeline_.measured ? words_.measured : words_.modelled); }

  void write_path_args(const Gate& thing) {
    switch (thing.kind) {
      case Gate::Kind::kStart:
        return out_.arg(words_.op.kind, words_.waits);
      case Gate::Kind::kSpan:
        return write_device(words_.compute_kind, at(timeline_.spans, thing.index).device);
      case Gate::Kind::kTransfer: {
        const Transfer& transfer = at(timeline_.transfers, thing.index);
        out_.arg(words_.op.kind, words_.transfer_kind);
        out_.arg(words_.from_device, std::int64_t{transfer.from_device});
        out_.arg(words_.to_device, std::int64_t{transfer.to_device});
        return out_.arg(words_.latency, transfer.latency);
      }
      case Gate::Kind::kCopy:
        return write_device(words_.transfer_kind, at(timeline_.copies, thing.index).device);
      case Gate::Kind::kCollective:
        return out_.arg(words_.op.kind, words_.collective);
      case Gate::Kind::kStep: {
        const StepSpan& step = at(timeline_.steps, thing.index);
        const bool computes = step.lane == StepTask::Lane::kCompute;
        return write_device(computes ? words_.compute_kind : words_.collective, step.device);
      }
    }
  }

  void write_device(InternedName& kind, std::int32_t device) {
    out_.arg(words_.op.kind, kind);
    out_.arg(words_.device, std::int64_t{device});
  }

  const Timeline& timeline_;
  const Schedule& schedule_;
  const std::optional<CauseTracks>& causes_;
  TraceNames& names_;
  TraceWords& words_;
  Out& out_;
};

}  // namespace debubble::trace_detail
