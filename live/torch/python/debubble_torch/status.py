"""What a process is at, for the one that watches: a slot of a file that both have mapped.

Of each process eight 64-bit numbers: a count of all changes, what it is at (the words below), its position in its row,
where it waits for a tensor, whether that is a gradient, its stage, piece and the device it comes from, and the number of the
iteration. The watcher
reads them once nothing has changed for long, so it does not matter that they are not written at once.
"""

import mmap
import struct

STARTING, AT_WORK, WAITS, MEETS, FINISHED, FAILED = range(6)
SLOT = struct.Struct("=8q")


class Status:
    def __init__(self, path, rank):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.offset = rank * SLOT.size
        self.count = 0
        self.position = 0
        self.iteration = 0  # from 1 on; 0: before the first

    def set(self, state, position=None, gradient=0, stage=0, piece=0, peer=0):
        self.count += 1
        if position is not None:
            self.position = position
        SLOT.pack_into(self.memory, self.offset, self.count, state, self.position, int(gradient), stage, piece, peer,
                       self.iteration)

    def waits_for(self, position, hop):
        tensor = hop.tensor
        self.set(WAITS, position, tensor.gradient, tensor.stage, tensor.piece, hop.peer)
