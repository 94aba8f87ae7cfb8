// The flags that say where and how a verb's result is shown, and the one way to show it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/exporters/output_file.hpp"
#include "tools/views/style.hpp"

namespace CLI {
class App;
}

namespace debubble {

enum class Format { kText, kJson, kCsv };

struct OutputFlags {
  std::string format = "text";
  std::string output = "-";
  std::string color = "auto";
  std::optional<int> width;
};

// `formats` is what the verb offers, e.g. "text|json|csv"; the first is the default.
void add_output_flags(CLI::App& verb, OutputFlags& flags, std::string_view formats);

// The result's destination. Opens it at once, so that a wrong path fails before the work begins.
class Output {
 public:
  // Throws InputError for an unknown format or colour and for a file that cannot be written.
  Output(const OutputFlags& flags, std::string_view formats);

  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const ViewStyle& style() const { return style_; }
  void write(std::string_view text) { file_.write(text); }
  void commit() { file_.commit(); }

 private:
  Format format_ = Format::kText;
  ViewStyle style_;
  OutputFile file_;
};

// How stderr is drawn: colour by the same rules, but for stderr.
[[nodiscard]] ViewStyle stderr_style();

}  // namespace debubble
