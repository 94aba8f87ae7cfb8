// What `printf` and `echo -e` print.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace debubble::shell {

// \n, \t and their like.
[[nodiscard]] std::string unescaped(const std::string& text);

// The format is used again while there are arguments. `unknown` makes the mark of a number that is not known.
[[nodiscard]] std::string printf_text(const std::string& format, const std::vector<std::string>& arguments,
                                      const std::function<std::string(const std::vector<int>&)>& unknown);

}  // namespace debubble::shell
