// The parts that figures are made of: places on an axis, hatches, round steps, rows, letters, numbers as text.
#include "tests/support/test.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/figures/font.hpp"
#include "tools/figures/sheet.hpp"
#include "tools/figures/study_figures.hpp"
#include "tools/figures/svg.hpp"

namespace debubble::figure {
namespace {

std::string svg_of(const Drawing& drawing) {
  std::string text;
  write_svg(drawing, "85mm", "10mm", [&text](std::string_view piece) { text += piece; });
  return text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("hundredths are written without trailing zeros") {
  CHECK(hundredths(0) == "0");
  CHECK(hundredths(5) == ".05");
  CHECK(hundredths(50) == ".5");
  CHECK(hundredths(-50) == "-.5");
  CHECK(hundredths(-100) == "-1");
  CHECK(hundredths(1250) == "12.5");
  CHECK(hundredths(1205) == "12.05");
}

TEST_CASE("places on an axis are rounded to the nearest, and the ends are exact") {
  const Span1D span{1000, 1010, 4};
  CHECK(span.x_of(0) == 1000);
  CHECK(span.x_of(1) == 1003);  // 2.5
  CHECK(span.x_of(2) == 1005);
  CHECK(span.x_of(3) == 1008);  // 7.5
  CHECK(span.x_of(4) == 1010);
  const Span1D later{0, 100, 30, 20};
  CHECK(later.x_of(20) == 0);
  CHECK(later.x_of(25) == 50);
  CHECK(later.x_of(30) == 100);
  const std::int64_t centuries = std::int64_t{1} << 62;
  CHECK(Span1D{0, 500'000, centuries}.x_of(centuries / 2) == 250'000);
}

TEST_CASE("steps of an axis are 1, 2 or 5 times a power of ten") {
  CHECK(round_step(33, 6) == 5);
  CHECK(round_step(34, 6) == 5);
  CHECK(round_step(35, 6) == 10);
  CHECK(round_step(6, 6) == 1);
  CHECK(round_step(7, 6) == 2);
  CHECK(round_step(1, 1) == 1);
  CHECK(round_step(999'999'999'999, 5) == 200'000'000'000);
}

TEST_CASE("up to 512 devices are all shown, more are not") {
  CHECK(device_rows(4, 1250).pitch == 1250);
  CHECK(device_rows(4, 1250).label_every == 1);
  CHECK(device_rows(512, 1250).every == 1);
  CHECK(device_rows(512, 1250).shown == 512);
  CHECK(device_rows(513, 1250).every == 2);
  CHECK(device_rows(513, 1250).shown == 257);
  CHECK(device_rows(513, 1250).device(256) == 512);
  for (const int devices : {1, 44, 45, 70, 71, 200, 512, 1024, 100'000}) {
    const DeviceRows rows = device_rows(devices, 1250);
    CAPTURE(devices);
    CHECK(rows.shown * rows.pitch <= 56'000);
    CHECK(rows.label_every * rows.pitch >= 800);
    CHECK((rows.shown - 1) * rows.every < devices);
  }
}

TEST_CASE("a hatch stays in its box") {
  const Box box{333, 777, 1111, 555};
  for (const Hatch hatch : {Hatch::kUp, Hatch::kDown, Hatch::kCross, Hatch::kFlat, Hatch::kUpright}) {
    const std::vector<Shape> lines = hatch_lines(box, hatch);
    CHECK(lines.size() > 2);
    for (const Shape& line : lines) {
      for (const Point& point : line.points) {
        CHECK(point.x >= box.x);
        CHECK(point.x <= box.x + box.width);
        CHECK(point.y >= box.y);
        CHECK(point.y <= box.y + box.height);
      }
    }
  }
  CHECK(hatch_lines(box, Hatch::kNone).empty());
  CHECK(hatch_lines({0, 0, 0, 0}, Hatch::kCross).empty());
}

TEST_CASE("letters: widths add up, an unknown one has a sign, what is too wide is cut") {
  CHECK(text_width("", 650) == 0);
  CHECK(text_width("00", 2048) == 2 * text_width("0", 2048));
  CHECK(text_width("\u4e2d", 650) == text_width("\uFFFD", 650));
  CHECK(text_width("\xff", 650) == text_width("\uFFFD", 650));
  CHECK(text_width("\xe4\xb8", 650) == 2 * text_width("\uFFFD", 650));  // cut off in the middle
  const Length wide = text_width("interleaved v=2", 650);
  CHECK(cut_to("interleaved v=2", wide, 650) == "interleaved v=2");
  const std::string cut = cut_to("interleaved v=2", wide - 1, 650);
  CHECK(cut.ends_with("\u2026"));
  CHECK(text_width(cut, 650) < wide);
  CHECK(outline_of("o", 1000).size() == outline_of("oo", 1000).size() / 2);
  CHECK(outline_of(" ", 1000).empty());
}

TEST_CASE("every character of ASCII and Latin-1 has an outline of its own") {
  for (char32_t code = 0x21; code < 0x100; ++code) {
    if ((code > 0x7E && code < 0xA1) || code == 0xAD) continue;
    std::string character;
    if (code < 0x80) {
      character = static_cast<char>(code);
    } else {
      character = {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
    }
    CAPTURE(code);
    const std::vector<PlacedGlyph> glyphs = glyphs_of(character, 1000);
    CHECK(glyphs.size() == 1);
    CHECK(glyphs.front().character == character);
    CHECK(!outline_of(character, 1000).empty());
  }
}

TEST_CASE("many boxes without an edge are paths, few are rectangles") {
  Drawing drawing{.width = 1000, .height = 1000, .title = "a", .description = "b", .layers = {}};
  drawing.layers.push_back({.name = "F", .fill = "#000000", .stroke = {}});
  drawing.layers[0].boxes.assign(1000, {0, 0, 10, 10});
  CHECK(count_of(svg_of(drawing), "<rect") == 1000);
  drawing.layers[0].boxes.push_back({0, 0, 10, 10});
  const std::string text = svg_of(drawing);
  CHECK(count_of(text, "<rect") == 0);
  CHECK(count_of(text, "<path") == 3);
  CHECK(count_of(text, "M0 0h.1v.1h-.1z") == 1001);
}

TEST_CASE("title and description are text, whatever they hold") {
  const Drawing drawing{.width = 1000,
                        .height = 1000,
                        .title = "</title><script>\"'&\x1b[2J\n\xff",
                        .description = "]]>\u202e",
                        .layers = {}};
  const std::string text = svg_of(drawing);
  CHECK(contains(text, "<title>&lt;/title&gt;&lt;script&gt;"));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_FALSE(contains(text, "<script"));
  CHECK_FALSE(contains(text, "\u202e"));
}

TEST_CASE("widths are exact to a hundredth of a point, pixels to one") {
  CHECK(parse_figure_width("85mm", "--width").length == 24'094);
  CHECK(parse_figure_width("8.5cm", "--width").length == 24'094);
  CHECK(parse_figure_width("7in", "--width").length == 50'400);
  CHECK(parse_figure_width("600px", "--width").length == 45'000);
  CHECK(parse_figure_width("200.5pt", "--width").length == 20'050);
  CHECK(parse_figure_width("601px", "--width").pixels() == 601);
  CHECK(parse_figure_width("7in", "--width").pixels() == 2100);
  CHECK(parse_figure_width("85mm", "--width").pixels() == 1004);
  CHECK(parse_figure_width("50mm", "--width").length == 14'173);
  CHECK_THROWS_AS((void)parse_figure_width("49.99mm", "--width"), InputError);
  CHECK(parse_figure_width("2000mm", "--width").length == 566'929);
  CHECK_THROWS_AS((void)parse_figure_width("2000.1mm", "--width"), InputError);
}

TEST_CASE("the front: nobody is as fast with as little memory, and of equals the first is it") {
  const std::vector<FrontPoint> points{{"slow", 30, 10},
                                       {"fast", 10, 40},
                                       {"beaten", 30, 40},
                                       {"twin", 10, 40},
                                       {"same step, more", 10, 50},
                                       {"middle", 20, 20},
                                       {"as middle, slower", 25, 20}};
  CHECK(on_front(points) == std::vector<std::size_t>{1, 5, 0});
  CHECK(on_front({{"alone", 1, 1}}) == std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace debubble::figure
