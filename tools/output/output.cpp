#include "tools/output/output.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "formats/text/choice.hpp"
#include "formats/text/printable.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "tools/views/terminal.hpp"

namespace debubble {

namespace {

constexpr std::string_view kColorWords = "auto|always|never";

Format checked_format(const OutputFlags& flags, std::string_view formats) {
  require_one_of(flags.format, formats, "--format");
  if (flags.format == "json") return Format::kJson;
  if (flags.format == "markdown") return Format::kMarkdown;
  return flags.format == "csv" ? Format::kCsv : Format::kText;
}

ViewStyle checked_style(const OutputFlags& flags) {
  require_one_of(flags.color, kColorWords, "--color");
  if (flags.width && *flags.width < kNarrowest) {
    throw InputError(Diagnostic{
        "C012", "--width",
        "at least " + std::to_string(kNarrowest) + " columns are needed; got " + std::to_string(*flags.width),
        "leave out --width to use the terminal's"});
  }
  TerminalFacts facts = terminal_facts();
  if (flags.output != "-") facts.is_terminal = false;
  ColorChoice choice = ColorChoice::kAuto;
  if (flags.color != "auto") choice = flags.color == "always" ? ColorChoice::kAlways : ColorChoice::kNever;
  ViewStyle style;
  style.color = use_color(choice, facts);
  style.width = use_width(flags.width, facts);
  style.all_assumptions = flags.assumptions;
  style.details = flags.details;
  return style;
}

}  // namespace

FlagRows flag_rows(OutputFlags& flags, std::string_view formats, std::string_view format_help) {
  const FlagGroup row("Output");
  return {
      row("--format", OneOf{formats}, format_help, &flags.format, Default{"text"}, Preset{"text"}),
      row("-o,--output", "FILE", "output file", &flags.output, Default{"-, stdout"}, Preset{"-"}),
      row("--color", "WHEN", "color: auto, always or never", &flags.color, OneOf{kColorWords}, Default{"auto"},
          Preset{"auto"}),
      row("--width", "N", "text width in columns", &flags.width, Default{"the terminal's"}),
  };
}

Flag assumptions_row(OutputFlags& flags) {
  return FlagGroup("Output")("--assumptions", "everything the result assumes, with sources", &flags.assumptions,
                             FlagMark::kNotRepeated);
}

Flag details_row(OutputFlags& flags, std::string_view help) {
  return FlagGroup("Output")("--details", help, &flags.details, FlagMark::kNotRepeated);
}

Output::Output(const OutputFlags& flags, std::string_view formats)
    : format_(checked_format(flags, formats)),
      style_(checked_style(flags)),
      to_stdout_(flags.output == "-"),
      file_(flags.output) {}

void Output::write(std::string_view text) {
  const std::string shown = format_ == Format::kJson ? std::string(text) : printable_lines(text, style_.color);
  if (to_stdout_) {
    held_back_ += shown;
  } else {
    file_.write(shown);
  }
}

void Output::commit() {
  file_.write(held_back_);
  file_.commit();
}

void require_different_files(std::span<const std::pair<std::string, std::string>> flags) {
  const auto place_of = [](const std::string& file) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
    return file == "-" || error ? file : path.string();
  };
  for (std::size_t k = 0; k < flags.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      const auto& [flag, file] = flags[k];
      if (file.empty() || file == "/dev/null" || place_of(file) != place_of(flags[j].second)) continue;
      throw InputError(Diagnostic{
          "C066", flag, flags[j].first + " and " + flag + " both write " + (file == "-" ? "standard output" : file),
          "give each its own file"});
    }
  }
}

ViewStyle stderr_style() {
  TerminalFacts facts = terminal_facts();
  facts.is_terminal = ::isatty(STDERR_FILENO) == 1;
  ViewStyle style;
  style.color = use_color(ColorChoice::kAuto, facts);
  style.width = use_width(std::nullopt, facts);
  return style;
}

}  // namespace debubble
