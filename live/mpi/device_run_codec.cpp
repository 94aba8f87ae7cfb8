#include "live/mpi/device_run_codec.hpp"

namespace debubble::live {

void write(MessageWriter& writer, const Op& op) {
  writer.number(static_cast<std::int64_t>(op.kind)).number(op.paired_with_next ? 1 : 0);
  writer.number(op.stage).number(op.microbatch);
}

namespace {

void read(MessageReader& reader, Op& op) {
  reader.into(op.kind);
  reader.into(op.paired_with_next);
  reader.into(op.stage);
  reader.into(op.microbatch);
}

void write(MessageWriter& writer, const ObservedOp& op) {
  write(writer, op.op);
  write(writer, op.partner);
  writer.number(op.paired ? 1 : 0).number(op.device).number(op.begin).number(op.end);
}

void read(MessageReader& reader, ObservedOp& op) {
  read(reader, op.op);
  read(reader, op.partner);
  reader.into(op.paired);
  reader.into(op.device);
  reader.into(op.begin);
  reader.into(op.end);
}

void write(MessageWriter& writer, const ObservedTransfer& transfer) {
  write(writer, transfer.op);
  writer.number(transfer.from_device).number(transfer.to_device).number(transfer.begin).number(transfer.end);
  writer.number(transfer.latency).number(transfer.bytes);
}

void read(MessageReader& reader, ObservedTransfer& transfer) {
  read(reader, transfer.op);
  reader.into(transfer.from_device);
  reader.into(transfer.to_device);
  reader.into(transfer.begin);
  reader.into(transfer.end);
  reader.into(transfer.latency);
  reader.into(transfer.bytes);
}

template <typename Item>
void write_all(MessageWriter& writer, const std::vector<Item>& items) {
  writer.number(static_cast<std::int64_t>(items.size()));
  for (const Item& item : items) write(writer, item);
}

template <typename Item>
void read_all(MessageReader& reader, std::vector<Item>& items) {
  for (std::int64_t left = reader.number(); left > 0; --left) read(reader, items.emplace_back());
}

}  // namespace

void write(MessageWriter& writer, const std::vector<DeviceRun>& runs) {
  writer.number(static_cast<std::int64_t>(runs.size()));
  for (const DeviceRun& run : runs) {
    write_all(writer, run.ops);
    write_all(writer, run.transfers);
    writer.number(run.peak_activation).number(run.peak_memory).number(run.tensors_checked);
  }
}

std::vector<DeviceRun> read_device_runs(MessageReader& reader) {
  std::vector<DeviceRun> runs(static_cast<std::size_t>(reader.number()));
  for (DeviceRun& run : runs) {
    read_all(reader, run.ops);
    read_all(reader, run.transfers);
    reader.into(run.peak_activation);
    reader.into(run.peak_memory);
    reader.into(run.tensors_checked);
  }
  return runs;
}

void translate(std::vector<DeviceRun>& runs, const std::function<Nanoseconds(Nanoseconds)>& clock) {
  for (DeviceRun& run : runs) {
    for (ObservedOp& op : run.ops) {
      op.begin = clock(op.begin);
      op.end = clock(op.end);
    }
    for (ObservedTransfer& transfer : run.transfers) {
      transfer.begin = clock(transfer.begin);
      transfer.end = clock(transfer.end);
    }
  }
}

}  // namespace debubble::live
