#include "studies/simulate/streamed_trace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/exporters/chrome_trace_facts.hpp"
#include "formats/exporters/chrome_trace_lanes.hpp"
#include "formats/exporters/perfetto_slices.hpp"
#include "sim/core/at.hpp"
#include "sim/engine/row_stream.hpp"
#include "studies/simulate/brief_analysis.hpp"
#include "studies/simulate/local_inputs.hpp"
#include "studies/simulate/path_finder.hpp"
#include "studies/simulate/streamed_items.hpp"

namespace debubble {

namespace {

using trace_detail::PerfettoSlices;
using trace_detail::SliceOrder;

constexpr Nanoseconds kAfterAll = std::numeric_limits<Nanoseconds>::max();

[[noreturn]] void throw_not_complete() {
  throw std::logic_error("write_streamed_trace: rows that do not come to their end");
}

// Writes what has gone by, in order, as soon as nothing can come before it.
class StreamedTraceWriter : public RunObserver {
 public:
  StreamedTraceWriter(const Job& job, const RowStream& stream, Nanoseconds makespan, const std::vector<bool>* path,
                      PerfettoSlices& slices)
      : job_(job),
        stream_(stream),
        makespan_(makespan),
        path_(path),
        slices_(slices),
        inputs_(job.schedule),
        last_(job.schedule.rows.size()),
        levels_(job.schedule.rows.size()) {
    for (const TransferTime& transfer : stream.tables().channels) longest_ = std::max(longest_, transfer.total());
    if (path_ == nullptr) return;
    for (std::size_t device = 0; device < job.schedule.rows.size(); ++device) {
      if (job.schedule.rows[device].empty()) add_last_gap(static_cast<std::int32_t>(device), 0);
    }
  }

  void cell(const ExplainedCell& explained) override {
    const StreamedCell& cell = *explained.cell;
    CellItem item;
    item.cell = {cell.op, cell.partner, cell.paired, cell.device};
    item.gate = gate_of(explained);
    item.wait = cell.begin - explained.idle_from;
    for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
      const Op& op = member == 0 ? cell.op : cell.partner;
      item.ready = std::max(item.ready, inputs_.take(op));
      if (const StreamedTensor& in = cell.in[member]; in.maker >= 0) {
        item.ready = std::max(item.ready, in.sent + at(stream_.tables().channels, in.channel).total());
        item.arriving[member] = slices_.arrow(made_for(op), cell.device);
      }
      if (const StreamedTensor& out = cell.out[member]; out.channel >= 0) {
        item.leaving[member] = slices_.arrow(op, channel(out).to_device);
        add_transfer(op, out, item.cell);
      }
    }
    for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
      inputs_.put(member == 0 ? cell.op : cell.partner, cell.end);
    }
    if (path_ != nullptr) add_causes(explained, item);
    add({cell.begin, cell.device, SliceOrder::kCompute, cell.end}, item);
    at(last_, cell.device) = item.cell;
  }

  // The level of a time is known once a later one comes, or none of that time can come any more.
  void level(std::int32_t device, Nanoseconds at_time, const BytesByCategory& bytes) override {
    Level& level = at(levels_, device);
    if (level.begun && level.bytes == bytes) return;
    if (level.begun && level.at != at_time) add_level(device);
    level = {true, false, at_time, bytes};
  }

  // A transfer on the critical path is known when the cell goes by that takes it.
  void nothing_before(Nanoseconds time) override {
    for (std::size_t device = 0; device < levels_.size(); ++device) {
      if (levels_[device].at < time) add_level(static_cast<std::int32_t>(device));
    }
    write_until(time - longest_);
  }

  void finish() {
    nothing_before(kAfterAll);
    write_until(kAfterAll);
  }

 private:
  struct Level {
    bool begun = false;
    bool added = false;
    Nanoseconds at = 0;
    BytesByCategory bytes{};
  };
  struct Waiting {
    SliceOrder order;
    std::uint64_t number = 0;  // in the order in which they came
    std::size_t item = 0;
  };

  [[nodiscard]] const Program::Channel& channel(const StreamedTensor& tensor) const {
    return at(stream_.program().channels, tensor.channel);
  }

  // The op whose output `user` takes from another device. Whether B or I made a gradient shows nowhere.
  static Op made_for(const Op& user) {
    Op made = user;
    made.kind = user.kind == OpKind::kForward ? OpKind::kForward : OpKind::kBackward;
    made.stage += user.kind == OpKind::kForward ? -1 : 1;
    return made;
  }

  [[nodiscard]] NamedGate gate_of(const ExplainedCell& explained) const {
    const StreamedCell& cell = *explained.cell;
    if (explained.member < 0) {
      if (explained.first) return {};
      return {NamedGate::Kind::kCell, at(last_, cell.device)};
    }
    const Op& user = explained.member == 0 ? cell.op : cell.partner;
    const std::int32_t from = channel(at(cell.in, explained.member)).from_device;
    return {NamedGate::Kind::kTransfer, {made_for(user), {}, false, from}};
  }

  void add_transfer(const Op& op, const StreamedTensor& out, const NamedCell& maker) {
    const TransferTime& time = at(stream_.tables().channels, out.channel);
    if (time.total() == 0) return;
    TransferItem item;
    item.transfer.op = op;
    item.transfer.from_device = channel(out).from_device;
    item.transfer.to_device = channel(out).to_device;
    item.transfer.begin = out.sent;
    item.transfer.end = out.sent + time.total();
    item.transfer.latency = time.latency;
    item.transfer.bytes = at(stream_.tables().channel_bytes, out.channel);
    item.maker = maker;
    item.sends = true;
    add({item.transfer.begin, item.transfer.from_device, SliceOrder::kSend, item.transfer.end}, item);
    item.sends = false;
    add({item.transfer.begin, item.transfer.to_device, SliceOrder::kReceive, item.transfer.end}, item);
  }

  void add_causes(const ExplainedCell& explained, const CellItem& item) {
    const StreamedCell& cell = *explained.cell;
    if (cell.begin > explained.idle_from) {
      add({explained.idle_from, cell.device, SliceOrder::kIdle, cell.begin},
          GapItem{item.cell, item.gate, explained.causes});
    }
    if (explained.last) add_last_gap(cell.device, cell.end);
    if (!(*path_)[to_index(cell.number)]) return;
    const std::int32_t as_device = job_.schedule.devices;
    if (explained.member >= 0) {
      const StreamedTensor& in = at(cell.in, explained.member);
      StretchItem stretch;
      stretch.transfer.op = item.gate.cell.op;
      stretch.transfer.from_device = channel(in).from_device;
      stretch.transfer.to_device = cell.device;
      stretch.transfer.latency = at(stream_.tables().channels, in.channel).latency;
      if (in.sent < cell.begin) add({in.sent, as_device, SliceOrder::kCompute, cell.begin}, stretch);
    }
    if (cell.begin < cell.end) {
      add({cell.begin, as_device, SliceOrder::kCompute, cell.end}, StretchItem{item.cell, {}});
    }
  }

  // Without contention and stragglers nothing after a device's last work is anybody's fault.
  void add_last_gap(std::int32_t device, Nanoseconds from) {
    if (from >= makespan_) return;
    GapItem gap;
    at(gap.causes, static_cast<int>(IdleCause::kDrain)) = makespan_ - from;
    add({from, device, SliceOrder::kIdle, makespan_}, gap);
  }

  void add_level(std::int32_t device) {
    Level& level = at(levels_, device);
    if (!level.begun || std::exchange(level.added, true)) return;
    add({level.at, device, SliceOrder::kMemory, level.at}, LevelItem{level.bytes});
  }

  void add(const SliceOrder& order, const TraceItem& item) {
    std::size_t place = items_.size();
    if (unused_.empty()) {
      items_.push_back(item);
    } else {
      place = unused_.back();
      unused_.pop_back();
      items_[place] = item;
    }
    waiting_.push_back({order, next_number_++, place});
  }

  [[nodiscard]] bool comes_first(const Waiting& a, const Waiting& b) const {
    if (a.order.begin != b.order.begin) return a.order.begin < b.order.begin;  // as a rule
    if (a.order < b.order) return true;
    if (b.order < a.order) return false;
    const auto* first = std::get_if<TransferItem>(&items_[a.item]);
    const auto* second = std::get_if<TransferItem>(&items_[b.item]);
    if (first != nullptr && second != nullptr) {
      const auto one = transfer_key(first->transfer);
      const auto other = transfer_key(second->transfer);
      if (one != other) return one < other;
    }
    return a.number < b.number;
  }

  void write_until(Nanoseconds time) {
    const auto rest = std::partition(waiting_.begin(), waiting_.end(),
                                     [&](const Waiting& waiting) { return waiting.order.begin < time; });
    std::sort(waiting_.begin(), rest, [&](const Waiting& a, const Waiting& b) { return comes_first(a, b); });
    for (auto waiting = waiting_.begin(); waiting != rest; ++waiting) {
      const SliceOrder& order = waiting->order;
      std::visit([&](const auto& item) { write(order, item); }, items_[waiting->item]);
      unused_.push_back(waiting->item);
    }
    waiting_.erase(waiting_.begin(), rest);
  }

  void write(const SliceOrder& order, const CellItem& item) {
    arrows_of(item.leaving, leaving_);
    arrows_of(item.arriving, arriving_);
    set_waited_for(item.gate);
    PerfettoSlices::Cell cell;
    cell.op = item.cell.op;
    cell.partner = item.cell.with();
    cell.device = order.device;
    cell.begin = order.begin;
    cell.end = order.end;
    cell.ready = item.ready;
    cell.wait = item.wait;
    cell.waited_for = waited_for_;
    cell.leaving = &leaving_;
    cell.arriving = &arriving_;
    slices_.write_cell(cell);
  }

  static void arrows_of(const std::array<std::uint64_t, 2>& members, std::vector<std::uint64_t>& arrows) {
    arrows.clear();
    for (const std::uint64_t arrow : members) {
      if (arrow != 0) arrows.push_back(arrow);
    }
    std::sort(arrows.begin(), arrows.end());
  }

  void write(const SliceOrder& order, const TransferItem& item) {
    set_waited_for({NamedGate::Kind::kCell, item.maker});
    slices_.write_transfer(item.transfer, item.sends, order.begin, waited_for_);
  }

  void write(const SliceOrder& order, const GapItem& item) {
    PerfettoSlices::Gap gap;
    gap.device = order.device;
    gap.begin = order.begin;
    gap.end = order.end;
    gap.causes = &item.causes;
    if (item.before) {
      before_ = slices_.cell_name(item.before->op, item.before->with());
      set_waited_for(item.gate);
      gap.before = before_;
      gap.waited_for = waited_for_;
    }
    slices_.write_gap(gap);
  }

  void write(const SliceOrder& order, const StretchItem& item) {
    if (item.cell) {
      slices_.open_stretch(order.begin, slices_.cell_name(item.cell->op, item.cell->with()));
      slices_.write_device_place(slices_.words().compute_kind, item.cell->device);
    } else {
      slices_.open_stretch(order.begin, slices_.transfer_name(item.transfer));
      slices_.write_transfer_place(item.transfer);
    }
    slices_.close_stretch(order.end);
  }

  void write(const SliceOrder& order, const LevelItem& item) {
    slices_.write_level(order.device, order.begin, item.bytes);
  }

  // Into waited_for_.
  void set_waited_for(const NamedGate& gate) {
    const NamedCell& cell = gate.cell;
    switch (gate.kind) {
      case NamedGate::Kind::kStart:
        waited_for_ = "start";
        return;
      case NamedGate::Kind::kCell:
        waited_for_ = slices_.cell_name(cell.op, cell.with());
        waited_for_ += " on device ";
        break;
      case NamedGate::Kind::kTransfer: {
        Transfer transfer;
        transfer.op = cell.op;
        waited_for_ = slices_.transfer_name(transfer);
        waited_for_ += " from device ";
        break;
      }
    }
    waited_for_ += std::to_string(cell.device);
  }

  const Job& job_;
  const RowStream& stream_;
  Nanoseconds makespan_;
  Nanoseconds longest_ = 0;        // transfer
  const std::vector<bool>* path_;  // null: without the tracks of idle times and of the critical path
  PerfettoSlices& slices_;
  LocalInputs inputs_;
  std::vector<NamedCell> last_;  // by device
  std::vector<Level> levels_;    // by device
  std::vector<Waiting> waiting_;
  std::vector<TraceItem> items_;
  std::vector<std::size_t> unused_;  // places in it
  std::uint64_t next_number_ = 0;
  std::vector<std::uint64_t> leaving_;
  std::vector<std::uint64_t> arriving_;
  std::string waited_for_;
  std::string before_;
};

std::vector<bool> find_path(const Job& job) {
  RowStream stream(job.schedule, job.costs, job.topology);
  PathFinder finder(job.schedule.total_ops(), job.schedule.rows.size());
  BriefAnalysis analysis(job, stream, {}, &finder);
  if (!analysis.run()) throw_not_complete();
  return finder.path();
}

}  // namespace

std::int64_t write_streamed_trace(const Job& job, const Report& report, const TraceInfo& info, const TextSink& sink) {
  std::vector<bool> path;
  if (info.causes) path = find_path(job);
  Timeline facts_only;
  facts_only.devices = job.schedule.devices;
  facts_only.makespan = report.makespan;
  TextBuffer out(sink);
  trace_detail::TracePart part;
  part.causes = info.causes;
  PerfettoSlices slices(out, job.schedule, part, false);
  slices.write_head(trace_facts(facts_only, job.schedule, report, info, TraceRows::kLeaveOut));
  RowStream stream(job.schedule, job.costs, job.topology);
  StreamedTraceWriter writer(job, stream, report.makespan, info.causes ? &path : nullptr, slices);
  BriefAnalysis analysis(job, stream, {}, &writer);
  if (!analysis.run()) throw_not_complete();
  (void)analysis.report();  // settles what is left of the memory
  writer.finish();
  out.flush();
  return slices.packets().events();
}

}  // namespace debubble
