"""What a process has to say at the end, for debubble: one fact a line, then "end". Written whole or not at all.

    debubble.torch-rank/1
    rank 0
    fact KEY TEXT                               torch, python, backend, device
    cost REPLICA STAGE F B I W ACTIVATION HELD INPUT OUTPUT WEIGHTS WHOLE   ns, bytes, 0 or 1
    link LATENCY BANDWIDTH                      ns, bytes per second; rank 0
    proof PARAMETERS NUMBERS SAME_BITS MAX_ABSOLUTE MAX_RELATIVE TOLERANCE LOSSES_SAME LOSSES    rank 0
    wrong STAGE MAX_ABSOLUTE MAX_RELATIVE NAME  a parameter beyond the tolerance; rank 0
    iteration NUMBER SAME_AS_PROVEN SUM_NS      what follows belongs to it; 0 or 1; the sum between replicas
    op POSITION BEGIN END                       ns of CLOCK_MONOTONIC
    sent TENSOR PEER TIME CHECKSUM
    got TENSOR PEER TIME BYTES CHECKSUM
"""

import os

FORMAT = "debubble.torch-rank/1"


class Records:
    def __init__(self, folder, rank):
        self.path = os.path.join(folder, f"rank{rank}.txt")
        self.lines = [FORMAT]
        self.add("rank", rank)

    def add(self, *words):
        self.lines.append(" ".join(str(word).replace("\n", " ") for word in words))

    def add_iteration(self, number, run, same, sum_ns):
        ops, sent, got = run
        self.add("iteration", number, int(same), sum_ns)
        for key, facts in (("op", ops), ("sent", sent), ("got", got)):
            for fact in facts:
                self.add(key, *fact)

    def write(self):
        self.add("end")
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        os.replace(self.path + ".part", self.path)
