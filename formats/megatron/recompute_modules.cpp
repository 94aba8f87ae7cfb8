#include "formats/megatron/recompute_modules.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble {

std::string recompute_modules(MegatronArguments& arguments) {
  const std::vector<std::string> names = arguments.words("recompute-modules");
  const bool latent = arguments.flag("multi-latent-attention");
  const bool experts = arguments.number("num-experts").has_value();
  const bool shared = arguments.flag("moe-shared-expert-intermediate-size");
  const std::array<std::pair<const char*, bool>, 7> known{{{"core_attn", true},
                                                           {"mlp", true},
                                                           {"layernorm", true},
                                                           {"moe", experts},
                                                           {"moe_act", experts},
                                                           {"mla_up_proj", latent},
                                                           {"shared_experts", shared}}};
  std::string list;
  for (const std::string& name : names) {
    const auto* const found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return name == one.first; });
    if (found == known.end()) {
      arguments.find("--recompute-modules " + name + ": not known; it is not recomputed");
    } else if (!found->second) {
      arguments.find("--recompute-modules " + name + ": the model has none");
    } else if (("," + list + ",").find("," + name + ",") == std::string::npos) {
      list += (list.empty() ? "" : ",") + name;
    }
  }
  return list;
}

}  // namespace debubble
