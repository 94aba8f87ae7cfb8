// Text of unknown origin in the formats that CI systems read: names may hold quotes, line ends, pipes, anything.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// For attributes and text of XML 1.0. What XML cannot hold at all (control characters, broken UTF-8) becomes U+FFFD.
[[nodiscard]] std::string xml_escaped(std::string_view text);

// One cell or line of GitHub-flavoured Markdown: nothing in it is markup, a link or a line end.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

// GitHub's workflow commands: the message after "::", and the value of a property before it.
[[nodiscard]] std::string github_message(std::string_view text);
[[nodiscard]] std::string github_property(std::string_view text);

}  // namespace debubble
