#include "live/torch/watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "live/stall.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {

namespace {

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

}  // namespace

void write_status_file(const RunFolder& folder, int devices) {
  folder.write("status.bin", std::string(to_index(devices) * sizeof(TorchSlot), '\0'));
}

std::optional<Stall> watch(const Job& job, Processes& processes, const RunFolder& folder,
                           const LiveProgress& progress) {
  return Watching(job, processes, folder, progress).run();
}

}  // namespace debubble::live
