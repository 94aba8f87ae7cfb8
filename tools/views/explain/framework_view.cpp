#include "tools/views/explain/framework_view.hpp"

#include <array>
#include <utility>

#include "tools/views/paragraph.hpp"

namespace debubble {
namespace {

constexpr std::array<std::pair<RuleKind, const char*>, 4> kParts{
    {{RuleKind::kRefuses, "It refuses a run where"},
     {RuleKind::kCut, "It cuts layers by"},
     {RuleKind::kDefault, "It takes, where nothing is given, for"},
     {RuleKind::kNotModelled, "Not modelled here, or otherwise"}}};

}  // namespace

std::string framework_text(const FrameworkRules& rules, const ViewStyle& style) {
  const bool named = rules.release.starts_with(rules.title);
  std::string text = paragraph((named ? "" : std::string(rules.title) + ", ") + std::string(rules.release), style);
  for (const auto& [kind, title] : kParts) {
    std::string part;
    for (const FrameworkRule& rule : rules.rows) {
      if (rule.kind != kind) continue;
      part += "\n" + paragraph(std::string(rule.condition), style, 2);
      if (!rule.text.empty()) part += paragraph(std::string(rule.text), style, 6);
      if (!rule.source.empty()) part += paragraph("(" + std::string(rule.source) + ")", style, 6);
    }
    if (!part.empty()) text += "\n" + std::string(title) + "\n" + part;
  }
  return text;
}

}  // namespace debubble
