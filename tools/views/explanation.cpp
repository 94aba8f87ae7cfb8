#include "tools/views/explanation.hpp"

#include <algorithm>

#include "formats/json/json_text.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kExplanationGap = 2;
constexpr std::size_t kLongestLayer = 16;
constexpr std::size_t kShortestKernel = 12;

Nanoseconds explained_sum(std::span<const Explanation> explanations) {
  Nanoseconds sum = 0;
  for (const Explanation& one : explanations) sum += one.total;
  return sum;
}

std::string share_of(Nanoseconds part, Nanoseconds whole) {
  return format_percent(whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string explanation_view(std::span<const Explanation> explanations, const ViewStyle& style, bool on_cpu) {
  const Nanoseconds sum = explained_sum(explanations);
  const Scale scale = duration_scale(explanations.empty() ? 0 : explanations.front().total);
  using Side = Table::Side;
  const auto make = [&] {
    return Table({{"share", Side::kRight},
                  {std::string("time\n") + scale.unit, Side::kRight},
                  {"count", Side::kRight},
                  {"layer", Side::kLeft},
                  {"phase", Side::kLeft},
                  {"rule", Side::kLeft},
                  {"kernel", Side::kLeft}});
  };
  const auto fill = [&](Table& table, std::size_t kernel_width) {
    for (const Explanation& one : explanations) {
      table.add_row({share_of(one.total, sum), format_scaled(one.total, scale), std::to_string(one.count),
                     shorten(one.layer, kLongestLayer), one.phase, one.rule, shorten(one.kernel, kernel_width)});
    }
  };
  Table measured = make();
  fill(measured, 0);
  const auto width = static_cast<std::size_t>(style.width);
  const std::size_t taken = measured.natural_width();
  Table table = make();
  fill(table, std::max(kShortestKernel, width > taken + kExplanationGap ? width - taken : 0));
  return table.text(width) + "sum  " + format_duration(sum) + (on_cpu ? " of CPU time\n" : " of GPU time\n");
}

std::string explanation_json(std::span<const Explanation> explanations) {
  std::string out = "{\n  \"explanations\": [";
  const char* separator = "\n";
  for (const Explanation& one : explanations) {
    out += separator;
    out += "    {\"layer\": ";
    append_json_string(out, one.layer);
    out += ", \"phase\": ";
    append_json_string(out, one.phase);
    out += ", \"rule\": ";
    append_json_string(out, one.rule);
    out += ", \"kernel\": ";
    append_json_string(out, one.kernel);
    out += ", \"count\": " + std::to_string(one.count) + ", \"total_ns\": " + std::to_string(one.total) + "}";
    separator = ",\n";
  }
  return out + "\n  ],\n  \"total_ns\": " + std::to_string(explained_sum(explanations)) + "\n}\n";
}

}  // namespace debubble
