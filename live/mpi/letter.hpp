// Letter: numbers and texts as bytes, for what ranks tell each other beside the tensors: hashes, positions, results.
//
// All hosts of a run have one byte order (MPI sends bytes here); a letter that does not read as it was written means
// that the ranks run different versions, which is a bug or a broken installation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::live {

class LetterWriter {
 public:
  LetterWriter& number(std::int64_t value);
  LetterWriter& text(std::string_view value);
  LetterWriter& append(const LetterWriter& other);
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Throws std::logic_error at the end of the bytes.
class LetterReader {
 public:
  explicit LetterReader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::int64_t number();
  [[nodiscard]] std::string text();
  template <typename Number>
  void into(Number& value) {
    value = static_cast<Number>(number());
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace debubble::live
