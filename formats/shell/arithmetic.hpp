// $(( )): the shell's whole-number arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace debubble::shell {

class ArithmeticError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The variables: values as text, which may have marks of what is not known.
struct ArithmeticVariables {
  std::function<std::string(const std::string& name, const std::string& index)> read;
  std::function<void(const std::string& name, const std::string& index, const std::string& value)> write;
};

struct ArithmeticResult {
  std::int64_t value = 0;
  bool known = true;
  std::vector<int> causes{};  // of what is not known
};

// Throws ArithmeticError for what is no expression, a division by zero, and what is nested too deep.
[[nodiscard]] ArithmeticResult evaluate_arithmetic(const std::string& text, const ArithmeticVariables& variables,
                                                   int depth = 0);

}  // namespace debubble::shell
