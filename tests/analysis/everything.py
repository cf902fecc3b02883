"""Makes synthetic results that give data to every section of the report, with every status and every paper's plan."""

import numpy as np

import fixture


def everything(seed=1, gpus=tuple(fixture.GPUS)):
    """Returns results that give data to every section of the report, with every status and every paper's plan."""
    night = fixture.Night("everything", seed)
    newer_gpu = "NVIDIA Test 100"
    for n in (256, 512, 900, 1024, 2048, 4096):
        for precision in ("double", "float"):
            cpu = n**3 * 1e-9
            more = dict(
                stages=[("eliminate", 1, cpu, np.nan), ("back_substitute", 1, cpu / n, np.nan)], matrix="cauchy"
            )
            night.trial("gesv", "gauss_serial", n, cpu, precision=precision, **more)
            night.trial("gesv", "gauss_pivot_serial", n, cpu, precision=precision)
            night.trial("gesv", "gauss_jordan_serial", n, 1.5 * cpu, precision=precision)
            night.trial("gesv", "lapack", n, cpu / 20, precision=precision, matrix="cauchy")
            night.trial("gesv", "lapack", n, cpu / 20, precision=precision)
            for gpu in gpus:
                slow = fixture.GPUS[gpu][2] if n > 512 else 0.7
                for method, f in (("gauss_jordan_global", 3), ("gauss_jordan_shared", 1)):
                    night.trial(
                        "gesv",
                        method,
                        n,
                        cpu / 60 * f * slow,
                        precision=precision,
                        gpu=gpu,
                        parameters={"grid": "full"},
                        stages=[
                            ("column_to_host", n, cpu / 900, np.nan),
                            ("switch", n, cpu / 800, 1.0),
                            ("eliminate", n, cpu / 70 * f, 0.9375),
                        ],
                    )
                night.trial("gesv", "cusolver", n, 1e-4 + cpu / 4000 * slow, precision=precision, gpu=gpu)
                for method, f in (("direct", 12), ("global", 4), ("shared", 1), ("cublas", 0.1)):
                    seconds = 1e-5 + cpu / 500 * f * slow
                    energy = {"energy_source": "counter", "idle_power_w": 80.0, "energy_uncertainty": seconds}
                    night.trial(
                        "gemm",
                        method,
                        n,
                        seconds,
                        precision=precision,
                        gpu=gpu,
                        matrix="ones",
                        parameters={} if method == "cublas" else {"tile": "32"},
                        **(energy | {"energy_joules": 300 * seconds} if n == 1024 else {}),
                    )
        night.trial("gemm", "openblas", n, cpu / 30, matrix="ones")
    for gpu in gpus:
        for blocks in (1, 2, 4, 8, 14, 32):
            for method in ("gauss_cyclic_halving", "gauss_cyclic_decrement"):
                for substitution in ("reduction", "pipelined", "pipelined_locks"):
                    for n in (900, 1800, 4500):
                        wrong = blocks > 1
                        night.trial(
                            "gesv",
                            method,
                            n,
                            n**3 * (3e-10 / blocks + 2e-11) * (1 if substitution == "reduction" else 1.02),
                            gpu=gpu,
                            parameters=dict(blocks=blocks, threads=0, back_substitution=substitution),
                            status="failed" if wrong else "pass",
                            residual_ratio=10.0 ** (3 + blocks / 4) if wrong else 0.5,
                        )
            more = dict(matrix="cauchy", parameters=dict(blocks=blocks, threads=0, back_substitution="reduction"))
            night.trial("gesv", "gauss_cyclic_decrement", 900, 900**3 * 3e-10 / blocks**0.5, gpu=gpu, **more)
        for threads in (0, 32, 64, 128, 256, 512, 1024):
            more = dict(gpu=gpu, parameters=dict(threads=threads))
            night.trial("gesv", "gauss_block", 900, 0.2 * (1 / (threads or 1024) + 0.001), **more)
    _triangular_and_soriano(night, gpus)
    _iterative(night, newer_gpu)
    _broken(night, newer_gpu)
    for record in night.records:
        if record["problem"] == "gesv":
            record["reference_method"] = "cusolver"
    return night


def _triangular_and_soriano(night, gpus):
    for n in (512, 1024, 2048, 4096):
        for method in ("serial", "serial_rows"):
            night.trial("trsv", method, n, n * n * 1e-9, matrix="triangular")
        for problem in ("potrf", "trtri", "geinv"):
            night.trial(problem, "lapack", n, n**3 * 1e-11, matrix="spd")
        for gpu in gpus:
            slow = fixture.GPUS[gpu][2]
            for method, f in (("column_sweep", 2), ("pair_sweep", 1.2), ("doubling", 9), ("doubling_shared", 4.4)):
                night.trial("trsv", method, n, n * 3e-6 * f * slow, gpu=gpu, matrix="triangular")
            t = n**3 * 2e-12 * slow
            kernels = [
                ("topleft", t / 50, 0.25),
                ("strip", t / 20, 0.5),
                ("diagupdate", t / 30, 1.0),
                ("loupdate", t, 1.0),
            ]
            steps = n // 16
            summed = [(kernel, steps, seconds, occupancy) for kernel, seconds, occupancy in kernels]
            separate = [(kernel, 1, seconds / steps, occupancy) for kernel, seconds, occupancy in kernels] * steps
            more = dict(precision="float", parameters={"topleft": "square"}, stages=separate if n == 512 else summed)
            night.trial("potrf", "blocked", n, t, gpu=gpu, matrix="spd", **more)
            night.trial("potrf", "blocked_simultaneous", n, t / 3, gpu=gpu, matrix="spd", precision="float")
            night.trial(
                "trtri",
                "gets",
                n,
                t,
                gpu=gpu,
                matrix="triangular",
                precision="float",
                stages=[("identity", 1, t / 99, 1.0)]
                + [(f"gets_{i}", n // 8, t / 8, 1 - 0.4 * (i > 6)) for i in range(1, 9)],
            )
            night.trial("poinv", "cholesky_gets", n, 3 * t, gpu=gpu, matrix="blur", precision="double")
            night.trial(
                "geinv",
                "gauss_jordan",
                n,
                3 * t,
                gpu=gpu,
                precision="float",
                parameters={"grid": "full"},
                stages=[
                    ("column_copy", n, t / 90, np.nan),
                    ("switch", 3, t / 99, 1.0),
                    ("normalise", n, t / 80, 1.0),
                    ("update", n, 3 * t, 1.0),
                ],
            )
            night.trial("poinv", "cholesky_gets", n, 2 * t, gpu=gpu, matrix="spd", precision="float")
            more = dict(precision="float", convergence="converged", iterations=30, history=0.5 ** np.arange(30))
            night.trial("poinv", "gauss_seidel", n, t, gpu=gpu, matrix="spd", **more)


def _iterative(night, gpu):
    for n in (64, 128, 256):
        for matrix, ending, rate in (
            ("diagonally_dominant", "converged", 0.3),
            ("uniform", "diverged", 1.7),
            ("spd", "stagnated", 0.9),
        ):
            status = {"converged": "pass", "diverged": "diverged", "stagnated": "suspect"}[ending]
            night.trial(
                "getrf",
                "fixed_point",
                n,
                n * 1e-5,
                gpu=gpu,
                matrix=matrix,
                convergence=ending,
                iterations=20,
                history=rate ** np.arange(20.0),
                status=status,
                residual_ratio={"pass": 1.0, "diverged": np.inf, "suspect": 60.0}[status],
                parameters=dict(update="double_buffered", max_iterations=0, change_tolerance=0.0),
            )
        night.trial("getrf", "crout_serial", n, n**3 * 1e-9, matrix="diagonally_dominant")
        night.trial(
            "getrf",
            "fixed_point",
            n,
            n * 1e-5,
            gpu=gpu,
            matrix="wilkinson",
            convergence="converged",
            iterations=2 * n - 1,
            status="failed",
            residual_ratio=1e9,
            parameters=dict(update="double_buffered", max_iterations=0, change_tolerance=0.0),
        )
        for cap, tolerance in ((16, 0.0), (0, 1e-3)):
            night.trial(
                "getrf",
                "fixed_point",
                n,
                n * 1e-6,
                gpu=gpu,
                matrix="diagonally_dominant",
                convergence="max_iterations" if cap else "converged",
                iterations=8,
                parameters=dict(update="double_buffered", max_iterations=cap, change_tolerance=tolerance),
            )
        for method, error in (("lu_fixed_point", 2e-15), ("crout", 1e-15)):
            more = dict(gpu=gpu, matrix="diagonally_dominant", forward_error=error, backward_error=error)
            night.trial("gesv", method, n, n * 1e-05, **more)
    for condition in (1e2, 1e4, 1e6, 1e8):
        for method in ("cusolver", "gauss_block"):
            more = dict(
                forward_error=condition * 1e-16, matrix_digest=f"cond{condition:.0e}", key=f"{method}{condition:.0e}"
            )
            night.trial("gesv", method, 300, 0.001, gpu=gpu, matrix="condition", **more)


def _broken(night, gpu):
    """Adds trials that did not pass, some with texts that the page must escape."""
    for status, message in (
        ("skipped", "needs compute capability 12.0, the device has 9.0"),
        ("timeout", "no answer within 600 s"),
        ("crashed", "signal 11 <script>alert(1)</script> at step 7"),
        ("oom", "needs 300 GiB"),
        ("error", "cuda: illegal address\x01"),
    ):
        for n in (2048, 4096):
            night.trial("gesv", f"method_{status}", n, None, status=status, message=f"{message} n = {n}", gpu=gpu)
    more = dict(gpu=gpu, parameters={"threads": 256}, throttled=1, throttle_reason="power cap", matrix="hilbert")
    night.trial("gesv", "gauss_block", 2048, 0.5, status="suspect", residual_ratio=50.0, **more)
    more = dict(status="failed", residual_ratio=np.inf, gpu=gpu, parameters={"threads": 256}, info=3, matrix="ones")
    night.trial("gesv", "gauss_block", 1024, 0.1, **more)
