#include "live/mpi/nccl_transport.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "live/checksum.hpp"

namespace debubble::live {

namespace {

constexpr int kPollsBetweenChecks = 1000;

}  // namespace

// The op that made the tensor has ended, so its buffer is whole. Its chain value goes after it.
void NcclTransport::send(std::int32_t to, Message message) {
  const DeviceAddress data = work_.outgoing(message.tensor);
  const auto to_chain = static_cast<DeviceAddress>(work_.chain_offset());
  if (hashes_bytes(job_.request(), message.iteration)) sum_up(message, data);
  device_.upload(data + to_chain, &message.chain, static_cast<Bytes>(sizeof message.chain));
  message.time = now_();
  message.arrival = message.time;
  edges_.send(to, data, work_.tensor_bytes());
  mailbox_.send(to, std::move(message));
}

// The runner has no bytes at hand, and marked the chain where a fault wants one changed: here they are.
void NcclTransport::sum_up(Message& message, DeviceAddress data) {
  Payload bytes(static_cast<std::size_t>(work_.payload_bytes()));
  device_.download(bytes.data(), data, work_.payload_bytes());
  message.checksum = checksum_of(bytes);
  if (!job_.has_fault(Fault::Kind::kCorrupt, job_.maker_of(message.tensor))) return;
  message.chain ^= 1;
  bytes.front() ^= std::byte{1};
  device_.upload(data, bytes.data(), 1);
}

void NcclTransport::poll() {
  while (std::optional<Message> message = mailbox_.take_any()) announced_.push_back(std::move(*message));
  while (!announced_.empty() && posted_[announced_.front().from].size() < kMostPosted) {
    post(std::move(announced_.front()));
    announced_.pop_front();
  }
  // Receives of one edge run in the order of posting, so only the oldest needs to be asked.
  for (auto& [peer, pending] : posted_) {
    while (!pending.empty() && edges_.has_happened(pending.front().event)) {
      finish(std::move(pending.front().message));
      pending.pop_front();
    }
  }
  if (++polls_ % kPollsBetweenChecks == 0) edges_.check_edges();
}

// A transfer begins when both ends are there: that is what the message's time means from here on.
void NcclTransport::post(Message message) {
  message.time = std::max(message.time, now_());
  const int from = message.from;
  const cuda::Event event = edges_.receive(from, work_.incoming(message.tensor), work_.tensor_bytes());
  posted_[from].push_back({std::move(message), event});
}

// The chain value that has come counts, not the one that was announced.
void NcclTransport::finish(Message message) {
  message.arrival = now_();
  const auto to_chain = static_cast<DeviceAddress>(work_.chain_offset());
  edges_.read(&message.chain, work_.incoming(message.tensor) + to_chain, static_cast<Bytes>(sizeof message.chain));
  const Key key{message.tensor, message.iteration};
  here_[key] = std::move(message);
}

Message NcclTransport::receive(Message::Kind kind, const Tensor& tensor, std::int32_t from, std::int32_t iteration) {
  const Key key{tensor, iteration};
  mailbox_.begin_wait(kind, tensor, from);
  for (poll(); !here_.contains(key); poll()) std::this_thread::yield();
  mailbox_.end_wait();
  Message message = std::move(here_.extract(key).mapped());
  if (hashes_bytes(job_.request(), iteration)) {
    message.payload.resize(static_cast<std::size_t>(work_.payload_bytes()));
    edges_.read(message.payload.data(), work_.incoming(tensor), work_.payload_bytes());
  }
  return message;
}

void NcclTransport::barrier() {
  mailbox_.begin_wait();
  while (!edges_.sends_have_left()) {
    poll();
    std::this_thread::yield();
  }
  mailbox_.end_wait();
  mailbox_.barrier();
}

}  // namespace debubble::live
