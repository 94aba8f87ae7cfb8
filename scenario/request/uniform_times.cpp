#include "scenario/request/uniform_times.hpp"

#include <map>
#include <optional>

#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr const char* kTimesHelp =
    "write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, w weight gradient, fb "
    "overlapped pair, r recomputation, s and t passes of a vocabulary shard, copy one way of an activation)";

}  // namespace

UniformTimes parse_times(std::string_view text, std::string_view place) {
  const KeyedForm form{.place = std::string(place),
                       .example = kTimesHelp,
                       .unkeyed = "'{}' is not of the form key=time",
                       .twice = "'{}' is given twice",
                       .once = kTimesHelp,
                       .keys = {"f", "b", "i", "w", "fb", "r", "s", "t", "copy"},
                       .unknown = "'{}' is not a key of the times"};
  std::map<std::string, Nanoseconds> given;
  read_keyed_list(text, form, [&](const std::string& key, const std::string& time) {
    given[key] = parse_duration(time, form.place + " " + key, BareNumber::kToyUnits);
  });
  const auto time = [&](const char* key) {
    const auto found = given.find(key);
    return found == given.end() ? std::nullopt : std::optional(found->second);
  };
  const auto b = time("b");
  const auto i = time("i");
  const auto w = time("w");
  UniformTimes times;
  times.forward = time("f").value_or(times.forward);
  times.backward = b;
  times.overlapped_pair = time("fb");
  times.recompute = time("r");
  times.logits = time("s");
  times.gradient = time("t");
  times.copy = time("copy").value_or(times.copy);
  if (b && !i && !w) {
    times.input_grad = *b / 2;
    times.weight_grad = *b - *b / 2;
  } else {
    times.input_grad = i ? *i : b ? *b - *w : times.input_grad;
    times.weight_grad = w ? *w : b ? *b - *i : times.weight_grad;
  }
  if (times.input_grad < 0 || times.weight_grad < 0) {
    fail("C009", form.place, std::string("b is shorter than its part ") + (i ? "i" : "w"), kTimesHelp);
  }
  return times;
}

}  // namespace debubble
