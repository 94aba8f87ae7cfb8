// A file's text, out of gzip when it is in gzip.
#pragma once

#include <cstddef>
#include <string>

namespace debubble {

// `bytes` as they are, or decompressed when they begin like a gzip file, whatever `name` ends in; several members in a
// row are one text. Throws InputError: K001 for a damaged or cut-off gzip file, P017 when the text is longer than
// `most`.
[[nodiscard]] std::string plain_text(std::string bytes, const std::string& name, std::size_t most);

}  // namespace debubble
