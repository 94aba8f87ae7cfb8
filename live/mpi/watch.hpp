// Watch: decides together how a run ends. Each rank tells rank 0 when its work has ended, when it has failed, and when
// it has waited longer than `patience` without anything moving; rank 0 decides and tells all.
//
//     all have ended                                complete
//     one has failed                                failed, everywhere with the same words
//     none is at work, and one or more are stuck    stalled
//
// A rank at work is never stuck, however long its op takes. News travel slower than tensors, so before rank 0 calls a
// run stalled it asks all ranks whether they still are: who answers "stuck" has been so for `patience`, up to now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/mpi/control_line.hpp"
#include "live/mpi/failure.hpp"
#include "live/mpi/mailbox.hpp"
#include "live/mpi/standing_letter.hpp"

namespace debubble::live {

struct Outcome {
  enum class Kind : std::uint8_t { kComplete, kStalled, kFailed };
  Kind kind = Kind::kComplete;
  std::vector<Standing> standings;  // kStalled: one per rank
  Failure failure;                  // kFailed
};

class Watch {
 public:
  Watch(MessagePassing& passing, ControlLine& line, Mailbox& mailbox, Nanoseconds patience);

  // To be called again and again; the outcome as soon as it is decided.
  [[nodiscard]] std::optional<Outcome> turn();
  // This rank has failed; the outcome follows by `turn`.
  void failed(const Failure& failure);
  // Behind an outcome that is not complete: until every letter has arrived, so that nobody leaves with one under way.
  void part();

 private:
  enum class News : std::uint8_t { kMoving, kStuck, kEnded, kFailed, kQuestion, kAnswer, kOutcome, kGoodbye };
  void look_at_own_work();
  void tell(News news);
  void take(int rank, News news, const Standing& standing);
  void read(ControlLine::Mail mail);
  void read_outcome(LetterReader& letter);
  void ask_all();
  void answer();
  [[nodiscard]] bool nobody_moves() const;
  void decide(Outcome outcome);

  MessagePassing& passing_;
  ControlLine& line_;
  Mailbox& mailbox_;
  std::chrono::nanoseconds patience_;
  News told_ = News::kMoving;  // the last that this rank has told
  std::vector<News> ranks_;    // rank 0 only, like what follows
  std::vector<Standing> standings_;
  std::optional<int> answers_;  // to the question that is open
  std::optional<Outcome> outcome_;
};

}  // namespace debubble::live
