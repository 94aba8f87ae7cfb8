// The events of a Chrome trace as text, piece by piece: what every kind of event is written with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/exporters/chrome_trace_stream.hpp"
#include "formats/json/json_text.hpp"
#include "sim/core/op_words.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble::trace_detail {

class TraceText {
 public:
  TraceText(const Schedule& schedule, TraceStream& stream, std::int32_t first_process)
      : out(stream.out), schedule_(schedule), first_(stream.first), first_process_(first_process) {}

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
  void write_cell(const Span& s, const Op* partner) {
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

  // Where microbatches are cut, the op's own number is that of a piece, and which part of its microbatch that is
  // comes next to it.
  void write_op_args(std::string_view prefix, const Op& op, std::string_view kind) {
    out << (prefix.empty() ? ",\"args\":{\"" : ",\"") << prefix << "stage\":" << op.stage << ",\"" << prefix
        << "microbatch\":" << op.microbatch / schedule_.pieces << ",\"" << prefix << "kind\":\"" << kind << "\"";
    if (schedule_.pieces == 1) return;
    out << ",\"" << prefix << "piece\":" << op.microbatch;
    if (schedule_.sliced) out << ",\"" << prefix << "slice\":" << op.microbatch % schedule_.pieces;
  }
  void write_op_args(std::string_view prefix, const Op& op) { write_op_args(prefix, op, word_of(op.kind)); }

  TextBuffer& out;

 private:
  const Schedule& schedule_;
  bool& first_;
  std::int32_t first_process_;
};

}  // namespace debubble::trace_detail
