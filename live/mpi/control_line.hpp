// ControlLine: letters between any two ranks, beside the tensors: positions, clocks, results. Main thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "live/mpi/letter.hpp"
#include "live/mpi/message_passing.hpp"

namespace debubble::live {

class ControlLine {
 public:
  static constexpr int kAnybody = -1;
  struct Mail {
    int from = 0;
    LetterReader letter;
  };

  explicit ControlLine(MessagePassing& passing) : passing_(passing) {}
  // What a failed run leaves under way stays alive: MPI may still read or write it.
  ~ControlLine();
  ControlLine(const ControlLine&) = delete;
  ControlLine& operator=(const ControlLine&) = delete;

  void send(int to, const LetterWriter& letter);
  void send_to_all_others(const LetterWriter& letter);
  // The next letter, when one is there. Letters of one rank come in the order of sending.
  [[nodiscard]] std::optional<Mail> next();
  // Waits for it; meanwhile others may have the core. With `from`: for one of this rank; others' stay for later.
  [[nodiscard]] Mail wait(int from = kAnybody);
  // Until all that was sent has left.
  void flush();

 private:
  struct Transfer {
    MessagePassing::Request request = 0;
    int peer = 0;
    std::vector<std::byte> bytes;
  };
  static std::list<Transfer>& left_behind();
  void look();
  [[nodiscard]] std::optional<Mail> arrival();

  MessagePassing& passing_;
  std::list<Transfer> sending_;
  std::list<Transfer> receiving_;
  std::deque<Mail> kept_;  // read while another's was wanted
};

}  // namespace debubble::live
