// What is asked and given: flags, files, profiles, models. Rows of docs/errors.md.
#include <array>

#include "tools/explain/error_table.hpp"

namespace debubble {

namespace {

constexpr std::array<ErrorRow, 24> kCommandLine{{
    {"C001", "a flag contradicts the schedule or the schedule table",
     "leave the flag out, or choose a schedule that allows it"},
    {"C002", "a value that is not one of the words the flag accepts", "use one of the words in the message"},
    {"C003", "nothing of that name: no such topology, transform, model, hardware, format, list, op, iteration or topic",
     "correct the spelling; `debubble list` shows what exists"},
    {"C004", "a flag that has an effect only together with another one",
     "add what the message names, or leave the flag out"},
    {"C005", "a file cannot be read", "check the path and its permissions"},
    {"C006", "an item that does not have the form the flag asks for, such as KEY=VALUE",
     "write it like the example in the message"},
    {"C007", "a key or an item is given twice", "give each once"},
    {"C009", "flags, or values of one flag, that contradict or exclude each other", "keep one of them"},
    {"C011", "not a number", "write digits, with a decimal point where a fraction is allowed"},
    {"C012", "a number outside the range of its flag", "use a number in the range that the message names"},
    {"C014", "a number whose unit is missing or unknown",
     "write the unit: ns, us, ms, s; B, KiB, MiB, GiB; GB/s, Gbit/s"},
    {"C017", "a key that the flag does not know", "use one of the keys in the message"},
    {"C031", "the `--fail-if` expression is empty, malformed or nested too deeply",
     "write it like 'bubble>25% || mem>76GiB'"},
    {"C032", "`--fail-if` names a number that the report does not have", "use one of the names in the message"},
    {"C033", "a `--fail-if` value of another kind than its number: a size for a time, a unit for a count",
     "write the value in the unit of the number it is compared with"},
    {"C036", "`--fail-if` names a number that this run does not know",
     "give what the number needs: throughput needs a profile or a model"},
    {"C050",
     "the place for an output cannot be used: a directory, a folder with files in it, a file that must not be "
     "overwritten, rows of another sweep",
     "name another file or folder"},
    {"C051", "an output cannot be opened or written",
     "the message has the system's reason: permissions, a missing folder, a full disk"},
    {"C060", "no such verb", "`debubble --help` lists the verbs"},
    {"C061", "a flag or an argument that is unexpected, missing or malformed", "see `debubble VERB --help`"},
    {"C065", "the value is empty", "give a value, or leave the flag out"},
    {"C066", "two results for one file, or a result for a file that it is made from",
     "name a file of its own for each"},
    {"C080", "the program to be measured cannot be started", "check its name, its path and its permissions"},
    {"C087",
     "a flag that means nothing here: of another backend or format, or a model of what this command measures for "
     "real",
     "leave the flag out"},
}};

constexpr std::array<ErrorRow, 26> kFiles{{
    {"G002", "a line that does not have the form of its file", "write it like the example in the message"},
    {"G004", "a name or an entry appears twice", "keep one, or rename it"},
    {"G014", "a reference to something that the file does not have or that cannot be referred to",
     "correct the name, or add what it refers to"},
    {"G024",
     "a character that the format does not allow: a control character, a bare carriage return, a byte order mark",
     "save the file as plain UTF-8 text"},
    {"K001", "a damaged file: not whole, or changed after it was written", "make or copy the file again"},
    {"P001", "not JSON, or cut off",
     "look at the line and column in the message; write the file again if it is cut off"},
    {"P002", "not UTF-8", "save the file as UTF-8"},
    {"P003", "a key appears twice in one object", "keep one of them"},
    {"P004", "a number outside its range, or too large to be counted",
     "use a number in the range that the message names"},
    {"P005", "an unknown key", "correct the spelling or remove the key"},
    {"P006", "something that the format requires is missing: a key, a column, a citation", "add it"},
    {"P007", "a value of the wrong type, such as a fraction where a whole number belongs",
     "write the type that the message asks for"},
    {"P010", "a file of another format or version than the one expected",
     "check that this is the file you meant, and which version of debubble wrote it"},
    {"P011", "a value that is not one of the key's words", "use one of the words in the message"},
    {"P012", "values that are impossible, or contradict each other or the run",
     "correct one of the values that the message names"},
    {"P016", "nothing to work with: no layers, no ops, no iterations, no scenarios, no profiles",
     "add some, or check that this is the file or folder you meant"},
    {"P017",
     "more than can be read: too many layers, nodes or values, or too long; docs/errors.md ends with the limits",
     "make the file smaller; a shorter recording usually suffices"},
    {"P018", "nested too deeply", "remove the extra levels"},
    {"P019", "a text is empty", "write the text, or leave the key out where it is optional"},
    {"P022", "further problems that are not shown", "fix the ones that are shown and run again"},
    {"P030", "a launch script depends on something that its text does not say: a variable, an argument, a file",
     "give it as the message says: --set, --args, --file, --environment or --gpus"},
    {"P031", "a launch script that cannot be followed: syntax that is not known, or too much work",
     "fill in what is left open, or give the arguments alone in a file"},
    {"P032", "a launch script is not run, for its guard (bubblewrap) is missing or cannot be made here",
     "apt-get install bubblewrap, or leave --run-script out: then the script is read, and nothing is run"},
    {"P033", "the run of a launch script came to nothing: it failed, took too long or printed too much",
     "give what it needs by --set, --args or --file, or leave --run-script out"},
    {"P034", "bash and the reading of a launch script differ in what changes time or memory",
     "write the arguments alone in a file, or leave --run-script out to take what is read"},
    {"P035", "the framework itself refuses what the launch or configuration asks for",
     "do what the rule in the message asks for; `debubble explain framework NAME` prints all of them"},
}};

constexpr std::array<ErrorRow, 13> kLayers{{
    {"A001", "a pattern for layers or steps is not a regular expression", "correct it; the message has the position"},
    {"A002", "no range is a layer, or no layer was seen",
     "run the script with -m debubble_hooks, or name its ranges with --layers"},
    {"A003", "no GPU work was recorded, or no training step was timed on the CPU",
     "record while the program works on the GPU, with CUDA kernels included; on the CPU while it trains"},
    {"A004", "no GPU work was launched from inside a layer",
     "check which ranges count as layers, and that the ranges surround the launches"},
    {"L004", "a stage without layers, or fewer layers than stages",
     "use fewer stages, or move layers into the empty stage"},
    {"L005", "not one number of layers for every stage", "give as many numbers as there are stages"},
    {"L006", "the layers of the model and the layers in the partition differ",
     "make the numbers add up to the model's layers"},
    {"L007", "the times, sizes or layers of a stage add up to more than can be counted",
     "check the units of the layers' times and sizes"},
    {"L009", "a share or a factor that is impossible", "use a number in the range that the message names"},
    {"L011", "a layer without a backward time", "measure the backward as well, or add the time"},
    {"L020",
     "profiles that cannot be used together: another model, device, number format or layers, an unknown size, or "
     "two of one size",
     "give profiles of one model that differ in their sizes only"},
    {"L024", "several profiles, and no size is chosen", "add --microbatch-size or --sequence"},
    {"L025", "the wanted size cannot be reached from the sizes that were measured", "measure sizes closer to it"},
}};

constexpr std::array<ErrorRow, 11> kModels{{
    {"F001", "a size of the model is missing or out of range", "give the size that the message names"},
    {"F002", "more tokens in a sample than the model has positions", "use a smaller --sequence"},
    {"F003",
     "sizes that cannot be divided evenly: heads, tokens, experts or blocks over ranks, a microbatch into pieces",
     "use one of the numbers that fit, as in the message"},
    {"F018", "the hardware does not have this number format, or the table is of other hardware",
     "choose another --dtype or --hardware"},
    {"F025", "a finding: on some devices the ranks of a group use slower links than on others",
     "lay the ranks out with --rank-devices or --rank-order"},
    {"F026", "a finding: the GPU waits for the host to launch kernels", "add --cuda-graphs on, or larger microbatches"},
    {"F030", "a finding: something in the model's file is not modelled",
     "judge whether it matters; the message says what was left out"},
    {"F033", "a part of a model or of a framework's configuration for which there is no model of its cost",
     "measure it, or leave the named key out to see what the rest costs"},
    {"F040", "a finding: the run does not fit in its devices' memory (status 1)",
     "follow the remedies in the message: other schedule, recomputation, offloading, ZeRO, smaller microbatches"},
    {"F041", "a device without memory, or memory sizes that do not fit the devices",
     "give one size for all devices, or one for each, larger than --memory-outside"},
    {"W012", "the built-in workload cannot compute this kind of model, or part of it",
     "measure your own training script instead: debubble profile -- python train.py"},
}};

constexpr std::array<ErrorFamily, 4> kInputFamilies{{
    {"the command line", kCommandLine},
    {"files", kFiles},
    {"profiles, layers and partitions", kLayers},
    {"models and memory", kModels},
}};

}  // namespace

std::span<const ErrorFamily> error_families_of_input() { return kInputFamilies; }

}  // namespace debubble
