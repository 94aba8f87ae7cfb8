#include <algorithm>
#include <array>
#include <optional>

#include "sim/core/at.hpp"
#include "tools/views/diff/figures.hpp"
#include "tools/views/diff/log_diff_views.hpp"

namespace debubble {
namespace {

constexpr int kLogDiffVersion = 1;

template <typename T>
Json figure_or_null(const std::optional<Figure<T>>& figure) {
  return figure ? figure_json(*figure) : Json(nullptr);
}

const char* rank_word(TimerFigure::Of of) { return at(std::array{"device", "least rank", "most rank"}, of); }

Json timers_json(const LogDiff& diff) {
  return json_list(diff.timers, [](const TimerFigure& timer) -> Json {
    return {{"timer", timer.name},
            {"of", rank_word(timer.of)},
            {"device", timer.of == TimerFigure::Of::kDevice ? Json(timer.device) : Json(nullptr)},
            {"time_ns", figure_json(timer.time)}};
  });
}

// null: the log does not say it.
Json bubble_json(const LogDiff& diff) {
  if (!diff.bubble) return nullptr;
  const PipelineBubble& bubble = *diff.bubble;
  return {{"predicted", bubble.predicted},
          {"measured", bubble.figure ? Json(bubble.figure->measured) : Json(nullptr)},
          {"gap", bubble.figure ? Json(bubble.figure->gap()) : Json(nullptr)},
          {"least", bubble.measured.least},
          {"most", bubble.measured.most}};
}

Json device_bubbles_json(const LogDiff& diff) {
  return json_list(diff.bubbles, [](const DeviceBubble& one) -> Json {
    return {{"device", one.device},
            {"bubble", figure_json(one.share)},
            {"forward_transfers", one.forward},
            {"backward_transfers", one.backward},
            {"both_transfers", one.both},
            {"end", one.end}};
  });
}

Json stages_json(const LogDiff& diff) {
  Json list = Json::array();
  for (const StageMemoryFigure& stage : diff.memory) {
    const bool measured = stage.ranks > 0;
    list.push_back({{"device", stage.device},
                    {"ranks", stage.ranks},
                    {"predicted_bytes", stage.predicted},
                    {"measured_bytes", measured ? Json(stage.most) : Json(nullptr)},
                    {"gap_bytes", measured ? Json(stage.most - stage.predicted) : Json(nullptr)}});
  }
  return list;
}

const char* hardware_source(const LogDiff& diff) {
  if (!diff.predicted_name.empty()) return "scenario";
  return diff.hardware_in_log ? "log" : "given";
}

}  // namespace

std::string log_diff_json(const LogDiff& diff, const ToolFacts& tool) {
  const ScheduleFacts& facts = diff.predicted.schedule;
  Json json = json_head(kLogDiffVersion, tool);
  json["log"] = diff.log_name;
  json["predicted_from"] = diff.predicted_name.empty() ? diff.log_name : diff.predicted_name;
  json["hardware"] = {{"name", diff.hardware.empty() ? Json(nullptr) : Json(diff.hardware)},
                      {"source", hardware_source(diff)}};
  json["schedule"] = {
      {"name", facts.name}, {"devices", facts.devices}, {"microbatches", facts.microbatches}, {"chunks", facts.chunks}};
  json["assumptions"] = assumptions_json(diff.predicted.assumptions);
  json["not_in_log"] = json_list(diff.assumed, [](const AssumedArgument& one) -> Json {
    return {{"argument", one.name}, {"taken", one.taken}};
  });
  json["notes"] = diff.notes;
  json["lines"] = diff.lines;
  json["lines_left_out"] = diff.left_out;
  json["last_iteration"] = diff.step ? Json(diff.last_iteration) : Json(nullptr);
  json["predicted_makespan_ns"] = diff.predicted.makespan;
  json["predicted_step_ns"] = diff.predicted.makespan;
  json["predicted_bubble_ratio"] = diff_number(diff.predicted.bubble_ratio);
  json["makespan_ns"] = figure_or_null(diff.step);
  json["step_ns"] = figure_or_null(diff.step);
  json["first_iteration_ns"] = diff.first > 0 ? Json(diff.first) : Json(nullptr);
  json["pipeline_bubble"] = bubble_json(diff);
  json["samples_per_s"] = figure_or_null(diff.samples_per_second);
  json["tokens_per_s"] = figure_or_null(diff.tokens_per_second);
  json["timers"] = timers_json(diff);
  json["idle"] = json_list(diff.idle, [](const IdleFigure& idle) -> Json {
    return {{"device", idle.device}, {"idle_share", figure_json(idle.share)}};
  });
  json["bubbles"] = device_bubbles_json(diff);
  const PeakMemory peak = diff.peak_memory();
  json["peak_memory"] = {{"predicted_bytes", peak.predicted},
                         {"measured_bytes", peak.measured},
                         {"gap_bytes", peak.measured ? Json(*peak.measured - peak.predicted) : Json(nullptr)}};
  json["memory"] = stages_json(diff);
  return json.text(2) + "\n";
}

std::string log_diff_csv(const LogDiff& diff) {
  std::string csv(kFigureColumns);
  if (diff.step) {
    csv += csv_row("step", "", "ns", *diff.step);
  } else {
    csv += fmt::format("step,,ns,{},,,,\n", diff.predicted.makespan);
  }
  csv += fmt::format("bubble_ratio,,,{},,,,\n", csv_number(diff.predicted.bubble_ratio));
  if (diff.bubble && diff.bubble->figure) csv += csv_row("pipeline_bubble", "", "", *diff.bubble->figure);
  if (diff.samples_per_second) csv += csv_row("throughput", "", "samples/s", *diff.samples_per_second);
  if (diff.tokens_per_second) csv += csv_row("throughput", "", "tokens/s", *diff.tokens_per_second);
  for (const TimerFigure& timer : diff.timers) {
    const bool device = timer.of == TimerFigure::Of::kDevice;
    csv += csv_row(device ? timer.name : timer.name + " of the " + rank_word(timer.of),
                   device ? std::to_string(timer.device) : "", "ns", timer.time);
  }
  for (const IdleFigure& idle : diff.idle) {
    csv += csv_row("idle share", std::to_string(idle.device), "", idle.share);
  }
  for (const DeviceBubble& one : diff.bubbles) {
    csv += csv_row("pipeline_bubble", std::to_string(one.device), "", one.share);
  }
  const PeakMemory peak = diff.peak_memory();
  const std::string most = peak.measured ? fmt::format("{},{}", *peak.measured, *peak.measured - peak.predicted) : ",";
  csv += fmt::format("peak_memory,,bytes,{},{},,\n", peak.predicted, most);
  for (const StageMemoryFigure& stage : diff.memory) {
    const std::string measured =
        stage.ranks == 0 ? "," : fmt::format("{},{}", stage.most, stage.most - stage.predicted);
    csv += fmt::format("peak_memory,{},bytes,{},{},,\n", stage.device, stage.predicted, measured);
  }
  return csv;
}

}  // namespace debubble
