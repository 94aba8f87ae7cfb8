// What the libraries of Emscripten 3.1.6 lack of C++20 and of the GNU C library, and debubble uses. Included before
// everything else in the playground's build, and nowhere else.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

// Its texts follow no locale.
inline const char* strerrordesc_np(int error) { return std::strerror(error); }

namespace std {  // NOLINT(cert-dcl58-cpp): it stands for what belongs there

from_chars_result from_chars(const char* first, const char* last, double& value,
                             chars_format format = chars_format::general);
to_chars_result to_chars(char* first, char* last, double value);

template <class T>
enable_if_t<is_unbounded_array_v<T>, unique_ptr<T>> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}

}  // namespace std
