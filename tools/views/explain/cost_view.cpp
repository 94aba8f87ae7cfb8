#include "tools/views/explain/cost_view.hpp"

#include <fmt/format.h>

#include "sim/core/quantities.hpp"
#include "sim/core/share.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

// Below these, tables show times, shares and words alone.
constexpr std::size_t kWideOps = 72;
constexpr std::size_t kSharedOps = 48;  // and not even shares of operators
constexpr std::size_t kWideClasses = 62;

void remove_columns(Table& table, std::size_t first, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) table.remove_column(first);
}

Nanoseconds layer_time(const LayerCost& layer) { return layer.forward.total + layer.backward.total; }

std::string op_words(const OpCost& cost) {
  const Nanoseconds hidden = cost.own.alone - cost.whole;
  std::string text = cost.op.name;
  if (cost.op.parts > 1) text += fmt::format(" in {} parts", cost.op.parts);
  if (hidden > 0) text += fmt::format(" ({} of it hidden)", format_duration(hidden));
  if (cost.op.quantises && cost.whole == 0) text += " (in its product)";
  return text;
}

std::string giga(double flops) { return flops == 0 ? "-" : fmt::format("{:.4g}", flops / 1e9); }

std::string sized(Bytes bytes) { return bytes == 0 ? "-" : format_size(bytes); }

void add_wait(Table& table, const PhaseCost& phase, const char* pass, const LayerCost& layer) {
  if (phase.launches == 0) return;
  table.add_row({pass, format_duration(phase.launches), format_percent(share(phase.launches, layer_time(layer))),
                 to_string(OpBound::kHost), "-", "-", "-", "waiting for the host's launches"});
}

std::string ops_text(const LayerCost& layer, std::size_t width) {
  Table table({{"", Side::kLeft},
               {"time", Side::kRight},
               {"share", Side::kRight},
               {"bound by", Side::kLeft},
               {"GFLOP", Side::kRight},
               {"bytes", Side::kRight},
               {"n", Side::kRight},
               {"operator", Side::kLeft}});
  bool forward = true;
  for (const OpCost& cost : layer.ops) {
    if (forward && cost.op.phase != LayerOp::Phase::kForward) {
      add_wait(table, layer.forward, "F", layer);
      forward = false;
    }
    table.add_row({pass_of(cost.op), format_duration(cost.whole), format_percent(share(cost.whole, layer_time(layer))),
                   to_string(cost.bound), giga(all_flops(cost.op)), sized(moved_bytes(cost.op)),
                   fmt::format("{}", cost.op.kernels), op_words(cost)});
  }
  add_wait(table, layer.backward, "B", layer);
  if (width < kWideOps) remove_columns(table, 4, 3);
  if (width < kSharedOps) table.remove_column(2);
  return table.text(width);
}

std::string classes_text(const LayerCost& layer, std::size_t width) {
  const std::array<ClassCost, 6> classes = class_costs(layer);
  double flops = 0;
  Bytes bytes = 0;
  for (const ClassCost& one : classes) {
    flops += one.flops;
    if (&one != &classes.at(static_cast<std::size_t>(OpClass::kNetwork))) bytes += one.bytes;
  }
  Table table({{"kind of work", Side::kLeft},
               {"time", Side::kRight},
               {"share", Side::kRight},
               {"of the FLOPs", Side::kRight},
               {"of the bytes", Side::kRight}});
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const ClassCost& one = classes.at(k);
    if (one.time == 0 && one.flops == 0 && one.bytes == 0) continue;
    const bool inside = one.flops > 0 || static_cast<OpClass>(k) < OpClass::kNetwork;
    table.add_row({to_string(static_cast<OpClass>(k)), format_duration(one.time),
                   format_percent(share(one.time, layer_time(layer))),
                   inside && flops > 0 ? format_percent_to(one.flops / flops, 2) : "-",
                   inside ? format_percent(share(one.bytes, bytes)) : "-"});
  }
  if (width < kWideClasses) remove_columns(table, 3, 2);
  return table.text(width);
}

std::string layer_title(const LayerCost& layer) {
  const std::string count = layer.layers > 1 ? fmt::format(", {} of them", layer.layers) : "";
  return fmt::format("{}{}: F {}, B {} (split: I {}, W {})", layer_words(layer), count,
                     format_duration(layer.forward.total), format_duration(layer.backward.total),
                     format_duration(layer.input_grad.total), format_duration(layer.weight_grad.total));
}

std::string signed_percent(double ratio) { return (ratio > 0 ? "+" : "") + format_percent(ratio); }

std::string cost_changes_text(const CostStory& story, std::size_t width) {
  Table table({{"step", Side::kRight}, {"change", Side::kRight}, {"source", Side::kLeft}, {"with", Side::kLeft}});
  const bool narrow = width < kWideClasses;
  for (const CostTrial& one : story.changes) {
    std::string what = one.what;
    if (!one.flags.empty()) what += " (" + one.flags + ")";
    if (!one.refusal.empty()) {
      table.add_row({"-", "-", "not possible", what + ": " + one.refusal});
      continue;
    }
    if (one.fits != story.fits) what += one.fits ? "; fits into memory" : "; does not fit into memory";
    const std::string source = one.upper_bound ? "modelled, at most" : "modelled";
    if (narrow) what = source + ": " + what;
    table.add_row({format_duration(one.step), signed_percent(one.change), source, what});
  }
  if (narrow) table.remove_column(2);
  return table.text(width);
}

}  // namespace

std::array<ClassCost, 6> class_costs(const LayerCost& layer) {
  std::array<ClassCost, 6> classes{};
  for (const OpCost& cost : layer.ops) {
    ClassCost& one = classes.at(static_cast<std::size_t>(class_of(cost.op)));
    one.time += cost.whole;
    one.flops += all_flops(cost.op);
    one.bytes += moved_bytes(cost.op);
  }
  classes.at(static_cast<std::size_t>(OpClass::kHost)).time = layer.forward.launches + layer.backward.launches;
  return classes;
}

const char* pass_of(const LayerOp& op) {
  if (op.phase == LayerOp::Phase::kForward) return "F";
  if (op.recompute) return "R";
  return op.phase == LayerOp::Phase::kInputGrad ? "I" : "W";
}

double all_flops(const LayerOp& op) { return op.flops + op.pass_flops; }

Bytes moved_bytes(const LayerOp& op) { return op.kind == LayerOp::Kind::kCollective ? op.collective_bytes : op.bytes; }

std::string layer_words(const LayerCost& layer) {
  return std::string(layer_kind(layer.place)) + (layer.recomputed ? ", recomputed" : "");
}

std::string cost_story_text(const CostStory& story, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const auto head = [&](const std::string& line) { return title_lines(line, style); };
  std::string text = paragraph(
      "One rank, one microbatch. F forward; I and W gradients of inputs and of weights, together B; R recomputed. "
      "n: kernels. Collectives: their buffers' bytes, and the time that nothing hides. All times are modelled.",
      style);
  if (story.classes_of_devices > 1) {
    text += paragraph(fmt::format("Groups of ranks take {} kinds of links, so that layers cost other times on other "
                                  "devices; these are of device 0.",
                                  story.classes_of_devices),
                      style);
  }
  for (const LayerCost& layer : story.layers) {
    text += "\n" + head(layer_title(layer)) + ops_text(layer, width) + "\n" + classes_text(layer, width);
  }
  text += "\n" + head(fmt::format("what it would bring the whole step of {}, each alone and simulated",
                                  format_duration(story.step)));
  return text + cost_changes_text(story, width);
}

}  // namespace debubble
