#include "tools/views/hardware_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cost_models/transformer/hardware_sources.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "scenario/job/hardware_facts.hpp"
#include "scenario/request/hardware_fields.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

std::string tera_or_dash(double rate) {
  return rate > 0 ? plain(static_cast<double>(static_cast<std::int64_t>(rate / 1e11 + 0.5)) / 10) : "-";
}

std::string whole_gib(const Hardware& one) { return format_with_unit(one.memory, scale_of("GiB")); }
std::string whole_gigabytes(const Hardware& one) { return format_scaled(one.memory_bandwidth, scale_of("GB/s")); }

std::string hardware_summary(const Hardware& one) {
  const auto tera = [](double rate) { return fmt::format("{:.0f}", rate / 1e12); };
  std::string text = tera(one.half_flops) + " TFLOP/s in 16 bits";
  if (one.fp8_flops > 0) text += ", " + tera(one.fp8_flops) + " in 8";
  if (one.multiprocessors > 0) text += fmt::format(", {} multiprocessors", one.multiprocessors);
  text += ", " + whole_gib(one) + " at " + whole_gigabytes(one) + " GB/s; " + one.source;
  return text + "; kernels: " + (one.kernels.empty() ? efficiency_source(one) : "measured on " + one.kernels);
}

}  // namespace

std::string hardware_list_text(const ViewStyle& style) {
  constexpr auto kRight = Table::Side::kRight;
  constexpr auto kLeft = Table::Side::kLeft;
  Table table({{"\nhardware", kLeft},
               {"TFLOP/s\nbf16", kRight},
               {"\nfp8", kRight},
               {"\nmemory", kRight},
               {"\nGB/s", kRight},
               {"\nfigures", kLeft},
               {"\nkernels", kLeft}});
  for (const Hardware& one : hardware_presets()) {
    const HardwareQuality quality = hardware_quality(one);
    table.add_row({one.name, tera_or_dash(one.half_flops), tera_or_dash(one.fp8_flops), whole_gib(one),
                   whole_gigabytes(one), quality.figures, quality.kernels});
  }
  return table.text(static_cast<std::size_t>(style.width)) + "\n" +
         paragraph(
             "debubble explain hardware NAME shows every figure with its source. --hardware FILE.json takes one of "
             "your own: debubble export --to hardware NAME -o my.json writes one to edit.",
             style);
}

std::string hardware_text(const Hardware& hardware, const ViewStyle& style) {
  std::vector<std::string> notes;
  Table table(
      {{"", Table::Side::kLeft}, {"", Table::Side::kRight}, {"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const Assumption& fact : hardware_facts(hardware)) {
    std::string note;
    if (!fact.citation.empty()) {
      auto found = std::find(notes.begin(), notes.end(), fact.citation);
      if (found == notes.end()) found = notes.insert(notes.end(), fact.citation);
      note = fmt::format(" [{}]", found - notes.begin() + 1);
    }
    table.add_row({fact.key, fact.amount, source_word(fact.source) + note, fact.meaning});
  }
  Table sources({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (std::size_t k = 0; k < notes.size(); ++k) sources.add_row({fmt::format("[{}]", k + 1), notes[k]});
  const auto width = static_cast<std::size_t>(style.width);
  std::string text = paint(style.color, kBold, hardware.name) + "\n";
  if (hardware.own != nullptr && !hardware.source.empty()) text += paragraph(hardware.source, style);
  return text + table.text(width, 2) + "\n" + sources.text(width, 2);
}

Json hardware_json(const Hardware& hardware) {
  Json figures = json_list(hardware_facts(hardware), [](const Assumption& fact) -> Json {
    return {{"what", fact.key},
            {"value", fact.amount},
            {"meaning", fact.meaning},
            {"source", to_string(fact.source)},
            {"citation", fact.citation.empty() ? Json(nullptr) : Json(fact.citation)}};
  });
  return {{"name", hardware.name}, {"summary", hardware_summary(hardware)}, {"figures", figures}};
}

}  // namespace debubble
