// The one error type of debubble: what a person did wrong, where, and how to fix it.
//
// A reader collects every problem of a file and throws them together. Views print them like a compiler:
//
//     error[P004]: "median_ns" must be a whole number of nanoseconds, at least 0; got -5
//       --> bert.json#/layers/3/forward/median_ns
//       = help: durations are integers in nanoseconds: 1.5 ms is 1500000
//
// Errors of ours (broken invariants) are std::logic_error and end in exit code 70, never InputError.
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace debubble {

struct Diagnostic {
  std::string code;     // "P004": what went wrong, alike for all files and flags; docs/errors.md lists them
  std::string place;    // "file:line:column", "file#/json/pointer" or "--flag"; may be empty
  std::string message;  // what is wrong, one sentence without full stop
  std::string help;     // how to fix it; may be empty
};

class InputError : public std::exception {
 public:
  explicit InputError(Diagnostic diagnostic);
  explicit InputError(std::vector<Diagnostic> diagnostics);

  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

// Throws an InputError of one problem.
[[noreturn]] void fail(std::string code, std::string place, std::string message, std::string help);

// Something this machine lacks (a GPU, CUPTI, a driver, another profiler in the way): exit code 3. The help says what
// to install or allow.
class UnavailableError : public std::exception {
 public:
  explicit UnavailableError(Diagnostic diagnostic);

  [[nodiscard]] const Diagnostic& diagnostic() const { return diagnostic_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  Diagnostic diagnostic_;
  std::string text_;
};

// One diagnostic in the compiler-like form shown above, without colour, ending in a newline.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

}  // namespace debubble
