#include "tools/figures/cairo.hpp"

#include <array>
#include <memory>

#include "formats/text/printable.hpp"
#include "gpu/cuda_library.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "tools/figures/font.hpp"

namespace debubble::figure {

namespace {

// Opaque, as in cairo.h.
struct Surface;
struct Pen;
using WriteBytes = int (*)(void* target, const unsigned char* bytes, unsigned count);

constexpr int kSuccess = 0;
constexpr int kWriteError = 11;
constexpr int kRgb24 = 1;
constexpr int kTitle = 0;
constexpr int kCreator = 4;
constexpr int kCreateDate = 5;
constexpr double kHundredths = 100;
constexpr const char* kFixedDate = "1970-01-01T00:00:00Z";  // a file's own date says when it was made

// name, symbol, what it returns, what it takes
// clang-format off
#define DEBUBBLE_CAIRO_FUNCTIONS(X) \
  X(version_string, cairo_version_string, const char*, ()) \
  X(pdf_to, cairo_pdf_surface_create_for_stream, Surface*, (WriteBytes, void*, double, double)) \
  X(set_pdf_fact, cairo_pdf_surface_set_metadata, void, (Surface*, int, const char*)) \
  X(image, cairo_image_surface_create, Surface*, (int, int, int)) \
  X(png_to, cairo_surface_write_to_png_stream, int, (Surface*, WriteBytes, void*)) \
  X(finish, cairo_surface_finish, void, (Surface*)) \
  X(status, cairo_surface_status, int, (Surface*)) \
  X(destroy_surface, cairo_surface_destroy, void, (Surface*)) \
  X(create, cairo_create, Pen*, (Surface*)) \
  X(destroy, cairo_destroy, void, (Pen*)) \
  X(scale, cairo_scale, void, (Pen*, double, double)) \
  X(set_rgb, cairo_set_source_rgb, void, (Pen*, double, double, double)) \
  X(set_line_width, cairo_set_line_width, void, (Pen*, double)) \
  X(set_dash, cairo_set_dash, void, (Pen*, const double*, int, double)) \
  X(rectangle, cairo_rectangle, void, (Pen*, double, double, double, double)) \
  X(move_to, cairo_move_to, void, (Pen*, double, double)) \
  X(line_to, cairo_line_to, void, (Pen*, double, double)) \
  X(curve_to, cairo_curve_to, void, (Pen*, double, double, double, double, double, double)) \
  X(close_path, cairo_close_path, void, (Pen*)) \
  X(fill_preserve, cairo_fill_preserve, void, (Pen*)) \
  X(stroke_preserve, cairo_stroke_preserve, void, (Pen*)) \
  X(new_path, cairo_new_path, void, (Pen*)) \
  X(paint, cairo_paint, void, (Pen*))
// clang-format on

struct Cairo {
#define DEBUBBLE_DECLARE(name, symbol, result, parameters) \
  result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_CAIRO_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
  std::string name;
};

constexpr const char* kCairoHelp = "apt-get install libcairo2, or write SVG, which needs nothing";

[[noreturn]] void no_cairo(const std::string& why) {
  throw UnavailableError({"U065", "cairo", "PDF and PNG are drawn by cairo 1.16 or later: " + why, kCairoHelp});
}

const Cairo& cairo() {
  static const Cairo table = [] {
    const CudaLibrary library = CudaLibrary::find({"DEBUBBLE_CAIRO", {"libcairo.so.2"}, {}});
    if (!library.is_open()) no_cairo(library.problem());
    Cairo found;
    std::string missing;
#define DEBUBBLE_TAKE(name, symbol, result, parameters) library.take(#symbol, found.name, missing);
    DEBUBBLE_CAIRO_FUNCTIONS(DEBUBBLE_TAKE)
#undef DEBUBBLE_TAKE
    if (!missing.empty()) no_cairo(library.name() + " has no " + missing);
    found.name = library.name();
    return found;
  }();
  return table;
}

using SurfaceHandle = std::unique_ptr<Surface, void (*)(Surface*)>;
using PenHandle = std::unique_ptr<Pen, void (*)(Pen*)>;

// Called by cairo's C code, through which nothing may be thrown.
int append_bytes(void* target, const unsigned char* bytes, unsigned count) {
  try {
    static_cast<std::string*>(target)->append(reinterpret_cast<const char*>(bytes),
                                              count);  // NOLINT: bytes as they are
    return kSuccess;
  } catch (...) {
    return kWriteError;
  }
}

void require_success(int status, const char* what) {
  if (status != kSuccess) no_cairo(std::string(what) + " failed, cairo's status " + std::to_string(status));
}

double coordinate(Length value) { return static_cast<double>(value); }

class CairoPainter {
 public:
  CairoPainter(const Cairo& library, Surface* surface, double scale)
      : cairo_(library), pen_(library.create(surface), library.destroy) {
    cairo_.scale(pen(), scale, scale);
  }

  void draw(const Drawing& drawing) {
    set_color("#ffffff");
    cairo_.paint(pen());
    for (const Layer& layer : drawing.layers) draw(layer);
  }

 private:
  [[nodiscard]] Pen* pen() const { return pen_.get(); }

  void set_color(const std::string& color) {
    const auto part = [&color](std::size_t at) {
      std::string_view digits = std::string_view(color).substr(at, 2);
      return take_whole<int>(digits, 16).value_or(0) / 255.0;
    };
    cairo_.set_rgb(pen(), part(1), part(3), part(5));
  }

  // Paints what the path is, and drops it.
  void finish_path(const Layer& layer) {
    if (!layer.fill.empty()) {
      set_color(layer.fill);
      cairo_.fill_preserve(pen());
    }
    if (!layer.stroke.empty()) {
      set_color(layer.stroke);
      cairo_.stroke_preserve(pen());
    }
    cairo_.new_path(pen());
  }

  void draw(const Layer& layer) {
    constexpr std::array<double, 2> kDashes{200, 150};
    cairo_.set_line_width(pen(), coordinate(layer.stroke_width));
    cairo_.set_dash(pen(), kDashes.data(), layer.dashed ? 2 : 0, 0);
    for (const Box& box : layer.boxes) {
      cairo_.rectangle(pen(), coordinate(box.x), coordinate(box.y), coordinate(box.width), coordinate(box.height));
      finish_path(layer);
    }
    for (const Shape& shape : layer.shapes) {
      for (const Point& point : shape.points) {
        const auto go = &point == shape.points.data() ? cairo_.move_to : cairo_.line_to;
        go(pen(), coordinate(point.x), coordinate(point.y));
      }
      if (shape.closed) cairo_.close_path(pen());
      finish_path(layer);
    }
    for (const Text& text : layer.texts) {
      trace(text);
      finish_path(layer);
    }
  }

  void trace(const Text& text) {
    const Length width = text_width(text.words, text.size);
    const Length left = text.at.x - (text.align == Align::kLeft ? 0 : text.align == Align::kRight ? width : width / 2);
    const auto x = [&](const Point& point) { return coordinate(left + point.x); };
    const auto y = [&](const Point& point) { return coordinate(text.at.y + point.y); };
    Point at;
    for (const PathStep& step : outline_of(text.words, text.size)) {
      switch (step.kind) {
        case PathStep::Kind::kMove:
          cairo_.move_to(pen(), x(step.to), y(step.to));
          break;
        case PathStep::Kind::kLine:
          cairo_.line_to(pen(), x(step.to), y(step.to));
          break;
        case PathStep::Kind::kCurve: {  // cairo's curves are cubic: each control point is two thirds of the way
          const auto toward = [](double end, double control) { return end + 2 * (control - end) / 3; };
          cairo_.curve_to(pen(), toward(x(at), x(step.control)), toward(y(at), y(step.control)),
                          toward(x(step.to), x(step.control)), toward(y(step.to), y(step.control)), x(step.to),
                          y(step.to));
          break;
        }
        case PathStep::Kind::kClose:
          cairo_.close_path(pen());
          break;
      }
      at = step.to;
    }
  }

  const Cairo& cairo_;
  PenHandle pen_;
};

}  // namespace

std::string cairo_text() { return std::string(cairo().version_string()) + " (" + cairo().name + ")"; }

std::string pdf_of(const Drawing& drawing) {
  const Cairo& library = cairo();
  std::string bytes;
  const SurfaceHandle surface(library.pdf_to(append_bytes, &bytes, coordinate(drawing.width) / kHundredths,
                                             coordinate(drawing.height) / kHundredths),
                              library.destroy_surface);
  library.set_pdf_fact(surface.get(), kTitle, printable(drawing.title).c_str());
  library.set_pdf_fact(surface.get(), kCreator, "debubble");
  library.set_pdf_fact(surface.get(), kCreateDate, kFixedDate);
  CairoPainter(library, surface.get(), 1 / kHundredths).draw(drawing);
  library.finish(surface.get());
  require_success(library.status(surface.get()), "a PDF");
  return bytes;
}

std::int64_t png_height(const Drawing& drawing, int pixels) {
  return (drawing.height * pixels + drawing.width - 1) / drawing.width;
}

std::string png_of(const Drawing& drawing, int pixels) {
  const Cairo& library = cairo();
  const auto height = static_cast<int>(png_height(drawing, pixels));
  const SurfaceHandle surface(library.image(kRgb24, pixels, height), library.destroy_surface);
  require_success(library.status(surface.get()), "an image of this size");
  CairoPainter(library, surface.get(), pixels / coordinate(drawing.width)).draw(drawing);
  std::string bytes;
  require_success(library.png_to(surface.get(), append_bytes, &bytes), "a PNG");
  return bytes;
}

}  // namespace debubble::figure
