// The flags that say where and how a verb's result is shown, and the one way to show it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "formats/files/output_file.hpp"
#include "scenario/request/flag.hpp"
#include "tools/views/style.hpp"

namespace debubble {

enum class Format { kText, kJson, kCsv, kMarkdown };

struct OutputFlags {
  std::string format = "text";
  std::string output = "-";
  std::string color = "auto";
  std::optional<int> width;
  bool assumptions = false;
  bool details = false;
};

// `formats` is what the verb offers, e.g. "text|json|csv"; the first is the default. `format_help` says of what.
[[nodiscard]] FlagRows flag_rows(OutputFlags& flags, std::string_view formats,
                                 std::string_view format_help = "output format");

// Of a verb that prints what its result rests on.
[[nodiscard]] Flag assumptions_row(OutputFlags& flags);
// Of a verb whose text leaves out long lists; `help` says which.
[[nodiscard]] Flag details_row(OutputFlags& flags, std::string_view help);

// The result's destination. Opens it at once, so that a wrong path fails before the work begins.
class Output {
 public:
  // Throws InputError for an unknown format or colour and for a file that cannot be written.
  Output(const OutputFlags& flags, std::string_view formats);

  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const ViewStyle& style() const { return style_; }
  // For stdout it is kept back until `commit`, so that nothing is shown when another file of the run cannot be written.
  void write(std::string_view text);
  void commit();

 private:
  Format format_ = Format::kText;
  ViewStyle style_;
  bool to_stdout_ = true;
  std::string held_back_;
  OutputFile file_;
};

// Two results cannot go to one place. Each is a flag and its file; throws InputError C066.
void require_different_files(std::span<const std::pair<std::string, std::string>> flags);

// How stderr is drawn: colour by the same rules, but for stderr.
[[nodiscard]] ViewStyle stderr_style();

}  // namespace debubble
