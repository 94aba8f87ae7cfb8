#include "studies/sweep/block_codec.hpp"

#include <bit>
#include <string>
#include <utility>

namespace debubble {

void write(live::MessageWriter& writer, const SweepBlock& block) {
  writer.text(block.lines).number(static_cast<std::int64_t>(block.tallies.size()));
  for (const auto& [ending, tally] : block.tallies) {
    writer.number(ending.first).text(ending.second).number(tally.rows).text(tally.reason);
  }
  const auto real = [&](double value) { writer.number(std::bit_cast<std::int64_t>(value)); };
  writer.number(static_cast<std::int64_t>(block.best.size()));
  for (const SweepBest& best : block.best) {
    real(best.merit);
    writer.number(best.row).number(best.makespan);
    real(best.bubble_ratio);
    real(best.rate);
    writer.number(best.in_samples ? 1 : 0).number(best.mfu ? 1 : 0);
    real(best.mfu.value_or(0));
    writer.number(best.peak).number(best.spare ? 1 : 0).number(best.spare.value_or(0)).text(best.limit);
  }
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
  const auto real = [&] { return std::bit_cast<double>(reader.number()); };
  for (std::int64_t left = reader.number(); left > 0; --left) {
    SweepBest best;
    best.merit = real();
    best.row = reader.number();
    best.makespan = reader.number();
    best.bubble_ratio = real();
    best.rate = real();
    best.in_samples = reader.number() != 0;
    const bool has_mfu = reader.number() != 0;
    const double mfu = real();
    if (has_mfu) best.mfu = mfu;
    best.peak = reader.number();
    const bool has_spare = reader.number() != 0;
    const Bytes spare = reader.number();
    if (has_spare) best.spare = spare;
    best.limit = reader.text();
    block.best.push_back(std::move(best));
  }
  return block;
}

}  // namespace debubble
