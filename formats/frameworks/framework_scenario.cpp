#include "formats/frameworks/framework_scenario.hpp"

#include <array>

#include "formats/frameworks/text_trees.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

struct FrameworkReader {
  const char* tool;
  FrameworkScenario (*read)(ConfigTree&, const FrameworkRequest&);
};
constexpr std::array<FrameworkReader, 6> kFrameworkReaders{{{"torchtitan", read_torchtitan},
                                                            {"deepspeed", read_deepspeed},
                                                            {"accelerate", read_accelerate},
                                                            {"nemo", read_nemo},
                                                            {"nanotron", read_nanotron},
                                                            {"neox", read_neox}}};

}  // namespace

const std::vector<std::string>& framework_tools() {
  static const std::vector<std::string> tools = [] {
    std::vector<std::string> names;
    for (const FrameworkReader& reader : kFrameworkReaders) names.emplace_back(reader.tool);
    return names;
  }();
  return tools;
}

void require_key(ConfigTree& tree, const std::string& key, const std::string& message, const std::string& help) {
  if (key.starts_with("--")) {
    tree.problems().add("F001", key, message, help);
  } else {
    tree.complain("F001", key, message, help);
  }
}

FrameworkScenario read_framework(const std::string& tool, std::string_view text, const std::string& name,
                                 const FrameworkRequest& request) {
  ProblemList problems(name, framework_dialect());
  FrameworkScenario scenario;
  if (const std::optional<JsonValue> root = parse_config_text(text, problems); root && problems.empty()) {
    ConfigTree tree(*root, problems);
    for (const FrameworkReader& reader : kFrameworkReaders) {
      if (tool != reader.tool || !problems.empty()) continue;
      scenario = reader.read(tree, request);
      for (const std::string& path : tree.unasked()) {
        scenario.find("unknown key " + in_quotes(path) + ", which may change time or memory, is left out");
      }
      break;
    }
  }
  problems.throw_if_any();
  return scenario;
}

std::string write_framework_scenario(const FrameworkScenario& scenario, const std::string& tool,
                                     const std::string& name) {
  return "# From " + printable(name) + ", by debubble import --from " + tool + ".\n" +
         scenario_lines(scenario.flags, scenario.findings);
}

}  // namespace debubble
