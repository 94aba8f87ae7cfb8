#include "schedules/common/closed_forms.hpp"

#include <charconv>

namespace debubble {

std::optional<int> form_number(const FormCase& form, std::string_view name) {
  const std::string text = form_word(form, name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string form_word(const FormCase& form, std::string_view name) {
  const auto found = form.params.find(std::string(name));
  return found == form.params.end() ? "" : found->second;
}

std::optional<double> fill_and_drain(const FormCase& form) {
  return (form.microbatches + form.devices - 1) * (form.forward + form.backward);
}

std::optional<double> all_microbatches(const FormCase& form) { return form.microbatches; }

std::optional<double> one_microbatch(const FormCase&) { return 1; }

}  // namespace debubble
