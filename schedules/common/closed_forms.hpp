// What the formulas of several rows share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schedules/common/contract.hpp"

namespace debubble {

// The case's parameter as a whole number, or nothing where it has no such parameter or the text is not a whole number.
[[nodiscard]] std::optional<int> form_number(const FormCase& form, std::string_view name);

// The case's parameter as text; "" where it has none.
[[nodiscard]] std::string form_word(const FormCase& form, std::string_view name);

// (m + p - 1)(f + b): fill the pipeline once, drain it once.
[[nodiscard]] std::optional<double> fill_and_drain(const FormCase& form);

// m: every microbatch is held at once.
[[nodiscard]] std::optional<double> all_microbatches(const FormCase& form);

// 1: one microbatch is held at a time.
[[nodiscard]] std::optional<double> one_microbatch(const FormCase& form);

}  // namespace debubble
