// A figure as a file: how wide, of which type, and the flags by which a verb is asked for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/files/output_file.hpp"
#include "scenario/request/flag.hpp"
#include "tools/figures/drawing.hpp"

namespace debubble::figure {

enum class FigureType : std::uint8_t { kSvg, kPdf, kPng };

// "85mm": one column of two on a page.
inline constexpr std::string_view kUsualWidth = "85mm";

struct FigureWidth {
  Length length = 0;                 // the drawing's
  std::string text;                  // as it was given, without blanks: "85mm"
  std::string unit;                  // "mm", "cm", "in", "pt", "px" (96 to the inch, as in CSS)
  [[nodiscard]] int pixels() const;  // of a PNG: as many as were asked for, else 300 to the inch
};

// Throws InputError at the flag `place`: C065 for nothing, C011 for no number, C014 for a unit that is none, C012 for
// less than 50 mm or more than 2000 mm.
[[nodiscard]] FigureWidth parse_figure_width(std::string_view text, std::string_view place);

// The file's bytes. Throws UnavailableError U065 where PDF and PNG lack cairo, InputError C012 at `place` for a PNG
// that would be higher than 30000 pixels.
[[nodiscard]] std::string figure_bytes(const Drawing& drawing, FigureType type, const FigureWidth& width,
                                       const std::string& place);

// Throws UnavailableError U065 where the type needs cairo and there is none: before the work begins.
void require_writer(FigureType type);

// Of a verb that prints something else: --figure, --show, --figure-width, --mono.
struct FigureFlags {
  std::string file;
  std::string show;
  std::string width = std::string(kUsualWidth);
  bool mono = false;
};

// `show`: what --show may say; empty: there is one figure, and no such flag.
[[nodiscard]] FlagRows flag_rows(FigureFlags& flags, std::string_view show);
[[nodiscard]] Flag mono_row(bool& mono);

class FigureFile {
 public:
  // Opens the file, so that a wrong path is known before the work begins. Throws InputError: C004 for a flag of figures
  // without --figure, C006 for an ending that is no type, what parse_figure_width and OutputFile throw;
  // UnavailableError.
  explicit FigureFile(const FigureFlags& flags);

  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  [[nodiscard]] Length width() const { return width_.length; }
  void write(const Drawing& drawing);
  void commit();

 private:
  FigureWidth width_;
  FigureType type_ = FigureType::kSvg;
  std::optional<OutputFile> file_;
  bool written_ = false;
};

}  // namespace debubble::figure
