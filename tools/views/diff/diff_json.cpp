#include "tools/views/diff/diff_json.hpp"

#include <array>

#include "formats/exporters/report_json.hpp"
#include "formats/json/json.hpp"
#include "sim/core/at.hpp"
#include "tools/views/diff/figures.hpp"
#include "tools/views/diff/words.hpp"

namespace debubble {
namespace {

constexpr int kDiffVersion = 1;

Json side_json(const RunRecord& record, const std::string& name, std::size_t iteration) {
  const RunOrigin& origin = record.origin;
  return {{"name", name},
          {"backend", origin.backend},
          {"clock", origin.clock},
          {"device", origin.device},
          {"method", origin.method},
          {"date", origin.date},
          {"command_line", origin.command_line},
          {"notes", origin.notes},
          {"iterations", record.iterations.size()},
          {"iteration", iteration + 1}};
}

Json index_or_null(std::int32_t index) { return index < 0 ? Json(nullptr) : Json(index); }

Json part_json(const GapPart& part) {
  const bool op = part.cause == GapCause::kOp;
  const auto kind = [](const Op& one) { return std::string(1, letter(one.kind)); };
  return {{"cause", to_string(part.cause)},
          {"gap_ns", part.gap},
          {"device", index_or_null(part.device)},
          {"to_device", index_or_null(part.to_device)},
          {"kind", op ? Json(kind(part.op)) : Json(nullptr)},
          {"stage", op ? Json(part.op.stage) : Json(nullptr)},
          {"partner_kind", op && part.paired ? Json(kind(part.partner)) : Json(nullptr)},
          {"partner_stage", op && part.paired ? Json(part.partner.stage) : Json(nullptr)},
          {"count", part.count},
          {"predicted_sum_ns", part.predicted},
          {"measured_sum_ns", part.measured},
          {"text", part_words(part)}};
}

const char* enum_word(Divergence::Kind kind) { return at(std::array{"order", "op", "transfer", "launch_gap"}, kind); }

Json divergence_json(const std::optional<Divergence>& divergence) {
  if (!divergence) return nullptr;
  const Divergence& d = *divergence;
  return {{"cause", enum_word(d.kind)},
          {"device", d.device},
          {"to_device", index_or_null(d.to_device)},
          {"op", to_string(d.op)},
          {"expected_op", d.kind == Divergence::Kind::kOrder ? Json(to_string(d.expected)) : Json(nullptr)},
          {"predicted_begin_ns", d.predicted_begin},
          {"measured_begin_ns", d.measured_begin},
          {"late_ns", d.late},
          {"text", divergence_words(d)}};
}

// What the executor's own allocator counted: null where nobody did.
Json allocated(const Diff& diff, std::size_t device) {
  const auto& peaks = diff.measured.iterations[diff.iteration].peak_memory;
  return device < peaks.size() ? Json(peaks[device]) : Json(nullptr);
}

const char* enum_word(MemorySource source) { return at(std::array{"counted", "modelled", "computed"}, source); }

Json devices_json(const Diff& diff) {
  const char* const activation = enum_word(diff.activation_source());
  const char* const memory = enum_word(diff.memory_source());
  const KnownSides known = memory_known(diff);
  Json list = Json::array();
  for (std::size_t d = 0; d < diff.comparison.devices.size(); ++d) {
    const DeviceFigures& device = diff.comparison.devices[d];
    list.push_back({{"device", d},
                    {"busy_ns", figure_json(device.busy)},
                    {"bubble_ratio", figure_json(device.bubble_ratio)},
                    {"peak_memory_bytes", figure_json(device.peak_memory, known)},
                    {"peak_activation_bytes", figure_json(device.peak_activation, known)},
                    {"measured_memory_is", memory},
                    {"measured_activation_is", activation},
                    {"allocated_bytes", allocated(diff, d)}});
  }
  return list;
}

// Medians: of the prediction, of the compared iteration, and `median` of all iterations.
Json durations_json(const Figure<Nanoseconds>& duration) {
  Json json = figure_json(duration);
  json["median"] = duration.median;
  return json;
}

Json ops_json(const std::vector<OpDurations>& all) {
  return json_list(all, [](const OpDurations& ops) -> Json {
    return {{"device", ops.device},
            {"kind", std::string(1, letter(ops.op.kind))},
            {"stage", ops.op.stage},
            {"partner_kind", ops.paired ? Json(std::string(1, letter(ops.partner.kind))) : Json(nullptr)},
            {"partner_stage", ops.paired ? Json(ops.partner.stage) : Json(nullptr)},
            {"count", ops.count},
            {"duration_ns", durations_json(ops.duration)}};
  });
}

Json links_json(const Diff& diff) {
  const std::size_t iterations = diff.measured.iterations.size();
  Json list = Json::array();
  for (const LinkDurations& link : diff.comparison.links) {
    const bool slow = diff.is_slow(link);
    list.push_back({{"device", link.from},
                    {"to_device", link.to},
                    {"bytes", link.bytes == 0 ? Json(nullptr) : Json(link.bytes)},
                    {"count", link.count},
                    {"duration_ns", durations_json(link.duration)},
                    {"others_median_ns", link.others == 0 ? Json(nullptr) : Json(link.others)},
                    {"slow", slow},
                    {"text", slow ? Json(slow_link_words(link, iterations)) : Json(nullptr)}});
  }
  return list;
}

Json level_figure(double predicted, double measured) {
  return {{"predicted", diff_number(predicted)},
          {"measured", diff_number(measured)},
          {"gap", diff_number(measured - predicted)}};
}

Json levels_json(const Diff& diff) {
  Json list = Json::array();
  const BubbleAndStep measured = diff.measured_step();
  for (const LevelPrediction& level : diff.levels) {
    list.push_back({{"level", to_string(level.level)},
                    {"from", level_words(level.level, diff)},
                    {"makespan_ns", level_figure(level.predicted.step, measured.step)},
                    {"bubble_ratio", level_figure(level.predicted.bubble, measured.bubble)}});
  }
  return list;
}

const char* enum_word(PredictionBasis basis) { return at(std::array{"forecast", "medians", "other_run"}, basis); }

}  // namespace

std::string diff_json(const Diff& diff, const ToolFacts& tool) {
  const Comparison& comparison = diff.comparison;
  const bool own = diff.predicted_name.empty();
  Json json = json_head(kDiffVersion, tool);
  json["schedule"] = schedule_json(diff.predicted_report.schedule);
  json["assumptions"] = assumptions_json(diff.predicted.assumptions);
  json["predicted"] =
      side_json(diff.predicted, own ? diff.measured_name : diff.predicted_name, diff.predicted_iteration);
  json["predicted_from_measured"] = own;
  json["prediction_level"] = enum_word(diff.basis);
  json["measured"] = side_json(diff.measured, diff.measured_name, diff.iteration);
  json["measured_times_are"] = diff.measured_timeline().measured ? "measured" : "computed";
  json["clocks"] = {{"method", diff.measured.clocks.method},
                    {"residual_ns", diff.measured.clocks.bounded ? Json(diff.measured.clocks.residual) : Json(nullptr)},
                    {"offsets_ns", diff.measured.clocks.offsets}};
  json["ops_matched"] = comparison.ops;
  json["transfers_matched"] = comparison.transfers_matched;
  json["transfers"] = comparison.transfers;
  json["makespan_ns"] = figure_json(comparison.makespan);
  json["bubble_ratio"] = figure_json(comparison.bubble_ratio);
  json["bubble_over_ideal"] = figure_json(comparison.bubble_over_ideal);
  json["levels"] = levels_json(diff);
  json["devices"] = devices_json(diff);
  json["ops_by_stage"] = ops_json(comparison.ops_by_stage);
  json["links"] = links_json(diff);
  Json causes = Json::object();
  for (int i = 0; i < kGapCauses; ++i) {
    causes[to_string(static_cast<GapCause>(i))] = at(comparison.gap_by_cause, i);
  }
  json["gap_by_cause_ns"] = causes;
  json["gap_parts"] = json_list(comparison.parts, part_json);
  json["first_divergence"] = divergence_json(comparison.first_divergence);
  json["divergence_tolerance_ns"] = comparison.tolerance;
  json["losses"] = json_list(diff.measured.losses, [](const LossItem& loss) -> Json {
    return {{"what", loss.what}, {"count", loss.count}};
  });
  return json.text(2) + "\n";
}

}  // namespace debubble
