#include "live/mpi/watch.hpp"

#include <algorithm>
#include <utility>

namespace debubble::live {

namespace {

LetterWriter letter_of(std::int64_t news, const Standing& standing) {
  LetterWriter letter;
  letter.number(news);
  write(letter, standing);
  return letter;
}

}  // namespace

Watch::Watch(MessagePassing& passing, ControlLine& line, Mailbox& mailbox, Nanoseconds patience)
    : passing_(passing),
      line_(line),
      mailbox_(mailbox),
      patience_(patience),
      ranks_(static_cast<std::size_t>(passing.size()), News::kMoving),
      standings_(static_cast<std::size_t>(passing.size())) {}

std::optional<Outcome> Watch::turn() {
  look_at_own_work();
  while (std::optional<ControlLine::Mail> mail = line_.next()) {
    read(std::move(*mail));
    if (outcome_.has_value()) break;  // what follows belongs to the next phase
  }
  return outcome_;
}

void Watch::look_at_own_work() {
  if (told_ == News::kEnded || told_ == News::kFailed) return;
  if (mailbox_.has_ended()) return tell(News::kEnded);
  const auto since = mailbox_.waiting_since();
  const bool stuck = since.has_value() && std::chrono::steady_clock::now() - *since > patience_;
  const News now = stuck ? News::kStuck : News::kMoving;
  if (now != told_) tell(now);
}

void Watch::tell(News news) {
  told_ = news;
  if (passing_.rank() == 0) return take(0, news, mailbox_.standing());
  line_.send(0, letter_of(static_cast<std::int64_t>(news), mailbox_.standing()));
}

void Watch::failed(const Failure& failure) {
  told_ = News::kFailed;
  if (passing_.rank() != 0) {
    LetterWriter letter = letter_of(static_cast<std::int64_t>(News::kFailed), mailbox_.standing());
    write(letter, failure);
    return line_.send(0, letter);
  }
  if (outcome_.has_value()) return;
  outcome_ = Outcome{Outcome::Kind::kFailed, {}, failure};
  decide();
}

void Watch::take(int rank, News news, const Standing& standing) {
  ranks_[static_cast<std::size_t>(rank)] = news;
  standings_[static_cast<std::size_t>(rank)] = standing;
  const auto is = [this](News wanted) { return std::count(ranks_.begin(), ranks_.end(), wanted); };
  const auto all = static_cast<std::int64_t>(ranks_.size());
  if (outcome_.has_value() || is(News::kEnded) + is(News::kStuck) < all) return;
  const bool stalled = is(News::kStuck) > 0;
  outcome_ = Outcome{stalled ? Outcome::Kind::kStalled : Outcome::Kind::kComplete, standings_, {}};
  decide();
}

void Watch::read(ControlLine::Mail mail) {
  News news{};
  mail.letter.into(news);
  if (news != News::kOutcome) {
    const Standing standing = read_standing(mail.letter);
    if (news == News::kFailed) return failed(read_failure(mail.letter));
    return take(mail.from, news, standing);
  }
  outcome_.emplace();
  mail.letter.into(outcome_->kind);
  for (Standing& standing : standings_) standing = read_standing(mail.letter);
  outcome_->standings = standings_;
  outcome_->failure = read_failure(mail.letter);
}

// Rank 0 only.
void Watch::decide() {
  LetterWriter letter;
  letter.number(static_cast<std::int64_t>(News::kOutcome)).number(static_cast<std::int64_t>(outcome_->kind));
  for (const Standing& standing : standings_) write(letter, standing);
  write(letter, outcome_->failure);
  line_.send_to_all_others(letter);
}

}  // namespace debubble::live
