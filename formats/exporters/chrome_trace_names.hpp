// The events of a Chrome trace as text, piece by piece, and what the things of a run are called in it: ops, transfers,
// copies, tasks of the step, and what one waited for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/json/json_text.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble::trace_detail {

class TraceNames {
 public:
  // `quoted`: names are written within quotes of JSON.
  TraceNames(const Timeline& timeline, const Schedule& schedule, TraceStream& stream, std::int32_t first_process,
             bool quoted = true)
      : out(stream.out),
        timeline_(timeline),
        schedule_(schedule),
        first_(stream.first),
        first_process_(first_process),
        quoted_(quoted) {}

  [[nodiscard]] std::int64_t process(std::int32_t device) const { return std::int64_t{first_process_} + device; }

  void next_line() {
    out << (first_ ? "\n" : ",\n");
    first_ = false;
  }

  TextBuffer& open_metadata(std::string_view name, std::int32_t device) {
    next_line();
    return out << "{\"name\":\"" << name << "\",\"ph\":\"M\",\"pid\":" << process(device);
  }

  // Closes the event and its args.
  void close_event() {
    out << "}}";
    out.end_record();
  }

  void write_time(std::string_view key, Nanoseconds time) {
    out << ",\"" << key << "\":";
    append_microseconds(out.text(), time);
  }

  void open_event(std::string_view phase, std::int32_t device, std::int64_t thread, Nanoseconds begin) {
    out << "\",\"ph\":\"" << phase << "\",\"pid\":" << process(device) << ",\"tid\":" << thread;
    write_time("ts", begin);
  }

  void write_op(const Op& op) { out << op.stage << std::string(1, letter(op.kind)) << op.microbatch; }

  // A late recomputation and its backward run one after the other, though as one cell: they do not overlap.
  void write_cell(const Span& s) {
    const Op* const partner = timeline_.partner(s);
    out << "PP:";
    if (partner == nullptr) return write_op(s.op);
    const bool in_turn =
        s.op.kind == OpKind::kRecompute && s.op.stage == partner->stage && s.op.microbatch == partner->microbatch;
    if (!in_turn) out << "(";
    write_op(s.op);
    out << ";";
    write_op(*partner);
    if (!in_turn) out << ")OVERLAP_F_B";
  }

  void write_copy_name(const CopySpan& copy) {
    out << (copy.way == Copy::Way::kOut ? "OFFLOAD " : "RELOAD ");
    write_op(copy.op);
  }

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

  void write_step_name(const StepSpan& s) {
    const std::string plain = s.what.empty() ? to_string(s.kind) : s.what;
    if (!quoted_) {
      out << plain;
      return;
    }
    std::string name;
    append_json_string(name, plain);
    out << std::string_view(name).substr(1, name.size() - 2);
  }

  // `none` for what is not a thing: the start, a wait.
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

  // What something waited for last, and where that was.
  void write_gate(const Gate& gate) {
    write_thing(gate, "start");
    if (gate.index < 0) return;
    const auto index = static_cast<std::size_t>(gate.index);
    if (gate.kind == Gate::Kind::kSpan) out << " on device " << timeline_.spans[index].device;
    if (gate.kind == Gate::Kind::kTransfer) out << " from device " << timeline_.transfers[index].from_device;
  }

  TextBuffer& out;

 private:
  const Timeline& timeline_;
  const Schedule& schedule_;
  bool& first_;
  std::int32_t first_process_;
  bool quoted_;
};

}  // namespace debubble::trace_detail
