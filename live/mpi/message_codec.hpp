// Message codec: numbers and texts as bytes, for the control messages of the ranks: hashes, positions, results.
//
// All hosts of a run have one byte order (MPI sends bytes here); a message that is not read as it was written means
// that the ranks run different versions, which is a bug or a broken installation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::live {

class MessageWriter {
 public:
  MessageWriter& number(std::int64_t value);
  MessageWriter& text(std::string_view value);
  MessageWriter& append(const MessageWriter& other);
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Throws std::logic_error at the end of the bytes.
class MessageReader {
 public:
  explicit MessageReader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
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
