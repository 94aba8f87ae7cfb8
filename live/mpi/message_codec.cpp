#include "live/mpi/message_codec.hpp"

#include <cstring>
#include <stdexcept>

namespace debubble::live {

MessageWriter& MessageWriter::number(std::int64_t value) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + sizeof value);
  std::memcpy(bytes_.data() + at, &value, sizeof value);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  for (const char character : value) bytes_.push_back(static_cast<std::byte>(character));
  return *this;
}

MessageWriter& MessageWriter::append(const MessageWriter& other) {
  bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  return *this;
}

std::int64_t MessageReader::number() {
  std::int64_t value = 0;
  if (bytes_.size() - at_ < sizeof value) throw std::logic_error("a rank's message is truncated");
  std::memcpy(&value, bytes_.data() + at_, sizeof value);
  at_ += sizeof value;
  return value;
}

std::string MessageReader::text() {
  const auto length = static_cast<std::uint64_t>(number());
  if (bytes_.size() - at_ < length) throw std::logic_error("a rank's message is truncated");
  std::string value(length, '\0');
  if (length > 0) std::memcpy(value.data(), bytes_.data() + at_, length);
  at_ += length;
  return value;
}

}  // namespace debubble::live
