#include "formats/exporters/perfetto_slices.hpp"

#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/exporters/chrome_trace_causes.hpp"
#include "sim/core/op_words.hpp"

namespace debubble::trace_detail {

PerfettoSlices::PerfettoSlices(TextBuffer& out, const Schedule& schedule, const TracePart& part, bool measured)
    : schedule_(schedule),
      first_process_(part.first_process),
      part_(part.part),
      label_(part.label),
      causes_(part.causes),
      measured_(measured),
      packets_(out, static_cast<std::uint32_t>(part.part) + 1),
      scratch_([](std::string_view) {}),
      text_(schedule, scratch_, 0),
      names_(nothing_, schedule, scratch_, 0),
      lanes_(to_index(schedule.devices)),
      levels_(to_index(schedule.devices)) {
  for (int kind = 0; kind < kOpKinds; ++kind) debubble::at(kinds_, kind).text = word_of(static_cast<OpKind>(kind));
  for (int cause = 0; cause < kIdleCauses; ++cause) {
    debubble::at(cause_names_, cause) = words_of(static_cast<IdleCause>(cause));
    debubble::at(cause_key_texts_, cause) = to_string(static_cast<IdleCause>(cause)) + std::string("_ns");
    debubble::at(cause_keys_, cause).text = debubble::at(cause_key_texts_, cause);
  }
}

void PerfettoSlices::write_head(const std::string& facts) {
  packets_.add_track(facts_track(), 0, label_ + "run", -2);
  if (causes_) packets_.add_track(path_track(), 0, label_ + "critical path", -1);
  for (std::int32_t device = 0; device < schedule_.devices; ++device) {
    packets_.add_process(process(device), pid(device), label_ + process_name(schedule_.placement, device));
    add_lane(device, SliceOrder::kCompute, 0, "compute");
    if (causes_) add_lane(device, SliceOrder::kIdle, 0, "idle");
  }
  write_facts(facts);
}

void PerfettoSlices::add_lane(std::int32_t device, SliceOrder::Group group, std::int64_t lane, std::string_view name) {
  constexpr std::int64_t kMostLanes = 1'000'000;
  packets_.add_track(track(device, group, lane), process(device), name, group * kMostLanes + lane);
}

void PerfettoSlices::write_facts(const std::string& facts) {
  packets_.begin_point(facts_track(), 0, "facts", words_.facts);
  const nlohmann::ordered_json all = nlohmann::ordered_json::parse(facts);
  for (const auto& [key, value] : all.items()) {
    InternedName name{key};
    packets_.argument(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  packets_.end_point();
}

std::string_view PerfettoSlices::cell_name(const Op& op, const Op* partner) {
  scratch_.out.text().clear();
  Span span;
  span.op = op;
  text_.write_cell(span, partner);
  return scratch_.out.text();
}

std::string_view PerfettoSlices::transfer_name(const Transfer& transfer) {
  scratch_.out.text().clear();
  names_.write_transfer_name(transfer, true);
  return scratch_.out.text();
}

std::uint64_t PerfettoSlices::arrow(const Op& op, std::int32_t to_device) const {
  const auto number = static_cast<std::uint64_t>(op.stage) * static_cast<std::uint64_t>(schedule_.total_pieces()) +
                      static_cast<std::uint64_t>(op.microbatch);
  const OpKind kind = makes_input_gradient(op.kind) ? OpKind::kBackward : op.kind;
  const std::uint64_t of_op = number * kOpKinds + static_cast<std::uint64_t>(kind);
  const std::uint64_t of_arrow =
      of_op * static_cast<std::uint64_t>(schedule_.devices) + static_cast<std::uint64_t>(to_device);
  return (static_cast<std::uint64_t>(part_) << 62U) + of_arrow + 1;
}

void PerfettoSlices::write_op(const Op& op, InternedName& kind) {
  packets_.argument(words_.stage, std::int64_t{op.stage});
  packets_.argument(words_.microbatch, std::int64_t{op.microbatch / schedule_.pieces});
  packets_.argument(words_.kind, kind);
  if (schedule_.pieces == 1) return;
  packets_.argument(words_.piece, std::int64_t{op.microbatch});
  if (schedule_.sliced) packets_.argument(words_.slice, std::int64_t{op.microbatch % schedule_.pieces});
}

void PerfettoSlices::write_wait(Nanoseconds ready, std::string_view waited_for, Nanoseconds waited) {
  packets_.argument(words_.ready, ready);
  packets_.argument(words_.waited_for, waited_for);
  packets_.argument(words_.wait, waited);
  write_source();
}

void PerfettoSlices::write_cell(const Cell& cell) {
  packets_.begin_slice(track(cell.device, SliceOrder::kCompute, 0), cell.begin, cell_name(cell.op, cell.partner),
                       words_.compute);
  for (const std::uint64_t arrow : *cell.leaving) packets_.arrow_from_here(arrow);
  for (const std::uint64_t arrow : *cell.arriving) packets_.arrow_to_here(arrow);
  write_op(cell.op, kind_of(cell.op));
  if (cell.partner != nullptr) {
    packets_.argument(words_.partner_stage, std::int64_t{cell.partner->stage});
    packets_.argument(words_.partner_microbatch, std::int64_t{cell.partner->microbatch / schedule_.pieces});
    packets_.argument(words_.partner_kind, kind_of(*cell.partner));
  }
  if (cell.straggled != 0) packets_.argument(words_.beyond, cell.straggled);
  if (cell.slowed != 0) packets_.argument(words_.slowed, cell.slowed);
  write_wait(cell.ready, cell.waited_for, cell.wait);
  packets_.end_slice(cell.end);
}

std::uint64_t PerfettoSlices::transfer_track(std::int32_t device, bool sends, const Transfer& transfer) {
  FirstFit& lanes = debubble::at(lanes_, device)[sends ? 0 : 1];
  const SliceOrder::Group group = sends ? SliceOrder::kSend : SliceOrder::kReceive;
  const std::int32_t known = lanes.lanes();
  const std::int32_t lane = lanes.place(transfer);
  if (lane == known) {
    const std::string name = sends ? "send" : "recv";
    add_lane(device, group, lane, lane == 0 ? name : name + " " + std::to_string(lane + 1));
  }
  return track(device, group, lane);
}

void PerfettoSlices::write_transfer(const Transfer& transfer, bool sends, Nanoseconds ready,
                                    std::string_view waited_for) {
  const std::uint64_t lane = transfer_track(sends ? transfer.from_device : transfer.to_device, sends, transfer);
  scratch_.out.text().clear();
  names_.write_transfer_name(transfer, sends);
  packets_.begin_slice(lane, transfer.begin, scratch_.out.text(), words_.transfer);
  Op end = sends ? transfer.op : names_.user_of(transfer);
  end.kind = transfer.op.kind;
  write_op(end, kind_of(end));
  packets_.argument(words_.bytes, transfer.bytes);
  packets_.argument(words_.from_device, std::int64_t{transfer.from_device});
  packets_.argument(words_.to_device, std::int64_t{transfer.to_device});
  packets_.argument(words_.latency, transfer.latency);
  if (transfer.contention != 0) packets_.argument(words_.contention, transfer.contention);
  write_wait(ready, waited_for, transfer.begin - ready);
  packets_.end_slice(transfer.end);
}

void PerfettoSlices::write_gap(const Gap& gap) {
  packets_.begin_slice(track(gap.device, SliceOrder::kIdle, 0), gap.begin,
                       debubble::at(cause_names_, static_cast<int>(cause_of(*gap.causes))), words_.idle);
  packets_.argument(words_.before, gap.before.empty() ? std::string_view("the end of the step") : gap.before);
  if (!gap.before.empty()) packets_.argument(words_.waited_for, gap.waited_for);
  packets_.argument(words_.idle_time, gap.end - gap.begin);
  for (int i = 0; i < kIdleCauses; ++i) {
    if (debubble::at(*gap.causes, i) != 0)
      packets_.argument(debubble::at(cause_keys_, i), debubble::at(*gap.causes, i));
  }
  write_source();
  packets_.end_slice(gap.end);
}

// The sum, and from when it is first more than nothing each category, which until then was nothing.
void PerfettoSlices::write_level(std::int32_t device, Nanoseconds at, const BytesByCategory& bytes) {
  Levels& levels = debubble::at(levels_, device);
  const Bytes total = std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
  if (!levels.begun) {
    packets_.add_counter(counter(device, 0), process(device), "memory");
    levels.first = at;
  }
  if (!levels.begun || total != levels.total) packets_.count(counter(device, 0), at, total);
  levels.begun = true;
  levels.total = total;
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    if (bytes[c] == levels.bytes[c]) continue;
    if (!levels.shown[c]) {
      packets_.add_counter(counter(device, c + 1), process(device),
                           std::string("memory: ") + to_string(static_cast<MemoryCategory>(c)));
      if (at > levels.first) packets_.count(counter(device, c + 1), levels.first, 0);
    }
    levels.shown[c] = true;
    packets_.count(counter(device, c + 1), at, bytes[c]);
  }
  levels.bytes = bytes;
}

void PerfettoSlices::open_stretch(Nanoseconds begin, std::string_view name) {
  packets_.begin_slice(path_track(), begin, name, words_.critical_path);
}

void PerfettoSlices::write_transfer_place(const Transfer& transfer) {
  packets_.argument(words_.kind, words_.transfer_kind);
  packets_.argument(words_.from_device, std::int64_t{transfer.from_device});
  packets_.argument(words_.to_device, std::int64_t{transfer.to_device});
  packets_.argument(words_.latency, transfer.latency);
}

void PerfettoSlices::write_device_place(InternedName& kind, std::int32_t device) {
  packets_.argument(words_.kind, kind);
  packets_.argument(words_.device, std::int64_t{device});
}

void PerfettoSlices::close_stretch(Nanoseconds end) {
  write_source();
  packets_.end_slice(end);
}

}  // namespace debubble::trace_detail
