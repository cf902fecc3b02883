"""A Slurm cluster of two virtual nodes on this machine's loopback, for the duration of a test or of a command.

`cluster.py COMMAND…` starts the cluster, runs the command in its environment (by default a shell), and ends the
cluster. The exit code is that of the command.

n1 has the feature kepler and two GPUs of GRES type kepler, n2 the same with hopper. The GPUs are simulated by other
device files. Both nodes are this host, so Open MPI would use shared memory between ranks of different nodes, and fail.
Jobs on both nodes need OMPI_MCA_btl=tcp,self, which case.py sets.
"""

import argparse
import atexit
import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "scontrol", "mpirun")
SKIPPED = 77
PR_SET_PDEATHSIG = 1
PREFIX = "gaussweep-slurm-"  # of a cluster's folder in /tmp

CONFIGURATION = """\
ClusterName=gaussweep
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
# A requeued job starts again only after its credential has expired, by default after 120 s. The credential must outlast
# a launch on a busy machine.
AuthInfo=socket={folder}/munge/socket,cred_expire=10
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdSpoolDir={folder}/spool.%n
# PMIx puts its sockets here; the two nodes need different folders.
TmpFS={folder}/tmp.%n
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SlurmdParameters=config_overrides
# A node that was set down stays down until it is resumed.
ReturnToService=0
KillWait=5
GresTypes=gpu
SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=2,sched_min_interval=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=1000 Feature=kepler \
  Gres=gpu:kepler:2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=1000 Feature=hopper \
  Gres=gpu:hopper:2
# Jobs in `urgent` take the nodes of jobs in `all`, which are requeued.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=60 State=UP PriorityTier=1 GraceTime=10
PartitionName=urgent Nodes=n1,n2 MaxTime=60 State=UP PriorityTier=2 PreemptMode=OFF
"""
GPUS = """\
NodeName=n1 Name=gpu Type=kepler File={folder}/gpu[0-1]
NodeName=n2 Name=gpu Type=hopper File={folder}/gpu[0-1]
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def why_not():
    """Returns the reason why no cluster can be started here, or ''."""
    missing = [p for p in PROGRAMS if shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin") is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: slurm-wlm munge openmpi-bin)"
    return "" if os.geteuid() == 0 else "slurmd must be started by root"


def skip_or_fail():
    """Skips the test without Slurm; fails in CI, where a skip would hide all of these tests."""
    reason = why_not()
    if not reason:
        return
    print(f"{'FAILED' if os.environ.get('CI') == 'true' else 'SKIPPED'}: {reason}")
    sys.exit(1 if os.environ.get("CI") == "true" else SKIPPED)


def job_processes(configuration):
    """Yields the pids of a cluster's job steps and their children, whose environment names its configuration."""
    mark = f"SLURM_CONF={configuration}".encode()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if (
                entry.name.isdigit()
                and int(entry.name) != os.getpid()
                and mark in (entry / "environ").read_bytes().split(b"\0")
            ):
                yield int(entry.name)
        except OSError:
            continue  # it has ended


def reap(configuration):
    """Waits for the end of the test, even by a crash, ends its remaining processes, and deletes its folder."""
    folder = pathlib.Path(configuration).parent
    if folder.parent != pathlib.Path("/tmp") or not folder.name.startswith(PREFIX):
        sys.exit(f"cluster.py: {folder} is not the folder of a cluster (/tmp/{PREFIX}…)")
    sys.stdin.read()
    for _ in range(20):  # a process may have started another before it was killed
        left = list(job_processes(configuration))
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not left:
            break
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A Slurm cluster. The constructor starts it, or raises an error with the daemons' logs. `stop` ends it, and so
    does the end of Python."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp"))
        self.folder.chmod(0o755)
        self.configuration = self.folder / "slurm.conf"
        self.daemons = []
        self.reaper = subprocess.Popen(
            [sys.executable, "-B", __file__, "--reap", str(self.configuration)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        atexit.register(self.stop)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self._write()
        try:
            self._start()
        except Exception as error:
            logs = "".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.log")))
            self.stop()
            raise RuntimeError(f"Slurm does not start: {error}\n{logs}") from error

    def _write(self):
        host = socket.gethostname().split(".")[0]
        self.configuration.write_text(CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(3)))
        (self.folder / "gres.conf").write_text(GPUS.format(folder=self.folder))
        for name in ("state", "munge", "tmp.n1", "tmp.n2", "spool.n1", "spool.n2"):
            (self.folder / name).mkdir()
        # Slurm sets CUDA_VISIBLE_DEVICES only for device files, not for plain files.
        for name, device in (("gpu0", "/dev/null"), ("gpu1", "/dev/zero")):
            (self.folder / name).symlink_to(device)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        user = pwd.getpwnam("munge")
        for path in (key.parent, key):
            os.chown(path, user.pw_uid, user.pw_gid)

    def _daemon(self, name, *arguments, **options):
        with open(self.folder / f"{name}.out.log", "w", encoding="utf-8") as log:
            self.daemons.append(
                subprocess.Popen(
                    [shutil.which(arguments[0]) or f"/usr/sbin/{arguments[0]}", *map(str, arguments[1:])],
                    env=self.environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    preexec_fn=die_with_parent,
                    start_new_session=True,
                    **options,
                )
            )

    def _start(self):
        munge = self.folder / "munge"
        self._daemon(
            "munged",
            "munged",
            "--foreground",
            f"--socket={munge}/socket",
            f"--key-file={munge}/key",
            f"--pid-file={munge}/pid",
            f"--log-file={munge}/log",
            f"--seed-file={munge}/seed",
            user="munge",
            group="munge",
            extra_groups=[],
        )
        self.wait_for(lambda: (munge / "socket").exists(), 60, "munged opens its socket")
        self._daemon("slurmctld", "slurmctld", "-D", "-f", self.configuration)
        for node in ("n1", "n2"):
            self._daemon(node, "slurmd", "-D", "-N", node, "-f", self.configuration)
        # sinfo lists each of the two nodes once per partition.
        self.wait_for(
            lambda: self.output("sinfo", "-h", "-N", "-o", "%T", check=False).split() == ["idle"] * 4,
            60,
            "both nodes are idle",
        )

    def environment(self, **changes):
        # Drops the variables of a batch job in which these tests may run.
        outer = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "OMPI_", "PMIX_"))}
        return {
            **outer,
            "PATH": os.environ["PATH"] + ":/usr/sbin",
            "SLURM_CONF": str(self.configuration),
            "CUDA_VISIBLE_DEVICES": "",
            **changes,
        }

    def run(self, *command, **options):
        options = {
            "env": self.environment(),
            "stdin": subprocess.DEVNULL,
            "capture_output": True,
            "text": True,
            "timeout": 120,
            **options,
        }
        return subprocess.run([str(c) for c in command], check=False, **options)

    def output(self, *command, check=True):
        done = self.run(*command)
        if check and done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stdout}{done.stderr}"
            )
        return done.stdout

    def wait_for(self, condition, seconds, what):
        deadline = time.monotonic() + seconds
        while not condition():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise RuntimeError(f"{' '.join(daemon.args)} ended with {daemon.returncode}")
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"not within {seconds} s: {what}\n{self.output('scontrol', 'show', 'job', check=False)}"
                )
            time.sleep(0.1)

    def job(self, number):
        """Returns the fields of a job by Slurm's names."""
        text = self.output("scontrol", "show", "job", number, "-o").splitlines()[0]
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def wait_for_end(self, number, seconds=400):
        """Returns the job's exit code after it has reached a final state."""
        last = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE")
        self.wait_for(lambda: self.job(number)["JobState"] in last, seconds, f"the end of job {number}")
        return int(self.job(number)["ExitCode"].split(":")[0])

    def stop(self):
        if self.daemons:
            self.run("scancel", "--user=root", timeout=60)
            time.sleep(1)
        daemons, self.daemons = self.daemons, []
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.reaper.stdin.close()
        self.reaper.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reap", metavar="CONFIGURATION", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND…")
    options = parser.parse_args()
    if options.reap:
        return reap(options.reap)
    reason = why_not()
    if reason:
        parser.error(reason)
    cluster = Cluster()
    variables = cluster.environment(OMPI_MCA_btl="tcp,self")  # both nodes are this host
    command = options.command or [os.environ.get("SHELL", "/bin/sh")]
    return subprocess.run(command, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
