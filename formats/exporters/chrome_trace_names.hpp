// What the things of a run are called in its trace: ops, transfers, copies, tasks of the step, and what one waited for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/exporters/chrome_trace_text.hpp"
#include "formats/json/json_text.hpp"
#include "sim/core/op_words.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::trace_detail {

class TraceNames : public TraceText {
 public:
  TraceNames(const Timeline& timeline, const Schedule& schedule, TraceStream& stream, std::int32_t first_process)
      : TraceText(schedule, stream, first_process), timeline_(timeline), schedule_(schedule) {}

  // `span` is one of the timeline's.
  void write_cell(const Span& span) { TraceText::write_cell(span, timeline_.partner(span)); }

  // The op on the other end: of the stage after or before it, or a device's shard of the vocabulary.
  [[nodiscard]] Op user_of(const Transfer& t) const {
    Op user = t.op;
    if (t.op.kind != OpKind::kForward) {
      --user.stage;
    } else if (++user.stage == schedule_.stages) {
      user.kind = OpKind::kVocabularyLogits;
      user.stage = t.to_device;
    }
    return user;
  }

  void write_transfer_name(const Transfer& t, bool sends) {
    const std::int32_t stage = sends ? t.op.stage : user_of(t).stage;
    const char* what = t.op.kind == OpKind::kForward ? "F" : "B";
    out << "PP:" << stage << (sends ? "SEND_" : "RECV_") << what << t.op.microbatch;
  }

  // Within quotes.
  void write_step_name(const StepSpan& s) {
    std::string name;
    append_json_string(name, s.what.empty() ? to_string(s.kind) : s.what);
    out << std::string_view(name).substr(1, name.size() - 2);
  }

  // Within quotes; `none` for what is not a thing: the start, a wait.
  void write_thing(const Gate& thing, std::string_view none) {
    const auto index = static_cast<std::size_t>(std::max(thing.index, 0));
    switch (thing.index < 0 ? Gate::Kind::kStart : thing.kind) {
      case Gate::Kind::kStart:
        out << none;
        break;
      case Gate::Kind::kSpan:
        write_cell(timeline_.spans[index]);
        break;
      case Gate::Kind::kTransfer:
        write_transfer_name(timeline_.transfers[index], true);
        break;
      case Gate::Kind::kCopy:
        write_copy_name(timeline_.copies[index]);
        break;
      case Gate::Kind::kCollective:
        out << "the barrier after " << std::string(1, letter(timeline_.collectives[index].kind)) << " of microbatch "
            << timeline_.collectives[index].microbatch;
        break;
      case Gate::Kind::kStep:
        write_step_name(timeline_.steps[index]);
        break;
    }
  }

  // What something waited for last, and where that was. Within quotes.
  void write_gate(const Gate& gate) {
    write_thing(gate, "start");
    if (gate.index < 0) return;
    const auto index = static_cast<std::size_t>(gate.index);
    if (gate.kind == Gate::Kind::kSpan) out << " on device " << timeline_.spans[index].device;
    if (gate.kind == Gate::Kind::kTransfer) out << " from device " << timeline_.transfers[index].from_device;
  }

  void write_source() { out << ",\"source\":\"" << (timeline_.measured ? "measured" : "modelled") << "\""; }

 private:
  const Timeline& timeline_;
  const Schedule& schedule_;
};

}  // namespace debubble::trace_detail
