#include "tools/figures/sheet.hpp"

#include <algorithm>

#include "sim/core/quantities.hpp"
#include "sim/core/wide.hpp"
#include "tools/figures/font.hpp"

namespace debubble::figure {

namespace {

constexpr Length kMargin = 200;
constexpr Length kEdge = 40;           // the thin edge of a box
constexpr Length kOutlinedFrom = 250;  // boxes narrower than this have none
constexpr Length kHatchDistance = 260;
constexpr Length kSwatchWidth = 900;
constexpr Length kSwatchHeight = 600;
constexpr Length kLegendPitch = 900;
constexpr Length kTick = 200;
constexpr Length kLabelRoom = 3400;  // of an axis, from number to number
constexpr Length kHighest = 56000;   // of the rows of one panel
constexpr int kMostRows = 512;

// Of the lines x + y = c (rising to the right, as y goes down) the part in the box.
void add_rising(const Box& box, std::vector<Shape>& lines) {
  const Length right = box.x + box.width;
  const Length foot = box.y + box.height;
  const Length first = (box.x + box.y) / kHatchDistance * kHatchDistance + kHatchDistance;
  for (Length c = first; c < right + foot; c += kHatchDistance) {
    const Length x0 = std::max(box.x, c - foot);
    const Length x1 = std::min(right, c - box.y);
    if (x0 < x1) lines.push_back({{{x0, c - x0}, {x1, c - x1}}});
  }
}

void add_falling(const Box& box, std::vector<Shape>& lines) {
  const Length foot = box.y + box.height;
  const Length first = (box.x - foot) / kHatchDistance * kHatchDistance;
  for (Length c = first; c < box.x + box.width - box.y; c += kHatchDistance) {
    const Length x0 = std::max(box.x, c + box.y);
    const Length x1 = std::min(box.x + box.width, c + foot);
    if (x0 < x1) lines.push_back({{{x0, x0 - c}, {x1, x1 - c}}});
  }
}

// Lines of at most that width; a word that is wider is cut. At least one line.
std::vector<std::string> wrapped(const std::string& words, Length width, Length size) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = cut_to(words.substr(at, end - at), width, size);
    const std::string longer = lines.back() + (at == 0 ? "" : " ") + word;
    if (!lines.back().empty() && text_width(longer, size) > width) {
      lines.push_back(word);
    } else {
      lines.back() = longer;
    }
    at = end + 1;
  }
  return lines;
}

std::int64_t most_steps(const Span1D& span) { return std::max<std::int64_t>(1, span.width() / kLabelRoom); }

}  // namespace

Length Span1D::x_of(std::int64_t value) const {
  const auto range = static_cast<WideUnsigned>(largest - smallest);
  const auto scaled = static_cast<WideUnsigned>(value - smallest) * static_cast<WideUnsigned>(2 * width()) + range;
  return left + static_cast<Length>(scaled / (2 * range));
}

Bytes SizeSteps::bytes(std::int64_t thousandths) const {
  return static_cast<Bytes>(static_cast<WideUnsigned>(thousandths) * static_cast<WideUnsigned>(divisor) / 1000);
}

SizeSteps size_steps(Bytes smallest, Bytes largest, std::int64_t most) {
  const Scale scale = size_scale(largest);
  const auto range = static_cast<std::int64_t>(static_cast<WideUnsigned>(largest - smallest) * 1000 /
                                               static_cast<WideUnsigned>(scale.divisor));
  return {scale.unit, scale.divisor, round_step(std::max<std::int64_t>(range, 1), most)};
}

std::string in_thousandths(std::int64_t value) { return format_short(value, {"", 1000, 3}); }

std::vector<Shape> hatch_lines(const Box& box, Hatch hatch) {
  std::vector<Shape> lines;
  if (hatch == Hatch::kUp || hatch == Hatch::kCross) add_rising(box, lines);
  if (hatch == Hatch::kDown || hatch == Hatch::kCross) add_falling(box, lines);
  if (hatch == Hatch::kFlat) {
    for (Length y = box.y + kHatchDistance / 2; y < box.y + box.height; y += kHatchDistance / 2) {
      lines.push_back({{{box.x, y}, {box.x + box.width, y}}});
    }
  }
  if (hatch == Hatch::kUpright) {
    for (Length x = box.x + kHatchDistance / 2; x < box.x + box.width; x += kHatchDistance / 2) {
      lines.push_back({{{x, box.y}, {x, box.y + box.height}}});
    }
  }
  return lines;
}

std::int64_t round_step(std::int64_t largest, std::int64_t most) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (largest / (factor * power) <= most) return factor * power;
    }
  }
}

DeviceRows device_rows(int devices, Length pitch) {
  DeviceRows rows;
  rows.every = (devices + kMostRows - 1) / kMostRows;
  rows.shown = (devices + rows.every - 1) / rows.every;
  rows.pitch = std::min(pitch, kHighest / std::max(rows.shown, 1));
  constexpr Length kLabelPitch = 800;
  if (rows.pitch < kLabelPitch) {
    // Round, and at least as many rows as a label is high.
    rows.label_every = static_cast<int>(round_step((kLabelPitch + rows.pitch - 1) / rows.pitch - 1, 0));
  }
  return rows;
}

std::string device_label(int device) { return "Device " + std::to_string(device); }

Length device_label_width(int devices) {
  return text_width(device_label(std::max(devices - 1, 0)), kFontSize) + 2 * kMargin;
}

Sheet::Sheet(Length width, bool mono) : mono_(mono), top_(kMargin) {
  drawing_.width = width;
  drawing_.layers.push_back({.name = "paper", .fill = kPaper, .stroke = {}});
}

Layer& Sheet::add(Layer layer) { return drawing_.layers.emplace_back(std::move(layer)); }

void Sheet::write(const std::string& name, Text text, const char* ink) {
  const Layer& last = drawing_.layers.back();
  if (last.name != name || last.fill != ink || last.texts.empty()) add({.name = name, .fill = ink, .stroke = {}});
  drawing_.layers.back().texts.push_back(std::move(text));
}

void Sheet::paint(const std::string& name, const Painted& painted, Edge edge) {
  Layer wide{.name = name, .fill = painted.look.fill, .stroke = mono_ ? kText : kPaper, .stroke_width = kEdge};
  Layer narrow{.name = name, .fill = painted.look.fill, .stroke = {}};
  Layer hatch{.name = "hatch", .fill = {}, .stroke = kText, .stroke_width = 25};
  for (const Box& box : painted.boxes) {
    const bool has_edge = edge == Edge::kAll || (edge == Edge::kWide && box.width >= kOutlinedFrom);
    (has_edge ? wide : narrow).boxes.push_back(box);
    for (Shape& line : hatch_lines(box, painted.look.hatch)) hatch.shapes.push_back(std::move(line));
  }
  for (Layer* layer : {&wide, &narrow, &hatch}) {
    if (!layer->boxes.empty() || !layer->shapes.empty()) add(std::move(*layer));
  }
}

void Sheet::axis(const Span1D& span, const std::vector<Tick>& ticks, const std::string& title) {
  Layer lines{.name = "axis", .fill = {}, .stroke = kText, .stroke_width = 50};
  lines.shapes.push_back({{{span.left, top_}, {span.right, top_}}});
  const Length base = top_ + kTick + 100 + kFontSize * kDigitHeight / 100;
  for (const Tick& tick : ticks) {
    lines.shapes.push_back({{{tick.x, top_}, {tick.x, top_ + kTick}}});
    const Length half = (text_width(tick.words, kFontSize) + 1) / 2;
    const Length middle = std::min(tick.x, width() - half - 20);  // the last one may be at the edge of the paper
    write("numbers", {{middle, base}, tick.words, kFontSize, Align::kMiddle});
  }
  write("numbers", {{(span.left + span.right) / 2, base + 850}, title, kFontSize, Align::kMiddle});
  add(std::move(lines));
  top_ = base + 850 + 250;
}

void Sheet::time_axis(const Span1D& span, const std::string& title) {
  const Scale scale = duration_scale(span.largest);
  const std::string unit = std::string(scale.unit) == "us" ? "\u00b5s" : scale.unit;
  const Nanoseconds step = round_step(span.largest - span.smallest, most_steps(span));
  std::vector<Tick> ticks;
  for (Nanoseconds at = (span.smallest + step - 1) / step * step; at <= span.largest; at += step) {
    ticks.push_back({span.x_of(at), format_short(at, exact_scale(scale))});
  }
  axis(span, ticks, title + " (" + unit + ")");
}

void Sheet::size_axis(const Span1D& span, const std::string& title) {
  const SizeSteps steps = size_steps(span.smallest, span.largest, most_steps(span));
  std::vector<Tick> ticks;
  for (std::int64_t at = 0; steps.bytes(at) <= span.largest; at += steps.step) {
    if (steps.bytes(at) >= span.smallest) ticks.push_back({span.x_of(steps.bytes(at)), in_thousandths(at)});
  }
  axis(span, ticks, title + " (" + steps.unit + ")");
}

void Sheet::legend(const std::vector<LegendItem>& items) {
  Length x = kMargin;
  top_ += 100;
  for (const LegendItem& item : items) {
    const Length swatch = item.looks.empty() ? 0 : kSwatchWidth + 200;
    const std::vector<std::string> lines = wrapped(item.words, width() - 2 * kMargin - swatch, kFontSize);
    const Length needed = swatch + text_width(lines.front(), kFontSize);
    if (x > kMargin && x + needed > width() - kMargin) {
      x = kMargin;
      top_ += kLegendPitch;
    }
    draw_swatch(item, x);
    const Length base = top_ + kSwatchHeight - 70;
    write("legend", {{x + swatch, base}, lines.front(), kFontSize, Align::kLeft});
    for (std::size_t k = 1; k < lines.size(); ++k) {
      top_ += kLegendPitch;
      write("legend",
            {{kMargin + swatch, base + static_cast<Length>(k) * kLegendPitch}, lines[k], kFontSize, Align::kLeft});
    }
    x = lines.size() > 1 ? width() : x + needed + 800;
  }
  if (!items.empty()) top_ += kLegendPitch;
}

void Sheet::draw_swatch(const LegendItem& item, Length x) {
  if (item.looks.empty()) return;
  const Length part = kSwatchWidth / static_cast<Length>(item.looks.size());
  for (std::size_t k = 0; k < item.looks.size(); ++k) {
    paint("legend", {item.looks[k], {{x + static_cast<Length>(k) * part, top_, part, kSwatchHeight}}}, Edge::kWide);
  }
  if (item.foot) add({.name = "foot", .fill = kText, .stroke = {}}).boxes.push_back({x, top_ + 480, kSwatchWidth, 120});
  if (item.sign.empty()) return;
  write("legend", {{x + kSwatchWidth / 2, top_ + kSwatchHeight - 70}, item.sign, kSmallFont, Align::kMiddle},
        item.looks[0].ink.c_str());
}

void Sheet::note(const std::string& words) {
  for (std::string& line : wrapped(words, width() - 2 * kMargin, kSmallFont)) {
    write("note", {{kMargin, top_ + 600}, std::move(line), kSmallFont, Align::kLeft}, kFaint);
    top_ += 800;
  }
}

Drawing Sheet::take(std::string title, std::string description) {
  drawing_.height = top_ + kMargin;
  drawing_.layers.front().boxes.push_back({0, 0, drawing_.width, drawing_.height});
  drawing_.title = std::move(title);
  drawing_.description = std::move(description);
  return std::move(drawing_);
}

}  // namespace debubble::figure
