#include "tools/views/explain/explain_json.hpp"

#include "formats/exporters/report_json.hpp"
#include "formats/json/json.hpp"
#include "sim/core/at.hpp"
#include "tools/views/explain/words.hpp"

namespace debubble {
namespace {

constexpr int kExplainVersion = 1;

Json opened(const char* topic, const Simulated& run, const ToolFacts& tool) {
  return {{"schema_version", kExplainVersion},
          {"tool", {{"name", "debubble"}, {"version", tool.version}}},
          {"command_line", tool.command_line},
          {"topic", topic},
          {"schedule", run.result.report.schedule.name},
          {"devices", run.job.schedule.devices},
          {"microbatches", run.job.schedule.microbatches},
          {"assumptions", assumptions_json(run.result.report.assumptions)},
          {"makespan_ns", run.result.report.makespan}};
}

std::string explain_dump(const Json& json) { return json.text(2) + "\n"; }

Json causes_json(const NanosecondsByCause& causes) {
  Json json = Json::object();
  for (int i = 0; i < kIdleCauses; ++i) {
    json[to_string(static_cast<IdleCause>(i))] = at(causes, i);
  }
  return json;
}

Json waited_json(const WaitedFor& wait, const Timeline& timeline) {
  const Times times = times_of(wait.thing, timeline);
  Json json = {{"kind", to_string(wait.thing.kind)},
               {"what", in_words(wait.thing, timeline)},
               {"begin_ns", times.begin},
               {"end_ns", times.end},
               {"waited_from_ns", wait.begin},
               {"waited_to_ns", wait.end}};
  if (wait.thing.kind == Gate::Kind::kTransfer) {
    const Transfer& transfer = at(timeline.transfers, wait.thing.index);
    json["latency_ns"] = transfer.latency;
    json["contention_ns"] = transfer.contention;
  }
  return json;
}

}  // namespace

std::string op_story_json(const OpStory& story, const Simulated& run, const ToolFacts& tool) {
  const Timeline& timeline = run.result.timeline;
  const Span& span = at(timeline.spans, story.span);
  Json json = opened("op", run, tool);
  Json chain = Json::array();
  for (const WaitedFor& wait : story.chain) chain.push_back(waited_json(wait, timeline));
  json["op"] = {{"name", to_string(story.op)},
                {"cell", name_of(span, timeline)},
                {"device", span.device},
                {"ready_ns", span.ready},
                {"begin_ns", span.begin},
                {"end_ns", span.end},
                {"beyond_its_cost_ns", timeline.straggled(span)},
                {"slowed_by_collectives_ns", timeline.slowed(span)},
                {"waited_ns", story.waited},
                {"waited_by_cause_ns", causes_json(story.by_cause)},
                {"waited_for", chain},
                {"on_critical_path", story.critical}};
  return explain_dump(json);
}

std::string step_story_json(const StepStory& story, const Simulated& run, const ToolFacts& tool) {
  Json json = opened("step", run, tool);
  json["bubble_ratio"] = run.result.report.bubble_ratio;
  json["limit"] = story.advice.limit;
  json["limit_detail"] = limit_json(story.limit);
  json["also"] = story.also;
  Json shares = Json::array();
  for (const PathShare& share : story.shares) shares.push_back({{"what", share.what}, {"time_ns", share.time}});
  json["critical_path_shares"] = shares;
  Json path = Json::array();
  for (const PathGroup& group : story.path) {
    path.push_back({{"begin_ns", group.begin},
                    {"end_ns", group.end},
                    {"what", group.what},
                    {"things", group.things},
                    {"compute_ns", group.compute},
                    {"transfer_ns", group.transfer}});
  }
  json["critical_path"] = path;
  Json changes = Json::array();
  for (const Improvement& one : story.improvements) {
    changes.push_back({{"what", one.what},
                       {"gain_ratio", one.gain},
                       {"makespan_ns", one.step},
                       {"microbatches", one.microbatches},
                       {"runs_in", one.runs_in},
                       {"price", one.price.empty() ? Json(nullptr) : Json(one.price)},
                       {"command", one.command.empty() ? Json(nullptr) : Json(one.command)}});
  }
  json["changes"] = changes;
  return explain_dump(json);
}

}  // namespace debubble
