#include "sim/analysis/finding.hpp"

#include <array>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {
namespace {

struct FindingRow {
  Severity severity;
  const char* code;  // of Refused that of its reason
};

// In the order of Finding's alternatives.
constexpr std::array<FindingRow, std::variant_size_v<Finding>> kFindings = {{{Severity::kError, "X010"},
                                                                             {Severity::kError, "F040"},
                                                                             {Severity::kError, "X020"},
                                                                             {Severity::kWarning, "M030"},
                                                                             {Severity::kWarning, "F025"},
                                                                             {Severity::kWarning, "F026"},
                                                                             {Severity::kWarning, "F030"},
                                                                             {Severity::kNote, "S020"},
                                                                             {Severity::kNote, "S020"},
                                                                             {Severity::kError, "E030"},
                                                                             {Severity::kError, "E031"},
                                                                             {Severity::kError, ""}}};

}  // namespace

const char* to_string(Severity severity) { return at(std::array{"note", "warning", "error"}, severity); }

Severity severity_of(const Finding& finding) { return kFindings.at(finding.index()).severity; }

std::string code_of(const Finding& finding) {
  const auto* refused = std::get_if<Refused>(&finding);
  return refused != nullptr ? refused->reason.code : kFindings.at(finding.index()).code;
}

}  // namespace debubble
