#include "scenario/request/uniform_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

std::string_view trim_item(std::string_view item) {
  while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
  while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
  return item;
}

// The keys of --times, as far as they were given.
class TimesList {
 public:
  explicit TimesList(std::string_view place) : place_(place) {}

  void add(std::string_view item) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return report("C006", fmt::format("'{}' is not of the form key=time", item));
    const std::string_view key = trim_item(item.substr(0, equals));
    const auto found = std::find(kKeys.begin(), kKeys.end(), key);
    if (found == kKeys.end()) return report("C017", fmt::format("'{}' is not a key of the times", key));
    std::optional<Nanoseconds>& slot = at(values_, found - kKeys.begin());
    if (slot) return report("C007", fmt::format("'{}' is given twice", key));
    slot = 0;
    try {
      slot = parse_duration(item.substr(equals + 1), fmt::format("{} {}", place_, key), BareNumber::kToyUnits);
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }

  UniformTimes finish() {
    const auto& [f, b, i, w, fb, r, s, t, copy] = values_;
    UniformTimes times;
    times.forward = f.value_or(times.forward);
    times.backward = b;
    times.overlapped_pair = fb;
    times.recompute = r;
    times.logits = s;
    times.gradient = t;
    times.copy = copy.value_or(times.copy);
    if (b && !i && !w) {
      times.input_grad = *b / 2;
      times.weight_grad = *b - *b / 2;
    } else {
      times.input_grad = i ? *i : b ? *b - *w : times.input_grad;
      times.weight_grad = w ? *w : b ? *b - *i : times.weight_grad;
    }
    if (problems_.empty() && (times.input_grad < 0 || times.weight_grad < 0)) {
      report("C009", fmt::format("b is shorter than its part {}", i ? "i" : "w"));
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return times;
  }

 private:
  static constexpr std::array<std::string_view, 9> kKeys = {"f", "b", "i", "w", "fb", "r", "s", "t", "copy"};

  void report(std::string code, std::string message) {
    problems_.push_back(
        {std::move(code), std::string(place_), std::move(message),
         "write it like f=1,b=2 or f=1,i=1,w=1 (f forward, b backward = i + w, i input gradient, "
         "w weight gradient, fb overlapped pair, r recomputation, s and t passes of a vocabulary shard, "
         "copy one way of an activation)"});
  }

  std::string_view place_;
  std::array<std::optional<Nanoseconds>, 9> values_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

UniformTimes parse_times(std::string_view text, std::string_view place) {
  TimesList list(place);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    list.add(trim_item(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return list.finish();
}

}  // namespace debubble
