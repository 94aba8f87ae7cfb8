#include "tools/views/explain/explain_json.hpp"

#include <fmt/format.h>

#include "formats/exporters/report_json.hpp"
#include "formats/json/json.hpp"
#include "sim/core/at.hpp"
#include "tools/views/explain/words.hpp"

namespace debubble {
namespace {

constexpr int kExplainVersion = 1;

Json opened(const char* topic, const Simulated& run, const ToolFacts& tool) {
  Json json = json_head(kExplainVersion, tool);
  json["topic"] = topic;
  json["schedule"] = run.result.report.schedule.name;
  json["devices"] = run.job.schedule.devices;
  json["microbatches"] = run.job.schedule.microbatches;
  json["assumptions"] = assumptions_json(run.result.report.assumptions);
  json["makespan_ns"] = run.result.report.makespan;
  return json;
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
  Json chain = json_list(story.chain, [&](const WaitedFor& wait) { return waited_json(wait, timeline); });
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
  Json shares = json_list(story.shares, [](const PathShare& share) -> Json {
    return {{"what", share.what}, {"time_ns", share.time}};
  });
  json["critical_path_shares"] = shares;
  Json path = json_list(story.path, [](const PathGroup& group) -> Json {
    return {{"begin_ns", group.begin}, {"end_ns", group.end},         {"what", group.what},
            {"things", group.things},  {"compute_ns", group.compute}, {"transfer_ns", group.transfer}};
  });
  json["critical_path"] = path;
  Json changes = json_list(story.improvements, [](const Improvement& one) -> Json {
    return {{"what", one.what},
            {"gain_ratio", one.gain},
            {"makespan_ns", one.step},
            {"microbatches", one.microbatches},
            {"runs_in", one.runs_in},
            {"price", one.price.empty() ? Json(nullptr) : Json(one.price)},
            {"command", one.command.empty() ? Json(nullptr) : Json(one.command)}};
  });
  json["changes"] = changes;
  return explain_dump(json);
}

namespace {

Json op_json(const OpCost& cost) {
  return {{"name", cost.op.name},
          {"pass", pass_of(cost.op)},
          {"class", to_string(class_of(cost.op))},
          {"bound_by", to_string(cost.bound)},
          {"flops", all_flops(cost.op)},
          {"bytes", moved_bytes(cost.op)},
          {"kernels", cost.op.kernels},
          {"time_ns", cost.whole},
          {"split_time_ns", cost.halved},
          {"alone_ns", cost.own.alone}};
}

Json phase_json(const PhaseCost& phase) {
  return {{"time_ns", phase.total}, {"host_wait_ns", phase.launches}, {"collectives_ns", phase.collective}};
}

Json layer_json(const LayerCost& layer) {
  Json ops = json_list(layer.ops, op_json);
  Json classes = Json::array();
  const std::array<ClassCost, 6> costs = class_costs(layer);
  for (std::size_t k = 0; k < costs.size(); ++k) {
    classes.push_back({{"class", to_string(static_cast<OpClass>(k))},
                       {"time_ns", costs.at(k).time},
                       {"flops", costs.at(k).flops},
                       {"bytes", costs.at(k).bytes}});
  }
  return {{"kind", layer_kind(layer.place)},
          {"recomputed", layer.recomputed},
          {"layers", layer.layers},
          {"forward", phase_json(layer.forward)},
          {"backward", phase_json(layer.backward)},
          {"input_grad", phase_json(layer.input_grad)},
          {"weight_grad", phase_json(layer.weight_grad)},
          {"operators", std::move(ops)},
          {"classes", std::move(classes)}};
}

Json trial_row_json(const CostTrial& one) {
  const bool possible = one.refusal.empty();
  return {{"name", one.name},
          {"what", one.what},
          {"flags", one.flags.empty() ? Json(nullptr) : Json(one.flags)},
          {"source", "modelled"},
          {"upper_bound", one.upper_bound},
          {"makespan_ns", possible ? Json(one.step) : Json(nullptr)},
          {"change_ratio", possible ? Json(one.change) : Json(nullptr)},
          {"fits", possible ? Json(one.fits) : Json(nullptr)},
          {"refusal", possible ? Json(nullptr) : Json(one.refusal)}};
}

std::string cost_row(const LayerCost& layer, const std::string& pass, const std::string& rest) {
  return fmt::format("\"{}\",{},{},{}\n", layer_words(layer), layer.layers, pass, rest);
}

void add_wait_row(const LayerCost& layer, const char* pass, const PhaseCost& whole, const PhaseCost& half,
                  std::string& text) {
  if (whole.launches == 0 && half.launches == 0) return;
  text += cost_row(layer, pass,
                   fmt::format("\"waiting for the host's launches\",host,host,0,0,0,{},{},{}", whole.launches,
                               half.launches, whole.launches));
}

}  // namespace

std::string cost_story_json(const CostStory& story, const Simulated& run, const ToolFacts& tool) {
  Json json = opened("cost", run, tool);
  json["makespan_ns"] = story.step;
  json["kinds_of_devices"] = story.classes_of_devices;
  json["layers"] = json_list(story.layers, layer_json);
  json["cost_changes"] = json_list(story.changes, trial_row_json);
  return explain_dump(json);
}

std::string cost_story_csv(const CostStory& story) {
  std::string text = "layer,layers,pass,operator,class,bound_by,flops,bytes,kernels,time_ns,split_time_ns,alone_ns\n";
  for (const LayerCost& layer : story.layers) {
    for (const OpCost& cost : layer.ops) {
      text += cost_row(layer, pass_of(cost.op),
                       fmt::format("\"{}\",{},{},{},{},{},{},{},{}", cost.op.name, to_string(class_of(cost.op)),
                                   to_string(cost.bound), all_flops(cost.op), moved_bytes(cost.op), cost.op.kernels,
                                   cost.whole, cost.halved, cost.own.alone));
    }
    add_wait_row(layer, "F", layer.forward, layer.forward, text);
    add_wait_row(layer, "B", layer.backward, {}, text);
    add_wait_row(layer, "I", {}, layer.input_grad, text);
    add_wait_row(layer, "W", {}, layer.weight_grad, text);
  }
  return text;
}

}  // namespace debubble
