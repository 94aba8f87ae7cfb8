#include "live/mpi/frame.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "live/mpi/message_passing.hpp"

namespace debubble::live {

namespace {

constexpr std::size_t kHeaderBytes = 2 * MessagePassing::kBlock;

struct Header {
  std::uint64_t payload_bytes = 0;
  std::uint64_t chain = 0;
  std::uint64_t checksum = 0;
  Nanoseconds time = 0;
  Nanoseconds arrival = 0;
  std::int32_t kind = 0;
  std::int32_t gradient = 0;
  std::int32_t stage = 0;
  std::int32_t piece = 0;
  std::int32_t iteration = 0;
  std::int32_t from = 0;
};
static_assert(sizeof(Header) <= kHeaderBytes && std::is_trivially_copyable_v<Header>);

}  // namespace

std::size_t whole_blocks(std::size_t bytes) {
  return (bytes + MessagePassing::kBlock - 1) / MessagePassing::kBlock * MessagePassing::kBlock;
}

std::vector<std::byte> to_frame(const Message& message) {
  const Header header{message.payload.size(),
                      message.chain,
                      message.checksum,
                      message.time,
                      message.arrival,
                      static_cast<std::int32_t>(message.kind),
                      message.tensor.gradient ? 1 : 0,
                      message.tensor.stage,
                      message.tensor.piece,
                      message.iteration,
                      message.from};
  std::vector<std::byte> frame(kHeaderBytes + whole_blocks(message.payload.size()));
  std::memcpy(frame.data(), &header, sizeof header);
  if (!message.payload.empty()) {
    std::memcpy(frame.data() + kHeaderBytes, message.payload.data(), message.payload.size());
  }
  return frame;
}

Message from_frame(std::span<const std::byte> frame) {
  Header header;
  if (frame.size() < kHeaderBytes) throw std::logic_error("a frame without a header");
  std::memcpy(&header, frame.data(), sizeof header);
  if (frame.size() - kHeaderBytes < header.payload_bytes) throw std::logic_error("a frame without its payload");
  const std::span<const std::byte> payload = frame.subspan(kHeaderBytes, header.payload_bytes);
  return {static_cast<Message::Kind>(header.kind),
          {header.gradient != 0, header.stage, header.piece},
          header.iteration,
          header.from,
          header.chain,
          header.checksum,
          header.time,
          header.arrival,
          {payload.begin(), payload.end()}};
}

}  // namespace debubble::live
