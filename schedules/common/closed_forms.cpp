#include "schedules/common/closed_forms.hpp"

#include "sim/core/numbers.hpp"

namespace debubble {

std::optional<int> form_number(const FormCase& form, std::string_view name) {
  return read_whole<int>(form_word(form, name));
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
