#include "live/mpi/agreement.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <string>

#include "live/checksum.hpp"
#include "live/mpi/device_run_codec.hpp"

namespace debubble::live {

namespace {

// What is compared, in the words of the message.
constexpr std::array<const char*, 5> kParts{"another version of debubble", "another schedule",
                                            "another model, size, partition or kind of device", "other costs or links",
                                            "other settings"};
using Fingerprint = std::array<std::int64_t, kParts.size()>;

void write_part(MessageWriter& writer, const Schedule& schedule) {
  writer.text(schedule.name).number(schedule.devices).number(schedule.stages).number(schedule.microbatches);
  writer.number(schedule.pieces).number(schedule.placement.replicas());
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) writer.number(schedule.placement.device_of(replica, stage));
  }
  for (const std::int32_t replica : schedule.replica_of) writer.number(replica);
  for (const std::vector<Op>& row : schedule.rows) {
    writer.number(static_cast<std::int64_t>(row.size()));
    for (const Op& op : row) write(writer, op);
  }
}

void write_part(MessageWriter& writer, const StageCosts& costs) {
  for (const StageCost& cost : costs.stages) {
    writer.number(cost.forward).number(cost.backward).number(cost.input_grad).number(cost.weight_grad);
    writer.number(cost.activation).number(cost.weight_grad_held).number(cost.output).number(cost.weights);
    writer.number(cost.gradients).number(cost.optimizer).number(cost.workspace);
  }
  writer.number(costs.overlapped_pair.value_or(-1));
}

void write_settings(MessageWriter& writer, const LiveRequest& request) {
  writer.number(static_cast<std::int64_t>(request.p2p)).number(static_cast<std::int64_t>(request.clock));
  writer.number(request.repetitions).number(request.warm_up).number(request.patience).number(request.buffer_budget);
  for (const Fault& fault : request.faults) {
    writer.number(static_cast<std::int64_t>(fault.kind)).number(fault.device);
    writer.number(std::bit_cast<std::int64_t>(fault.factor));
    write(writer, fault.op);
  }
}

std::int64_t hash_of(const MessageWriter& writer) { return std::bit_cast<std::int64_t>(checksum_of(writer.bytes())); }

void write_part(MessageWriter& writer, const TransformerShape& shape) {
  writer.text(shape.name).number(shape.layers).number(shape.hidden).number(shape.heads).number(shape.kv_heads);
  writer.number(shape.head_size).number(shape.feed_forward).number(shape.vocabulary).number(shape.positions);
  writer.number(std::bit_cast<std::int64_t>(shape.rotary_base)).number(static_cast<std::int64_t>(shape.norm));
  writer.number(static_cast<std::int64_t>(shape.activation)).number(shape.gated ? 1 : 0);
  writer.number(shape.biases ? 1 : 0).number(shape.qkv_biases ? 1 : 0).number(shape.tied_embedding ? 1 : 0);
}

void write_part(MessageWriter& writer, const MpiOptions& options) {
  writer.number(options.gpus ? 1 : 0);
  const CudaOptions& model = options.model;
  write_part(writer, model.shape);
  writer.number(static_cast<std::int64_t>(model.partition.size()));
  for (const int layers : model.partition) writer.number(layers);
  writer.number(model.size.microbatch).number(model.size.sequence).number(model.size.tensor_parallel);
  writer.number(static_cast<std::int64_t>(model.size.type));
}

Fingerprint fingerprint_of(const LiveRequest& request, const MpiOptions& options) {
  std::array<MessageWriter, kParts.size()> writers;
  writers[0].text(options.version);
  write_part(writers[1], request.schedule);
  write_part(writers[2], options);
  write_part(writers[3], request.costs);
  writers[3].number(request.hop_latency).number(request.hop_bandwidth);
  write_settings(writers[4], request);
  Fingerprint hashes{};
  for (std::size_t part = 0; part < hashes.size(); ++part) hashes[part] = hash_of(writers[part]);
  return hashes;
}

std::string rank_on_host(int rank, const std::string& host) { return "rank " + std::to_string(rank) + " on " + host; }

// What is wrong with the others, empty when nothing is. Rank 0 only.
std::string compare(MessagePassing& passing, ControlChannel& channel, const Fingerprint& own) {
  std::string problems;
  for (int left = passing.size() - 1; left > 0; --left) {
    ControlChannel::Received received = channel.wait();
    const std::string host = received.message.text();
    for (std::size_t part = 0; part < own.size(); ++part) {
      if (received.message.number() == own[part]) continue;
      problems += (problems.empty() ? "" : ", ") + rank_on_host(received.from, host) + " has " + kParts[part];
      break;
    }
  }
  return problems.empty() ? "" : problems + " than " + rank_on_host(0, passing.host());
}

}  // namespace

InputError wrong_number_of_ranks(int devices, int started) {
  const std::string count = std::to_string(devices);
  const std::string ranks = started == 0   ? "it was started alone, without mpirun"
                            : started == 1 ? "mpirun started 1"
                                           : "mpirun started " + std::to_string(started);
  return InputError({"E010", "--backend mpi",
                     "the schedule has " + count + " devices and needs as many processes; " + ranks,
                     "run: mpirun -n " + count + " debubble live --backend mpi ..."});
}

void agree(MessagePassing& passing, ControlChannel& channel, const LiveRequest& request, const MpiOptions& options) {
  const Fingerprint own = fingerprint_of(request, options);
  std::string verdict;
  if (passing.rank() == 0) {
    verdict = compare(passing, channel, own);
    channel.send_to_all_others(MessageWriter().text(verdict));
    channel.flush();
  } else {
    MessageWriter writer;
    writer.text(passing.host());
    for (const std::int64_t hash : own) writer.number(hash);
    channel.send(0, writer);
    verdict = channel.wait().message.text();
  }
  if (!verdict.empty()) {
    throw InputError({"E011", "--backend mpi", verdict,
                      "give every host the same files, the same command line and the same debubble"});
  }
  if (passing.size() != request.schedule.devices) {
    throw wrong_number_of_ranks(request.schedule.devices, passing.size());
  }
}

}  // namespace debubble::live
