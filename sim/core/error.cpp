#include "sim/core/error.hpp"

#include <utility>

namespace debubble {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = "error[" + diagnostic.code + "]: " + diagnostic.message + "\n";
  if (!diagnostic.place.empty()) text += "  --> " + diagnostic.place + "\n";
  if (!diagnostic.help.empty()) text += "  = help: " + diagnostic.help + "\n";
  return text;
}

InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

InputError::InputError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& diagnostic : diagnostics_) text_ += to_string(diagnostic);
}

void fail(std::string code, std::string place, std::string message, std::string help) {
  throw InputError(Diagnostic{std::move(code), std::move(place), std::move(message), std::move(help)});
}

UnavailableError::UnavailableError(Diagnostic diagnostic)
    : diagnostic_(std::move(diagnostic)), text_(to_string(diagnostic_)) {}

}  // namespace debubble
