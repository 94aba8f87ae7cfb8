#include "live/mpi/letter.hpp"

#include <cstring>
#include <stdexcept>

namespace debubble::live {

LetterWriter& LetterWriter::number(std::int64_t value) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + sizeof value);
  std::memcpy(bytes_.data() + at, &value, sizeof value);
  return *this;
}

LetterWriter& LetterWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  for (const char letter : value) bytes_.push_back(static_cast<std::byte>(letter));
  return *this;
}

LetterWriter& LetterWriter::append(const LetterWriter& other) {
  bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  return *this;
}

std::int64_t LetterReader::number() {
  std::int64_t value = 0;
  if (bytes_.size() - at_ < sizeof value) throw std::logic_error("a rank's letter ends too early");
  std::memcpy(&value, bytes_.data() + at_, sizeof value);
  at_ += sizeof value;
  return value;
}

std::string LetterReader::text() {
  const auto length = static_cast<std::uint64_t>(number());
  if (bytes_.size() - at_ < length) throw std::logic_error("a rank's letter ends too early");
  std::string value(length, '\0');
  if (length > 0) std::memcpy(value.data(), bytes_.data() + at_, length);
  at_ += length;
  return value;
}

}  // namespace debubble::live
