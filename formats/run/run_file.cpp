#include "formats/run/run_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "formats/files/read_file.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/run/run_parts.hpp"
#include "formats/run/run_words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostInRun = std::numeric_limits<std::int64_t>::max();
constexpr IntegerRule kRunBandwidth{"bytes per second", 1, kLargestSize, "leave it out where it is unlimited"};
constexpr IntegerRule kRunSamples{"samples", 1, kMostInRun, "leave it out when it is unknown"};
constexpr IntegerRule kRunTokens{"tokens", 1, kMostInRun, "leave it out when it is unknown"};
constexpr IntegerRule kTensors{"tensors", 0, kMostInRun, "0 when none was checked"};
constexpr IntegerRule kActivationTensors{"tensors", 0, kMostCounted, "leave it out where it is unknown"};
constexpr IntegerRule kEvents{"events", 1, kMostInRun, "leave out what never happened"};
constexpr IntegerRule kOffset{"nanoseconds", -kLongestDuration, kLongestDuration,
                              "what was added to the device's times"};

constexpr JsonDialect kRunDialect{
    .what = "run file",
    .description = "docs/run.schema.json",
    .most_values = 4 * kMostJsonValues,  // of nodes, ops or links
    .most_items = kMostJsonValues / 2,
};

// The index of the member's text in `words`; 0 when it is not one of them.
template <typename Words>
std::size_t read_word(JsonObjectReader& reader, std::string_view key, const Words& words) {
  const JsonValue* value = reader.member(key, true);
  std::string all;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (value != nullptr && value->kind == JsonValue::Kind::kString && value->text == words[k]) return k;
    all += (all.empty() ? "" : ", ") + std::string(words[k]);
  }
  if (value == nullptr) return 0;
  reader.complain("P011", key, "\"" + std::string(key) + "\" must be one of: " + all + "; got " + describe(*value),
                  "write one of these words");
  return 0;
}

RunOrigin read_run_origin(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/origin", problems);
  RunOrigin origin;
  if (!reader.is_object()) return origin;
  origin.backend = reader.text("backend");
  origin.clock = reader.text("clock");
  origin.device = reader.optional_text("device");
  origin.driver = reader.optional_text("driver");
  origin.cuda = reader.optional_text("cuda");
  origin.libraries = reader.optional_text("libraries");
  origin.method = reader.optional_text("method");
  origin.date = reader.optional_text("date");
  origin.command_line = reader.optional_text("command_line");
  origin.version = reader.optional_text("version");
  origin.notes = read_texts(reader, "notes", problems);
  reader.finish();
  return origin;
}

VocabularyCost read_vocabulary(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/costs/vocabulary", problems);
  VocabularyCost cost;
  if (!reader.is_object()) return cost;
  cost.logits = reader.integer("logits_ns", kRunTime);
  cost.gradient = reader.integer("gradient_ns", kRunTime);
  cost.barrier = reader.integer("barrier_ns", kRunTime);
  cost.held = reader.integer("held_bytes", kRunSize);
  reader.finish();
  return cost;
}

const IntegerRule& rule_of(CostField::Unit unit) {
  switch (unit) {
    case CostField::Unit::kTime:
      return kRunTime;
    case CostField::Unit::kSize:
      return kRunSize;
    case CostField::Unit::kCount:
      break;
  }
  return kActivationTensors;
}

constexpr IntegerRule kDevicesAtWork{"devices", 1, std::numeric_limits<std::int32_t>::max(), "so many work at once"};

TimesAtWork read_times_at_work(const JsonValue& value, const std::string& pointer, ProblemList& problems) {
  TimesAtWork times;
  JsonObjectReader reader(value, pointer, problems);
  if (!reader.is_object()) return times;
  times.devices = static_cast<std::int32_t>(reader.integer("devices", kDevicesAtWork));
  if (const std::vector<JsonValue>* stages = read_items(reader, "stages", true, problems)) {
    for (std::size_t k = 0; k < stages->size(); ++k) {
      JsonObjectReader stage((*stages)[k], pointer + "/stages/" + std::to_string(k), problems);
      StageCost& cost = times.stages.emplace_back();
      if (!stage.is_object()) continue;
      for (const CostField& field : cost_fields()) {
        if (field.op_time()) field.set(cost, stage.integer(field.key, kRunTime));
      }
      stage.finish();
    }
  }
  reader.finish();
  return times;
}

// /costs/at_work against the schedule: more devices from one to the next, fewer than all, and every stage.
void check_at_work(const RunRecord& record, ProblemList& problems) {
  std::int32_t before = 0;
  for (std::size_t k = 0; k < record.costs.at_work.size(); ++k) {
    const TimesAtWork& times = record.costs.at_work[k];
    const std::string pointer = "/costs/at_work/" + std::to_string(k);
    if (times.devices <= before || times.devices >= record.schedule.devices) {
      problems.add_at_pointer("P004", pointer + "/devices",
                              "there must be more devices from one entry to the next, and fewer than all " +
                                  std::to_string(record.schedule.devices) + "; got " + std::to_string(times.devices),
                              "what ops take while all devices work is in /costs/stages");
    }
    before = std::max(before, times.devices);
    if (times.stages.size() != record.costs.stages.size()) {
      report_count(problems, pointer + "/stages", times.stages.size(), record.costs.stages.size(),
                   "one for each stage");
    }
  }
}

StageCosts read_costs(const JsonValue& value, ProblemList& problems) {
  JsonObjectReader reader(value, "/costs", problems);
  StageCosts costs;
  if (!reader.is_object()) return costs;
  costs.overlapped_pair = reader.optional_integer("overlapped_pair_ns", kRunTime);
  if (const std::vector<JsonValue>* stages = read_items(reader, "stages", true, problems)) {
    for (std::size_t k = 0; k < stages->size(); ++k) {
      JsonObjectReader stage((*stages)[k], "/costs/stages/" + std::to_string(k), problems);
      StageCost& cost = costs.stages.emplace_back();
      if (!stage.is_object()) continue;
      for (const CostField& field : cost_fields()) {
        const IntegerRule& rule = rule_of(field.unit);
        field.set(cost, field.optional ? stage.optional_integer(field.key, rule).value_or(0)
                                       : stage.integer(field.key, rule));
      }
      stage.finish();
    }
  }
  if (const std::vector<JsonValue>* points = read_items(reader, "at_work", false, problems)) {
    for (std::size_t k = 0; k < points->size(); ++k) {
      costs.at_work.push_back(read_times_at_work((*points)[k], "/costs/at_work/" + std::to_string(k), problems));
    }
  }
  if (const JsonValue* vocabulary = reader.member("vocabulary", false)) {
    costs.vocabulary = read_vocabulary(*vocabulary, problems);
  }
  reader.finish();
  return costs;
}

// Every microbatch may be held on every stage at once.
void check_run_sizes(const RunRecord& record, ProblemList& problems) {
  double sum = 0;
  for (const StageCost& cost : record.costs.stages) {
    for (const CostField& field : cost_fields()) {
      if (field.unit == CostField::Unit::kSize) sum += static_cast<double>(field.of(cost));
    }
  }
  if (record.costs.vocabulary) sum += static_cast<double>(record.costs.vocabulary->held);
  const auto most = static_cast<double>(record.schedule.replica_of.size() + 1) *
                    static_cast<double>(record.schedule.placement.replicas());
  if (sum * most >= static_cast<double>(kRoom)) report_too_much(problems, "/costs/stages");
}

void read_links(const JsonValue& value, RunRecord& record, ProblemList& problems) {
  JsonObjectReader reader(value, "/links", problems);
  if (!reader.is_object()) return;
  record.hop_latency = reader.integer("latency_ns", kRunTime);
  record.hop_bandwidth = reader.optional_integer("bandwidth_bytes_per_s", kRunBandwidth).value_or(0);
  record.p2p = static_cast<P2p>(read_word(reader, "p2p", kP2pWords));
  reader.finish();
}

// Calls `read` with a reader for every object of an optional list.
template <typename Read>
void for_each_object(JsonObjectReader& top, std::string_view key, ProblemList& problems, const Read& read) {
  const std::vector<JsonValue>* items = read_items(top, key, false, problems);
  if (items == nullptr) return;
  for (std::size_t k = 0; k < items->size(); ++k) {
    JsonObjectReader reader((*items)[k], top.pointer_to(key) + "/" + std::to_string(k), problems);
    if (!reader.is_object()) continue;
    read(reader);
    reader.finish();
  }
}

void read_run_assumptions(JsonObjectReader& top, RunRecord& record, ProblemList& problems) {
  constexpr std::array kSources{Source::kMeasured, Source::kPublished, Source::kModelled, Source::kDefault,
                                Source::kGiven};
  std::array<std::string_view, kSources.size()> words;
  for (std::size_t k = 0; k < words.size(); ++k) words[k] = to_string(kSources[k]);
  for_each_object(top, "assumptions", problems, [&](JsonObjectReader& reader) {
    Assumption& assumption = record.assumptions.emplace_back();
    assumption.key = reader.text("what");
    assumption.amount = reader.optional_text("value");
    assumption.source = kSources[read_word(reader, "source", words)];
    assumption.subject = reader.optional_text("of");
    assumption.meaning = reader.optional_text("meaning");
    assumption.citation = reader.optional_text("citation");
    assumption.changes_result = reader.optional_flag("changes_result", "write true or false", true);
  });
}

void read_clocks(JsonObjectReader& top, RunRecord& record, ProblemList& problems) {
  const JsonValue* value = top.member("clocks", false);
  if (value == nullptr) return;
  JsonObjectReader reader(*value, "/clocks", problems);
  if (!reader.is_object()) return;
  record.clocks.method = reader.optional_text("method");
  const std::optional<std::int64_t> residual = reader.optional_integer("residual_ns", kRunTime);
  record.clocks.residual = residual.value_or(0);
  record.clocks.bounded = residual.has_value();
  if (const JsonValue* offsets = reader.member("offsets_ns", false)) {
    record.clocks.offsets = integers_of(*offsets, "/clocks/offsets_ns", kOffset, record.schedule.rows.size(), problems);
  }
  reader.finish();
}

void read_losses(JsonObjectReader& top, RunRecord& record, ProblemList& problems) {
  for_each_object(top, "losses", problems, [&](JsonObjectReader& reader) {
    LossItem& loss = record.losses.emplace_back();
    loss.what = reader.text("what");
    loss.count = reader.integer("count", kEvents);
  });
}

void read_iterations(JsonObjectReader& top, RunRecord& record, ProblemList& problems) {
  const bool measured = top.flag("measured", "false: the times follow from given costs");
  const std::vector<JsonValue>* list = read_items(top, "iterations", true, problems);
  top.finish();
  if (list == nullptr || !problems.empty()) return;  // their places are in the schedule, which is not sound
  if (list->empty()) {
    top.complain("P016", "iterations", "a run has at least one iteration", "run it again with --save-run");
    return;
  }
  record.iterations = read_run_iterations(*list, record, measured, problems);
}

bool has_our_format(JsonObjectReader& top) {
  return top.has_format("format", kRunFormat,
                        "run files are written by `debubble simulate --save-run` and `debubble live --save-run`");
}

RunRecord read_run_top(JsonObjectReader& top, ProblemList& problems) {
  RunRecord record;
  if (const JsonValue* origin = top.member("origin", true)) record.origin = read_run_origin(*origin, problems);
  if (const JsonValue* schedule = top.member("schedule", true))
    record.schedule = read_run_schedule(*schedule, problems);
  if (const JsonValue* costs = top.member("costs", true)) record.costs = read_costs(*costs, problems);
  if (problems.empty() && record.costs.stages.size() != static_cast<std::size_t>(record.schedule.stages)) {
    report_count(problems, "/costs/stages", record.costs.stages.size(),
                 static_cast<std::size_t>(record.schedule.stages), "one for each stage");
  }
  if (problems.empty()) check_at_work(record, problems);
  if (problems.empty()) check_run_sizes(record, problems);
  if (const JsonValue* links = top.member("links", true)) read_links(*links, record, problems);
  read_run_assumptions(top, record, problems);
  record.samples_per_microbatch = top.optional_integer("samples_per_microbatch", kRunSamples).value_or(0);
  record.tokens_per_sample = top.optional_integer("tokens_per_sample", kRunTokens).value_or(0);
  read_clocks(top, record, problems);
  record.tensors_checked = top.optional_integer("tensors_checked", kTensors).value_or(0);
  read_losses(top, record, problems);
  read_iterations(top, record, problems);
  return record;
}

}  // namespace

RunRecord read_run_text(std::string_view text, const std::string& name) {
  ProblemList problems(name, kRunDialect);
  RunRecord record;
  if (const std::optional<JsonValue> root = parse_json(text, problems, IntegerArrays::kPacked)) {
    JsonObjectReader top(*root, "", problems);
    if (has_our_format(top)) record = read_run_top(top, problems);
  }
  problems.throw_if_any();
  return record;
}

RunRecord read_run_file(const std::string& path) {
  return read_run_text(read_text_file(path, path, kMostLogBytes), path);
}

}  // namespace debubble
