#include "tools/figures/figure_file.hpp"

#include <algorithm>
#include <array>

#include "formats/text/text.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "tools/figures/cairo.hpp"
#include "tools/figures/svg.hpp"

namespace debubble::figure {

namespace {

constexpr const char* kWidthHelp = "write a width like 85mm (a column), 170mm (a page), 600px or 7in";
constexpr std::int64_t kMostPixels = 30'000;

struct LengthUnit {
  std::string_view name;
  std::int64_t numerator;  // 1/100 pt in a unit, as a fraction
  std::int64_t denominator;
};
constexpr std::array<LengthUnit, 5> kLengthUnits{
    {{"mm", 36'000, 127}, {"cm", 360'000, 127}, {"in", 7'200, 1}, {"pt", 100, 1}, {"px", 75, 1}}};
constexpr Length kNarrowestFigure = 14'173;  // 50 mm
constexpr Length kWidestFigure = 566'929;    // 2000 mm

const LengthUnit& unit_named(std::string_view name, std::string_view text, std::string_view place) {
  const auto* const found =
      std::find_if(kLengthUnits.begin(), kLengthUnits.end(), [name](const auto& unit) { return unit.name == name; });
  if (found != kLengthUnits.end()) return *found;
  const std::string what = name.empty() ? "a width without a unit" : "no unit of length";
  fail("C014", std::string(place), "\"" + std::string(text) + "\": " + what + "; there are mm, cm, in, pt and px",
       kWidthHelp);
}

// Thousandths; nothing where it is no number of at most three decimals.
std::optional<std::int64_t> thousandths_of(std::string_view number) {
  constexpr std::size_t kMostDigits = 7;
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view decimals = number.substr(std::min(point + 1, number.size()));
  std::string digits = std::string(number.substr(0, point)) + std::string(decimals);
  if (digits.empty() || point > kMostDigits || decimals.size() > 3) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  digits.append(3 - decimals.size(), '0');
  return std::stoll(digits);
}

std::string height_text(const Drawing& drawing, const FigureWidth& width) {
  for (const LengthUnit& unit : kLengthUnits) {
    if (unit.name != width.unit) continue;
    const std::int64_t parts = unit.numerator;
    return hundredths((drawing.height * 100 * unit.denominator + parts / 2) / parts) + width.unit;
  }
  return hundredths(drawing.height) + "pt";
}

FigureType type_of_file(const std::string& file) {
  if (file.ends_with(".svg") || file.ends_with(".svg.gz")) return FigureType::kSvg;
  if (file.ends_with(".pdf")) return FigureType::kPdf;
  if (file.ends_with(".png")) return FigureType::kPng;
  fail("C006", "--figure", "\"" + file + "\": the ending says what to write, and this is none that debubble draws",
       "name it FILE.svg, FILE.pdf or FILE.png");
}

}  // namespace

int FigureWidth::pixels() const {
  constexpr Length kPerInch = 300;
  if (unit == "px") return static_cast<int>((length + 37) / 75);
  return static_cast<int>((length * kPerInch + 3'600) / 7'200);
}

FigureWidth parse_figure_width(std::string_view text, std::string_view place) {
  std::string bare(text);
  bare.erase(std::remove(bare.begin(), bare.end(), ' '), bare.end());
  if (bare.empty()) fail("C065", std::string(place), "the width is empty", kWidthHelp);
  const std::size_t end = std::min(bare.find_first_not_of("0123456789."), bare.size());
  const std::optional<std::int64_t> thousandths = thousandths_of(bare.substr(0, end));
  if (!thousandths) {
    fail("C011", std::string(place), "\"" + std::string(text) + "\" is no width", kWidthHelp);
  }
  const LengthUnit& unit = unit_named(std::string_view(bare).substr(end), text, place);
  FigureWidth width{0, bare, std::string(unit.name)};
  width.length = (*thousandths * unit.numerator / unit.denominator + 500) / 1000;
  if (width.length < kNarrowestFigure || width.length > kWidestFigure) {
    fail("C012", std::string(place), "a figure is 50 to 2000 mm wide; got " + std::string(text), kWidthHelp);
  }
  return width;
}

void require_writer(FigureType type) {
  if (type != FigureType::kSvg) (void)cairo_text();
}

std::string figure_bytes(const Drawing& drawing, FigureType type, const FigureWidth& width, const std::string& place) {
  std::string bytes;
  switch (type) {
    case FigureType::kSvg:
      write_svg(drawing, width.text, height_text(drawing, width), [&bytes](std::string_view text) { bytes += text; });
      break;
    case FigureType::kPdf:
      bytes = pdf_of(drawing);
      break;
    case FigureType::kPng:
      if (png_height(drawing, width.pixels()) > kMostPixels || width.pixels() > kMostPixels) {
        fail("C012", place, "the picture would have over " + std::to_string(kMostPixels) + " pixels a side",
             "write a narrower PNG, or SVG or PDF, which have no pixels");
      }
      bytes = png_of(drawing, width.pixels());
      break;
  }
  return bytes;
}

Flag mono_row(bool& mono) {
  return FlagGroup("Output")("--mono", "the figure in greys and hatches, for print", &mono, FlagMark::kNotRepeated);
}

FlagRows flag_rows(FigureFlags& flags, std::string_view show) {
  const FlagGroup row("Output");
  FlagRows rows{row("--figure", "FILE.svg|pdf|png", "also draw a figure for a paper or a slide", &flags.file,
                    FlagMark::kNotRepeated)};
  if (!show.empty()) {
    rows.push_back(row("--show", "WHAT,...", show, &flags.show, FlagMark::kNotRepeated));
  }
  rows.push_back(row("--figure-width", "WIDTH", "of the figure: 85mm, 170mm, 7in", &flags.width, Default{kUsualWidth},
                     Preset{kUsualWidth}, FlagMark::kNotRepeated));
  rows.push_back(mono_row(flags.mono));
  return rows;
}

FigureFile::FigureFile(const FigureFlags& flags) {
  if (flags.file.empty()) {
    const char* const given = flags.mono                   ? "--mono"
                              : !flags.show.empty()        ? "--show"
                              : flags.width != kUsualWidth ? "--figure-width"
                                                           : nullptr;
    if (given != nullptr) fail("C004", given, "it is about a figure, and none is asked for", "add --figure FILE.svg");
    return;
  }
  type_ = type_of_file(flags.file);
  width_ = parse_figure_width(flags.width, "--figure-width");
  require_writer(type_);
  file_.emplace(flags.file);
}

void FigureFile::write(const Drawing& drawing) {
  if (!file_) return;
  file_->write(figure_bytes(drawing, type_, width_, "--figure-width"));
  written_ = true;
}

void FigureFile::commit() {
  if (written_) file_->commit();
}

}  // namespace debubble::figure
