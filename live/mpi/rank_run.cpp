#include "live/mpi/rank_run.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "live/mpi/clock_alignment.hpp"
#include "live/mpi/device_run_letter.hpp"
#include "live/mpi/exchange.hpp"
#include "live/mpi/last_words.hpp"
#include "live/mpi/standing_letter.hpp"

namespace debubble::live {

namespace {

using std::chrono::microseconds;

// How the main thread waits for something to move: others may have the core, longer and longer.
constexpr int kRankRounds = 50;
constexpr int kPatientRounds = 500;
constexpr microseconds kShortNap{50};
constexpr microseconds kLongNap{500};

std::string rank_name(const MessagePassing& passing) {
  return "rank " + std::to_string(passing.rank()) + " on " + passing.host();
}

class RankRun {
 public:
  RankRun(MessagePassing& passing, ControlLine& line, const Job& job, const RankWork& work)
      : passing_(passing),
        line_(line),
        job_(job),
        work_(work),
        mailbox_(job.schedule().devices),
        exchange_(passing, job.plan(), mailbox_),
        watch_(passing, line, mailbox_, job.request().patience) {}

  RankReport run() {
    const std::vector<ClockReading> before = clocks();
    if (on_the_wall()) exchange_.use_clock(work_.now, shifts(before));
    RankReport report{outcome(), {}, {}, {"one clock", 0, {}}};
    if (report.outcome.kind != Outcome::Kind::kComplete) {
      watch_.part();
      return report;
    }
    const std::vector<ClockReading> after = clocks();
    if (passing_.rank() == 0) {
      gather(report);
      for (std::size_t rank = 0; rank < before.size(); ++rank) {
        translate(report.runs[rank], [&](Nanoseconds time) { return aligned(time, before[rank], after[rank]); });
      }
    } else {
      hand_in();
    }
    if (on_the_wall() && passing_.rank() == 0) report.clocks = alignment_of(before, after);
    return report;
  }

 private:
  [[nodiscard]] bool on_the_wall() const { return job_.request().clock == Clock::kWall; }

  std::vector<ClockReading> clocks() {
    return on_the_wall() ? read_clocks(passing_, line_, work_.now) : std::vector<ClockReading>();
  }

  // Rank 0 knows all offsets, and tells them.
  std::vector<Nanoseconds> shifts(const std::vector<ClockReading>& readings) {
    std::vector<Nanoseconds> offsets;
    if (passing_.rank() == 0) {
      LetterWriter letter;
      for (const ClockReading& reading : readings) letter.number(offsets.emplace_back(reading.offset));
      line_.send_to_all_others(letter);
    } else {
      ControlLine::Mail mail = line_.wait();
      for (int rank = 0; rank < passing_.size(); ++rank) offsets.push_back(mail.letter.number());
    }
    const Nanoseconds own = offsets[static_cast<std::size_t>(passing_.rank())];
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
      Outcome found = talk();
      end();
      for (std::size_t rank = 0; rank < found.standings.size(); ++rank) {
        check(found.standings[rank], job_.schedule(), static_cast<std::int32_t>(rank));
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
      watch_.failed(failure_of(std::current_exception(), rank_name(passing_)));
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

  Outcome talk() {
    LastWords last_words;
    for (int idle = 0;; ++idle) {
      if (exchange_.turn()) idle = 0;
      if (!failed_ && mailbox_.has_ended() && error_ != nullptr) {
        failed_ = true;
        watch_.failed(failure_of(error_, rank_name(passing_)));
      }
      if (std::optional<Outcome> outcome = watch_.turn()) return std::move(*outcome);
      if (LastWords::asked_to_end()) last_words.say(farewell());
      if (idle < kRankRounds || work_.urgent) {
        std::this_thread::yield();
      } else {
        mailbox_.wait_for_worker(idle < kPatientRounds || on_the_wall() ? kShortNap : kLongNap);
      }
    }
  }

  std::string farewell() {
    return "debubble: " + rank_name(passing_) + " was ended from outside " +
           place_of(job_.schedule(), passing_.rank(), mailbox_.standing());
  }

  void hand_in() {
    LetterWriter letter;
    write(letter, result_.runs);
    letter.append(result_.more);
    line_.send(0, letter);
    line_.flush();
  }

  void gather(RankReport& report) {
    const auto size = static_cast<std::size_t>(passing_.size());
    report.runs.resize(size);
    report.runs[0] = std::move(result_.runs);
    report.more.assign(size, LetterReader(result_.more.bytes()));
    for (int left = passing_.size() - 1; left > 0; --left) {
      ControlLine::Mail mail = line_.wait();
      const auto rank = static_cast<std::size_t>(mail.from);
      report.runs[rank] = read_device_runs(mail.letter);
      report.more[rank] = std::move(mail.letter);
    }
  }

  MessagePassing& passing_;
  ControlLine& line_;
  const Job& job_;
  const RankWork& work_;
  Mailbox mailbox_;
  Exchange exchange_;
  Watch watch_;
  RankResult result_;         // the worker's, until it has ended
  std::exception_ptr error_;  // likewise
  bool failed_ = false;
};

}  // namespace

Nanoseconds steady_time() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

RankReport run_rank(MessagePassing& passing, ControlLine& line, const Job& job, const RankWork& work) {
  try {
    return RankRun(passing, line, job, work).run();
  } catch (const std::exception& error) {
    // The others know nothing of it, and would wait.
    std::fprintf(stderr, "debubble: %s: %s\n", rank_name(passing).c_str(), error.what());
    std::fflush(stderr);
    passing.abort();
    throw;
  }
}

}  // namespace debubble::live
