// What is asked and given: flags, files, profiles, models. Rows of docs/errors.md.
#include <array>

#include "tools/explain/error_table.hpp"

namespace debubble {

namespace {

constexpr std::array<ErrorRow, 24> kCommandLine{{
    {"C001", "B031", "a flag contradicts the schedule or the schedule table",
     "leave the flag out, or choose a schedule that allows it"},
    {"C002", "B011 O002 O007 O026", "a value that is not one of the words the flag accepts",
     "use one of the words in the message"},
    {"C003", "C062 C063 C064 C093 F011 F013 I014 M001 W010 Y002 Y003",
     "nothing of that name: no such topology, transform, model, hardware, format, list, op, iteration or topic",
     "correct the spelling; `debubble list` shows what exists"},
    {"C004", "B012 B014 B033 C067 C091 F014 F024 F042 J037", "a flag that has an effect only together with another one",
     "add what the message names, or leave the flag out"},
    {"C005", "R005", "a file cannot be read", "check the path and its permissions"},
    {"C006", "B002 B032 C016 C083 C094 E001 F012 F016 M019 O001 O010 O022 O025",
     "an item that does not have the form the flag asks for, such as KEY=VALUE",
     "write it like the example in the message"},
    {"C007", "B005 C018 O006", "a key or an item is given twice", "give each once"},
    {"C009", "B018 C019 C086 C090 F010", "flags, or values of one flag, that contradict or exclude each other",
     "keep one of them"},
    {"C011", "O011", "not a number", "write digits, with a decimal point where a fraction is allowed"},
    {"C012", "B010 B034 C008 C013 C020 C037 C070 C071 C088 C096 F015 M003 O003 O008 O028 O029",
     "a number outside the range of its flag", "use a number in the range that the message names"},
    {"C014", "C015", "a number whose unit is missing or unknown",
     "write the unit: ns, us, ms, s; B, KiB, MiB, GiB; GB/s, Gbit/s"},
    {"C017", "B003 C095 M002", "a key that the flag does not know", "use one of the keys in the message"},
    {"C031", "C030 C035", "the `--fail-if` expression is empty, malformed or nested too deeply",
     "write it like 'bubble>25% || mem>76GiB'"},
    {"C032", "", "`--fail-if` names a number that the report does not have", "use one of the names in the message"},
    {"C033", "C034", "a `--fail-if` value of another kind than its number: a size for a time, a unit for a count",
     "write the value in the unit of the number it is compared with"},
    {"C036", "", "`--fail-if` names a number that this run does not know",
     "give what the number needs: throughput needs a profile or a model"},
    {"C050", "C081 C084 C085 Q032",
     "the place for an output cannot be used: a directory, a folder with files in it, a file that must not be "
     "overwritten, rows of another sweep",
     "name another file or folder"},
    {"C051", "C052 R006", "an output cannot be opened or written",
     "the message has the system's reason: permissions, a missing folder, a full disk"},
    {"C060", "C042", "no such verb", "`debubble --help` lists the verbs"},
    {"C061", "C082 O027", "a flag or an argument that is unexpected, missing or malformed",
     "see `debubble VERB --help`"},
    {"C065", "C010 C040", "the value is empty", "give a value, or leave the flag out"},
    {"C066", "Q033", "two results for one file", "name a file for each"},
    {"C080", "", "the program to be measured cannot be started", "check its name, its path and its permissions"},
    {"C087", "B019 B035 C072 C089 M028 O021",
     "a flag that means nothing here: of another backend or format, or a model of what this command measures for "
     "real",
     "leave the flag out"},
}};

constexpr std::array<ErrorRow, 21> kFiles{{
    {"G002", "C041 G003 G012 G013", "a line that does not have the form of its file",
     "write it like the example in the message"},
    {"G004", "G016 H012 Q012", "a name or an entry appears twice", "keep one, or rename it"},
    {"G014", "G015 G021 I013", "a reference to something that the file does not have or that cannot be referred to",
     "correct the name, or add what it refers to"},
    {"G017", "", "the layers of a graph depend on each other in a cycle",
     "remove one of the edges that the message names"},
    {"G024", "T022",
     "a character that the format does not allow: a control character, a bare carriage return, a byte order mark",
     "save the file as plain UTF-8 text"},
    {"K001", "N002 R003", "a damaged file: not whole, or changed after it was written", "make or copy the file again"},
    {"P001", "B020 H001 I001 J001 K004 O012 Q001 V001 W020", "not JSON, or cut off",
     "look at the line and column in the message; write the file again if it is cut off"},
    {"P002", "B021 G001 H002 I002 J002 K003 O013 Q002 V002 W021", "not UTF-8", "save the file as UTF-8"},
    {"P003", "B022 G006 H003 I003 J003 O014 Q003 V003 W022", "a key appears twice in one object", "keep one of them"},
    {"P004", "B023 G009 G010 G011 H004 H009 I004 I009 J004 J009 K009 O019 P009 Q015 V004 V009",
     "a number outside its range, or too large to be counted", "use a number in the range that the message names"},
    {"P005", "B024 C043 G005 H005 I005 J005 O015 Q005 V005 W016", "an unknown key",
     "correct the spelling or remove the key"},
    {"P006", "B025 G007 G019 H006 I006 J006 K008 N003 O016 P013 P015 P021 Q006 Q013 Q017 V006 W013",
     "something that the format requires is missing: a key, a column, a citation", "add it"},
    {"P007", "B026 G008 H007 H008 I007 I008 J007 J008 K007 O017 P008 Q007 Q020 V007 V008 W014",
     "a value of the wrong type, such as a fraction where a whole number belongs",
     "write the type that the message asks for"},
    {"P010", "D001 F020 F031 H010 J010 J020 K005 N001 Q010 Q030 R001 R002 V010 W011",
     "a file of another format or version than the one expected",
     "check that this is the file you meant, and which version of debubble wrote it"},
    {"P011", "F021 J022 P027 V011", "a value that is not one of the key's words",
     "use one of the words in the message"},
    {"P012", "D003 F017 F022 H011 I012 J024 J027 O009 P014 P020 P024 P025 P026 Q014 R004 V012 V015",
     "values that are impossible, or contradict each other or the run",
     "correct one of the values that the message names"},
    {"P016", "C097 D011 G018 Q011 T020 T021 V016",
     "nothing to work with: no layers, no ops, no iterations, no scenarios, no profiles",
     "add some, or check that this is the file or folder you meant"},
    {"P017", "A005 G023 K002", "more than can be read: too many layers or nodes, or too long",
     "make the file smaller; a shorter recording usually suffices"},
    {"P018", "B027 H018 I010 J018 O018 Q018 V018 W023", "nested too deeply", "remove the extra levels"},
    {"P019", "H019 I011 J019 Q019 V019", "a text is empty",
     "write the text, or leave the key out where it is optional"},
    {"P022", "F023 G022 H022 I019 J017 K010 N006 O020 Q022 T032 V017 V029 W017", "further problems that are not shown",
     "fix the ones that are shown and run again"},
}};

constexpr std::array<ErrorRow, 13> kLayers{{
    {"A001", "", "a pattern for layers or steps is not a regular expression",
     "correct it; the message has the position"},
    {"A002", "", "no range is a layer, or no layer was seen",
     "run the script with -m debubble_hooks, or name its ranges with --layers"},
    {"A003", "K006 N004", "no GPU work was recorded, or no training step was timed on the CPU",
     "record while the program works on the GPU, with CUDA kernels included; on the CPU while it trains"},
    {"A004", "", "no GPU work was launched from inside a layer",
     "check which ranges count as layers, and that the ranges surround the launches"},
    {"L004", "L001 L002", "a stage without layers, or fewer layers than stages",
     "use fewer stages, or move layers into the empty stage"},
    {"L005", "E020", "not one number of layers for every stage", "give as many numbers as there are stages"},
    {"L006", "E021", "the layers of the model and the layers in the partition differ",
     "make the numbers add up to the model's layers"},
    {"L007", "L008 L012 S043", "the times, sizes or layers of a stage add up to more than can be counted",
     "check the units of the layers' times and sizes"},
    {"L009", "L010", "a share or a factor that is impossible", "use a number in the range that the message names"},
    {"L011", "", "a layer without a backward time", "measure the backward as well, or add the time"},
    {"L020", "L021 L022 L023",
     "profiles that cannot be used together: another model, device, number format or layers, an unknown size, or "
     "two of one size",
     "give profiles of one model that differ in their sizes only"},
    {"L024", "", "several profiles, and no size is chosen", "add --microbatch-size or --sequence"},
    {"L025", "L026 L027", "the wanted size cannot be reached from the sizes that were measured",
     "measure sizes closer to it"},
}};

constexpr std::array<ErrorRow, 10> kModels{{
    {"F001", "F032 W001", "a size of the model is missing or out of range", "give the size that the message names"},
    {"F002", "W005", "more tokens in a sample than the model has positions", "use a smaller --sequence"},
    {"F003", "B013 E022 F004 F005 F006 W002 W003 W004",
     "sizes that cannot be divided evenly: heads, tokens, experts or blocks over ranks, a microbatch into pieces",
     "use one of the numbers that fit, as in the message"},
    {"F018", "F019", "the hardware does not have this number format, or the table is of other hardware",
     "choose another --dtype or --hardware"},
    {"F025", "", "a finding: on some devices the ranks of a group use slower links than on others",
     "lay the ranks out with --rank-devices or --rank-order"},
    {"F026", "", "a finding: the GPU waits for the host to launch kernels",
     "add --cuda-graphs on, or larger microbatches"},
    {"F030", "", "a finding: something in the model's file is not modelled",
     "judge whether it matters; the message says what was left out"},
    {"F040", "", "a finding: the run does not fit in its devices' memory (status 1)",
     "follow the remedies in the message: other schedule, recomputation, offloading, ZeRO, smaller microbatches"},
    {"F041", "F043 F044", "a device without memory, or memory sizes that do not fit the devices",
     "give one size for all devices, or one for each, larger than --memory-outside"},
    {"W012", "W015", "the built-in workload cannot compute this kind of model, or part of it",
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
