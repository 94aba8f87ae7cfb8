#include <algorithm>
#include <set>

#include "sim/analysis/idle_gaps.hpp"
#include "sim/core/at.hpp"
#include "tools/figures/font.hpp"
#include "tools/figures/panels.hpp"
#include "tools/figures/pipeline_boxes.hpp"

namespace debubble::figure {

namespace {

constexpr Length kRowHeight = 1150;
constexpr Length kStripHeight = 250;  // of a lane of collectives below a row
constexpr Length kGap = 100;          // between rows
constexpr Length kFootHeight = 120;
constexpr Length kNameRoom = 90;  // around the name of a box, both sides together

bool has_collectives(const Timeline& timeline) {
  return std::any_of(timeline.steps.begin(), timeline.steps.end(),
                     [](const StepSpan& step) { return step.lane != StepTask::Lane::kCompute; });
}

Look look_of_kind(const BoxKind& kind, bool mono) {
  return kind.step ? look_of_step(mono) : look_of(kind.op, kind.light, mono);
}

bool fits(const NamedBox& one, Length size, Length room = 0) {
  return text_width(one.name, size) + room <= one.box.width && size * kDigitHeight / 100 + 80 <= one.box.height;
}

// The largest size in which all names have some room around them, and the smallest where there is none: then they may
// fill their boxes, and boxes that are too small have no name.
Length name_size(const PipelineBoxes& boxes) {
  for (Length size = 700; size > kSmallFont; size -= 50) {
    const bool all = std::all_of(boxes.boxes.begin(), boxes.boxes.end(), [size](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(),
                         [size](const NamedBox& one) { return one.name.empty() || fits(one, size, kNameRoom); });
    });
    if (all) return size;
  }
  return kSmallFont;
}

std::string class_of(const BoxKind& kind) {
  return kind.step ? "step" : std::string(1, letter(kind.op)) + (kind.light ? " light" : "");
}

void paint_boxes(const PipelineBoxes& boxes, Sheet& sheet) {
  for (const auto& [kind, named] : boxes.boxes) {
    Painted painted{look_of_kind(kind, sheet.mono()), {}};
    for (const NamedBox& one : named) painted.boxes.push_back(one.box);
    sheet.paint(class_of(kind), painted, boxes.merged ? Edge::kNone : Edge::kWide);
    if (!kind.light || !sheet.mono()) continue;
    Layer foot{.name = "foot", .fill = kText, .stroke = {}};
    for (const Box& box : painted.boxes) {
      const Length high = std::min(kFootHeight, box.height / 4);
      foot.boxes.push_back({box.x, box.y + box.height - high, box.width, high});
    }
    sheet.add(std::move(foot));
  }
}

void write_names(const PipelineBoxes& boxes, Sheet& sheet) {
  const Length size = name_size(boxes);
  for (const auto& [kind, named] : boxes.boxes) {
    const std::string ink = look_of_kind(kind, sheet.mono()).ink;
    for (const NamedBox& one : named) {
      if (one.name.empty() || !fits(one, size)) continue;
      const Length base = one.box.y + (one.box.height + size * kDigitHeight / 100) / 2;
      sheet.write("microbatch", {{one.box.x + one.box.width / 2, base}, one.name, size, Align::kMiddle}, ink.c_str());
    }
  }
}

IdleCause main_cause(const IdleGap& gap) {
  const auto most = std::max_element(gap.causes.begin(), gap.causes.end());
  return static_cast<IdleCause>(most - gap.causes.begin());
}

// Of each idle time that is wide enough a bar of its main cause.
std::set<IdleCause> paint_causes(const RunToDraw& run, const DeviceRows& rows, const Span1D& span, Sheet& sheet) {
  std::array<Painted, kIdleCauses> painted;
  std::set<IdleCause> shown;
  std::vector<std::pair<Box, IdleCause>> signs;
  for (const IdleGap& gap : idle_gaps(*run.timeline)) {
    if (gap.device % rows.every != 0) continue;
    const Length left = span.x_of(gap.begin);
    const Length head = sheet.top() + gap.device / rows.every * rows.pitch;
    const Box box{left, head + kRowHeight * 3 / 10, span.x_of(gap.end) - left, kRowHeight * 4 / 10};
    if (box.width < 30 || rows.pitch < kRowHeight) continue;
    const IdleCause cause = main_cause(gap);
    at(painted, cause).boxes.push_back(box);
    shown.insert(cause);
    if (box.width >= 700) signs.emplace_back(box, cause);
  }
  for (const IdleCause cause : shown) {
    at(painted, cause).look = look_of(cause, sheet.mono());
    sheet.paint("cause-" + std::string(to_string(cause)), at(painted, cause), Edge::kWide);
  }
  if (sheet.mono()) return shown;  // hatches tell them apart; letters upon them could not be read
  for (const auto& [box, cause] : signs) {
    sheet.write("sign",
                {{box.x + box.width / 2, box.y + box.height / 2 + 190}, sign_of(cause), kSmallFont, Align::kMiddle},
                look_of(cause, false).ink.c_str());
  }
  return shown;
}

void paint_collectives(const RunToDraw& run, const DeviceRows& rows, const Span1D& span, Sheet& sheet) {
  Painted painted{look_of_collective(sheet.mono()), {}};
  for (const StepSpan& step : run.timeline->steps) {
    if (step.lane == StepTask::Lane::kCompute || step.device % rows.every != 0) continue;
    const Length left = span.x_of(step.begin);
    const Length head = sheet.top() + step.device / rows.every * rows.pitch + rows.pitch - kStripHeight - kGap;
    painted.boxes.push_back({left, head, std::max<Length>(span.x_of(step.end) - left, 20), kStripHeight});
  }
  sheet.paint("collective", painted, Edge::kNone);
}

std::string light_words(const Schedule& schedule) {
  const bool replicas = schedule.placement.replicas() > 1 && !schedule.replicas_share_weights;
  if (replicas) return schedule.placement.replicas() == 2 ? "the other replica" : "every second replica";
  return schedule.chunks > 2 ? "every second stage of a device" : "a device's second stage";
}

std::vector<LegendItem> pipeline_legend(const RunToDraw& run, const PipelineBoxes& boxes, bool mono) {
  std::vector<LegendItem> items;
  bool light = false;
  for (int k = 0; k < kOpKinds; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const bool dark_there = boxes.boxes.contains({kind, false, false});
    const bool light_there = boxes.boxes.contains({kind, true, false});
    light = light || light_there;
    if (!dark_there && !light_there) continue;
    LegendItem item{.words = rule_of(kind).word};
    if (dark_there) item.looks.push_back(look_of(kind, false, mono));
    if (light_there && (!mono || !dark_there)) item.looks.push_back(look_of(kind, true, mono));
    items.push_back(std::move(item));
  }
  if (boxes.boxes.contains({OpKind::kForward, false, true})) items.push_back({"optimizer step", {look_of_step(mono)}});
  if (has_collectives(*run.timeline)) items.push_back({"collective", {look_of_collective(mono)}});
  if (light && mono) {
    items.push_back({.words = light_words(*run.schedule), .looks = {{kPaper, kText, Hatch::kNone}}, .foot = true});
  }
  if (light && !mono) items.push_back({"lighter: " + light_words(*run.schedule)});
  return items;
}

void add_notes(const PipelineBoxes& boxes, const DeviceRows& rows, Sheet& sheet) {
  if (boxes.pairs) sheet.note("Halves above each other: two ops that overlap.");
  if (rows.every > 1) sheet.note("One of " + std::to_string(rows.every) + " devices is shown.");
  if (boxes.merged) {
    sheet.note("Ops too narrow for boxes: from the foot up, each column shows how its time is shared out.");
  }
}

}  // namespace

Span1D time_span(const RunToDraw& run, const Sheet& sheet) {
  return {device_label_width(run.timeline->devices), sheet.width() - 500,
          std::max<Nanoseconds>(run.timeline->makespan, 1)};
}

void write_device_labels(const DeviceRows& rows, Length height, Sheet& sheet) {
  for (int row = 0; row < rows.shown; row += rows.label_every) {
    const Length base = sheet.top() + row * rows.pitch + (height + kFontSize * kDigitHeight / 100) / 2;
    sheet.write("device", {{200, base}, device_label(rows.device(row)), kFontSize, Align::kLeft});
  }
}

void draw_pipeline(const RunToDraw& run, bool causes, Sheet& sheet) {
  const bool strips = has_collectives(*run.timeline);
  const bool pairs = !run.timeline->partners.empty();
  const Length wanted = pairs ? kRowHeight + 100 : kRowHeight;
  const DeviceRows rows = device_rows(run.timeline->devices, wanted + kGap + (strips ? kStripHeight : 0));
  const Length height = strips ? rows.pitch * 7 / 10 : rows.pitch - std::min(kGap, rows.pitch / 8);
  const Span1D span = time_span(run, sheet);
  Painted idle{{sheet.mono() ? kPaper : kIdle, kText, Hatch::kNone}, {}};
  for (int row = 0; row < rows.shown; ++row) {
    idle.boxes.push_back({span.left, sheet.top() + row * rows.pitch, span.width(), height});
  }
  sheet.paint("idle", idle, Edge::kNone);
  const PipelineBoxes boxes = pipeline_boxes(run, rows, span, sheet.top(), height);
  std::set<IdleCause> shown;
  if (causes) shown = paint_causes(run, rows, span, sheet);
  paint_boxes(boxes, sheet);
  write_names(boxes, sheet);
  if (strips) paint_collectives(run, rows, span, sheet);
  write_device_labels(rows, height, sheet);
  sheet.move_down(rows.shown * rows.pitch + 50);
  sheet.time_axis(span, "time");
  std::vector<LegendItem> items = pipeline_legend(run, boxes, sheet.mono());
  for (const IdleCause cause : shown) {
    items.push_back({"idle: " + words_of(cause), {look_of(cause, sheet.mono())}, sheet.mono() ? "" : sign_of(cause)});
  }
  if (shown.empty() && !sheet.mono()) items.push_back({"idle", {{kIdle, kText, Hatch::kNone}}});
  sheet.legend(items);
  add_notes(boxes, rows, sheet);
}

}  // namespace debubble::figure
