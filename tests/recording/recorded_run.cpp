#include "tests/recording/recorded_run.hpp"

#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "tests/support/test.hpp"

namespace debubble::testing {

namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

// "rank3-pid4711.dbrec" -> "rank3-pid.dbrec".
std::string without_pid(const std::string& name) {
  const std::size_t pid = name.find("pid");
  if (pid == std::string::npos) return name;
  const std::size_t end = name.find_first_not_of("0123456789", pid + 3);
  return name.substr(0, pid + 3) + (end == std::string::npos ? "" : name.substr(end));
}

// Where a test wants a copy of the record file: "KEEP_RECORD=path" in the environment of the run.
std::string kept_path(const std::vector<std::string>& environment) {
  const std::string key = "KEEP_RECORD=";
  for (const std::string& setting : environment) {
    if (setting.starts_with(key)) return setting.substr(key.size());
  }
  return "";
}

void collect(const std::string& folder, const std::string& keep, RecordedRun& run) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.insert(entry.path());
  for (const std::filesystem::path& path : paths) {
    const std::string name = path.filename().string();
    if (name.starts_with("trouble-")) {
      for (Diagnostic& trouble : read_troubles(slurp(path.string()))) run.troubles.push_back(std::move(trouble));
    }
    if (!name.ends_with(".dbrec")) continue;
    std::string key = without_pid(name);
    for (int i = 1; run.files.contains(key); ++i) key = without_pid(name) + "." + std::to_string(i);
    Tally& tally = run.files[key];
    tally.end = read_record_file(path.string(), tally);
    if (!keep.empty()) std::filesystem::copy_file(path, keep);
  }
}

}  // namespace

void Tally::on(const RangePush& record) {
  CHECK(record.time >= last_time_);
  last_time_ = record.time;
  ++pushes;
  ++open[record.thread];
  std::vector<std::uint64_t>& stack = stacks_[record.thread];
  const std::string above = stack.empty() ? "" : paths_[stack.back()] + "/";
  stack.push_back(record.range);
  paths_[record.range] = above + std::string(record.name);
  ++range_names[std::string(record.name)];
}

void Tally::on(const RangePop& record) {
  CHECK(record.time >= last_time_);
  last_time_ = record.time;
  ++pops;
  --open[record.thread];
  CHECK_FALSE(stacks_[record.thread].empty());
  if (!stacks_[record.thread].empty()) stacks_[record.thread].pop_back();
}

void Tally::on(const LinkRecord& record) {
  ++links;
  if (!paths_.contains(record.range)) ++unknown_links;
  links_[record.correlation] = record.range;
}

void Tally::on(const LaunchRecord& record) {
  ++launches;
  CHECK(record.thread != 0);
}

void Tally::on(const KernelRecord& record) {
  ++works;
  ++kernels[std::string(record.name)];
  if (record.begin == 0 && record.end == 0) ++timeless;
  total += record.end - record.begin;
  work_.push_back({record.correlation, record.end - record.begin});
}

void Tally::on(const MemoryRecord& record) { bytes += record.bytes; }
void Tally::on(const SwitchRecord& record) { switches.push_back(record.recording); }
void Tally::on(const FactRecord& record) { facts[std::string(record.key)] = record.value; }
void Tally::on(const LossRecord& record) { losses[std::string(record.what)] += record.count; }

std::map<std::string, std::int64_t> Tally::time_by_path() const {
  std::map<std::string, std::int64_t> times;
  for (const Work& work : work_) {
    const auto link = links_.find(work.correlation);
    times[link == links_.end() ? "" : paths_.at(link->second)] += work.length;
  }
  return times;
}

std::int64_t Tally::time_in(const std::string& range) const {
  std::int64_t sum = 0;
  for (const auto& [path, time] : time_by_path()) {
    if (path == range || path.ends_with("/" + range)) sum += time;
  }
  return sum;
}

const Tally& RecordedRun::only() const {
  REQUIRE(files.size() == 1);
  return files.begin()->second;
}

RecordedRun run_recorded(const std::string& command, const std::vector<std::string>& environment) {
  const Scratch scratch;
  const std::string records = scratch.path("records");
  std::filesystem::create_directory(records);
  std::string line = "exec env DEBUBBLE_RECORD_DIR=" + quoted(records) + " DEBUBBLE_RECORD_STEPS=all";
  line += " CUDA_INJECTION64_PATH=" + quoted(DEBUBBLE_INJECT) + " NVTX_INJECTION64_PATH=" + quoted(DEBUBBLE_INJECT);
  line += " DEBUBBLE_CUPTI=" + quoted(DEBUBBLE_FAKE_CUPTI);
  for (const std::string& setting : environment) line += " " + quoted(setting);
  line += " timeout -s KILL 60 " + command;
  line += " > " + quoted(scratch.path("out")) + " 2> " + quoted(scratch.path("err"));
  const int status = std::system(line.c_str());
  RecordedRun run;
  run.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  run.out = slurp(scratch.path("out"));
  run.err = slurp(scratch.path("err"));
  collect(records, kept_path(environment), run);
  return run;
}

RecordedRun run_training(const std::string& flags, const std::vector<std::string>& environment) {
  return run_recorded(quoted(DEBUBBLE_FAKE_TRAINING) + " " + flags, environment);
}

}  // namespace debubble::testing
