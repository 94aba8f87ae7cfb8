#include "scenario/request/slow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "scenario/request/factors.hpp"
#include "sim/core/at.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

const std::array<std::string, 3> kOne{"device", "stage", "replica"};
const std::array<std::string, 3> kAllWords{"devices", "stages", "replicas"};
constexpr const char* kSlowHelp =
    "write it like --slow device=3:1.25, --slow stage=0:1.1, --slow devices=1,1,1.25,1 or --slow run.json";

Diagnostic problem(const char* code, std::string message, std::string help = kSlowHelp) {
  return {code, "--slow", std::move(message), std::move(help)};
}

const std::string& slow_word(SlowItem::What what, bool list) { return (list ? kAllWords : kOne)[to_index(what)]; }

std::optional<std::size_t> place_in(const std::array<std::string, 3>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

double slow_factor(const std::string& text) {
  const std::optional<double> factor = number_of(text);
  if (factor && is_factor(*factor)) return *factor;
  throw InputError(problem("C012", fmt::format("\"{}\" is not a factor from 0.001 to 1000", text),
                           "1.25 takes a quarter longer, 0.8 is a fifth faster"));
}

// "3" or "0-3".
void read_range(const std::string& text, SlowItem& item) {
  const std::size_t dash = text.find('-');
  const auto first = count_of(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : count_of(text.substr(dash + 1));
  if (!first || !last || *last < *first) {
    throw InputError(
        problem("C006", fmt::format("\"{}\" in \"{}\" is not a number or range of numbers", text, item.text)));
  }
  item.first = static_cast<int>(*first);
  item.last = static_cast<int>(*last);
}

SlowItem parse_item(const std::string& text) {
  SlowItem item;
  item.text = text;
  const std::size_t equals = text.find('=');
  if (text.ends_with(".json") || text.ends_with(".json.gz")) {
    item.list = true;
    item.file = text;
    return item;
  }
  if (equals == std::string::npos) throw InputError(problem("C006", fmt::format("\"{}\" is not WHAT=N:FACTOR", text)));
  const std::string name = text.substr(0, equals);
  const std::string rest = text.substr(equals + 1);
  if (const auto what = place_in(kAllWords, name)) {
    item.what = static_cast<SlowItem::What>(*what);
    item.list = true;
    for (const std::string& part : split(rest, ',')) item.factors.push_back(slow_factor(part));
    return item;
  }
  const auto what = place_in(kOne, name);
  if (!what) {
    std::vector<std::string> known(kOne.begin(), kOne.end());
    known.insert(known.end(), kAllWords.begin(), kAllWords.end());
    const std::string guess = closest_name(name, known);
    throw InputError(problem("C002", fmt::format("\"{}\" is not one of device, stage and replica", name),
                             guess.empty() ? kSlowHelp : "did you mean " + guess + "?"));
  }
  item.what = static_cast<SlowItem::What>(*what);
  const std::size_t colon = rest.find(':');
  if (colon == std::string::npos) {
    throw InputError(problem("C006", fmt::format("\"{}\" does not say how much slower", text)));
  }
  read_range(rest.substr(0, colon), item);
  item.factors.push_back(slow_factor(rest.substr(colon + 1)));
  return item;
}

}  // namespace

std::vector<SlowItem> parse_slow(const std::vector<std::string>& texts) {
  std::vector<SlowItem> items;
  std::vector<Diagnostic> problems;
  for (const std::string& text : texts) {
    try {
      items.push_back(parse_item(text));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return items;
}

bool holds_for(const SlowItem& item, int devices) {
  return item.of_profile && item.factors.size() == static_cast<std::size_t>(devices);
}

std::vector<double> slow_factors(const std::vector<SlowItem>& items, SlowItem::What what, int count,
                                 std::vector<Diagnostic>& problems) {
  std::vector<double> factors;
  std::vector<bool> taken(static_cast<std::size_t>(count), false);
  for (const SlowItem& item : items) {
    if (item.what != what || item.of_profile) continue;
    if (item.list && item.factors.size() != static_cast<std::size_t>(count)) {
      problems.push_back(problem("O005",
                                 fmt::format("\"{}\" has {} factors, and there are {} {}", item.text,
                                             item.factors.size(), count, slow_word(what, count != 1)),
                                 "give one factor for each"));
      continue;
    }
    const int last = item.list ? count - 1 : item.last;
    if (last >= count) {
      problems.push_back(problem("O004", fmt::format("there is no {} {}", slow_word(what, false), last),
                                 fmt::format("they are numbered 0 to {}", count - 1)));
      continue;
    }
    factors.resize(static_cast<std::size_t>(count), 1);
    for (int k = item.list ? 0 : item.first; k <= last; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (taken[at]) {
        problems.push_back(
            problem("C007", fmt::format("{} {} is given twice", slow_word(what, false), k), "give each a factor once"));
        break;
      }
      taken[at] = true;
      factors[at] = item.list ? item.factors[at] : item.factors.front();
    }
  }
  for (const SlowItem& item : items) {
    if (item.what != what || !holds_for(item, count)) continue;
    factors.resize(static_cast<std::size_t>(count), 1);
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] *= item.factors[k];
  }
  return factors;
}

}  // namespace debubble
