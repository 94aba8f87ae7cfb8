#include "scenario/request/step_times.hpp"

#include <map>
#include <optional>

#include "sim/core/keyed_list.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

StepTimes parse_step_times(std::string_view text, const std::string& place) {
  StepTimes times;
  const std::map<std::string, std::optional<Nanoseconds>*> parts{{"reduce", &times.reduce},
                                                                 {"embedding", &times.embedding},
                                                                 {"norm", &times.norm},
                                                                 {"optimizer", &times.optimizer},
                                                                 {"gather", &times.gather}};
  const KeyedForm form{.place = place,
                       .example = "write it like " + place + " reduce=2,optimizer=0.5",
                       .unkeyed = "\"{}\" is neither on, off nor KEY=TIME",
                       .once = "give each part once",
                       .keys = {"reduce", "embedding", "norm", "optimizer", "gather"},
                       .unknown = "a step has no \"{}\"",
                       .known = "its parts are reduce, embedding, norm, optimizer and gather"};
  read_keyed_list(text, form, [&](const std::string& key, const std::string& time) {
    *parts.at(key) = parse_duration(time, place, BareNumber::kToyUnits);
  });
  return times;
}

}  // namespace debubble
