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
  if (!rules.facts.empty()) text += "\nNames in capitals\n\n";
  for (const RuleFact& fact : rules.facts) {
    std::string flags(fact.flags);
    for (std::size_t at = flags.find(','); at != std::string::npos; at = flags.find(',', at + 2))
      flags.insert(at + 1, " ");
    const std::string from = flags.empty() ? "" : " (" + flags + ")";
    text += paragraph(std::string(fact.name) + ": " + std::string(fact.meaning) + from, style, 2);
  }
  return text;
}

}  // namespace debubble
