#include "tools/figures/svg.hpp"

#include <map>
#include <utility>

#include "formats/text/printable.hpp"
#include "tools/figures/font.hpp"
#include "tools/views/escape.hpp"

namespace debubble::figure {

namespace {

constexpr std::size_t kMostRects = 1000;  // of a layer, each an element of its own

std::string escaped(const std::string& text) { return xml_escaped(printable(text)); }

// Numbers of a path, put behind one another: a minus sign parts them, too.
class PathText {
 public:
  void command(char letter) {
    text_ += letter;
    fresh_ = true;
  }
  void number(Length value) {
    if (!fresh_ && value >= 0) text_ += ' ';
    text_ += hundredths(value);
    fresh_ = false;
  }
  void move_by(char letter, Point from, Point to) {
    command(letter);
    number(to.x - from.x);
    number(to.y - from.y);
  }
  // Along an axis the shorter way.
  void go_to(char letter, Point from, Point to) {
    if (letter == 'l' && (from.y == to.y || from.x == to.x)) {
      command(from.y == to.y ? 'h' : 'v');
      number(from.y == to.y ? to.x - from.x : to.y - from.y);
    } else {
      move_by(letter, from, to);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool fresh_ = true;
};

std::string path_of(const std::vector<PathStep>& steps) {
  PathText path;
  Point at;
  Point start;
  for (const PathStep& step : steps) {
    if (step.kind == PathStep::Kind::kClose) {
      path.command('z');
      at = start;
      continue;
    }
    if (step.kind == PathStep::Kind::kCurve) {
      path.move_by('q', at, step.control);
      path.number(step.to.x - at.x);
      path.number(step.to.y - at.y);
    } else {
      path.go_to(step.kind == PathStep::Kind::kMove ? 'm' : 'l', at, step.to);
    }
    at = step.to;
    if (step.kind == PathStep::Kind::kMove) start = at;
  }
  return path.take();
}

std::string path_of(const Shape& shape) {
  PathText path;
  Point at;
  for (const Point& point : shape.points) {
    if (&point == shape.points.data()) {
      path.move_by('M', {}, point);
    } else {
      path.go_to('l', at, point);
    }
    at = point;
  }
  if (shape.closed) path.command('z');
  return path.take();
}

// Letters are defined once, at a size of 10 pt, and every text is put together from them; text that occurs often, like
// the numbers in boxes, is defined as a whole.
bool is_blank(const std::string& character) { return character == " " || character == "\u00a0"; }

class TextPaths {
 public:
  explicit TextPaths(const Drawing& drawing) {
    for (const Layer& layer : drawing.layers) {
      for (const Text& text : layer.texts) {
        ++uses_[{text.words, text.size}].times;
        for (const PlacedGlyph& glyph : glyphs_of(text.words, kLetterSize)) {
          if (!is_blank(glyph.character)) letters_.emplace(glyph.character, 0);
        }
      }
    }
  }

  void define(TextBuffer& out) {
    out << "<defs>\n";
    int number = 0;
    for (auto& [character, id] : letters_) {
      id = number++;
      out << "<path id=\"g" << id << "\" d=\"" << path_of(outline_of(character, kLetterSize)) << "\"/>\n";
    }
    number = 0;
    for (auto& [key, use] : uses_) {
      if (use.times < kOften) continue;
      use.number = number++;
      out << "<g id=\"t" << use.number << "\" transform=\"";
      put_letters(key.first, key.second, out);
    }
    out << "</defs>\n";
  }

  void draw(const Text& text, TextBuffer& out) const {
    const Length width = text_width(text.words, text.size);
    const Length x = text.at.x - (text.align == Align::kLeft ? 0 : text.align == Align::kRight ? width : width / 2);
    const Use& use = uses_.at({text.words, text.size});
    if (use.number >= 0) {
      out << "<use xlink:href=\"#t" << use.number << "\" x=\"" << hundredths(x) << "\" y=\"" << hundredths(text.at.y)
          << "\"/>\n";
      return;
    }
    out << "<g transform=\"translate(" << hundredths(x) << " " << hundredths(text.at.y) << ")";
    put_letters(text.words, text.size, out);
  }

 private:
  static constexpr int kOften = 3;
  static constexpr Length kLetterSize = 1000;

  // The end of a group's transform, and the group's letters. Every size is a whole number of hundredths of theirs.
  void put_letters(const std::string& words, Length size, TextBuffer& out) const {
    out << "scale(" << hundredths(size * 100 / kLetterSize) << ")\">";
    for (const PlacedGlyph& glyph : glyphs_of(words, kLetterSize)) {
      if (is_blank(glyph.character)) continue;
      out << "<use xlink:href=\"#g" << letters_.at(glyph.character) << "\"";
      if (glyph.x != 0) out << " x=\"" << hundredths(glyph.x) << "\"";
      out << "/>";
    }
    out << "</g>\n";
  }

  struct Use {
    int times = 0;
    int number = -1;
  };
  std::map<std::pair<std::string, Length>, Use> uses_;
  std::map<std::string, int> letters_;
};

void write_rect(const Box& box, TextBuffer& out) {
  out << "<rect x=\"" << hundredths(box.x) << "\" y=\"" << hundredths(box.y) << "\" width=\"" << hundredths(box.width)
      << "\" height=\"" << hundredths(box.height) << "\"/>\n";
  out.end_record();
}

// Of a long run: a path of many boxes takes half the bytes.
void write_as_paths(const std::vector<Box>& boxes, TextBuffer& out) {
  constexpr std::size_t kTogether = 500;
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const Box& box = boxes[k];
    out << (k % kTogether == 0 ? "<path d=\"" : "")
        << path_of({{{box.x, box.y},
                     {box.x + box.width, box.y},
                     {box.x + box.width, box.y + box.height},
                     {box.x, box.y + box.height}},
                    true})
        << ((k + 1) % kTogether == 0 || k + 1 == boxes.size() ? "\"/>\n" : "");
    out.end_record();
  }
}

void write_layer(const Layer& layer, const TextPaths& texts, TextBuffer& out) {
  if (layer.boxes.empty() && layer.shapes.empty() && layer.texts.empty()) return;
  out << "<g class=\"" << layer.name << "\" fill=\"" << (layer.fill.empty() ? "none" : layer.fill) << "\"";
  if (!layer.stroke.empty()) {
    out << " stroke=\"" << layer.stroke << "\" stroke-width=\"" << hundredths(layer.stroke_width) << "\"";
  }
  out << (layer.dashed ? " stroke-dasharray=\"2 1.5\">\n" : ">\n");
  if (layer.boxes.size() > kMostRects && layer.stroke.empty()) {
    write_as_paths(layer.boxes, out);
  } else {
    for (const Box& box : layer.boxes) write_rect(box, out);
  }
  for (const Shape& shape : layer.shapes) {
    out << "<path d=\"" << path_of(shape) << "\"/>\n";
    out.end_record();
  }
  for (const Text& text : layer.texts) {
    texts.draw(text, out);
    out.end_record();
  }
  out << "</g>\n";
}

}  // namespace

std::string hundredths(Length value) {
  const bool below = value < 0;
  const auto digits = static_cast<std::uint64_t>(below ? -value : value);
  std::string text = (below ? "-" : "") + (digits >= 100 || digits == 0 ? std::to_string(digits / 100) : "");
  if (const auto rest = digits % 100; rest != 0) {
    text += '.';
    text += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  }
  return text;
}

void write_svg(const Drawing& drawing, const std::string& width, const std::string& height, const TextSink& sink) {
  TextBuffer out(sink);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" "
         "width=\""
      << width << "\" height=\"" << height << "\" viewBox=\"0 0 " << hundredths(drawing.width) << " "
      << hundredths(drawing.height) << "\" role=\"img\">\n<title>" << escaped(drawing.title) << "</title>\n<desc>"
      << escaped(drawing.description) << "</desc>\n";
  TextPaths texts(drawing);
  texts.define(out);
  for (const Layer& layer : drawing.layers) write_layer(layer, texts, out);
  out << "</svg>\n";
  out.flush();
}

}  // namespace debubble::figure
