#include "profiler/attribution/range_stacks.hpp"

namespace debubble::attribution {
namespace {

// Work of a node that no finer rule applies to.
Slot node_slot(NodeKind node, std::uint32_t instance, bool found) {
  if (instance == kNoInstance) return rest_slot(found ? Rest::kOutsideLayers : Rest::kUnlinkedBackward);
  switch (node) {
    case NodeKind::kEmbedding:
    case NodeKind::kAccumulation:
      return layer_slot(instance, Phase::kWeightGrad, Rule::kName);
    case NodeKind::kBothAtOnce:
      return layer_slot(instance, Phase::kBackward, Rule::kUnsplit);
    case NodeKind::kNorm: {
      Slot slot = layer_slot(instance, Phase::kInputGrad, Rule::kName);
      slot.finer = Finer::kNormKernels;
      return slot;
    }
    case NodeKind::kFusedLinear:
    case NodeKind::kFusedMlp:
    case NodeKind::kFusedGrouped: {
      Slot slot = layer_slot(instance, Phase::kBackward, Rule::kUnsplit);
      slot.finer = node == NodeKind::kFusedLinear ? Finer::kLinearProducts
                   : node == NodeKind::kFusedMlp  ? Finer::kMlpProducts
                                                  : Finer::kGroupedProducts;
      return slot;
    }
    case NodeKind::kOrdinary:
    case NodeKind::kInputFirst:
    case NodeKind::kWeightFirst:
      break;
  }
  return layer_slot(instance, Phase::kInputGrad, Rule::kName);
}

bool is_matmul(OpKind op) { return op == OpKind::kMatmul || op == OpKind::kBiasedMatmul || op == OpKind::kLinear; }

bool is_fused(NodeKind node) {
  return node == NodeKind::kFusedLinear || node == NodeKind::kFusedMlp || node == NodeKind::kFusedGrouped;
}

bool is_matmul_node(NodeKind node) { return node == NodeKind::kInputFirst || node == NodeKind::kWeightFirst; }

}  // namespace

RangeStacks::RangeStacks(RangeNames& names, Instances& instances, Steps& steps, Ledger& ledger, std::size_t most_ranges)
    : names_(names), instances_(instances), steps_(steps), ledger_(ledger), slots_(most_ranges) {}

RangeStacks::Thread* RangeStacks::thread_of(std::uint32_t thread) {
  if (newest_ != nullptr && newest_id_ == thread) return newest_;
  if (threads_.size() >= kMostThreads && !threads_.contains(thread)) return nullptr;
  newest_ = &threads_[thread];
  newest_id_ = thread;
  return newest_;
}

// A range belongs to what is around it until its own name says otherwise: the new frame is a copy of the innermost one,
// with all it knows of layer, phase and backward node. Its number, sequence, step and kind are its own.
RangeStacks::Frame RangeStacks::inside(const Thread& thread, const RangePush& record) const {
  Frame frame;
  if (thread.frames.empty()) {
    frame.slot = rest_slot(Rest::kOutsideLayers);
  } else {
    frame = thread.frames.back();
  }
  frame.range = record.range;
  frame.sequence = record.sequence;
  frame.step = kNoStep;
  frame.kind = RangeKind::kOther;
  return frame;
}

void RangeStacks::push(const RangePush& record) {
  ++pushed_;
  first_push_ = std::min(first_push_, record.time);
  Thread* thread = thread_of(record.thread);
  if (thread == nullptr || thread->frames.size() >= kDeepest) {
    ledger_.lose(thread == nullptr ? "ranges of too many threads" : "ranges nested too deeply");
    if (thread == nullptr) return;
    ++thread->too_deep;
    slots_.at(record.range) = thread->frames.back().slot;  // as if it were not there
    return;
  }
  const RangeName name = names_.classify(record.name);
  Frame frame = inside(*thread, record);
  open(*thread, frame, record, name);
  // Kernels find their slot in two ways: by the range that CUPTI linked them to, or, unlinked, by the launching
  // thread's history at the time of the launch.
  slots_.at(record.range) = frame.slot;
  thread->history.add(record.time, frame.slot);
  thread->frames.push_back(frame);
}

void RangeStacks::open(Thread& thread, Frame& frame, const RangePush& record, const RangeName& name) {
  const bool in_engine = !thread.frames.empty() && thread.frames.back().kind == RangeKind::kEngineNode;
  frame.kind = name.kind;
  switch (name.kind) {
    case RangeKind::kLayer:
      if (!layer_thread_) layer_thread_ = record.thread;
      return open_layer(frame, name.layer, record.time);
    case RangeKind::kPhase:
      return open_phase(frame, name.phase, record.time);
    case RangeKind::kStep:
      frame.step = steps_.begin(record.time);
      return;
    case RangeKind::kOptimizer:
    case RangeKind::kCommunication:
      frame.instance = kNoInstance;  // nothing inside is a layer's, wherever this range was opened
      frame.slot = rest_slot(name.kind == RangeKind::kOptimizer ? Rest::kOptimizer : Rest::kCommunication);
      return;
    case RangeKind::kNode:
      if (record.sequence >= 0 || in_engine || name.node == NodeKind::kAccumulation) {
        return open_node(thread, frame, record, name.node);
      }
      frame.kind = RangeKind::kOther;  // some other range that ends in "Backward"
      return;
    case RangeKind::kEngineNode:
      return open_node(thread, frame, record, name.node);
    case RangeKind::kOther:
      // Whatever its name: a node of C++ extensions is "torch::autograd::CppNode<...>", one of writes into views
      // "torch::autograd::CopySlices".
      if (in_engine && is_node_of(thread.frames.back(), record)) {
        frame.kind = RangeKind::kNode;
        return open_node(thread, frame, record, name.node);
      }
      return open_op(thread, frame, record, name.op);
  }
}

// The engine runs one node in a range of its own; with a graph of the backward its sums carry numbers too.
bool RangeStacks::is_node_of(const Frame& engine, const RangePush& record) {
  const bool same_number = engine.sequence < 0 || engine.sequence == record.sequence;
  return record.sequence >= 0 && same_number && !record.name.starts_with("aten::");
}

void RangeStacks::open_layer(Frame& frame, std::uint32_t layer, Nanoseconds time) {
  const bool same = frame.instance != kNoInstance && instances_[frame.instance].layer == layer;
  if (same && (!frame.backward || frame.recompute)) return;  // a layer inside itself
  // A layer range inside a backward node is its forward run again, by activation checkpointing. Inside its own backward
  // it stays the same execution, so that the recomputation is counted there.
  if (!same) frame.instance = instances_.add(layer, steps_.current(), time);
  frame.in_matmul = false;
  if (frame.phase) {
    place_explicit(frame, time);
  } else if (frame.backward) {
    frame.recompute = true;
    instances_.mark_seen(frame.instance, Phase::kRecompute);
    frame.slot = layer_slot(frame.instance, Phase::kRecompute, Rule::kRecompute);
  } else {
    frame.slot = layer_slot(frame.instance, Phase::kForward, Rule::kForward);
  }
}

void RangeStacks::open_phase(Frame& frame, Phase phase, Nanoseconds time) {
  if (frame.phase == phase && frame.slot.rule == Rule::kExplicit) return;  // a phase inside itself
  frame.phase = phase;
  if (frame.instance != kNoInstance) place_explicit(frame, time);
}

// Every phase range is an execution of its own when its layer range had that phase before.
void RangeStacks::place_explicit(Frame& frame, Nanoseconds time) {
  const Phase phase = frame.phase.value_or(Phase::kForward);
  if (!phases_add_up_ && (instances_[frame.instance].explicit_phases & bit_of(phase)) != 0) {
    const Instance& before = instances_[frame.instance];
    frame.instance = instances_.add(before.layer, before.step, time);
  }
  instances_[frame.instance].explicit_phases |= bit_of(phase);
  instances_.mark_seen(frame.instance, phase);
  frame.slot = layer_slot(frame.instance, phase, Rule::kExplicit);
}

// PyTorch reports a backward node in two ranges, the engine's (evaluate_function) around the node's own. Either may
// lack the sequence number that leads to the forward op; whichever has it resolves the node for both.
void RangeStacks::open_node(Thread& thread, Frame& frame, const RangePush& record, NodeKind node) {
  const bool in_engine = !thread.frames.empty() && thread.frames.back().kind == RangeKind::kEngineNode;
  start_node(thread, frame, node, in_engine);
  if (frame.slot.rule == Rule::kExplicit) return;
  // The same node, as the engine saw it.
  if (in_engine && (record.sequence < 0 || record.sequence == thread.frames.back().sequence)) return;
  frame.matmul = {};
  resolve_node(thread, frame, record);
  if (!in_engine) return;
  // The engine's range did not carry the number.
  Frame& engine = thread.frames.back();
  engine.instance = frame.instance;
  engine.found = frame.found;
  engine.node = frame.node;
  engine.matmul = frame.matmul;
  engine.slot = frame.slot;
  slots_.at(engine.range) = engine.slot;
}

void RangeStacks::start_node(Thread& thread, Frame& frame, NodeKind node, bool in_engine) {
  if (!in_engine) {  // the node's own range does not begin a second node
    frame.outer_node = frame.backward ? frame.node_range : 0;
    frame.node_range = frame.range;
  }
  frame.backward = true;
  frame.recompute = false;
  frame.in_matmul = false;
  frame.node = node;
  frame.node_frame = static_cast<std::uint32_t>(thread.frames.size());  // where this frame is about to be pushed
  frame.matmuls = 0;
}

void RangeStacks::resolve_node(Thread& thread, Frame& frame, const RangePush& record) {
  frame.found = false;
  frame.instance = kNoInstance;
  if (frame.node == NodeKind::kAccumulation) {
    // AccumulateGrad has no forward op of its own. The engine runs it after the node whose gradient it adds, on the
    // same thread, so it belongs to the layer of the newest node there.
    frame.instance = thread.last_node;
    frame.found = thread.node_seen;
  } else if (record.sequence >= 0) {
    const ForwardOp* op = sequences_.find({record.thread, record.forward_thread, record.sequence, frame.outer_node});
    if (op != nullptr) {
      frame.instance = op->instance;
      frame.found = true;
      frame.matmul = op->matmul;
    }
    thread.last_node = frame.instance;
    thread.node_seen = frame.found;
  }
  // Both gradients ran, even if one launches no kernel: its time is 0 then, not unknown.
  if (frame.instance != kNoInstance) {
    instances_.mark_seen(frame.instance, Phase::kInputGrad);
    instances_.mark_seen(frame.instance, Phase::kWeightGrad);
  }
  frame.slot = node_slot(frame.node, frame.instance, frame.found);
  const bool fused = frame.slot.in_layer() && is_fused(frame.node);
  if (fused) frame.slot.node = ++fused_nodes_;
}

// Only ops that record a node for the backward carry a sequence number. So an op with a number inside a backward node
// is forward work that runs again (checkpointing), and one without is the backward's own.
void RangeStacks::open_op(Thread& thread, Frame& frame, const RangePush& record, OpKind op) {
  if (record.sequence >= 0) {
    if (frame.backward && !frame.recompute && frame.slot.rule != Rule::kExplicit) {
      frame.recompute = true;
      if (frame.instance != kNoInstance) {
        instances_.mark_seen(frame.instance, Phase::kRecompute);
        frame.slot = layer_slot(frame.instance, Phase::kRecompute, Rule::kRecompute);
      }
    }
    sequences_.add(record.thread, record.sequence,
                   {record.range, record.time, frame.instance, frame.backward, matmul_of(op, record.sizes)});
  } else if (frame.backward && !frame.recompute && !frame.in_matmul && frame.instance != kNoInstance &&
             frame.slot.rule != Rule::kExplicit) {
    open_backward_op(thread, frame, record, op);
  }
}

void RangeStacks::open_backward_op(Thread& thread, Frame& frame, const RangePush& record, OpKind op) {
  if (frame.node == NodeKind::kBothAtOnce || frame.node == NodeKind::kEmbedding) return;
  // in_matmul: operators nest (aten::matmul calls aten::mm), and only the outermost may count, or the order of a node's
  // matmuls would be wrong. The counter is the node's, since the operators are at any depth below it.
  if (is_matmul(op)) {
    const int earlier = thread.frames[frame.node_frame].matmuls++;
    const Gradient gradient = gradient_of(frame.matmul, result_of(op, record.sizes), frame.node, earlier);
    if (is_fused(frame.node)) {
      if (gradient.rule != Rule::kShape) return;  // the order of the node's kernels will tell
      frame.slot.phase = gradient.phase;
      frame.slot.rule = gradient.rule;
    } else {
      frame.slot = layer_slot(frame.instance, gradient.phase, gradient.rule);
    }
    frame.in_matmul = true;
  } else if (op == OpKind::kSum &&
             (is_matmul_node(frame.node) || thread.frames.back().kind == RangeKind::kEngineNode)) {
    // Sums of a matmul's node are of the bias; the engine itself sums gradients of operands that were broadcast.
    frame.slot = layer_slot(frame.instance, Phase::kWeightGrad, Rule::kName);
    frame.in_matmul = true;
  }
}

void RangeStacks::pop(const RangePop& record) {
  Thread* thread = thread_of(record.thread);
  if (thread != nullptr && thread->too_deep > 0) {
    --thread->too_deep;
  } else if (thread == nullptr || thread->frames.empty()) {
    ledger_.lose("pops without a range");
  } else {
    leave(*thread, record.time);
  }
}

void RangeStacks::leave(Thread& thread, Nanoseconds time) {
  const Frame frame = thread.frames.back();
  thread.frames.pop_back();
  if (frame.step != kNoStep) steps_.end(frame.step, time);
  // A forward that launched no kernel took 0; phases of explicit ranges were marked when they opened.
  if (frame.kind == RangeKind::kLayer && !frame.backward && instances_[frame.instance].explicit_phases == 0) {
    instances_.mark_seen(frame.instance, Phase::kForward);
  }
  thread.history.add(time, thread.frames.empty() ? rest_slot(Rest::kOutsideRanges) : thread.frames.back().slot);
}

void RangeStacks::close() {
  std::int64_t open = 0;
  for (auto& [id, thread] : threads_) open += static_cast<std::int64_t>(thread.frames.size() + thread.too_deep);
  if (open > 0) ledger_.lose("ranges never popped", open);
}

Slot RangeStacks::slot_of(std::uint64_t range) {
  if (const Slot* slot = slots_.find(range)) return *slot;
  if (range == 0) return rest_slot(Rest::kOutsideRanges);
  ledger_.lose("links to ranges that are not known");
  return rest_slot(Rest::kUnlinked);
}

Slot RangeStacks::slot_at(std::uint32_t thread, Nanoseconds time) {
  if (before_ranges(time)) return rest_slot(Rest::kBeforeRanges);
  if (thread == 0) thread = layer_thread_.value_or(0);
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return rest_slot(Rest::kOutsideRanges);
  const std::optional<Slot> slot = found->second.history.slot_at(time);
  if (slot) return *slot;
  ledger_.lose("launches before all remembered ranges");
  return rest_slot(Rest::kUnlinked);
}

}  // namespace debubble::attribution
