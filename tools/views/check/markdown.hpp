// What the gate found as Markdown, for a pull request's comment or a GitHub step summary: what needs eyes as a table,
// what passes folded away below it.
#pragma once

#include <cstddef>
#include <string>

#include "studies/check/result.hpp"

namespace debubble {

// GitHub takes 1 MiB per step summary; what does not fit is counted instead.
inline constexpr std::size_t kMostMarkdown = 1'000'000;

[[nodiscard]] std::string check_markdown(const CheckResult& result, std::size_t most = kMostMarkdown);

}  // namespace debubble
