"""What each rank's own step code of PyTorch posts, waits for and runs: the code is run without a model and writes it down."""
import types


class Stage(types.SimpleNamespace):
    """What a schedule asks of a stage. A message's end: s(ent) or r(eceived), the stage that uses it, microbatch, F or B."""

    args_recv_info, act_send_info = ((),), {}  # nothing skips a stage

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: []  # nothing to prepare

    def message(self, kind, to, microbatch):
        here, there = self.stage_index_to_group_rank[self.stage_index], self.stage_index_to_group_rank.get(to)
        return [] if there in (None, here) else [(kind[0], to if kind[0] == "s" else self.stage_index, microbatch, kind[1])]

    def get_fwd_recv_ops(self, microbatch):
        return self.message("rF", self.stage_index - 1, microbatch)

    def get_fwd_send_ops(self, microbatch):
        return self.message("sF", self.stage_index + 1, microbatch)

    def get_bwd_recv_ops(self, microbatch):
        return self.message("rB", self.stage_index + 1, microbatch)

    def get_bwd_send_ops(self, microbatch):
        return self.message("sB", self.stage_index - 1, microbatch)

    def forward_one_chunk(self, microbatch, *_, **__):
        self.events.append(("run", ("F", self.stage_index, microbatch)))

    def backward_one_chunk(self, microbatch, *_, full_backward=True, **__):
        self.events.append(("run", ("B" if full_backward else "I", self.stage_index, microbatch)))

    def backward_weight_one_chunk(self, microbatch, *_, **__):
        self.events.append(("run", ("W", self.stage_index, microbatch)))


def events_of(schedules, made):
    """By rank: what its step posts, waits for and runs, in order."""
    all_events = []
    for schedule in made:
        events = []
        stages = getattr(schedule, "_stages", None) or [schedule._stage]
        for stage in stages:
            stage.events = events

        def post(ops, desc=None, events=events):
            events.extend(("post", op) for op in ops)
            return list(ops)

        before = schedules._batch_p2p, schedules._sorted_batch_p2p, schedules._wait_batch_p2p
        schedules._batch_p2p = post
        schedules._sorted_batch_p2p = lambda ops, desc=None, post=post: {0: post(ops)}
        schedules._wait_batch_p2p = lambda work, events=events: events.extend(("wait", op) for op in work)
        try:
            schedule._step_microbatches([()] * schedule._n_microbatches, [{}] * schedule._n_microbatches, None, None, False)
        finally:
            schedules._batch_p2p, schedules._sorted_batch_p2p, schedules._wait_batch_p2p = before
        all_events.append(events)
    return all_events
