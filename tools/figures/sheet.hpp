// Sheet: a drawing in the making, of a given width: panels are put below one another, each with what it needs.
//
//     Device 0  |0|1|2|3|  |0|4|   a panel of rows: labels left of the plot, boxes in it
//     Device 1  ..|0|1|  |0|2|1|
//               0    5    10       axis
//     [ ] forward  [ ] backward    legend, wrapped to the width
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/core/units.hpp"
#include "tools/figures/drawing.hpp"
#include "tools/figures/palette.hpp"

namespace debubble::figure {

inline constexpr Length kFontSize = 650;
inline constexpr Length kSmallFont = 600;   // no text is smaller
inline constexpr Length kDigitHeight = 73;  // of digits and capitals, in hundredths of their size

struct LegendItem {
  std::string words;
  std::vector<Look> looks = {};  // side by side in one box; none: words alone
  std::string sign = {};         // in the box
  bool foot = false;             // the bar that tells the second stage of a device in mono
};

// One look, and what is to have it.
struct Painted {
  Look look;
  std::vector<Box> boxes;
};

// A horizontal axis: values `smallest` (mostly 0) to `largest` between two places.
struct Span1D {
  Length left = 0;
  Length right = 0;
  std::int64_t largest = 1;
  std::int64_t smallest = 0;

  [[nodiscard]] Length x_of(std::int64_t value) const;
  [[nodiscard]] Length width() const { return right - left; }
};

struct Tick {
  Length x = 0;
  std::string words;
};

// Which boxes have a thin edge.
enum class Edge : std::uint8_t { kNone, kWide, kAll };  // kWide: those that are wide enough for it

class Sheet {
 public:
  Sheet(Length width, bool mono);

  [[nodiscard]] bool mono() const { return mono_; }
  [[nodiscard]] Length width() const { return drawing_.width; }
  // Where the next panel begins.
  [[nodiscard]] Length top() const { return top_; }
  void move_down(Length by) { top_ += by; }

  // A layer of its own, above all before it.
  Layer& add(Layer layer);
  void write(const std::string& name, Text text, const char* ink = kText);
  // Boxes of one look, its hatch over them.
  void paint(const std::string& name, const Painted& painted, Edge edge);
  // A line at `top()`, ticks and numbers below it, and a title in the middle; moves down past it.
  void axis(const Span1D& span, const std::vector<Tick>& ticks, const std::string& title);
  // The same with round numbers of times: "time (ms)".
  void time_axis(const Span1D& span, const std::string& title);
  // The same of sizes: "memory (GiB)".
  void size_axis(const Span1D& span, const std::string& title);
  void legend(const std::vector<LegendItem>& items);
  // A line of small text, wrapped to the width.
  void note(const std::string& words);

  // The drawing with all that was put on it, as high as it has become.
  [[nodiscard]] Drawing take(std::string title, std::string description);

 private:
  void draw_swatch(const LegendItem& item, Length x);

  Drawing drawing_;
  bool mono_;
  Length top_ = 0;
};

// Lines of a hatch, cut to the box.
[[nodiscard]] std::vector<Shape> hatch_lines(const Box& box, Hatch hatch);

// A round step of an axis of sizes, and how its numbers are written.
struct SizeSteps {
  std::string unit;       // "GiB"
  Bytes divisor = 1;      // bytes in it
  std::int64_t step = 1;  // in thousandths of the unit
  [[nodiscard]] Bytes bytes(std::int64_t thousandths) const;
};
[[nodiscard]] SizeSteps size_steps(Bytes smallest, Bytes largest, std::int64_t most_steps);
// Thousandths without trailing zeros: 1500 -> "1.5".
[[nodiscard]] std::string in_thousandths(std::int64_t value);

// The smallest of 1, 2 and 5 times a power of ten that leaves at most so many steps in `largest`.
[[nodiscard]] std::int64_t round_step(std::int64_t largest, std::int64_t most_steps);

// Rows of devices: how many are shown, how high they are.
struct DeviceRows {
  int every = 1;        // device 0, this one, twice this one, ... are shown
  int shown = 0;        // rows
  Length pitch = 0;     // from row to row
  int label_every = 1;  // rows

  [[nodiscard]] int device(int row) const { return row * every; }
};

// More rows than fit a page are drawn lower, and of more than 512 devices only some.
[[nodiscard]] DeviceRows device_rows(int devices, Length pitch);

// How much room the names of the devices take left of a plot.
[[nodiscard]] Length device_label_width(int devices);
[[nodiscard]] std::string device_label(int device);

}  // namespace debubble::figure
