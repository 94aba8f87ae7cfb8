#include "formats/megatron/log.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "formats/text/micros.hpp"
#include "sim/core/median.hpp"

namespace debubble {
namespace {

constexpr std::string_view kBlockBegins = "--- arguments ---";
constexpr std::string_view kBlockEnds = "--- end of arguments ---";
constexpr std::string_view kPadded = "> padded vocab (size: ";
constexpr std::string_view kNewSize = "(new size: ";
constexpr std::string_view kIteration = "iteration";
constexpr std::string_view kElapsed = "elapsed time per iteration (ms): ";

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
  return line;
}

std::string_view number_at(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_not_of("0123456789."));
}

struct Setting {
  std::string name;  // with dashes, as in a command
  std::string value;
};

// "  hidden_size ........ 6144".
std::optional<Setting> setting_in(std::string_view line) {
  const std::size_t dots = line.find(" ..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::size_t value = line.find_first_not_of('.', dots + 1);
  if (value == std::string_view::npos || line[value] != ' ') return std::nullopt;
  std::string_view name = line.substr(0, dots);
  name.remove_prefix(name.find_last_of(' ') == std::string_view::npos ? 0 : name.find_last_of(' ') + 1);
  const auto known = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), known)) return std::nullopt;
  Setting setting{std::string(name), std::string(line.substr(value + 1))};
  std::replace(setting.name.begin(), setting.name.end(), '_', '-');
  return setting;
}

// What a log says otherwise than a command: False and None are arguments that nobody gave.
void add_setting(const Setting& setting, MegatronLog& log, std::set<std::string>& names) {
  names.insert(setting.name);
  if (setting.value == "False" || setting.value == "None" || setting.value == "[]") return;
  if (setting.name == "checkpoint-activations") {  // until 2022
    log.words.insert(log.words.end(), {"--recompute-granularity", "full"});
    return;
  }
  log.words.push_back("--" + setting.name);
  if (setting.value != "True") log.words.push_back(setting.value);
}

// Arguments that are stored under the name of their opposite, or that older releases do not have.
void add_implied(MegatronLog& log, const std::set<std::string>& names) {
  const auto given = [&](const char* word) {
    return std::find(log.words.begin(), log.words.end(), word) != log.words.end();
  };
  if (!names.contains("transformer-impl")) log.words.insert(log.words.end(), {"--transformer-impl", "local"});
  if (names.contains("add-bias-linear") && !given("--add-bias-linear")) log.words.emplace_back("--disable-bias-linear");
  if (names.contains("gradient-accumulation-fusion") && !given("--gradient-accumulation-fusion")) {
    log.words.emplace_back("--no-gradient-accumulation-fusion");
  }
  const bool says = names.contains("overlap-p2p-comm");
  if (says && !given("--overlap-p2p-comm")) log.words.emplace_back("--no-overlap-p2p-communication");
}

void read_block(std::string_view& text, MegatronLog& log) {
  log = {};
  std::set<std::string> names;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find(kBlockEnds) != std::string_view::npos) break;
    if (const std::optional<Setting> setting = setting_in(line)) add_setting(*setting, log, names);
  }
  add_implied(log, names);
}

void read_interval(std::string_view line, MegatronLog& log) {
  const std::size_t elapsed = line.find(kElapsed);
  const std::size_t iteration = line.find(kIteration);
  if (elapsed == std::string_view::npos || iteration >= elapsed) return;
  const auto time = nanoseconds_of_micros(std::string(number_at(line.substr(elapsed + kElapsed.size()))) + "e3");
  const auto number = whole_number(number_at(line.substr(iteration + kIteration.size())));
  if (time && *time > 0 && *time <= kLongestDuration && number) log.intervals.push_back({*number, *time});
}

}  // namespace

bool is_megatron_log(std::string_view text) {
  const std::size_t begin = text.find(kBlockBegins);
  return begin != std::string_view::npos && text.find(kBlockEnds, begin) != std::string_view::npos;
}

MegatronLog read_megatron_log(std::string_view text) {
  MegatronLog log;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find(kBlockBegins) != std::string_view::npos) {
      read_block(text, log);
    } else if (line.find(kPadded) != std::string_view::npos && line.find(kNewSize) != std::string_view::npos) {
      const std::string_view size = number_at(line.substr(line.find(kNewSize) + kNewSize.size()));
      log.words.insert(log.words.end(), {"--padded-vocab-size", std::string(size)});
    } else {
      read_interval(line, log);
    }
  }
  return log;
}

Nanoseconds median_iteration_time(const MegatronLog& log) {
  std::vector<Nanoseconds> times;
  for (const LoggedInterval& interval : log.intervals) times.push_back(interval.iteration_time);
  if (times.size() > 1) times.erase(times.begin());
  return lower_median(std::move(times));
}

}  // namespace debubble
