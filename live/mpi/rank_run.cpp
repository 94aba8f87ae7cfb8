#include "live/mpi/rank_run.hpp"

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "live/mpi/clock_alignment.hpp"
#include "live/mpi/device_run_codec.hpp"
#include "live/mpi/device_status_codec.hpp"
#include "live/mpi/exchange.hpp"
#include "live/mpi/join.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {
namespace {

// When one rank dies, mpirun ends the others with SIGTERM. Each of them then prints one line on stderr that says which
// op it was at, and ends.
// Installs a handler that notes SIGTERM; the destructor restores the previous one. One object at a time.
class SigtermReport {
 public:
  SigtermReport();
  ~SigtermReport();
  SigtermReport(const SigtermReport&) = delete;
  SigtermReport& operator=(const SigtermReport&) = delete;

  [[nodiscard]] static bool received();
  // Prints the line and ends the process as SIGTERM would have without this object.
  [[noreturn]] void print_and_exit(const std::string& line);

 private:
  struct sigaction before_ {};
};

volatile std::sig_atomic_t received_signal = 0;

void on_sigterm(int) { received_signal = 1; }

SigtermReport::SigtermReport() {
  struct sigaction action {};
  action.sa_handler = on_sigterm;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, &before_);
}

SigtermReport::~SigtermReport() { sigaction(SIGTERM, &before_, nullptr); }

bool SigtermReport::received() { return received_signal != 0; }

void SigtermReport::print_and_exit(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  sigaction(SIGTERM, &before_, nullptr);
  ::raise(SIGTERM);
  std::_Exit(128 + SIGTERM);  // SIGTERM was ignored
}

using std::chrono::microseconds;

// How the main thread waits for something to move: others may have the core, longer and longer.
constexpr int kYieldRounds = 50;
constexpr int kShortSleepRounds = 500;
constexpr microseconds kShortSleep{50};
constexpr microseconds kLongSleep{500};

std::string rank_name(const MessagePassing& passing) {
  return "rank " + std::to_string(passing.rank()) + " on " + passing.host();
}

class RankRun {
 public:
  RankRun(MessagePassing& passing, ControlChannel& channel, const Job& job, const RankWork& work)
      : passing_(passing),
        channel_(channel),
        job_(job),
        work_(work),
        mailbox_(job.schedule().devices),
        exchange_(passing, job.plan(), mailbox_),
        watchdog_(passing, channel, mailbox_, job.request().patience) {}

  RankReport run() {
    const std::vector<ClockReading> before = clocks();
    if (uses_wall_clock()) exchange_.use_clock(work_.now, shifts(before));
    RankReport report{outcome(), {}, {}, {"one clock", 0, {}}, 0};
    watchdog_.drain();
    if (!report.outcome.silent.empty() && passing_.rank() == 0) end_job_at_exit();
    if (report.outcome.kind != Outcome::Kind::kComplete) return report;
    const std::vector<ClockReading> after = clocks();
    if (passing_.rank() == 0) {
      gather(report);
      for (std::size_t rank = 0; rank < before.size(); ++rank) {
        translate(report.runs[rank], [&](Nanoseconds time) { return aligned(time, before[rank], after[rank]); });
      }
    } else {
      send_results();
    }
    if (uses_wall_clock() && passing_.rank() == 0) {
      report.clocks = alignment_of(before, after);
      report.leaving_error = leaving_error(before, after);
    }
    return report;
  }

 private:
  [[nodiscard]] bool uses_wall_clock() const { return job_.request().clock == Clock::kWall; }

  std::vector<ClockReading> clocks() {
    return uses_wall_clock() ? read_clocks(passing_, channel_, work_.now) : std::vector<ClockReading>();
  }

  // Rank 0 alone has read every clock: it sends all offsets to the others.
  std::vector<Nanoseconds> shifts(const std::vector<ClockReading>& readings) {
    std::vector<Nanoseconds> offsets;
    if (passing_.rank() == 0) {
      MessageWriter writer;
      for (const ClockReading& reading : readings) writer.number(offsets.emplace_back(reading.offset));
      channel_.send_to_all_others(writer);
    } else {
      ControlChannel::Received received = channel_.wait();
      for (int rank = 0; rank < passing_.size(); ++rank) offsets.push_back(received.message.number());
    }
    const Nanoseconds own = at(offsets, passing_.rank());
    for (Nanoseconds& offset : offsets) offset -= own;
    return offsets;
  }

  // The worker's thread ends before this does, however it ends.
  Outcome outcome() {
    std::thread worker;
    const auto end = [&] {
      mailbox_.stop();
      if (worker.joinable()) worker.join();
    };
    try {
      start(worker);
      Outcome found = communicate();
      end();
      for (std::size_t rank = 0; rank < found.statuses.size(); ++rank) {
        check(found.statuses[rank], job_.schedule(), static_cast<std::int32_t>(rank));
      }
      return found;
    } catch (...) {
      end();
      throw;
    }
  }

  void start(std::thread& worker) {
    try {
      worker = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      failed_ = true;
      watchdog_.failed(failure_of(std::current_exception(), rank_name(passing_)));
    }
  }

  void work() {
    try {
      result_ = work_.run(mailbox_);
    } catch (const Stalled&) {
      return;  // decided already
    } catch (...) {
      error_ = std::current_exception();
    }
    mailbox_.work_ended();
  }

  Outcome communicate() {
    SigtermReport sigterm;
    for (int idle = 0;; ++idle) {
      if (exchange_.progress()) idle = 0;
      if (!failed_ && mailbox_.has_ended() && error_ != nullptr) {
        failed_ = true;
        watchdog_.failed(failure_of(error_, rank_name(passing_)));
      }
      if (std::optional<Outcome> outcome = watchdog_.poll()) return std::move(*outcome);
      if (SigtermReport::received()) sigterm.print_and_exit(sigterm_line());
      if (idle < kYieldRounds || work_.urgent) {
        std::this_thread::yield();
      } else {
        mailbox_.wait_for_worker(idle < kShortSleepRounds || uses_wall_clock() ? kShortSleep : kLongSleep);
      }
    }
  }

  std::string sigterm_line() {
    return "debubble: " + rank_name(passing_) + " was ended from outside " +
           place_of(job_.schedule(), passing_.rank(), mailbox_.status());
  }

  void send_results() {
    MessageWriter writer;
    write(writer, result_.runs);
    writer.append(result_.more);
    channel_.send(0, writer);
    channel_.flush();
  }

  void gather(RankReport& report) {
    const auto size = static_cast<std::size_t>(passing_.size());
    report.runs.resize(size);
    report.runs[0] = std::move(result_.runs);
    report.more.assign(size, MessageReader(result_.more.bytes()));
    for (int left = passing_.size() - 1; left > 0; --left) {
      ControlChannel::Received received = channel_.wait();
      const auto rank = static_cast<std::size_t>(received.from);
      received.message.into(report.runs[rank]);
      report.more[rank] = std::move(received.message);
    }
  }

  MessagePassing& passing_;
  ControlChannel& channel_;
  const Job& job_;
  const RankWork& work_;
  Mailbox mailbox_;
  Exchange exchange_;
  Watchdog watchdog_;
  RankResult result_;         // the worker's, until it has ended
  std::exception_ptr error_;  // likewise
  bool failed_ = false;
};

}  // namespace

Nanoseconds steady_time() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

RankReport run_rank(MessagePassing& passing, ControlChannel& channel, const Job& job, const RankWork& work) {
  try {
    return RankRun(passing, channel, job, work).run();
  } catch (const std::exception& error) {
    // The other ranks cannot learn of it and would wait for this one for ever.
    std::fprintf(stderr, "debubble: %s: %s\n", rank_name(passing).c_str(), error.what());
    std::fflush(stderr);
    passing.abort();
    throw;
  }
}

}  // namespace debubble::live
