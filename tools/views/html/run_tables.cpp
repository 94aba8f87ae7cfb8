#include "tools/views/html/run_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/critical_path.hpp"
#include "sim/analysis/idle_gaps.hpp"
#include "sim/core/at.hpp"
#include "sim/core/op_words.hpp"

namespace debubble {
namespace {

// Zigzag LEB128: 0 is 1 byte, as are all from -64 to 63; a difference that repeats is a repeated byte, of which deflate
// makes nothing (tools/report/README.md).
void append_zigzag(std::string& bytes, std::int64_t value) {
  constexpr unsigned kBits = 7;
  constexpr std::uint64_t kMore = 1U << kBits;
  std::uint64_t rest = (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  for (; rest >= kMore; rest >>= kBits) bytes.push_back(static_cast<char>(rest % kMore + kMore));
  bytes.push_back(static_cast<char>(rest));
}

// What a column's numbers are.
enum class ColumnOf { kValues, kDifferences };  // differences: each to the row before, the first to 0

// A table of whole numbers as bytes, column by column. Tables and documents are put behind one another into the same
// bytes; the header says where each is.
class TableWriter {
 public:
  TableWriter(std::string& bytes, std::size_t rows);

  // `value(row)` gives the number of a row.
  template <typename Value>
  void add(std::string_view name, const Value& value, ColumnOf what = ColumnOf::kValues) {
    const std::size_t offset = bytes_.size();
    std::int64_t last = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto number = static_cast<std::int64_t>(value(row));
      append_zigzag(bytes_, number - last);
      if (what == ColumnOf::kDifferences) last = number;
    }
    enter(name, offset, what);
  }
  // {"rows": 3, "columns": {"begin": {"offset": 0, "bytes": 5, "delta": true}, ...}}
  [[nodiscard]] Json header() const;

 private:
  void enter(std::string_view name, std::size_t offset, ColumnOf what);

  std::string& bytes_;
  std::size_t rows_;
  Json columns_ = Json::object();
};

TableWriter::TableWriter(std::string& bytes, std::size_t rows) : bytes_(bytes), rows_(rows) {}

void TableWriter::enter(std::string_view name, std::size_t offset, ColumnOf what) {
  columns_[name] =
      Json{{"offset", offset}, {"bytes", bytes_.size() - offset}, {"delta", what == ColumnOf::kDifferences}};
}

Json TableWriter::header() const { return Json{{"rows", rows_}, {"columns", columns_}}; }

// A column whose value is a member, or a function, of each row's thing.
template <typename Thing>
class ThingTable {
 public:
  ThingTable(std::string& bytes, const std::vector<Thing>& things) : things_(things), table_(bytes, things.size()) {}

  template <typename Value>
  ThingTable& add(std::string_view name, const Value& value, ColumnOf what = ColumnOf::kValues) {
    table_.add(
        name, [&](std::size_t row) { return std::invoke(value, things_[row]); }, what);
    return *this;
  }
  template <typename Value>
  ThingTable& add_differences(std::string_view name, const Value& value) {
    return add(name, value, ColumnOf::kDifferences);
  }
  ThingTable& add_op() {
    add("kind", [](const Thing& thing) { return static_cast<int>(thing.op.kind); });
    add_differences("stage", [](const Thing& thing) { return thing.op.stage; });
    return add_differences("microbatch", [](const Thing& thing) { return thing.op.microbatch; });
  }
  ThingTable& add_times() {
    add_differences("begin", &Thing::begin);
    return add("duration", [](const Thing& thing) { return thing.end - thing.begin; });
  }
  ThingTable& add_gate() {
    add("gate", [](const Thing& thing) { return static_cast<int>(thing.gate.kind); });
    return add_differences("gate_index", [](const Thing& thing) { return thing.gate.index; });
  }
  [[nodiscard]] Json header() const { return table_.header(); }

 private:
  const std::vector<Thing>& things_;
  TableWriter table_;
};

Json span_columns(const Timeline& timeline, std::string& bytes) {
  ThingTable<Span> table(bytes, timeline.spans);
  table.add_differences("device", &Span::device).add_op().add_times();
  table.add("wait", [](const Span& span) { return span.begin - span.ready; });
  if (!timeline.partners.empty()) {
    const auto of_partner = [&timeline](const auto& value) {
      return [&timeline, value](const Span& span) {
        const Op* const partner = timeline.partner(span);
        return partner != nullptr ? value(*partner) : 0;
      };
    };
    table.add("partner_kind", of_partner([](const Op& op) { return static_cast<int>(op.kind) + 1; }))
        .add("partner_stage", of_partner([](const Op& op) { return op.stage; }))
        .add("partner_microbatch", of_partner([](const Op& op) { return op.microbatch; }));
  }
  return table.add("straggled", [&timeline](const Span& span) { return timeline.straggled(span); })
      .add("slowed", [&timeline](const Span& span) { return timeline.slowed(span); })
      .add_gate()
      .header();
}

Json transfer_columns(const Timeline& timeline, std::string& bytes) {
  ThingTable<Transfer> table(bytes, timeline.transfers);
  table.add_op()
      .add_differences("from_span", &Transfer::from_span)
      .add_differences("to_span", &Transfer::to_span)
      .add_differences("from_device", &Transfer::from_device)
      .add_differences("to_device", &Transfer::to_device);
  return table.add_times()
      .add("latency", &Transfer::latency)
      .add("contention", &Transfer::contention)
      .add_differences("bytes", &Transfer::bytes)
      .add_gate()
      .header();
}

Json copy_columns(const Timeline& timeline, std::string& bytes) {
  ThingTable<CopySpan> table(bytes, timeline.copies);
  table.add_differences("device", &CopySpan::device).add_op();
  table.add("way", [](const CopySpan& copy) { return static_cast<int>(copy.way); });
  return table.add("peer", &CopySpan::peer).add_times().add_differences("bytes", &CopySpan::bytes).add_gate().header();
}

Json collective_columns(const Timeline& timeline, std::string& bytes) {
  ThingTable<Collective> table(bytes, timeline.collectives);
  table.add("kind", [](const Collective& one) { return static_cast<int>(one.kind); });
  return table.add_differences("microbatch", &Collective::microbatch).add_times().add_gate().header();
}

Json step_columns(const Timeline& timeline, std::string& bytes, Json& what) {
  std::map<std::string, std::size_t> numbers;
  for (const StepSpan& step : timeline.steps) {
    const std::string name = step.what.empty() ? to_string(step.kind) : step.what;
    if (numbers.emplace(name, numbers.size()).second) what.push_back(name);
  }
  ThingTable<StepSpan> table(bytes, timeline.steps);
  table.add_differences("device", &StepSpan::device);
  table.add("lane", [](const StepSpan& step) { return static_cast<int>(step.lane); });
  table.add("kind", [](const StepSpan& step) { return static_cast<int>(step.kind); });
  table.add("what",
            [&](const StepSpan& step) { return numbers.at(step.what.empty() ? to_string(step.kind) : step.what); });
  return table.add_times().add("contention", &StepSpan::contention).add("bytes", &StepSpan::bytes).add_gate().header();
}

Json gap_columns(const Timeline& timeline, std::string& bytes) {
  const std::vector<IdleGap> gaps = idle_gaps(timeline);
  ThingTable<IdleGap> table(bytes, gaps);
  table.add_differences("device", &IdleGap::device).add_times().add_differences("before", &IdleGap::before);
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    const auto has_it = [cause](const IdleGap& gap) { return gap.causes[cause] != 0; };
    if (std::none_of(gaps.begin(), gaps.end(), has_it)) continue;
    table.add(to_string(static_cast<IdleCause>(cause)), [cause](const IdleGap& gap) { return gap.causes[cause]; });
  }
  return table.header();
}

Json path_columns(const Timeline& timeline, std::string& bytes) {
  const std::vector<Gate> path = critical_path(timeline);
  ThingTable<Gate> table(bytes, path);
  table.add("gate", [](const Gate& gate) { return static_cast<int>(gate.kind); });
  return table.add_differences("gate_index", &Gate::index).header();
}

struct PageLevel {
  int device = 0;
  MemoryPoint point;
};

Json memory_columns(const PageRun& run, std::string& bytes) {
  std::vector<PageLevel> levels;
  const auto curves = memory_curves(*run.timeline, *run.schedule, *run.costs);
  for (std::size_t device = 0; device < curves.size(); ++device) {
    for (std::size_t k = 0; k < curves[device].size(); ++k) {
      if (k > 0 && curves[device][k].bytes == curves[device][k - 1].bytes) continue;
      levels.push_back({static_cast<int>(device), curves[device][k]});
    }
  }
  ThingTable<PageLevel> table(bytes, levels);
  table.add_differences("device", &PageLevel::device);
  table.add_differences("at", [](const PageLevel& level) { return level.point.at; });
  for (std::size_t category = 0; category < kMemoryCategories; ++category) {
    const auto holds = [category](const PageLevel& level) { return level.point.bytes[category] != 0; };
    if (std::none_of(levels.begin(), levels.end(), holds)) continue;
    table.add_differences(to_string(static_cast<MemoryCategory>(category)),
                          [category](const PageLevel& level) { return level.point.bytes[category]; });
  }
  return table.header();
}

Json run_words(Json what) {
  Json kinds = Json::array();
  for (int kind = 0; kind < kOpKinds; ++kind) {
    const auto op = static_cast<OpKind>(kind);
    kinds.push_back({{"letter", std::string(1, letter(op))}, {"word", word_of(op)}});
  }
  Json causes = Json::array();
  for (int cause = 0; cause < kIdleCauses; ++cause) causes.push_back(to_string(static_cast<IdleCause>(cause)));
  Json categories = Json::array();
  for (int kind = 0; kind < kMemoryCategories; ++kind)
    categories.push_back(to_string(static_cast<MemoryCategory>(kind)));
  return Json{{"kinds", kinds}, {"causes", causes}, {"categories", categories}, {"what", what}};
}

}  // namespace

Json run_tables(const PageRun& run, std::string& bytes) {
  const Timeline& timeline = *run.timeline;
  const Schedule& schedule = *run.schedule;
  Json what = Json::array();
  const Json tables = {
      {"spans", span_columns(timeline, bytes)},       {"transfers", transfer_columns(timeline, bytes)},
      {"copies", copy_columns(timeline, bytes)},      {"collectives", collective_columns(timeline, bytes)},
      {"steps", step_columns(timeline, bytes, what)}, {"gaps", gap_columns(timeline, bytes)},
      {"path", path_columns(timeline, bytes)},        {"memory", memory_columns(run, bytes)}};
  const bool replicas = schedule.placement.replicas() > 1 && !schedule.replicas_share_weights;
  return Json{{"label", run.label},
              {"report", run.report},
              {"devices", timeline.devices},
              {"stages", schedule.stages},
              {"pieces", schedule.pieces},
              {"sliced", schedule.sliced},
              {"makespan_ns", timeline.makespan},
              {"measured", timeline.measured},
              {"transfers_hold_lanes", timeline.transfers_hold_lanes},
              {"replica_of", replicas ? Json(schedule.replica_of) : Json::array()},
              {"words", run_words(what)},
              {"tables", tables}};
}

}  // namespace debubble
