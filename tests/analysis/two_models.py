"""Makes synthetic results of one plan on two models of GPU or CPU, for tests that compare models.

    tests/run_python.sh tests/analysis/two_models.py FOLDER   # writes older.h5 and newer.h5

No time in them was measured. Times follow from invented limits of a model: time per kernel launch, copy rate and GEMM
rate. So tests know the ratios of times between the models.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import fixture


@dataclass
class Model:
    name: str
    copy: float  # bytes per second
    float_: float  # FLOP/s of GEMM
    double: float
    launch: float  # seconds per kernel
    cpu: str
    host: str
    capability: int = 90

    @property
    def is_gpu(self):
        return self.capability > 0


OLDER = Model("NVIDIA Synthetic A100", 2.5e12, 4.0e13, 4.0e13, 4e-6, "Synthetic CPU A", "node1")
NEWER = Model("NVIDIA Synthetic B200", 4.0e12, 4.4e13, 5.0e13, 3.6e-6, "Synthetic CPU B", "node2")
OLDER_CPU = Model("Synthetic CPU A", 1e11, 1e12, 5e11, 0, "Synthetic CPU A", "node1", 0)
NEWER_CPU = Model("Synthetic CPU B", 2e11, 4e12, 2e12, 0, "Synthetic CPU B", "node2", 0)

DOMINANT = "diagonally_dominant"
ON_CPU = {"gesv", "getrf", "potrf", "trtri", "geinv", "poinv"}  # problems with trials of lapack too
CUSOLVER = ("cusolver", 0.05, 0.5, 0.3)
# (problem, smallest size, largest size, matrix): methods. A method is (name, kernels per run, fraction of the GEMM
# rate, fraction of the copy rate); a number of kernels below 1 is multiplied by n. With these numbers, the fastest
# methods differ between sizes and between models.
PLAN = {
    ("gesv", 256, 2048, DOMINANT): (CUSOLVER, ("gauss_jordan_global", 1, 0.02, 0.5), ("lu_fixed_point", 40, 0.2, 0.3)),
    ("gesv", 4096, 16384, "uniform"): (CUSOLVER,),
    ("getrf", 256, 4096, DOMINANT): (CUSOLVER, ("fixed_point", 40, 0.2, 0.3)),
    ("trsv", 256, 8192, "triangular"): (
        ("cublas", 1, 0.9, 0.05),
        ("doubling", 12, 0.9, 0.03),
        ("doubling_shared", 9, 0.9, 0.025),
        ("pair_sweep", 0.03, 0.9, 0.07),
        ("column_sweep", 0.1, 0.9, 0.5),
    ),
    ("potrf", 256, 8192, "spd"): (CUSOLVER, ("blocked_simultaneous", 0.02, 0.1, 0.3)),
    ("trtri", 256, 4096, "triangular"): (CUSOLVER, ("gets", 0.5, 0.05, 0.3), ("gets_adaptive", 0.2, 0.2, 0.3)),
    ("geinv", 256, 4096, DOMINANT): (CUSOLVER, ("gauss_jordan", 1, 0.03, 0.5)),
    ("poinv", 256, 4096, "spd"): (CUSOLVER, ("cholesky_gets", 0.4, 0.1, 0.3)),
    ("gemm", 256, 4096, "uniform"): (("cublas", 1, 1, 0.9), ("global", 1, 0.05, 0.3), ("shared", 1, 0.2, 0.5)),
}
# Operations of a problem, as a factor of n**3.
FLOPS = {"gesv": 2 / 3, "getrf": 2 / 3, "potrf": 1 / 3, "trtri": 1 / 3, "geinv": 2, "poinv": 1, "gemm": 2}


def night(model, run="run-1", seed=1, uuid="GPU-1", slow=1.0, plan=PLAN):
    """Returns a fixture.Night with a run of the plan on a model. `slow`: factor on all times."""
    result = fixture.Night("night", seed)
    result.hosts = [{"host": model.host, "cpu": model.cpu, "os": "Linux", "cores": 8, "memory_bytes": 1 << 34}]
    gpu = {"gpu_uuid": uuid, "gpu_name": model.name, "capability": model.capability} if model.is_gpu else {}
    result.devices = [
        dict(gpu, host=model.host, copy_bytes_per_second=model.copy, gemm_flops_float=model.float_)
        | dict(gemm_flops_double=model.double, driver_version=13000)
    ]
    same = {"run_id": run, "host": model.host}
    for (problem, first, largest, kind), methods in plan.items():
        for precision in ("float", "double"):
            rate = model.float_ if precision == "float" else model.double
            n = first
            while n <= largest:
                for uplo in ("lower", "upper") if problem == "trsv" else ("",):
                    more = dict(same, uplo=uplo, precision=precision, matrix=kind, reference_method=methods[0][0])
                    more["matrix_digest"] = f"{problem} {precision} {n} {kind} {uplo}"
                    flops, size = (
                        FLOPS[problem] * n**3 if problem in FLOPS else n**2,
                        4 if precision == "float" else 8,
                    )
                    more.update(problem_flops=flops, problem_bytes=size * n * n * (0.5 if uplo else 1.0))
                    for name, kernels, rate_fraction, copy_fraction in methods:
                        count = max(1, round(kernels * n)) if kernels < 1 else kernels
                        count = n if name.startswith("gauss_jordan") else count
                        work = flops / (rate_fraction * rate) + more["problem_bytes"] / (copy_fraction * model.copy)
                        launches = count * model.launch
                        columns = dict(more, key=f"{problem} {name} {precision} {n} {kind} {uplo}")
                        if model.is_gpu:
                            columns.update(gpu, backend="cuda", kernels=count, waits=0, queue_seconds=launches)
                            columns.update(device_index=0, launch_bound=int(launches > work), sm_clock_mhz=1900.0)
                        else:
                            columns.update(backend="emulated" if name != methods[0][0] else "host")
                            work *= 50 if name != methods[0][0] else 1
                        result.trial(problem, name, n, slow * max(launches, work), scatter=0.004, **columns)
                    if model.is_gpu and problem in ON_CPU:
                        columns = dict(more, key=f"{problem} lapack {precision} {n} {kind} {uplo}", backend="host")
                        result.trial(problem, "lapack", n, flops / 2e11 + 2e-5, **columns)
                n *= 2
    return result


def write(folder):
    """Writes one run per model; returns the two files."""
    files = [Path(folder) / f"{name}.h5" for name in ("older", "newer")]
    for file, model, uuid in zip(files, (OLDER, NEWER), ("GPU-1", "GPU-2")):
        night(model, run=f"run-{uuid}", seed=len(uuid) + int(uuid[-1]), uuid=uuid).write(file)
    return files


if __name__ == "__main__":
    print(*write(sys.argv[1]))
