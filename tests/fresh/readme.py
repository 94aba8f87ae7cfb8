"""What README.md tells a stranger to type, read from it so that the test cannot say something else."""

import re


class Readme:
    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        build = re.search(r"^## Build\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL).group(1)
        typed, by_hand = (block.splitlines() for block in re.findall(r"^```bash\n(.*?)^```", build, re.M | re.S)[:2])
        self.first_command = typed[0]
        # "What the first one does, if you would rather do it yourself":
        self.apt_lines = [line for line in by_hand if line.startswith("apt-get ")]
        self.configure, self.build = (line for line in by_hand if line.startswith("cmake "))
        example = re.search(r"^```console\n\$ (debubble simulate .*?)\n(.*?)^(?:```|\$ )", text, re.M | re.S)
        self.example, self.example_output = example.group(1), example.group(2)

    def shows(self, output):
        """Whether the example prints what README shows; a line `...` there stands for any number of lines."""
        wanted, printed = self.example_output.splitlines(), output.splitlines()
        pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in wanted)
        return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None
