"""How long a step takes of which each rank has written down what it posts, waits for and runs: ("post", end), ("wait", end),
("run", (kind, ...)). An end of a message begins with s(ent) or r(eceived); what follows is the same at both."""


def step_time(all_events, times, hop):
    """The end of the last op, in the units of `times` (by kind) and `hop`, where a message begins when both sides have posted it;
    None where ranks wait for ever."""
    posted, clock, place, last = {}, [0] * len(all_events), [0] * len(all_events), 0
    moved = True
    while moved:
        moved = False
        for rank, events in enumerate(all_events):
            while place[rank] < len(events):
                what, of = events[place[rank]]
                if what == "run":
                    clock[rank] += times[of[0]]
                    last = max(last, clock[rank])
                elif what == "post":
                    posted[of] = clock[rank]
                else:
                    both = [posted.get((side, *of[1:])) for side in "sr"]
                    if None in both:
                        break
                    clock[rank] = max(clock[rank], max(both) + hop)
                place[rank] += 1
                moved = True
    return last if all(at == len(events) for at, events in zip(place, all_events)) else None
