// The writing half of run files. The reading halves: run_file.cpp (the layout of the file), run_schedule.cpp and
// run_iterations.cpp.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/json/json_lines.hpp"
#include "formats/run/run_file.hpp"
#include "formats/run/run_words.hpp"
#include "formats/run/schedule_json.hpp"
#include "sim/core/at.hpp"
#include "sim/rows/observed.hpp"

namespace debubble {
namespace {

void write_vocabulary(JsonLines& json, const VocabularyCost& cost) {
  json.member("vocabulary").begin_on_one_line('{');
  json.member("logits_ns").integer(cost.logits);
  json.member("gradient_ns").integer(cost.gradient);
  json.member("barrier_ns").integer(cost.barrier);
  json.member("held_bytes").integer(cost.held);
  json.end('}');
}

void write_at_work(JsonLines& json, const std::vector<TimesAtWork>& at_work) {
  if (at_work.empty()) return;
  json.member("at_work").begin('[');
  for (const TimesAtWork& times : at_work) {
    json.item().begin('{');
    json.member("devices").integer(times.devices);
    json.member("stages").begin('[');
    for (const StageCost& cost : times.stages) {
      json.item().begin_on_one_line('{');
      for (const CostField& field : cost_fields()) {
        if (field.op_time()) json.member(field.key).integer(field.of(cost));
      }
      json.end('}');
    }
    json.end(']');
    json.end('}');
  }
  json.end(']');
}

void write_costs(JsonLines& json, const StageCosts& costs) {
  json.member("costs").begin('{');
  if (costs.overlapped_pair) json.member("overlapped_pair_ns").integer(*costs.overlapped_pair);
  json.member("stages").begin('[');
  for (const StageCost& cost : costs.stages) {
    json.item().begin_on_one_line('{');
    for (const CostField& field : cost_fields()) {
      if (!field.optional || field.of(cost) != 0) json.member(field.key).integer(field.of(cost));
    }
    json.end('}');
  }
  json.end(']');
  write_at_work(json, costs.at_work);
  if (costs.vocabulary) write_vocabulary(json, *costs.vocabulary);
  json.end('}');
}

void write_links(JsonLines& json, const RunRecord& record) {
  json.member("links").begin('{');
  json.member("latency_ns").integer(record.hop_latency);
  json.member_if_any("bandwidth_bytes_per_s", record.hop_bandwidth);
  json.member("p2p").text(to_word(record.p2p));
  json.end('}');
}

void write_assumptions(JsonLines& json, const std::vector<Assumption>& assumptions) {
  if (assumptions.empty()) return;
  json.member("assumptions").begin('[');
  for (const Assumption& assumption : assumptions) {
    json.item().begin_on_one_line('{');
    json.member("what").text(assumption.key);
    json.member("value").text(assumption.amount);
    json.member("source").text(to_string(assumption.source));
    json.member_if_any("of", assumption.subject);
    json.member_if_any("meaning", assumption.meaning);
    json.member_if_any("citation", assumption.citation);
    if (!assumption.changes_result) json.member("changes_result").boolean(false);
    json.end('}');
  }
  json.end(']');
}

void write_origin(JsonLines& json, const RunOrigin& origin) {
  json.member("origin").begin('{');
  json.member("backend").text(origin.backend);
  json.member("clock").text(origin.clock);
  json.member_if_any("device", origin.device);
  json.member_if_any("driver", origin.driver);
  json.member_if_any("cuda", origin.cuda);
  json.member_if_any("libraries", origin.libraries);
  json.member_if_any("method", origin.method);
  json.member_if_any("date", origin.date);
  json.member_if_any("command_line", origin.command_line);
  json.member_if_any("version", origin.version);
  write_texts(json, "notes", origin.notes);
  json.end('}');
}

void write_clocks(JsonLines& json, const ClockAlignment& clocks) {
  json.member("clocks").begin('{');
  json.member_if_any("method", clocks.method);
  if (clocks.bounded) json.member("residual_ns").integer(clocks.residual);
  json.member_if_any("offsets_ns", clocks.offsets);
  json.end('}');
}

void write_losses(JsonLines& json, const std::vector<LossItem>& losses) {
  if (losses.empty()) return;
  json.member("losses").begin('[');
  for (const LossItem& loss : losses) {
    json.item().begin_on_one_line('{');
    json.member("what").text(loss.what);
    json.member("count").integer(loss.count);
    json.end('}');
  }
  json.end(']');
}

// The span of each op of a device's row, in the row's order: devices may have run them in another. The members of an
// overlapped pair share one.
std::vector<const Span*> spans_by_op(const Schedule& schedule, const Timeline& timeline, std::size_t device) {
  using Key = std::tuple<std::int32_t, std::int32_t, OpKind>;
  const auto key = [](const Op& op) { return Key(op.stage, op.microbatch, op.kind); };
  std::vector<std::pair<Key, const Span*>> known;
  for (std::int32_t k = timeline.device_begin[device]; k < timeline.device_begin[device + 1]; ++k) {
    const Span& span = at(timeline.spans, k);
    known.emplace_back(key(span.op), &span);
    if (const Op* partner = timeline.partner(span)) known.emplace_back(key(*partner), &span);
  }
  std::sort(known.begin(), known.end());
  std::vector<const Span*> spans;
  for (const Op& op : schedule.rows[device]) {
    const auto found = std::lower_bound(known.begin(), known.end(), key(op),
                                        [](const auto& one, const Key& wanted) { return one.first < wanted; });
    if (found == known.end() || found->first != key(op)) {
      throw std::logic_error("write_run_file: no span for " + to_string(op));
    }
    spans.push_back(found->second);
  }
  return spans;
}

void write_ops(JsonLines& json, std::string_view key, const Schedule& schedule, const Timeline& timeline,
               Nanoseconds Span::*time) {
  json.member(key).begin('[');
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    std::vector<Nanoseconds> times;
    for (const Span* span : spans_by_op(schedule, timeline, device)) times.push_back(span->*time);
    json.item().integers(times);
  }
  json.end(']');
}

// Those that were seen: the reader assumes the others again. In one order, whoever made the timeline, so that a file
// read and written again has the same bytes.
std::vector<const Transfer*> sorted_transfers(const Timeline& timeline) {
  std::vector<const Transfer*> transfers;
  for (const Transfer& transfer : timeline.transfers) {
    if (!transfer.assumed) transfers.push_back(&transfer);
  }
  const auto key = [](const Transfer& t) {
    return std::tuple(t.begin, t.from_span, t.to_span, t.op.stage, t.op.microbatch, t.op.kind);
  };
  std::sort(transfers.begin(), transfers.end(),
            [&](const Transfer* a, const Transfer* b) { return key(*a) < key(*b); });
  return transfers;
}

void write_transfers(JsonLines& json, const Timeline& timeline) {
  const std::vector<const Transfer*> transfers = sorted_transfers(timeline);
  const auto column = [&](std::string_view key, std::int64_t Transfer::*value) {
    std::vector<std::int64_t> values;
    for (const Transfer* transfer : transfers) values.push_back(transfer->*value);
    json.member(key).integers(values);
  };
  std::string ops;
  for (const Transfer* transfer : transfers) ops += (ops.empty() ? "" : ",") + to_string(transfer->op);
  json.member("transfers").begin('{');
  json.member("ops").text(ops);
  column("begin_ns", &Transfer::begin);
  column("end_ns", &Transfer::end);
  column("latency_ns", &Transfer::latency);
  column("bytes", &Transfer::bytes);
  json.end('}');
}

void write_iterations(JsonLines& json, const RunRecord& record) {
  json.member("iterations").begin('[');
  for (const RunIteration& iteration : record.iterations) {
    json.item().begin('{');
    write_ops(json, "begin_ns", record.schedule, iteration.timeline, &Span::begin);
    write_ops(json, "end_ns", record.schedule, iteration.timeline, &Span::end);
    write_transfers(json, iteration.timeline);
    json.member_if_any("peak_activation_bytes", iteration.peak_activation);
    json.member_if_any("peak_memory_bytes", iteration.peak_memory);
    json.end('}');
  }
  json.end(']');
}

}  // namespace

void refuse_what_cannot_be_read_back(const Schedule& schedule, const std::string& place) {
  if (!not_observable(schedule)) return;
  const char* what =
      schedule.vocabulary_barriers > 0 ? "waits for shards of the vocabulary" : "moves activations away and back";
  throw InputError(Diagnostic{"T054", place,
                              "a run file cannot hold a run of " + schedule.name + ", which " + what +
                                  ": it has times of ops and transfers alone",
                              "--trace shows such a run in Perfetto; `debubble export --to schedule-json` keeps the "
                              "schedule, to simulate it again"});
}

void write_run_file(const RunRecord& record, const std::function<void(std::string_view)>& sink) {
  if (record.iterations.empty()) throw std::logic_error("write_run_file: a run without iterations");
  refuse_what_cannot_be_read_back(record.schedule);
  TextBuffer buffer(sink);
  JsonLines json(buffer);
  json.begin('{');
  json.member("format").text(kRunFormat);
  write_origin(json, record.origin);
  json.member("schedule");
  write_schedule(json, record.schedule);
  write_costs(json, record.costs);
  write_links(json, record);
  write_assumptions(json, record.assumptions);
  json.member_if_any("samples_per_microbatch", record.samples_per_microbatch);
  json.member_if_any("tokens_per_sample", record.tokens_per_sample);
  write_clocks(json, record.clocks);
  json.member("tensors_checked").integer(record.tensors_checked);
  write_losses(json, record.losses);
  json.member("measured").boolean(record.iterations.front().timeline.measured);
  write_iterations(json, record);
  json.end('}');
  buffer << "\n";
  buffer.flush();
}

}  // namespace debubble
