// Runs the real `debubble`, as a person would, in a folder of its own.
//
// The environment is cleaned: nothing of the tester's terminal, colours or language reaches the command, unless the
// test says so. What it printed, how it ended and which files it left are then plain values.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::testing {

// A command line and what is added to it.
[[nodiscard]] inline std::vector<std::string> joined(std::vector<std::string> words,
                                                     const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Outcome {
  int status = 0;  // exit status; minus the signal's number when a signal ended it
  bool timed_out = false;
  std::string out;
  std::string err;
};

struct Surroundings {
  std::vector<std::string> environment;      // "NO_COLOR=1"
  std::string input;                         // of stdin
  std::chrono::milliseconds limit{120'000};  // then it is killed, and timed_out is set
  enum class Stdout { kFile, kClosed, kFull, kPipeWithoutReader } standard_output = Stdout::kFile;
  int signal = 0;                     // sent once ...
  std::function<bool()> signal_when;  // ... as soon as this holds
};

class Folder {
 public:
  Folder();
  ~Folder();  // removes it with all it holds
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  // Names of what it holds, sorted, joined by blanks.
  [[nodiscard]] std::string files() const;

  // `debubble` with these arguments, started in this folder.
  [[nodiscard]] Outcome run(const std::vector<std::string>& arguments, const Surroundings& surroundings = {}) const;
  // stdout of a run that must end with 0 and say nothing on stderr; fails the test case otherwise.
  [[nodiscard]] std::string data(const std::vector<std::string>& arguments,
                                 const Surroundings& surroundings = {}) const;
  // What a person reads when the command refuses its input: exit status 2, nothing on stdout, no file made or changed.
  // When any of that is not so, a text that says what happened instead.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& arguments,
                                    const Surroundings& surroundings = {}) const;

 private:
  std::string path_;
};

}  // namespace debubble::testing
