#include "formats/megatron/log.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "formats/text/log_lines.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/word_list.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::string_view kBlockBegins = "--- arguments ---";
constexpr std::string_view kBlockEnds = "--- end of arguments ---";
constexpr std::string_view kPadded = "> padded vocab (size: ";
constexpr std::string_view kNewSize = "(new size: ";
constexpr std::string_view kIteration = "iteration";
constexpr std::string_view kElapsed = "elapsed time per iteration (ms): ";
constexpr std::string_view kGlobalBatch = "global batch size:";
constexpr std::string_view kConsumed = "consumed samples:";
constexpr std::string_view kSkipped = "number of skipped iterations:";
constexpr std::string_view kRank = "[Rank ";
constexpr std::int64_t kMostIterations = 1'000'000'000;  // iterations, and samples of one
constexpr std::string_view kMemory = "memory (MB)";
constexpr std::string_view kMaxAllocated = "max allocated: ";
constexpr std::string_view kSaving = "saving checkpoint at iteration";
constexpr std::string_view kBeforeSaving = "(before save_checkpoint";
constexpr std::string_view kAfterSaving = "(after save_checkpoint";

// Names of the block that are the values of arguments with other names (megatron/training/arguments.py, 0.17 to 0.19).
constexpr std::string_view kOtherNames =
    "fp8 fp8-format fp4 fp4-format microbatch-group-size-per-vp-stage microbatch-group-size-per-virtual-pipeline-stage "
    "overlap-p2p-comm-warmup-flush overlap-p2p-communication-warmup-flush layernorm-epsilon norm-epsilon "
    "layernorm-zero-centered-gamma apply-layernorm-1p nccl-ub use-nccl-ub";

// Names of the block that are True unless an argument, named beside them, says otherwise.
constexpr std::string_view kOpposites =
    "add-bias-linear disable-bias-linear gradient-accumulation-fusion no-gradient-accumulation-fusion "
    "overlap-p2p-comm no-overlap-p2p-communication bias-swiglu-fusion no-bias-swiglu-fusion bias-gelu-fusion "
    "no-bias-gelu-fusion apply-rope-fusion no-rope-fusion masked-softmax-fusion no-masked-softmax-fusion "
    "add-position-embedding no-position-embedding fp8-wgrad no-fp8-wgrad tp-comm-bulk-wgrad no-tp-comm-bulk-wgrad "
    "tp-comm-bulk-dgrad no-tp-comm-bulk-dgrad tp-comm-overlap-ag no-tp-comm-overlap-ag tp-comm-overlap-rs "
    "no-tp-comm-overlap-rs torch-fsdp2-reshard-after-forward torch-fsdp2-no-reshard-after-forward pad-vocab-size "
    "no-pad-vocab-size";

// The word behind `name` in a list of pairs; "" where it is not in it.
std::string_view paired(std::string_view pairs, std::string_view name) {
  const std::vector<std::string_view> words = words_in(pairs);
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
    if (words[k] == name) return words[k + 1];
  }
  return {};
}

struct Setting {
  std::string name;  // with dashes, as in a command
  std::string value;
};

constexpr std::size_t kNameColumns = 48;  // dots fill what a name leaves of them

// "  hidden_size ........ 6144"; a name of 47 letters has one dot, a longer one none.
std::optional<Setting> setting_in(std::string_view line) {
  const auto known = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::size_t end = line.find(" ..");
  if (end == std::string_view::npos) {
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    end = std::min(line.find(' ', first), line.size());
    if (end - first + 1 < kNameColumns) return std::nullopt;
  }
  const std::size_t value = line.find_first_not_of('.', std::min(end + 1, line.size()));
  if (value == std::string_view::npos || line[value] != ' ') return std::nullopt;
  std::string_view name = line.substr(0, end);
  name.remove_prefix(name.find_last_of(' ') == std::string_view::npos ? 0 : name.find_last_of(' ') + 1);
  if (name.empty() || !std::all_of(name.begin(), name.end(), known)) return std::nullopt;
  Setting setting{std::string(name), std::string(line.substr(value + 1))};
  std::replace(setting.name.begin(), setting.name.end(), '_', '-');
  return setting;
}

// "['layernorm', 'mlp']", as Python prints lists: the words in it.
std::vector<std::string> listed(std::string_view value) {
  std::string text(value.substr(1, value.size() - 2));
  std::erase_if(text, [](char c) { return c == '\'' || c == '"'; });
  std::replace(text.begin(), text.end(), ',', ' ');
  const std::vector<std::string_view> words = words_in(text);
  return {words.begin(), words.end()};
}

// What a log says otherwise than a command: False and None are arguments that nobody gave.
void add_setting(const Setting& setting, MegatronLog& log) {
  log.names.insert(setting.name);
  const std::string& value = setting.value;
  const std::string_view opposite = paired(kOpposites, setting.name);
  if (value == "False" && !opposite.empty()) log.words.push_back("--" + std::string(opposite));
  if (value == "False" || value == "None" || value == "[]" || (value == "True" && !opposite.empty())) return;
  if (setting.name == "checkpoint-activations") {  // until 2022
    log.words.insert(log.words.end(), {"--recompute-granularity", "full"});
    return;
  }
  const std::string_view other = paired(kOtherNames, setting.name);
  log.words.push_back("--" + (other.empty() ? setting.name : std::string(other)));
  const bool list = value.starts_with('[') && value.ends_with(']') && setting.name != "moe-layer-freq";
  if (list) {
    const std::vector<std::string> words = listed(value);
    log.words.insert(log.words.end(), words.begin(), words.end());
  } else if (value != "True") {
    log.words.push_back(value);
  }
}

void read_block(LogLines& lines, MegatronLog& log) {
  MegatronLog begun;  // nothing of an earlier start counts, but where it ran
  begun.blocks = log.blocks + 1;
  begun.device = std::move(log.device);
  log = std::move(begun);
  while (!lines.empty()) {
    const std::string_view line = lines.next();
    if (line.find(kBlockEnds) != std::string_view::npos) break;
    if (const std::optional<Setting> setting = setting_in(line)) add_setting(*setting, log);
  }
  // Releases that cannot do otherwise than with their own kernels do not have the choice.
  if (!log.names.contains("transformer-impl")) log.words.insert(log.words.end(), {"--transformer-impl", "local"});
}

std::string_view after(std::string_view line, std::string_view words) {
  const std::size_t begin = line.find(words);
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin + words.size());
}

bool read_interval(std::string_view line, MegatronLog& log) {
  const std::size_t elapsed = line.find(kElapsed);
  const std::size_t iteration = elapsed == std::string_view::npos ? elapsed : line.rfind(kIteration, elapsed);
  if (iteration == std::string_view::npos) return false;
  const auto time = logged_milliseconds(number_at(line.substr(elapsed + kElapsed.size())));
  const auto number = whole_number(number_at(line.substr(iteration + kIteration.size())));
  if (!time || *time == 0 || !number || *number > kMostIterations) return false;
  const auto batch = whole_number(number_at(after(line, kGlobalBatch)));
  const auto skipped = whole_number(number_at(after(line, kSkipped)));
  const auto consumed = whole_number(number_at(after(line, kConsumed)));
  if (batch.value_or(0) > kMostIterations) return false;
  log.intervals.push_back({*number, *time, batch.value_or(0), skipped.value_or(0), consumed.value_or(0), {}});
  return true;
}

// Memory in lines into which several ranks may have written: nothing keeps them apart.
class MemoryLines {
 public:
  void read(std::string_view line, MegatronLog& log) {
    if (contains_text(line, kSaving)) saving_ = true;
    for (std::size_t at = line.find(kRank); at != std::string_view::npos; at = line.find(kRank)) {
      line.remove_prefix(at + kRank.size());
      read_rank(line.substr(0, line.find(kRank)), log);
    }
  }

 private:
  void read_rank(std::string_view mine, MegatronLog& log) {
    const auto rank = whole_number(number_at(mine));
    const auto size = number_of(number_at(after(after(mine, kMemory), kMaxAllocated)));
    if (!rank || !size || *size * kMebibyte > static_cast<double>(kLargestSize)) return;
    if (contains_text(mine, kAfterSaving)) saved_.insert(*rank);
    const bool saved = saved_.contains(*rank) || (saving_ && !contains_text(mine, kBeforeSaving));
    log.memory.push_back({*rank, std::llround(*size * kMebibyte), saved});
  }

  bool saving_ = false;           // some rank has begun to
  std::set<std::int64_t> saved_;  // ranks
};

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

namespace {

// Of the last line, which does not end: whether it is one of an iteration, and not whole.
bool is_cut(std::string_view line) {
  return contains_text(line, kIteration) && contains_text(line, "|") && !contains_text(line, kRank) &&
         !line.ends_with('|');
}

// Whether a table is one of those that follow lines of iterations; starts, evaluations and checkpoints have theirs.
bool is_of_iterations(const TimerTable& table) {
  return std::any_of(table.timers.begin(), table.timers.end(), [](const LoggedTimer& timer) {
    return timer.name.starts_with("forward-") || timer.name.starts_with("backward-") || timer.name == "optimizer";
  });
}

// Each table to its line: to the one in front of it, or, where one stream of the job is behind the other, the k-th to
// the k-th line, of several starts those of the last.
void place_tables(std::vector<TimerTable> tables, MegatronLog& log) {
  std::erase_if(tables, [](const TimerTable& table) { return !is_of_iterations(table); });
  const std::size_t lines = log.intervals.size();
  const bool apart = std::all_of(tables.begin(), tables.end(), [lines](const TimerTable& table) {
    return table.lines_before == 0 || table.lines_before == lines;
  });
  const bool by_number = tables.size() == lines || (apart && tables.size() > lines);
  if (apart && tables.size() < lines && lines > 1) {  // which lines they are of, nobody knows
    log.other_tables = tables.size();
    return;
  }
  const std::size_t first = by_number ? tables.size() - lines : 0;
  for (std::size_t k = first; k < tables.size(); ++k) {
    const std::size_t line = by_number ? k - first + 1 : tables[k].lines_before;
    if (line == 0 || !log.intervals[line - 1].timers.empty()) {
      ++log.other_tables;
    } else {
      log.intervals[line - 1].timers = std::move(tables[k].timers);
    }
  }
}

}  // namespace

MegatronLog read_megatron_log(std::string_view text) {
  MegatronLog log;
  DeviceLines device;
  MemoryLines memory;
  TimerLines timers;
  LogLines lines(text);
  while (!lines.empty()) {
    const bool ends = lines.ends();
    const std::string_view line = lines.next();
    if (line.find(kBlockBegins) != std::string_view::npos) {
      read_block(lines, log);
      memory = MemoryLines();
      timers = TimerLines();
    } else if (line.find(kPadded) != std::string_view::npos && line.find(kNewSize) != std::string_view::npos) {
      const std::string_view size = number_at(line.substr(line.find(kNewSize) + kNewSize.size()));
      log.words.insert(log.words.end(), {"--padded-vocab-size", std::string(size)});
    } else if (!ends && is_cut(line)) {
      log.cut = true;
    } else if (read_interval(line, log)) {
      timers.close();
    } else if (!timers.read(line, log.intervals.size())) {
      memory.read(line, log);
      device.read(line, log.device);
    }
  }
  log.torn_rows = timers.torn_rows();
  place_tables(timers.tables(), log);
  return log;
}

}  // namespace debubble
