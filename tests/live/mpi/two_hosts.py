#!/usr/bin/env python3
"""Runs `debubble live --backend mpi` on two hosts: two network namespaces with names and addresses of their own, joined
by one wire. The result must equal the simulation, and the tensors must have crossed the wire.

    two_hosts.py DEBUBBLE

Needs root, ip, unshare and mpirun; prints "SKIPPED: ..." where one of them is missing. Leaves nothing behind.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

NAME = f"dbb{os.getpid() % 1000000}"  # names of interfaces have 15 letters at most
HOSTS = [NAME + "a", NAME + "b"]
ADDRESSES = ["10.213.7.1", "10.213.7.2"]  # seen in the two namespaces only
NETWORK = "10.213.7.0/30"


def shell(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def why_not():
    if os.geteuid() != 0:
        return "making network namespaces takes root"
    for tool in ("ip", "unshare", "mpirun"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    made = subprocess.run(["ip", "netns", "add", NAME + "t"], capture_output=True, text=True, check=False)
    if made.returncode == 0:
        made = subprocess.run(["ip", "netns", "exec", NAME + "t", "unshare", "-u", "hostname", NAME],
                              capture_output=True, text=True, check=False)
        subprocess.run(["ip", "netns", "del", NAME + "t"], capture_output=True, check=False)
    return made.stderr.strip() if made.returncode else None


class TwoHosts:
    def __enter__(self):
        try:
            for host in HOSTS:
                shell("ip", "netns", "add", host)
                shell("ip", "-n", host, "link", "set", "lo", "up")
            shell("ip", "link", "add", HOSTS[0], "netns", HOSTS[0], "type", "veth",
                  "peer", "name", HOSTS[1], "netns", HOSTS[1])
            for host, address in zip(HOSTS, ADDRESSES):
                shell("ip", "-n", host, "addr", "add", address + "/30", "dev", host)
                shell("ip", "-n", host, "link", "set", host, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in HOSTS:  # the wire goes with them
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)

    def bytes_sent(self, host):
        links = json.loads(shell("ip", "-n", host, "-s", "-j", "link", "show", "dev", host))
        return links[0]["stats64"]["tx"]["bytes"]


def on_host(number, command):
    """The command, as a shell text, with the network and the name of a host."""
    return ["ip", "netns", "exec", HOSTS[number], "unshare", "-u", "sh", "-c",
            f"hostname {HOSTS[number]} && {command}"]


def write_agent(folder):
    """What mpirun takes for ssh: AGENT ADDRESS COMMAND..."""
    path = os.path.join(folder, "agent")
    with open(path, "w", encoding="ascii") as agent:
        agent.write(f"""#!/bin/sh
shift
exec ip netns exec {HOSTS[1]} unshare -u sh -c "hostname {HOSTS[1]} && $*"
""")
    os.chmod(path, 0o755)
    return path


def live(folder, agent, debubble, flags):
    mpirun = ["mpirun", "-n", "4", "--host", ",".join(a + ":2" for a in ADDRESSES), "--oversubscribe",
              "--bind-to", "none", "--mca", "plm_rsh_agent", agent, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
              "--mca", "btl_tcp_if_include", NETWORK, "--mca", "oob_tcp_if_include", NETWORK]
    command = " ".join([*mpirun, debubble, "live", "--backend", "mpi", *flags])
    # Open MPI itself is not clean in the eyes of the sanitizers.
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
                   "TMPDIR": folder}
    done = subprocess.run(on_host(0, command), capture_output=True, text=True, timeout=100, check=False,
                          env=environment, cwd=folder)
    if done.returncode != 0:
        sys.exit(f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def comparable(report):
    for key in ("command_line", "version", "steady_period_ns", "assumptions", "notes"):
        report.pop(key, None)
    if report.get("limit"):
        report["limit"].pop("more_microbatches")  # a run is not simulated with others
    return report


def main():
    debubble = os.path.abspath(sys.argv[1])
    reason = why_not()
    if reason:
        print("SKIPPED:", reason)
        return 0
    with TwoHosts() as hosts, tempfile.TemporaryDirectory() as folder:
        agent = write_agent(folder)
        crossed = []
        for microbatches in (4, 204):
            flags = ["--schedule", "1f1b", "-p", "4", "-m", str(microbatches), "--times", "f=1,b=2",
                     "--clock", "logical", "--format", "json"]
            before = hosts.bytes_sent(HOSTS[0])
            measured = live(folder, agent, debubble, flags)
            crossed.append(hosts.bytes_sent(HOSTS[0]) - before)
            simulate = [flag for flag in flags if flag not in ("--clock", "logical")]
            predicted = json.loads(shell(debubble, "simulate", *simulate))
            if comparable(measured) != comparable(predicted):
                sys.exit(f"not equal:\n{json.dumps(measured)}\n{json.dumps(predicted)}")
        more = crossed[1] - crossed[0]
        print(f"equal to the simulation; the wire carried {crossed} bytes, {more} more for 200 more microbatches")
        # An activation each, with 128 bytes in front of it.
        return 0 if more >= 200 * 128 else 1


if __name__ == "__main__":
    sys.exit(main())
