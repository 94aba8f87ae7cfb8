// --transform NAME:key=value,key=value.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace debubble {

struct TransformSpec {
  std::string name;
  std::map<std::string, std::string> params;
};

// "recompute:mode=full,when=early". What follows a comma without a key belongs to the value before it:
// "memory_limit=8,6,6,4". Throws InputError, all problems at once, for another form and for names of transforms and
// parameters that do not exist.
[[nodiscard]] std::vector<TransformSpec> parse_transforms(const std::vector<std::string>& texts);

}  // namespace debubble
