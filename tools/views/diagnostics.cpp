#include "tools/views/diagnostics.hpp"

#include "tools/views/ansi.hpp"

namespace debubble {
namespace {

std::string_view severity_colour(const std::string& severity) {
  if (severity == "error") return kRed;
  return severity == "warning" ? kYellow : kCyan;
}

std::string diagnostic_heading(const std::string& severity, const std::string& code, const std::string& message,
                               bool color) {
  const std::string label = code.empty() ? severity : severity + "[" + code + "]";
  return paint(color, severity_colour(severity), label) + paint(color, kBold, ": " + message) + "\n";
}

}  // namespace

std::string diagnostics_view(std::span<const Diagnostic> diagnostics, const ViewStyle& style) {
  std::string text;
  for (const Diagnostic& one : diagnostics) {
    text += diagnostic_heading("error", one.code, one.message, style.color);
    if (!one.place.empty()) text += paint(style.color, kCyan, "  --> ") + one.place + "\n";
    if (!one.help.empty())
      text += paint(style.color, kCyan, "  = ") + paint(style.color, kBold, "help") + ": " + one.help + "\n";
  }
  if (diagnostics.size() > 1) text += std::to_string(diagnostics.size()) + " errors\n";
  return text;
}

std::string findings_view(std::span<const Finding> findings, const ViewStyle& style) {
  std::string text;
  for (const Finding& one : findings) text += diagnostic_heading(one.severity, one.code, full_text(one), style.color);
  return text;
}

}  // namespace debubble
