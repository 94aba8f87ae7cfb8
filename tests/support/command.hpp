// Runs the real `debubble`, as a person would, in a folder of its own.
//
// The environment is cleaned: nothing of the tester's terminal, colours or language reaches the command, unless the
// test says so. What it printed, how it ended and which files it left are then plain values.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/support/test.hpp"

namespace debubble {

template <std::same_as<nlohmann::json> Json>
bool contains(const Json& text, std::string_view part) {
  return contains(text.template get<std::string>(), part);
}

}  // namespace debubble

namespace debubble::testing {

// The words of a command line. A text is cut at its blanks, but for what is between single quotes.
struct Words : std::vector<std::string> {
  using std::vector<std::string>::vector;
  Words(std::vector<std::string> words)
      : std::vector<std::string>(std::move(words)) {}    // NOLINT(google-explicit-constructor)
  Words(const std::string& text);                        // NOLINT(google-explicit-constructor)
  Words(const char* text) : Words(std::string(text)) {}  // NOLINT(google-explicit-constructor)
};

// A command line and what is added to it.
template <typename... More>
[[nodiscard]] Words joined(Words words, const Words& more, const More&... rest) {
  words.insert(words.end(), more.begin(), more.end());
  if constexpr (sizeof...(rest) > 0) return joined(std::move(words), rest...);
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
  [[nodiscard]] Outcome run(const Words& arguments, const Surroundings& surroundings = {}) const;
  // stdout of a run that must end with 0 and say nothing on stderr; fails the test case otherwise.
  [[nodiscard]] std::string data(const Words& arguments, const Surroundings& surroundings = {}) const;
  // Its stdout as JSON, with `--format json` added unless the arguments say a format.
  [[nodiscard]] nlohmann::json json(const Words& arguments, const Surroundings& surroundings = {}) const;
  // What a person reads when the command refuses its input: exit status 2, nothing on stdout, no file made or changed.
  // When any of that is not so, a text that says what happened instead.
  [[nodiscard]] std::string refusal(const Words& arguments, const Surroundings& surroundings = {}) const;

 private:
  std::string path_;
};

struct InFolder {
  Folder folder;
};

// A case with a folder of its own, `folder`.
#define TEST_CASE_IN_FOLDER(title) TEST_CASE_FIXTURE(::debubble::testing::InFolder, title)

}  // namespace debubble::testing
