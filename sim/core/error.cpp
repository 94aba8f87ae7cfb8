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

UnavailableError::UnavailableError(Diagnostic diagnostic)
    : diagnostic_(std::move(diagnostic)), text_(to_string(diagnostic_)) {}

}  // namespace debubble
