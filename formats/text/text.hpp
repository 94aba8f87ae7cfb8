// Text as the readers and writers of this folder need it: UTF-8, JSON string literals, positions in a file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace debubble {

// Offset of the first byte that is not part of well-formed UTF-8 (no overlong forms, no surrogates), if any.
[[nodiscard]] std::optional<std::size_t> first_bad_utf8(std::string_view text);

// `text` in double quotes with JSON's escapes; everything outside ASCII stays as it is, bytes that are not UTF-8 become
// U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

// At most `limit` bytes of UTF-8 text, never half a character; "..." replaces what is cut off.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t limit = 60);

// json_string of the shortened text: safe to print whatever the file held.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "name:line:column" of a byte offset; both count from 1, columns in bytes.
[[nodiscard]] std::string place_of(const std::string& name, std::string_view text, std::size_t offset);

}  // namespace debubble
