#include "scenario/request/transform_spec.hpp"

#include <algorithm>

#include "scenario/request/checks.hpp"
#include "schedules/transforms/catalog.hpp"
#include "schedules/transforms/request.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr const char* kFlag = "--transform";

Diagnostic bad_form(const std::string& text, const std::string& message, const char* code = "C006") {
  return {code, kFlag, "\"" + text + "\": " + message, "write it like --transform recompute:mode=full,when=early"};
}

void add_value(TransformSpec& spec, std::string& key, const std::string& item, const std::string& text) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos && !key.empty() && !item.empty()) {
    spec.params[key] += "," + item;
    return;
  }
  if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
    throw InputError(bad_form(text, "\"" + item + "\" is not key=value"));
  }
  key = item.substr(0, equals);
  if (!spec.params.emplace(key, item.substr(equals + 1)).second) {
    throw InputError(bad_form(text, "\"" + key + "\" is given twice", "C007"));
  }
}

TransformSpec parse_one(const std::string& text) {
  TransformSpec spec;
  const std::size_t colon = text.find(':');
  spec.name = text.substr(0, colon);
  if (spec.name.empty()) throw InputError(bad_form(text, "the name is missing"));
  if (colon != std::string::npos) {
    std::string key;
    for (std::size_t begin = colon + 1; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      add_value(spec, key, text.substr(begin, end - begin), text);
      begin = end + 1;
    }
  }
  check_transform(spec.name, TransformRequest{spec.params, nullptr});
  return spec;
}

}  // namespace

std::vector<TransformSpec> parse_transforms(const std::vector<std::string>& texts) {
  std::vector<TransformSpec> specs;
  Checks checks;
  for (const std::string& text : texts) {
    checks.run([&] { specs.push_back(parse_one(text)); });
  }
  checks.finish();
  return specs;
}

}  // namespace debubble
