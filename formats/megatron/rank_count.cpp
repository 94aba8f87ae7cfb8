#include "formats/megatron/rank_count.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

using Strings = std::vector<std::string>;
using shell::has_mark;

constexpr std::int64_t kMostCountedRanks = 1'000'000;

std::optional<std::int64_t> positive(const std::string& text) {
  const std::optional<std::int64_t> count = count_of(text, kMostCountedRanks);
  if (count == 0) return std::nullopt;
  return count;
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The value of the last of these options; "-N4", "-N 4", "--nodes=4".
std::optional<std::string> option(const Strings& words, std::initializer_list<std::string_view> names) {
  std::optional<std::string> value;
  for (std::size_t k = 1; k < words.size(); ++k) {
    std::string word = words[k];
    for (const std::string_view name : names) {
      if (word == name) {
        value = k + 1 < words.size() ? words[k + 1] : "";
      } else if (word.starts_with(name) && word.size() > name.size()) {
        if (word[name.size()] == '=') value = word.substr(name.size() + 1);
        const char next = word[name.size()];  // "-N4", but not "-np"
        if (name.size() == 2 && (next == '\x01' || (next >= '0' && next <= '9'))) value = word.substr(2);
      }
    }
  }
  return value;
}

class RankCounter {
 public:
  explicit RankCounter(const shell::Launch& launch) : launch_(launch) {}

  RankCount run() {
    for (auto it = launch_.launchers.rbegin(); it != launch_.launchers.rend(); ++it) {
      if (it->empty()) continue;
      const std::string name = base_of(it->front());
      if (name.starts_with("torchrun")) return torchrun(*it);
      if (name == "deepspeed") return deepspeed(*it);
      if (name.starts_with("mpirun") || name.starts_with("mpiexec")) return mpirun(*it);
      if (name == "srun") return srun(*it);
      if (name == "accelerate") return accelerate(*it);
      if (name == "ray") return of_arguments();
    }
    const bool batch = std::any_of(launch_.launchers.begin(), launch_.launchers.end(), [](const Strings& words) {
      return !words.empty() && base_of(words.front()) == "sbatch";
    });
    if (batch || !launch_.batch.empty()) return of_batch();
    return of_arguments();
  }

 private:
  // A count, or why there is none.
  std::optional<std::int64_t> number(const std::optional<std::string>& text, const char* what) {
    if (!text) return std::nullopt;
    const auto value = positive(*text);
    if (value) return value;
    for (const int cause : shell::marks(*text)) count_.causes.push_back(cause);
    if (count_.missing.empty()) count_.missing = what;
    failed_ = true;
    return std::nullopt;
  }

  RankCount product(std::optional<std::int64_t> a, std::optional<std::int64_t> b, const char* missing) {
    if (a && b && !failed_) {
      if (*a * *b <= kMostCountedRanks) count_.ranks = *a * *b;
    } else if (count_.missing.empty()) {
      count_.missing = missing;
    }
    return count_;
  }

  RankCount torchrun(const Strings& words) {
    const auto each = option(words, {"--nproc_per_node", "--nproc-per-node"});
    const auto nodes = option(words, {"--nnodes"});
    const auto per_node = each ? number(each, "torchrun's --nproc_per_node") : std::optional<std::int64_t>(1);
    const auto of_nodes = nodes ? number(nodes, "torchrun's --nnodes") : std::optional<std::int64_t>(1);
    return product(per_node, of_nodes, "torchrun's options");
  }

  // host slots=8
  std::optional<std::int64_t> hosts(const std::string& path, std::optional<std::int64_t> nodes,
                                    std::optional<std::int64_t> gpus) {
    if (!launch_.files) return std::nullopt;
    const std::string whole = path.starts_with("/") ? path : launch_.folder + "/" + path;
    for (const auto& [name, file] : *launch_.files) {
      if ((name != path && name != whole && !whole.ends_with(name)) || file.folder || has_mark(file.content)) continue;
      std::istringstream lines(file.content);
      std::int64_t sum = 0;
      std::int64_t count = 0;
      for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find("slots=");
        if (line.empty() || line[0] == '#' || at == std::string::npos) continue;
        const auto slots = positive(line.substr(at + 6, line.find_first_not_of("0123456789", at + 6) - at - 6));
        if (!slots || (nodes && count >= *nodes)) continue;
        ++count;
        sum += gpus ? std::min(*gpus, *slots) : *slots;
      }
      if (sum > 0 && sum <= kMostCountedRanks) return sum;
    }
    return std::nullopt;
  }

  RankCount deepspeed(const Strings& words) {
    const auto nodes = number(option(words, {"--num_nodes", "--num-nodes"}), "deepspeed's --num_nodes");
    const auto gpus = number(option(words, {"--num_gpus", "--num-gpus"}), "deepspeed's --num_gpus");
    const auto file = option(words, {"--hostfile", "-H"});
    if (failed_) return count_;
    if (nodes && gpus) return product(nodes, gpus, "");
    if (file) {
      count_.ranks = hosts(*file, nodes, gpus);
      if (count_.ranks) return count_;
      for (const int cause : shell::marks(*file)) count_.causes.push_back(cause);
    }
    if (const auto include = option(words, {"--include", "-i"}); include && !has_mark(*include)) {
      // localhost:0,1,2@other:0,1
      std::int64_t count = 0;
      std::istringstream parts(*include);
      bool whole = false;
      for (std::string host; std::getline(parts, host, '@');) {
        const std::size_t colon = host.find(':');
        if (colon == std::string::npos) whole = true;
        if (colon != std::string::npos) count += 1 + std::count(host.begin(), host.end(), ',');
      }
      if (!whole && count > 0) {
        count_.ranks = count;
        return count_;
      }
    }
    if (gpus && !file && !nodes) return product(gpus, 1, "");
    count_.missing = file ? "it is in the host file " + *file + " of deepspeed" : "deepspeed has no --num_gpus";
    return count_;
  }

  RankCount mpirun(const Strings& words) {
    const auto all = option(words, {"-np", "--np", "-n", "--n"});
    if (all) return product(number(all, "mpirun's -np"), 1, "mpirun's -np");
    count_.missing = "mpirun's -np";
    return of_batch();
  }

  RankCount accelerate(const Strings& words) {
    const auto all = option(words, {"--num_processes"});
    if (all) return product(number(all, "accelerate's --num_processes"), 1, "");
    count_.missing = "accelerate's --num_processes";
    return count_;
  }

  [[nodiscard]] std::optional<std::string> batch(const char* name) const {
    const auto found = launch_.batch.find(name);
    return found == launch_.batch.end() ? std::nullopt : std::optional(found->second);
  }

  // SLURM_NTASKS of the job around it, where neither srun nor the lines of the job say a number.
  [[nodiscard]] std::optional<std::string> tasks_of_job(const Strings& words) const {
    const auto job = launch_.environment.find("SLURM_NTASKS");
    if (job == launch_.environment.end()) return std::nullopt;
    const bool own =
        option(words, {"-n", "--ntasks"}) || option(words, {"-N", "--nodes"}) || option(words, {"--ntasks-per-node"});
    const auto counted = [this](const char* lines) { return positive(batch(lines).value_or("")).has_value(); };
    if (own || counted("ntasks") || (counted("nodes") && counted("ntasks-per-node"))) return std::nullopt;
    return job->second;
  }

  RankCount srun(const Strings& words) {
    const auto job = tasks_of_job(words);
    if (job) return product(number(job, "SLURM_NTASKS"), 1, "");
    const auto own = [&](std::initializer_list<std::string_view> names, const char* lines) {
      const auto value = option(words, names);
      return value ? value : batch(lines);
    };
    const auto all = own({"-n", "--ntasks"}, "ntasks");
    if (all) return product(number(all, "srun's --ntasks"), 1, "");
    const auto nodes = own({"-N", "--nodes"}, "nodes");
    const auto each = own({"--ntasks-per-node"}, "ntasks-per-node");
    return product(number(nodes, "the number of nodes of the job (#SBATCH --nodes)"),
                   number(each, "the tasks per node of the job (#SBATCH --ntasks-per-node)"),
                   "#SBATCH --nodes and --ntasks-per-node");
  }

  RankCount of_batch() { return srun({"srun"}); }

  // A program that starts its ranks itself says so among its arguments; else it is one process.
  RankCount of_arguments() {
    Strings words{"program"};
    words.insert(words.end(), launch_.arguments.begin(), launch_.arguments.end());
    const auto nodes = option(words, {"--actor-num-nodes"});
    const auto each = option(words, {"--actor-num-gpus-per-node"});
    if (nodes || each) {
      return product(nodes ? number(nodes, "--actor-num-nodes") : std::optional<std::int64_t>(1),
                     each ? number(each, "--actor-num-gpus-per-node") : std::optional<std::int64_t>(8), "");
    }
    count_.missing = "there is no torchrun, deepspeed, srun or mpirun with a number";
    return count_;
  }

  const shell::Launch& launch_;
  RankCount count_;
  bool failed_ = false;
};

}  // namespace

RankCount rank_count(const shell::Launch& launch) { return RankCounter(launch).run(); }

}  // namespace debubble
