#include <algorithm>
#include <array>

#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "tools/figures/font.hpp"
#include "tools/figures/panels.hpp"

namespace debubble::figure {

namespace {

constexpr Length kBarPitch = 1100;

}  // namespace

void draw_idle(const RunToDraw& run, Sheet& sheet) {
  const std::vector<DeviceReport>& devices = run.report->devices;
  const DeviceRows rows = device_rows(static_cast<int>(devices.size()), kBarPitch);
  const Length height = rows.pitch * 8 / 10;
  Nanoseconds largest = 1;
  for (const DeviceReport& device : devices) largest = std::max(largest, device.idle);
  const Length left = device_label_width(static_cast<int>(devices.size()));
  const Span1D span{left, sheet.width() - text_width("99.9 % ", kFontSize) - 200, largest};
  std::array<Painted, kIdleCauses> painted;
  for (int row = 0; row < rows.shown; ++row) {
    const DeviceReport& device = at(devices, rows.device(row));
    const Length head = sheet.top() + row * rows.pitch;
    Nanoseconds sum = 0;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (device.idle_by_cause[cause] == 0) continue;
      const Length from = span.x_of(sum);
      sum += device.idle_by_cause[cause];
      painted[cause].boxes.push_back({from, head, span.x_of(sum) - from, height});
    }
    if (row % rows.label_every != 0) continue;
    const Length base = head + (height + kFontSize * kDigitHeight / 100) / 2;
    sheet.write("share", {{span.x_of(sum) + 200, base}, format_percent(device.bubble_ratio), kFontSize, Align::kLeft});
  }
  // A white cause beside another one would not be seen without its edge.
  const Edge edge = rows.pitch < 500 ? Edge::kNone : sheet.mono() ? Edge::kAll : Edge::kWide;
  std::vector<LegendItem> items;
  for (std::size_t k = 0; k < kIdleCauses; ++k) {
    if (painted[k].boxes.empty()) continue;
    const auto cause = static_cast<IdleCause>(k);
    painted[k].look = look_of(cause, sheet.mono());
    sheet.paint("cause-" + std::string(to_string(cause)), painted[k], edge);
    items.push_back({words_of(cause), {painted[k].look}, sheet.mono() ? "" : sign_of(cause)});
    if (sheet.mono()) continue;
    for (const Box& box : painted[k].boxes) {
      if (box.width < 600 || box.height < 600) continue;
      const Length base = box.y + (box.height + kSmallFont * kDigitHeight / 100) / 2;
      sheet.write("sign", {{box.x + box.width / 2, base}, sign_of(cause), kSmallFont, Align::kMiddle},
                  painted[k].look.ink.c_str());
    }
  }
  write_device_labels(rows, height, sheet);
  sheet.move_down(rows.shown * rows.pitch + 50);
  sheet.time_axis(span, "idle time of a step, by cause");
  if (items.empty()) sheet.note("No device is ever idle.");
  sheet.legend(items);
}

}  // namespace debubble::figure
