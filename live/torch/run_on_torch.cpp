#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include "live/backends.hpp"
#include "live/job.hpp"
#include "live/live.hpp"
#include "live/stall.hpp"
#include "live/torch/plan_text.hpp"
#include "live/torch/processes.hpp"
#include "live/torch/rank_records.hpp"
#include "live/torch/run_folder.hpp"
#include "live/torch/torch_result.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {
namespace {

// The Python that has PyTorch.

// Looks for the module without importing it, which takes a second.
bool finds_torch(const std::string& python) {
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = python;
  std::string dash = "-c";
  std::string question = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
  std::array<char*, 4> words{name.data(), dash.data(), question.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// $DEBUBBLE_PYTHON where it is set; else the first of `python3` on PATH and /usr/bin/python3 that finds a module named
// torch. Throws UnavailableError U058 where there is none.
std::string python_with_torch() {
  const char* chosen = std::getenv("DEBUBBLE_PYTHON");  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  const std::vector<std::string> candidates =
      is_chosen ? std::vector<std::string>{chosen} : std::vector<std::string>{"python3", "/usr/bin/python3"};
  for (const std::string& candidate : candidates) {
    if (finds_torch(candidate)) return candidate;
  }
  throw UnavailableError(Diagnostic{
      "U058", is_chosen ? "DEBUBBLE_PYTHON" : "",
      is_chosen ? "\"" + candidates[0] + "\" does not start, or has no PyTorch"
                : "neither python3 on PATH nor /usr/bin/python3 has PyTorch",
      "install PyTorch (pip install torch; on Debian: apt-get install python3-torch), or set DEBUBBLE_PYTHON "
      "to the Python that has it"});
}

// Watches the processes of a run to their end: a rank that has gone, rows that wait for each other, a user who stops
// it.

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTorchPoll{10};
constexpr std::chrono::seconds kGrace{2};  // until those have ended, too, that noticed that another one has
constexpr int kPatienceAtWork = 20;        // times the patience: imports, and ops, take longer than a tensor

// Statuses of __main__.py.
constexpr int kLostPeer = 75;
constexpr int kWrongOrder = 76;
constexpr int kLacking = 77;

// A slot of status.py.
constexpr std::size_t kSlotNumbers = 8;
enum TorchState : std::int64_t { kStarting, kAtWork, kWaits, kMeets, kFinished, kFailed };
struct TorchSlot {
  std::int64_t changes = 0;
  std::int64_t state = 0;
  std::int64_t position = 0;
  std::int64_t gradient = 0;
  std::int64_t stage = 0;
  std::int64_t piece = 0;
  std::int64_t peer = 0;
  std::int64_t iteration = 0;

  friend bool operator==(const TorchSlot&, const TorchSlot&) = default;
};
static_assert(sizeof(TorchSlot) == kSlotNumbers * sizeof(std::int64_t));

class Watching {
 public:
  Watching(const Job& job, Processes& processes, const RunFolder& folder, const LiveProgress& progress)
      : job_(job), processes_(processes), folder_(folder), progress_(progress), slots_(read_slots()) {}

  std::optional<Stall> run() {
    while (HeldSignals::received() == 0) {
      const std::vector<ProcessState>& states = processes_.poll();
      if (std::any_of(states.begin(), states.end(), [](const ProcessState& each) { return each.failed(); })) {
        return failure();
      }
      if (std::all_of(states.begin(), states.end(), [](const ProcessState& each) { return each.ended; })) return {};
      if (is_stuck()) return stalled("");
      if (steady_clock::now() - moved_ > kPatienceAtWork * patience()) {
        return stalled("no progress for " + std::to_string(kPatienceAtWork * patience() / std::chrono::seconds(1)) +
                       " s");
      }
      std::this_thread::sleep_for(kTorchPoll);
    }
    processes_.kill_all();
    return {};
  }

 private:
  [[nodiscard]] std::chrono::nanoseconds patience() const { return std::chrono::nanoseconds(job_.request().patience); }

  [[nodiscard]] std::vector<TorchSlot> read_slots() const {
    const std::string bytes = folder_.read("status.bin");
    std::vector<TorchSlot> slots(to_index(job_.schedule().devices));
    std::memcpy(slots.data(), bytes.data(), std::min(bytes.size(), slots.size() * sizeof(TorchSlot)));
    return slots;
  }

  // No device is at work, one waits for a tensor, and nothing has moved for the patience.
  bool is_stuck() {
    std::vector<TorchSlot> slots = read_slots();
    if (slots != slots_) {
      slots_ = std::move(slots);
      moved_ = steady_clock::now();
      tell();
      return false;
    }
    const auto is = [](TorchState state) { return [state](const TorchSlot& slot) { return slot.state == state; }; };
    if (std::none_of(slots_.begin(), slots_.end(), is(kWaits))) return false;
    if (std::any_of(slots_.begin(), slots_.end(), is(kStarting))) return false;
    if (std::any_of(slots_.begin(), slots_.end(), is(kAtWork))) return false;
    return steady_clock::now() - moved_ > patience();
  }

  void tell() {
    const std::int64_t iteration = slots_.front().iteration;
    if (!progress_ || iteration == told_) return;
    told_ = iteration;
    const int warm_up = job_.request().warm_up;
    const int total = 1 + warm_up + job_.request().repetitions;
    const auto number = static_cast<int>(iteration);  // from 1 on; 0: before the first
    const std::string what = number == 0             ? "calibrating"
                             : number == 1           ? "proving the gradients"
                             : number <= 1 + warm_up ? "warming up"
                                                     : "iteration " + std::to_string(number - 1 - warm_up);
    progress_(std::max(number - 1, 0), total, what);
  }

  [[nodiscard]] Stall stalled(const std::string& cause) {
    slots_ = read_slots();
    processes_.kill_all();
    std::vector<DeviceStatus> statuses;
    for (const TorchSlot& slot : slots_) {
      DeviceStatus& status = statuses.emplace_back();
      const bool done = slot.state == kFinished || slot.position < 0;
      status.position = done ? -1 : static_cast<std::int32_t>(slot.position);
      status.waits = !done && slot.state == kWaits;
      status.tensor = {slot.gradient != 0, static_cast<std::int32_t>(slot.stage),
                       static_cast<std::int32_t>(slot.piece)};
      status.from = static_cast<std::int32_t>(slot.peer);
    }
    Stall stall = explain_stall(job_, statuses);
    if (!cause.empty()) stall.cause = cause;
    return stall;
  }

  // The one that failed first is to blame; those that lost the connection to it say so.
  [[nodiscard]] Stall failure() {
    const steady_clock::time_point end = steady_clock::now() + kGrace;
    const auto ended = [](const ProcessState& each) { return each.ended; };
    std::vector<ProcessState> states = processes_.poll();
    while (blamed(states) < 0 && !std::all_of(states.begin(), states.end(), ended) && steady_clock::now() < end) {
      std::this_thread::sleep_for(kTorchPoll);
      states = processes_.poll();
    }
    const int rank = blamed(states);
    if (rank >= 0 && states[to_index(rank)].signal == 0) refuse(rank, states[to_index(rank)].status);
    if (rank < 0) return stalled("the connection between two processes was lost");
    const int signal = states[to_index(rank)].signal;
    const char* name = sigdescr_np(signal);
    return stalled("rank " + std::to_string(rank) + " has gone: it was ended by signal " + std::to_string(signal) +
                   (name != nullptr ? std::string(" (") + name + ")" : ""));
  }

  // -1: all that failed have lost a peer.
  [[nodiscard]] static int blamed(const std::vector<ProcessState>& states) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (states[k].signal != 0) return static_cast<int>(k);
    }
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (states[k].failed() && states[k].status != kLostPeer) return static_cast<int>(k);
    }
    return -1;
  }

  [[noreturn]] void refuse(int rank, int status) {
    processes_.kill_all();
    const std::string number = std::to_string(rank);
    std::string text = last_line(folder_.read("rank" + number + ".error"));
    if (text.empty()) text = last_line(folder_.read("rank" + number + ".out"));
    if (status == kWrongOrder) throw WrongDataError("device " + number + ": " + text);
    if (status == kLacking) {
      throw UnavailableError(Diagnostic{"U058", "", text,
                                        "run fewer devices, leave --gpus out, or name another Python with "
                                        "DEBUBBLE_PYTHON"});
    }
    fail("E013", "rank " + number, text.empty() ? "it ended with status " + std::to_string(status) : text,
         "mend the stages, or PyTorch's installation; the same code runs in every process");
  }

  [[nodiscard]] static std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }

  const Job& job_;
  Processes& processes_;
  const RunFolder& folder_;
  const LiveProgress& progress_;
  std::vector<TorchSlot> slots_;
  steady_clock::time_point moved_ = steady_clock::now();
  std::int64_t told_ = -1;
};

// The file in which the processes say what they are at (python/debubble_torch/status.py). To be written before they
// start.
void write_status_file(const RunFolder& folder, int devices) {
  folder.write("status.bin", std::string(to_index(devices) * sizeof(TorchSlot), '\0'));
}

// Returns once all have ended well: nothing; or why the run did not: a rank that a signal ended, or rows that wait for
// what does not come for the request's patience. What still runs then is killed. Throws InputError E013 for an error of
// a process (the user's stages, PyTorch), UnavailableError U058 for what its PyTorch lacks, WrongDataError for ops in a
// wrong order, and ends early with nothing when a signal came, see HeldSignals.
std::optional<Stall> watch(const Job& job, Processes& processes, const RunFolder& folder,
                           const LiveProgress& progress) {
  return Watching(job, processes, folder, progress).run();
}

// What the Job's own refusals leave over.
void refuse_on_torch(const LiveRequest& request) {
  const Schedule& schedule = request.schedule;
  std::string what;
  if (schedule.asynchrony) what = "updates weights while microbatches are under way";
  if (schedule.sliced) what = "slices sequences";
  if (!what.empty()) {
    fail("E040", schedule.name, "this schedule " + what + ", which --backend torch cannot do",
         "run it with --backend cpu, or take a schedule without that");
  }
  if (request.p2p != P2p::kOverlapped) {
    fail("E003", "--p2p", "PyTorch's isend and irecv overlap the work",
         "leave it out; the backends cpu and mpi know the others");
  }
  for (const Fault& fault : request.faults) {
    if (fault.kind != Fault::Kind::kSlow || fault.factor >= 1) continue;
    fail("E003", "--fault slow", "real ops cannot be made faster than they are", "give a factor of at least 1");
  }
}

std::vector<TorchRank> read_ranks(const RunFolder& folder, int devices) {
  std::vector<TorchRank> ranks;
  for (int rank = 0; rank < devices; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + ".txt";
    ranks.push_back(read_torch_rank(folder.read(name), name));
  }
  return ranks;
}

}  // namespace

LiveResult run_on_torch(const LiveRequest& request, const TorchOptions& options, const LiveProgress& progress) {
  refuse_on_torch(request);
  LiveRequest costed = request;
  costed.recomputes = true;
  costed.costs = {};
  costed.costs.stages.resize(static_cast<std::size_t>(request.schedule.stages));  // they are measured
  const Job job(costed);

  const HeldSignals signals;
  const std::string python = python_with_torch();
  const RunFolder folder;
  const int devices = request.schedule.devices;
  folder.write("plan.txt", torch_plan(job, options, 1 + request.warm_up + request.repetitions));
  write_status_file(folder, devices);
  Processes processes(python, options.package, folder.path().string(), devices);
  LiveResult result;
  result.stall = watch(job, processes, folder, progress);
  if (result.stall || HeldSignals::received() != 0) return result;
  return torch_result(job, options, read_ranks(folder, devices));
}

}  // namespace debubble::live
