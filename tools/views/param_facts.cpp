#include "tools/views/param_facts.hpp"

namespace debubble {

std::string param_words(const ParamSpec& param) {
  return param.values + " (default " + param.default_value + "): " + param.help;
}

Json params_json(const std::vector<ParamSpec>& params) {
  Json list = Json::array();
  for (const ParamSpec& param : params) {
    list.push_back(
        {{"name", param.name}, {"values", param.values}, {"default", param.default_value}, {"help", param.help}});
  }
  return list;
}

}  // namespace debubble
