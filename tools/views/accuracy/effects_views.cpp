#include "tools/views/accuracy/effects_views.hpp"

#include <fmt/format.h>

#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::string_view kEffectsPage =
    "# Each effect switched off alone\n\n"
    "Written by `debubble accuracy --effects --format markdown`; a test of the long preset compares this page with "
    "what "
    "the binary prints. Every record of [accuracy.md](accuracy.md) is predicted anew without one part of the model, "
    "without any constant. A part is worth what the mean absolute error grows by; where it shrinks, another error "
    "hides behind the part, or the part is wrong there. What has no switch is not here: transfers between stages as "
    "measured, the training step's optimizer and reductions, the schedules themselves.\n\n"
    "Mean absolute errors; empty: no record of the source is predicted otherwise.\n";

std::string source_words(const EffectErrors& errors) { return errors.source->name + " " + words_for(errors.with); }

// Whether any record of it has a part that is switched off.
bool any_changed(const JudgedEffects& judged, std::size_t place) {
  for (const JudgedEffect& one : judged.effects) {
    if (one.errors[place].changed > 0) return true;
  }
  return false;
}

std::vector<std::size_t> changed_places(const JudgedEffects& judged) {
  std::vector<std::size_t> places;
  const std::size_t count = judged.effects.empty() ? 0 : judged.effects.front().errors.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (any_changed(judged, k)) places.push_back(k);
  }
  return places;
}

std::string signed_points(const EffectErrors& errors) {
  return fmt::format("{:+.2f}", 100 * (errors.without.mean_absolute - errors.with.mean_absolute));
}

std::string refused_lines(const JudgedEffects& judged) {
  std::string text;
  for (const JudgedEffect& one : judged.effects) {
    if (one.refused.empty()) continue;
    std::string ids;
    for (const std::string& id : one.refused) ids += (ids.empty() ? "" : ", ") + id;
    text += fmt::format("- {}: {} cannot be run without it and count as they are\n", one.effect->name, ids);
  }
  return text.empty() ? "" : "\n" + text;
}

// One row per effect, one column per source.
std::string overview(const JudgedEffects& judged, const std::vector<std::size_t>& places) {
  std::string head = "| without |";
  std::string line = "|---|";
  std::string with = "| nothing: the model as it is |";
  for (const std::size_t place : places) {
    const EffectErrors& errors = judged.effects.front().errors[place];
    head += " " + source_words(errors) + " |";
    line += "--:|";
    with += " " + percent(errors.with.mean_absolute) + " |";
  }
  std::string text = head + "\n" + line + "\n" + with + "\n";
  for (const JudgedEffect& one : judged.effects) {
    text += fmt::format("| {} |", one.effect->name);
    for (const std::size_t place : places) {
      const EffectErrors& errors = one.errors[place];
      text += errors.changed == 0 ? " |" : " " + percent(errors.without.mean_absolute) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string details(const JudgedEffect& one) {
  std::string rows;
  for (const EffectErrors& errors : one.errors) {
    if (errors.changed == 0) continue;
    rows += fmt::format("| {} | {} of {} | {} | {} | {} | {} | {} |\n", source_words(errors), errors.changed,
                        errors.with.records, percent(errors.with.mean_absolute), percent(errors.without.mean_absolute),
                        signed_points(errors), error_text(errors.with.bias), error_text(errors.without.bias));
  }
  if (rows.empty())
    return fmt::format("\n## {}\n\nWithout it: {}. No record is predicted otherwise.\n", one.effect->name,
                       one.effect->without);
  return fmt::format(
             "\n## {}\n\nWithout it: {}.\n\n| source | records changed | with | without | points | bias with | bias "
             "without |\n|---|--:|--:|--:|--:|--:|--:|\n",
             one.effect->name, one.effect->without) +
         rows;
}

Json effect_summary_json(const ErrorSummary& summary) {
  return {{"mean_absolute_error", summary.mean_absolute}, {"bias", summary.bias}, {"worst", summary.worst}};
}

Json errors_json(const EffectErrors& errors) {
  Json group = nullptr;
  if (!errors.with.group.empty()) group = errors.with.group;
  return {{"source", errors.source->name},
          {"quantity", to_string(errors.with.quantity)},
          {"group", group},
          {"records", errors.with.records},
          {"changed", errors.changed},
          {"with", effect_summary_json(errors.with)},
          {"without", effect_summary_json(errors.without)}};
}

}  // namespace

std::string effects_text(const JudgedEffects& judged, const ViewStyle& style) {
  using Side = Table::Side;
  std::string text;
  for (const JudgedEffect& one : judged.effects) {
    Table table({{"source", Side::kLeft},
                 {"changed", Side::kRight},
                 {"with", Side::kRight},
                 {"without", Side::kRight},
                 {"points", Side::kRight}});
    bool any = false;
    for (const EffectErrors& errors : one.errors) {
      if (errors.changed == 0) continue;
      any = true;
      table.add_row({source_words(errors), std::to_string(errors.changed), percent(errors.with.mean_absolute),
                     percent(errors.without.mean_absolute), signed_points(errors)});
    }
    text += fmt::format("{}{}  without: {}\n", text.empty() ? "" : "\n", one.effect->name, one.effect->without);
    text += any ? table.text(static_cast<std::size_t>(style.width), 2) : "  no record is predicted otherwise\n";
  }
  return text + refused_lines(judged);
}

std::string effects_markdown(const JudgedEffects& judged) {
  std::string text = std::string(kEffectsPage) + "\n" + overview(judged, changed_places(judged));
  text += refused_lines(judged);
  for (const JudgedEffect& one : judged.effects) text += details(one);
  return text;
}

std::string effects_json(const JudgedEffects& judged, const std::string& command_line) {
  Json list = Json::array();
  for (const JudgedEffect& one : judged.effects) {
    Json errors = Json::array();
    for (const EffectErrors& each : one.errors) errors.push_back(errors_json(each));
    list.push_back(
        {{"effect", one.effect->name}, {"without", one.effect->without}, {"refused", one.refused}, {"errors", errors}});
  }
  const Json document{{"schema", "debubble.effects/1"},
                      {"version", std::string(kVersion)},
                      {"command", command_line},
                      {"effects", list}};
  return document.text(2) + "\n";
}

}  // namespace debubble
