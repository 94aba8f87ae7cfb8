// Drawing: a figure as boxes, shapes and text in layers; svg.hpp and cairo.hpp write it.
//
//     layer "F"        |  0  |  1  |        boxes that share a fill and an outline
//     layer "labels"      0     1           text, outlined by font.hpp
//
// Every length is a whole number of hundredths of a point: the same figure has the same bytes on every machine. y goes
// down. Of one layer boxes are painted first, then shapes, then text; a later layer covers an earlier one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble::figure {

using Length = std::int64_t;  // 1/100 pt
inline constexpr Length kPoint = 100;

struct Point {
  Length x = 0;
  Length y = 0;
};

struct Box {
  Length x = 0;
  Length y = 0;
  Length width = 0;
  Length height = 0;
};

struct Shape {
  std::vector<Point> points;  // at least two
  bool closed = false;
};

enum class Align : std::uint8_t { kLeft, kMiddle, kRight };

struct Text {
  Point at;  // of the base line
  std::string words;
  Length size = 0;
  Align align = Align::kLeft;
};

struct Layer {
  std::string name;    // its class in SVG
  std::string fill;    // "#0072b2"; empty: none
  std::string stroke;  // the same
  Length stroke_width = 0;
  bool dashed = false;
  std::vector<Box> boxes = {};
  std::vector<Shape> shapes = {};
  std::vector<Text> texts = {};
};

struct Drawing {
  Length width = 0;
  Length height = 0;
  std::string title;        // for screen readers and search; any text
  std::string description;  // the same
  std::vector<Layer> layers;
};

}  // namespace debubble::figure
