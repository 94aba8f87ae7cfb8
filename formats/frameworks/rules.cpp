#include "formats/frameworks/rules.hpp"

#include <algorithm>

#include "formats/frameworks/deepspeed_rules.hpp"
#include "formats/frameworks/pytorch_rules.hpp"
#include "formats/megatron/rule_table.hpp"

namespace debubble {

const std::vector<FrameworkRules>& framework_rules() {
  static const std::vector<FrameworkRules> all{megatron_rules(), torchtitan_rules(), pytorch_rules(), nanotron_rules(),
                                               deepspeed_rules()};
  return all;
}

const FrameworkRules* rules_of_framework(std::string_view name) {
  const auto& all = framework_rules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const FrameworkRules& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const FrameworkRules* rules_titled(std::string_view title) {
  const auto& all = framework_rules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const FrameworkRules& one) { return one.title == title; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace debubble
