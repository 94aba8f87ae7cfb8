#include "formats/megatron/log.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/core/median.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr std::string_view kBlockBegins = "--- arguments ---";
constexpr std::string_view kBlockEnds = "--- end of arguments ---";
constexpr std::string_view kPadded = "> padded vocab (size: ";
constexpr std::string_view kNewSize = "(new size: ";
constexpr std::string_view kIteration = "iteration";
constexpr std::string_view kElapsed = "elapsed time per iteration (ms): ";
constexpr std::string_view kGlobalBatch = "global batch size:";
constexpr std::string_view kSkipped = "number of skipped iterations:";
constexpr std::string_view kRank = "[Rank ";
constexpr std::string_view kMemory = "memory (MB)";
constexpr std::string_view kMaxAllocated = "max allocated: ";

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
  return line;
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
void add_setting(const Setting& setting, MegatronLog& log) {
  log.names.insert(setting.name);
  if (setting.value == "False" || setting.value == "None" || setting.value == "[]") return;
  if (setting.name == "checkpoint-activations") {  // until 2022
    log.words.insert(log.words.end(), {"--recompute-granularity", "full"});
    return;
  }
  log.words.push_back("--" + setting.name);
  if (setting.value != "True") log.words.push_back(setting.value);
}

// Arguments that are stored under the name of their opposite, or that older releases do not have.
void add_implied(MegatronLog& log) {
  const std::set<std::string>& names = log.names;
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
  MegatronLog begun;  // nothing of an earlier start counts, but where it ran
  begun.blocks = log.blocks + 1;
  begun.device = std::move(log.device);
  log = std::move(begun);
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find(kBlockEnds) != std::string_view::npos) break;
    if (const std::optional<Setting> setting = setting_in(line)) add_setting(*setting, log);
  }
  add_implied(log);
}

std::string_view after(std::string_view line, std::string_view words) {
  const std::size_t begin = line.find(words);
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin + words.size());
}

bool read_interval(std::string_view line, MegatronLog& log) {
  const std::size_t elapsed = line.find(kElapsed);
  const std::size_t iteration = line.find(kIteration);
  if (elapsed == std::string_view::npos || iteration >= elapsed) return false;
  const auto time = logged_milliseconds(number_at(line.substr(elapsed + kElapsed.size())));
  const auto number = whole_number(number_at(line.substr(iteration + kIteration.size())));
  if (!time || *time == 0 || !number) return false;
  const auto batch = whole_number(number_at(after(line, kGlobalBatch)));
  const auto skipped = whole_number(number_at(after(line, kSkipped)));
  log.intervals.push_back({*number, *time, batch.value_or(0), skipped.value_or(0), {}});
  return true;
}

// Several ranks may have written into one line: nothing keeps their lines apart.
void read_memory(std::string_view line, MegatronLog& log) {
  for (std::size_t at = line.find(kRank); at != std::string_view::npos; at = line.find(kRank)) {
    line.remove_prefix(at + kRank.size());
    const std::string_view mine = line.substr(0, line.find(kRank));
    const auto rank = whole_number(number_at(mine));
    const auto size = number_of(number_at(after(after(mine, kMemory), kMaxAllocated)));
    if (!rank || !size || *size * kMebibyte > static_cast<double>(kLargestSize)) continue;
    log.memory.push_back({*rank, std::llround(*size * kMebibyte)});
  }
}

// Of the table that nvidia-smi prints: "|   0  Tesla V100-SXM2...  Off  | 00000000:1A:00.0 Off |", and in the line
// below "|      0MiB / 32510MiB |". Or of its list: "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)".
class DeviceLines {
 public:
  void read(std::string_view line, std::string& device) {
    if (!device.empty()) return;
    const std::size_t list = line.find("GPU 0: ");
    const std::size_t uuid = line.find(" (UUID: ");
    if (list != std::string_view::npos && uuid != std::string_view::npos && uuid > list) {
      device = std::string(line.substr(list + 7, uuid - list - 7));
    } else if (!name_.empty()) {
      device = name_ + memory_in(line);
    } else if (line.find("|   0  ") != std::string_view::npos && line.find(" | 0000") != std::string_view::npos) {
      const std::string_view name = after(line, "|   0  ");
      name_ = std::string(name.substr(0, name.find("  ")));
    }
  }

 private:
  // " 32GB" of "0MiB / 32510MiB".
  static std::string memory_in(std::string_view line) {
    const auto mebibytes = number_of(number_at(after(line, "MiB / ")));
    if (!mebibytes || *mebibytes > 1e7) return "";
    return " " + std::to_string(std::lround(*mebibytes / 1024)) + "GB";
  }

  std::string name_;
};

}  // namespace

bool is_megatron_log(std::string_view text) {
  const std::size_t begin = text.find(kBlockBegins);
  return begin != std::string_view::npos && text.find(kBlockEnds, begin) != std::string_view::npos;
}

MegatronLog read_megatron_log(std::string_view text) {
  MegatronLog log;
  DeviceLines device;
  TimerLines timers;
  std::vector<LoggedTimer> early;  // in front of the first iteration: of the start
  while (!text.empty()) {
    const bool ends = text.find('\n') != std::string_view::npos;
    const std::string_view line = next_line(text);
    if (line.find(kBlockBegins) != std::string_view::npos) {
      read_block(text, log);
    } else if (line.find(kPadded) != std::string_view::npos && line.find(kNewSize) != std::string_view::npos) {
      const std::string_view size = number_at(line.substr(line.find(kNewSize) + kNewSize.size()));
      log.words.insert(log.words.end(), {"--padded-vocab-size", std::string(size)});
    } else if (!ends && line.find(kIteration) != std::string_view::npos && line.find('|') != std::string_view::npos) {
      log.cut = true;
    } else if (!read_interval(line, log) &&
               !timers.read(line, log.intervals.empty() ? early : log.intervals.back().timers)) {
      read_memory(line, log);
      device.read(line, log.device);
    }
  }
  return log;
}

std::vector<LoggedInterval> warm_intervals(const MegatronLog& log) {
  std::vector<LoggedInterval> warm = log.intervals;
  if (warm.size() > 1) warm.erase(warm.begin());
  return warm;
}

Nanoseconds median_iteration_time(const MegatronLog& log) {
  std::vector<Nanoseconds> times;
  for (const LoggedInterval& interval : warm_intervals(log)) times.push_back(interval.iteration_time);
  return lower_median(std::move(times));
}

}  // namespace debubble
