#include "live/mpi/all_or_none.hpp"

#include <exception>
#include <optional>
#include <string>

#include "live/mpi/failure.hpp"

namespace debubble::live {

namespace {

LetterWriter letter_of(const std::optional<Failure>& failure) {
  LetterWriter letter;
  letter.number(failure.has_value() ? 1 : 0);
  if (failure.has_value()) write(letter, *failure);
  return letter;
}

std::optional<Failure> read(ControlLine::Mail mail) {
  if (mail.letter.number() == 0) return std::nullopt;
  return read_failure(mail.letter);
}

}  // namespace

void all_or_none(MessagePassing& passing, ControlLine& line, const std::function<void()>& work) {
  std::optional<Failure> failure;
  try {
    work();
  } catch (...) {
    const std::string who = "rank " + std::to_string(passing.rank()) + " on " + passing.host();
    failure = failure_of(std::current_exception(), who);
  }
  if (passing.rank() == 0) {
    for (int rank = 1; rank < passing.size(); ++rank) {
      const std::optional<Failure> other = read(line.wait(rank));
      if (!failure.has_value()) failure = other;
    }
    line.send_to_all_others(letter_of(failure));
  } else {
    line.send(0, letter_of(failure));
    failure = read(line.wait(0));
  }
  line.flush();
  if (failure.has_value()) raise(*failure);
}

}  // namespace debubble::live
