#include "live/mpi/device_run_letter.hpp"

namespace debubble::live {

namespace {

void write(LetterWriter& letter, const Op& op) {
  letter.number(static_cast<std::int64_t>(op.kind)).number(op.paired_with_next ? 1 : 0);
  letter.number(op.stage).number(op.microbatch);
}

void read(LetterReader& letter, Op& op) {
  letter.into(op.kind);
  letter.into(op.paired_with_next);
  letter.into(op.stage);
  letter.into(op.microbatch);
}

void write(LetterWriter& letter, const ObservedOp& op) {
  write(letter, op.op);
  write(letter, op.partner);
  letter.number(op.paired ? 1 : 0).number(op.device).number(op.begin).number(op.end);
}

void read(LetterReader& letter, ObservedOp& op) {
  read(letter, op.op);
  read(letter, op.partner);
  letter.into(op.paired);
  letter.into(op.device);
  letter.into(op.begin);
  letter.into(op.end);
}

void write(LetterWriter& letter, const ObservedTransfer& transfer) {
  write(letter, transfer.op);
  letter.number(transfer.from_device).number(transfer.to_device).number(transfer.begin).number(transfer.end);
  letter.number(transfer.latency).number(transfer.bytes);
}

void read(LetterReader& letter, ObservedTransfer& transfer) {
  read(letter, transfer.op);
  letter.into(transfer.from_device);
  letter.into(transfer.to_device);
  letter.into(transfer.begin);
  letter.into(transfer.end);
  letter.into(transfer.latency);
  letter.into(transfer.bytes);
}

template <typename Item>
void write_all(LetterWriter& letter, const std::vector<Item>& items) {
  letter.number(static_cast<std::int64_t>(items.size()));
  for (const Item& item : items) write(letter, item);
}

template <typename Item>
void read_all(LetterReader& letter, std::vector<Item>& items) {
  for (std::int64_t left = letter.number(); left > 0; --left) read(letter, items.emplace_back());
}

}  // namespace

void write(LetterWriter& letter, const std::vector<DeviceRun>& runs) {
  letter.number(static_cast<std::int64_t>(runs.size()));
  for (const DeviceRun& run : runs) {
    write_all(letter, run.ops);
    write_all(letter, run.transfers);
    letter.number(run.peak_activation).number(run.peak_memory).number(run.tensors_checked);
  }
}

std::vector<DeviceRun> read_device_runs(LetterReader& letter) {
  std::vector<DeviceRun> runs(static_cast<std::size_t>(letter.number()));
  for (DeviceRun& run : runs) {
    read_all(letter, run.ops);
    read_all(letter, run.transfers);
    letter.into(run.peak_activation);
    letter.into(run.peak_memory);
    letter.into(run.tensors_checked);
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
