// Runs: simulated, measured, live; and what this machine lacks. Rows of docs/errors.md.
#include <array>

#include "tools/explain/error_table.hpp"

namespace debubble {

namespace {

constexpr std::array<ErrorRow, 8> kSimulation{{
    {"X001", "times or sizes that add up to more than 64 bits hold", "check their units, or use fewer microbatches"},
    {"X003", "costs for another number of stages", "give one cost for each stage"},
    {"X004", "not enough memory on this machine (status 3)", "use fewer microbatches or devices"},
    {"X005", "a run that is too large: devices, links, replicas, ops or a tensor", "make it smaller"},
    {"X010", "a finding: the schedule deadlocks (status 1)",
     "change the order of the ops that the message names, or the kind of transfer"},
    {"X011", "an output layer split over the devices, and no costs for it",
     "use a profile or model with an output layer"},
    {"X012", "copies or a split output layer where transfers hold the compute lanes", "use --p2p overlapped"},
    {"X020", "a finding of `compare`: the run needs more memory than the limit",
     "give more memory, or another schedule"},
}};

constexpr std::array<ErrorRow, 9> kComparing{{
    {"D002", "the files are not a predicted and a measured side",
     "give a scenario or predicted run, and a measured run"},
    {"D004", "a trace without the ranges that name its ops or layers",
     "record with the ranges that docs/comparing.md and docs/profiling.md describe"},
    {"D005", "the trace of a rank is missing, given twice, or does not say its rank", "give one trace for every rank"},
    {"D006", "no iteration is complete on all ranks", "record more iterations"},
    {"D009", "the prediction deadlocks", "see what `debubble simulate` says about the scenario"},
    {"D010", "the runs are of different schedules",
     "compare with a run of the same schedule, devices and microbatches"},
    {"D013", "memory, or another figure, is to be judged, and the run did not measure it",
     "measure with memory, or leave out of --tolerance what the message names"},
    {"V020",
     "what was observed is not what the schedule runs: an op or transfer is missing, extra, repeated or elsewhere",
     "check that the run is of this schedule"},
    {"V023", "times that are impossible: an end before its begin, two ops at once, clocks too far apart",
     "check the clocks and how the times were recorded"},
}};

constexpr std::array<ErrorRow, 10> kLive{{
    {"E002", "`--fault` names a device, op or tensor that the schedule does not have or that cannot be changed so",
     "name an op whose output travels, and that has a successor in its row for a swap"},
    {"E003",
     "something that the backend cannot do, such as a fault that needs processes, or transfers that hold the lanes",
     "use the backend or the flag that the message names"},
    {"E010", "`--backend mpi`: not as many processes as devices", "start it with mpirun -n DEVICES"},
    {"E011", "over MPI: a rank has another version, schedule, model, costs, settings, sweep or plan than rank 0",
     "start every rank with the same command and the same debubble"},
    {"E013", "`--backend torch`: a process ended with an error, of your stages or of PyTorch",
     "the message has the error and its place in your code"},
    {"E015", "a sweep or plan over MPI: rank 0, which takes the results, has gone",
     "a sweep goes on with `--resume`, a plan starts anew"},
    {"E016", "so many threads cannot be started on this machine",
     "ask for fewer with `--threads`, or raise the limit: `ulimit -u`, `ulimit -v`, or the container's"},
    {"E030", "a finding: the run got stuck, with every device's position (status 1)",
     "see which device waits for what; the order may deadlock on this runtime"},
    {"E031", "a finding: a wrong tensor reached an op (status 1)",
     "look at the op that sent it and at the order of transfers"},
    {"E040",
     "the schedule has something that no executor runs: recomputation, a split output layer, copies, unequal "
     "pieces, pairs side by side",
     "run the schedule without it; `debubble simulate` predicts it"},
}};

constexpr std::array<ErrorRow, 25> kMachine{{
    {"U001", "no CUPTI library, or one without the functions that are needed",
     "install CUPTI, or name it with DEBUBBLE_CUPTI"},
    {"U003", "another profiler or injected tool is attached",
     "take torch.profiler out of the script, do not run under nsys or ncu, unset the variable in the message"},
    {"U004", "a CUPTI that is too old, or newer than what was tested",
     "name another with DEBUBBLE_CUPTI, or try it with DEBUBBLE_CUPTI_UNTESTED=1"},
    {"U005", "CUPTI refused a step", "the message names the step; check permissions for GPU profiling"},
    {"U009", "the recording inside the program could not start, failed, or could not be written",
     "start the program with debubble profile -- PROGRAM; make room on the disk"},
    {"U011", "a CUPTI newer than what was tested, whose records make no sense",
     "name one of CUDA 11.6 to 13.0 with DEBUBBLE_CUPTI, or import a trace of torch.profiler"},
    {"U020", "no NVIDIA driver, or a stub library in its place",
     "install the driver; start containers with their GPUs (`docker run --gpus all`)"},
    {"U021", "a driver, but no GPU that can be used, or none of this number",
     "see `nvidia-smi` and CUDA_VISIBLE_DEVICES"},
    {"U023", "no cuBLASLt or NVRTC, or one that lacks what is needed",
     "install the CUDA libraries that match the driver"},
    {"U025", "the driver is older than the CUDA libraries", "update the driver, or use older CUDA libraries"},
    {"U026", "out of device memory", "use the size that fits, as in the message"},
    {"U027", "a kernel, or a call of the driver, cuBLASLt, NVRTC or NCCL, failed",
     "the message names the call; look in `dmesg` for Xid errors"},
    {"U040", "this installation lacks a part of its own", "install debubble again"},
    {"U041",
     "nothing was recorded: no CUDA call, no GPU work, or another profiler took the records; on the CPU: no PyTorch",
     "check that the program trains on the GPU and that no other profiler runs; on the CPU: that its Python has "
     "PyTorch"},
    {"U043", "a measurement was ended by a signal",
     "look in the system's log for the reason, such as too little memory"},
    {"U044", "the built-in workload computes wrong numbers on this GPU",
     "the GPU or its driver is faulty; try another"},
    {"U050", "too few cores for the wall clock: one more than devices is needed",
     "use --clock logical, or fewer devices"},
    {"U051", "not enough memory or threads for the devices of a run", "use fewer devices, or smaller tensors"},
    {"U052", "no MPI: the plugin or libmpi is missing or of another version, or the run was not started with mpirun",
     "install MPI and build debubble with it; start the command with mpirun"},
    {"U054", "no NCCL, or one that is too old", "install NCCL 2.18 or later, or name it with DEBUBBLE_LIBNCCL"},
    {"U057", "an op has not ended on its rank's GPU within the watchdog's patience",
     "look at the GPU and its links, or raise --watchdog"},
    {"U058", "no Python that has PyTorch, or a PyTorch without what the run needs: gloo, NCCL, a GPU for each device",
     "install PyTorch (pip install torch, apt-get install python3-torch), or name its Python with DEBUBBLE_PYTHON"},
    {"U060",
     "a GPU or driver without what live execution needs: green contexts, parts for every device, access to each "
     "other's memory",
     "update the driver, use fewer devices, or other GPUs"},
    {"U064", "no solver for MILPs: the plugin or CBC is missing or of another version",
     "install CBC and build debubble with it, or use --param solver=search"},
    {"U065", "no cairo, which draws figures as PDF and PNG, or one that is too old or fails",
     "install it (apt-get install libcairo2), or write SVG"},
}};

constexpr std::array<ErrorFamily, 4> kRunFamilies{{
    {"the simulation", kSimulation},
    {"comparing predicted and measured runs", kComparing},
    {"live execution", kLive},
    {"what this machine lacks (status 3)", kMachine},
}};

}  // namespace

std::span<const ErrorFamily> error_families_of_runs() { return kRunFamilies; }

}  // namespace debubble
