#include "studies/sweep/block_codec.hpp"

#include <bit>
#include <string>
#include <utility>

namespace debubble {

namespace {

void write_real(live::MessageWriter& writer, double value) { writer.number(std::bit_cast<std::int64_t>(value)); }

double read_real(live::MessageReader& reader) { return std::bit_cast<double>(reader.number()); }

void write_best(live::MessageWriter& writer, const SweepBest& best) {
  write_real(writer, best.merit);
  writer.number(best.asynchronous ? 1 : 0).number(best.row).number(best.makespan);
  write_real(writer, best.bubble_ratio);
  write_real(writer, best.rate);
  writer.number(best.in_samples ? 1 : 0).number(best.mfu ? 1 : 0);
  write_real(writer, best.mfu.value_or(0));
  writer.number(best.peak).number(best.spare ? 1 : 0).number(best.spare.value_or(0)).text(best.limit);
}

SweepBest read_best(live::MessageReader& reader) {
  SweepBest best;
  best.merit = read_real(reader);
  best.asynchronous = reader.number() != 0;
  best.row = reader.number();
  best.makespan = reader.number();
  best.bubble_ratio = read_real(reader);
  best.rate = read_real(reader);
  best.in_samples = reader.number() != 0;
  const bool has_mfu = reader.number() != 0;
  const double mfu = read_real(reader);
  if (has_mfu) best.mfu = mfu;
  best.peak = reader.number();
  const bool has_spare = reader.number() != 0;
  const Bytes spare = reader.number();
  if (has_spare) best.spare = spare;
  best.limit = reader.text();
  return best;
}

}  // namespace

void write(live::MessageWriter& writer, const SweepBlock& block) {
  writer.text(block.lines).number(static_cast<std::int64_t>(block.tallies.size()));
  for (const auto& [ending, tally] : block.tallies) {
    writer.number(ending.first).text(ending.second).number(tally.rows).text(tally.reason);
  }
  writer.number(static_cast<std::int64_t>(block.best.size()));
  for (const SweepBest& best : block.best) write_best(writer, best);
  writer.number(block.asynchronous ? 1 : 0);
  if (block.asynchronous) write_best(writer, *block.asynchronous);
}

SweepBlock read_swept_block(live::MessageReader& reader) {
  SweepBlock block;
  block.lines = reader.text();
  for (std::int64_t left = reader.number(); left > 0; --left) {
    const auto status = static_cast<int>(reader.number());
    std::string code = reader.text();
    SweepTally& tally = block.tallies[{status, std::move(code)}];
    tally.rows = reader.number();
    tally.reason = reader.text();
  }
  for (std::int64_t left = reader.number(); left > 0; --left) block.best.push_back(read_best(reader));
  if (reader.number() != 0) block.asynchronous = read_best(reader);
  return block;
}

}  // namespace debubble
