// The files beside this one, and known_models.table, as they are built in (cmake/DebubbleEmbed.cmake).
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] std::string megatron_rules_text();
[[nodiscard]] std::string torchtitan_rules_text();
[[nodiscard]] std::string pytorch_rules_text();
[[nodiscard]] std::string nanotron_rules_text();
[[nodiscard]] std::string deepspeed_rules_text();
[[nodiscard]] std::string primus_rules_text();
[[nodiscard]] std::string paddle_rules_text();
[[nodiscard]] std::string mindspeed_rules_text();
[[nodiscard]] std::string mindspore_rules_text();
[[nodiscard]] std::string maxtext_rules_text();
[[nodiscard]] std::string colossalai_rules_text();
// What several of them include.
[[nodiscard]] std::string pytorch_classes_rules_text();
[[nodiscard]] std::string run_rules_text();
[[nodiscard]] std::string known_models_text();

}  // namespace debubble
