#include "tools/views/diagnostics.hpp"

#include "formats/exporters/finding_text.hpp"
#include "formats/text/printable.hpp"
#include "tools/views/ansi.hpp"

namespace debubble {
namespace {

std::string_view severity_colour(Severity severity) {
  if (severity == Severity::kError) return kRed;
  return severity == Severity::kWarning ? kYellow : kCyan;
}

// That of an expression shows it on lines of its own; its parser makes sure that they are ours.
std::string shown_place(const std::string& place) {
  return place.starts_with("--fail-if:") ? printable_lines(place, false) : printable(place);
}

std::string diagnostic_heading(Severity severity, const std::string& code, const std::string& message, bool color) {
  std::string label = to_string(severity);
  if (!code.empty()) label += "[" + code + "]";
  return paint(color, severity_colour(severity), label) + paint(color, kBold, ": " + message) + "\n";
}

}  // namespace

std::string diagnostics_view(std::span<const Diagnostic> diagnostics, const ViewStyle& style) {
  std::string text;
  for (const Diagnostic& one : diagnostics) {
    text += diagnostic_heading(Severity::kError, one.code, printable(one.message), style.color);
    if (!one.place.empty()) text += paint(style.color, kCyan, "  --> ") + shown_place(one.place) + "\n";
    if (!one.help.empty())
      text += paint(style.color, kCyan, "  = ") + paint(style.color, kBold, "help") + ": " + printable(one.help) + "\n";
  }
  if (diagnostics.size() > 1) text += std::to_string(diagnostics.size()) + " errors\n";
  return text;
}

std::string findings_view(const Report& report, const ViewStyle& style) {
  std::string text;
  for (const Finding& one : report.findings) {
    text += diagnostic_heading(severity_of(one), code_of(one), printable(finding_text(one, report)), style.color);
  }
  return text;
}

}  // namespace debubble
