"""Makes synthetic results.h5 files with the layout of io/SCHEMA.md. A Night has the records of one file: usually of one
run, because sweeps are often repeated every night."""

import hashlib
import json
from datetime import datetime, timezone

import h5py
import numpy as np


def columns(text):
    """Parses "S: key run_id i8: m n" into [("key", "S"), ("run_id", "S"), ("m", "i8"), ("n", "i8")]."""
    kind, found = "", []
    for word in text.split():
        if word.endswith(":"):
            kind = word[:-1]
        else:
            found.append((word, kind))
    return found


RECORD = columns(
    """
    S: key run_id problem method backend precision i8: m n k nrhs batch S: uplo parameters matrix matrix_parameters
    matrix_kind matrix_digest i8: matrix_seed S: status i8: expected S: message i8: info S: convergence i8:
    iterations f8: seconds_min seconds_q1 seconds_median seconds_mean seconds_q3 seconds_max seconds_stdev i8:
    samples inner_repeats warmup enough round S: cache host_memory i8: kernels waits f8: queue_seconds i8:
    launch_bound S: timing i8: repeats_bits f8: replay_q1 replay_median replay_q3 load_seconds generate_seconds
    allocate_seconds h2d_seconds d2h_seconds verify_seconds flops gflops bytes peak_share S: problem_title f8:
    problem_flops problem_bytes residual_ratio tolerance backward_error forward_error pivot_growth first_row_percent
    S: reference_method f8: reference_seconds digits_lost reference_difference largest_relative_difference
    mean_relative_difference mean_absolute_difference S: gpu_uuid gpu_name i8: capability f8: sm_clock_mhz
    memory_clock_mhz power_w temperature_c i8: throttled S: throttle_reason f8: energy_joules energy_uncertainty S:
    energy_source f8: energy_power_w idle_power_w S: host i8: rank device_index S: start_time end_time judged_time
    commit job_id node partition gres f8: wait_began prepare_began store_began inputs_began allocate_began
    upload_began warmup_began timed_began download_began verify_began stages_began reference_began compare_began
    componentwise_error S: library library_digest gpu_count f8: cpu_demand
    """
)
SAMPLE = columns("i8: trial index f8: seconds clock i8: throttled")
STAGE = columns("i8: trial S: kernel i8: calls f8: seconds mean occupancy share")
ITERATION = columns("i8: trial iteration f8: residual")
DEVICE = columns(
    """
    S: gpu_uuid gpu_name host i8: capability multiprocessors total_bytes ecc driver_version runtime_version f8:
    copy_bytes_per_second gemm_flops_float gemm_flops_double
    """
)
HOST = columns("S: host cpu os i8: cores memory_bytes blas_threads")
GPUS = {"NVIDIA Test 100": ("GPU-100", 90, 1.0), "NVIDIA Old <20>": ("GPU-20", 35, 6.0)}


def table(columns, rows):
    """Returns rows (dicts) as a compound array; text columns are as wide as their longest value, at least 1."""
    kinds = []
    for name, kind in columns:
        if kind == "S":
            kind = f"S{max([1, *(len(r.get(name, '').encode()) for r in rows)])}"
        kinds.append((name, kind))
    array = np.zeros(len(rows), dtype=kinds)
    for name, kind in columns:
        missing = np.nan if kind == "f8" else 0
        array[name] = [r.get(name, "").encode() for r in rows] if kind == "S" else [r.get(name, missing) for r in rows]
    return array


class Night:
    """The synthetic records of one results file, with their samples, stages and devices."""

    def __init__(self, plan="fixture", seed=1):
        self.random = np.random.default_rng(seed)
        self.records, self.samples, self.stages, self.iterations = [], [], [], []
        self.attributes = {
            "plan": f"name: {plan}\nprecision: [double]\n",
            "plan_name": plan,
            "version": "0.1.0",
            "commit": "abc1234",
            "dirty": "false",
            "build": "Release",
            "command_line": "gaussweep run plan.yaml -o <DIR> & more",
        }
        self.devices, self.hosts = [], [
            {"host": "node1", "cpu": "Test CPU", "os": "Linux", "cores": 8, "memory_bytes": 1 << 34}
        ]

    def gpu(self, name):
        """Adds the GPU to the file's devices. Returns the columns of a record that describe it."""
        uuid, capability, slow = GPUS[name]
        if uuid not in [d["gpu_uuid"] for d in self.devices]:
            device = dict(gpu_uuid=uuid, gpu_name=name, host="node1", capability=capability, multiprocessors=132)
            device.update(total_bytes=1 << 37, ecc=1, driver_version=13000, runtime_version=13000)
            device.update(copy_bytes_per_second=4e12 / slow)
            self.devices.append(device | dict(gemm_flops_float=6e13 / slow, gemm_flops_double=3e13 / slow))
        return dict(gpu_uuid=uuid, gpu_name=name, capability=capability, backend="cuda", device_index=0)

    def trial(
        self,
        problem,
        method,
        n,
        seconds=None,
        status="pass",
        precision="double",
        gpu=None,
        backend="host",
        parameters=None,
        matrix="uniform",
        stages=(),
        history=(),
        samples=5,
        scatter=0.02,
        **more,
    ):
        """Adds one record with the median `seconds`; the other statistics and the samples are derived from it."""
        text = json.dumps(parameters or {}, sort_keys=True)
        digest = hashlib.sha256(f"{problem}{n}{matrix}{precision}".encode()).hexdigest()
        key = hashlib.sha256(
            f"{problem}{method}{n}{text}{precision}{digest}{backend if not gpu else 'cuda'}".encode()
        ).hexdigest()[:32]
        size = 4 if precision == "float" else 8
        record = dict(
            **dict.fromkeys("expected device_index enough kernels waits launch_bound repeats_bits".split(), -1),
            **dict.fromkeys("nrhs batch warmup inner_repeats round".split(), 1),
            **dict(key=key, run_id="run-1", problem=problem, method=method, backend=backend, precision=precision),
            **dict(m=n, n=n, k=n, parameters=text, matrix=matrix, matrix_parameters="{}", matrix_kind=matrix),
            **dict(matrix_digest=digest, status=status, host="node1", start_time="2026-01-01T00:00:00Z"),
            **dict(commit="abc1234", tolerance=16.0, cache="warm", host_memory="pageable"),
            problem_flops={"gemm": 2, "trsv": 1 / n, "potrf": 1 / 3, "geinv": 2}.get(problem, 2 / 3) * n**3,
            problem_bytes=2.0 * n * n * size,
        )
        if gpu:
            record.update(self.gpu(gpu), sm_clock_mhz=1500.0, power_w=300.0, temperature_c=50.0)
        if seconds is not None:
            drawn = np.sort(seconds * (1 + scatter * self.random.standard_normal(samples)))
            flops = 2 / 3 * n**3 if problem != "gemm" else 2.0 * n**3
            record.update(
                seconds_min=drawn[0],
                seconds_q1=np.quantile(drawn, 0.25),
                seconds_median=np.median(drawn),
                seconds_mean=drawn.mean(),
                seconds_q3=np.quantile(drawn, 0.75),
                seconds_max=drawn[-1],
                seconds_stdev=drawn.std(ddof=1),
                samples=samples,
                flops=flops,
                gflops=flops / np.median(drawn) / 1e9,
                bytes=8.0 * n * n,
                residual_ratio=0.01,
                backward_error=1e-17 * n,
                forward_error=1e-14,
                first_row_percent=1e-13 if problem == "gesv" else np.nan,
            )
            began = 1767225600.0 + 10 * len(self.records)  # 2026-01-01T00:00:00Z
            after = dict(wait=0, prepare=0.5, inputs=1, upload=3, warmup=4, timed=5, verify=8)
            record.update({f"{phase}_began": began + seconds for phase, seconds in after.items()})
            record["end_time"] = f"{datetime.fromtimestamp(began + 9, timezone.utc):%Y-%m-%dT%H:%M:%S}.250000Z"
            row = dict(trial=len(self.records), clock=1500.0)
            self.samples += [
                dict(row, index=i, seconds=s, throttled=int(i == 0 and status == "suspect"))
                for i, s in enumerate(drawn)
            ]
            if gpu:
                record["peak_share"] = min(1.0, record["gflops"] / 3e4)
                record.update(allocate_seconds=1e-4, h2d_seconds=8.0 * n * n / 2e10, d2h_seconds=8.0 * n / 2e10)
        record.update(more)
        total = sum(s[2] for s in stages)
        self.stages += [
            dict(trial=len(self.records), kernel=k, calls=c, seconds=s, mean=s / c, occupancy=o, share=s / total)
            for k, c, s, o in stages
        ]
        self.iterations += [dict(trial=len(self.records), iteration=i, residual=r) for i, r in enumerate(history)]
        self.records.append(record)
        return record

    def write(self, path, leave_out=(), columns_left_out=(), variable=False):
        """Writes the file without the tables `leave_out` and the columns `columns_left_out` of /records, which an older
        version did not have."""
        with h5py.File(path, "w") as file:
            for name, value in self.attributes.items():
                file.attrs[name] = value if variable else np.bytes_(value.encode())
            file.attrs["schema_version"] = 1
            for name, columns, rows in (
                ("records", [c for c in RECORD if c[0] not in columns_left_out], self.records),
                ("samples", SAMPLE, self.samples),
                ("stages", STAGE, self.stages),
                ("iterations", ITERATION, self.iterations),
                ("devices", DEVICE, self.devices),
                ("hosts", HOST, self.hosts),
            ):
                if name not in leave_out:
                    file.create_dataset(
                        name, data=table(columns, rows), maxshape=(None,), chunks=True, compression=1, shuffle=True
                    )
        return path


def bulk(path, count, samples, seed=1):
    """Writes `count` records with `samples` samples each, column by column, for tests of size and time."""
    random = np.random.default_rng(seed)
    records = np.zeros(count, dtype=[(n, {"S": "S64"}.get(k, k)) for n, k in RECORD])
    i = np.arange(count)
    methods = np.array([f"method_{c}".encode() for c in "abcdefghijklmnop"])
    problems = np.array([b"gesv", b"getrf", b"potrf", b"trsv", b"gemm", b"trtri", b"geinv", b"poinv"])
    sizes = np.arange(64, 64 + 40 * 64, 64)
    gpus = list(GPUS.items())
    gpu = i // 2 % 2
    records["key"] = np.char.add(b"key", (i // 4 * 2 + i % 2).astype("S12"))
    records["run_id"], records["backend"], records["host"], records["commit"] = b"run-1", b"cuda", b"node1", b"abc1234"
    records["problem"], records["method"] = problems[i // 8 % 8], methods[i // 64 % 16]
    for name in ("m", "n", "k"):
        records[name] = sizes[i // 1024 % 40]
    records["nrhs"], records["batch"], records["precision"] = 1, 1, np.where(i % 2, b"float", b"double")
    blocks = (2 ** (i // 40960 % 6)).astype("S4")
    records["parameters"] = np.char.add(np.char.add(b'{"blocks": ', blocks), b"}")
    records["matrix_kind"] = records["matrix"] = np.array([b"uniform", b"spd", b"cauchy"])[i // 3 % 3]
    records["matrix_parameters"], records["expected"] = b"{}", -1
    records["matrix_digest"] = np.char.add(b"digest", (i // 64 * 3 + i // 3 % 3).astype("S12"))
    status = np.array(
        [b"pass", b"suspect", b"failed", b"diverged", b"skipped", b"timeout", b"crashed", b"oom", b"error"]
    )
    records["status"] = status[np.minimum(random.geometric(0.6, count) - 1, 8)]
    records["message"] = np.where(records["status"] == b"pass", b"", np.char.add(b"cause ", (i % 50).astype("S4")))
    records["gpu_name"] = np.array([name.encode() for name, _ in gpus])[gpu]
    records["gpu_uuid"] = np.array([row[0].encode() for _, row in gpus])[gpu]
    records["capability"] = np.array([row[1] for _, row in gpus])[gpu]
    t = records["n"] ** 2.5 * 1e-10 * (1 + i // 64 % 16) * (1 + gpu)
    drawn = np.sort(t[:, None] * (1 + 0.02 * random.random((count, samples))), axis=1)
    for name, q in (("min", 0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("max", 1)):
        records[f"seconds_{name}"] = np.quantile(drawn, q, axis=1)
    records["samples"], records["throttled"] = samples, i % 97 == 0
    records["flops"] = 2 / 3 * records["n"] ** 3.0
    records["gflops"] = records["flops"] / records["seconds_median"] / 1e9
    records["bytes"], records["peak_share"] = 8.0 * records["n"] ** 2, random.random(count)
    records["residual_ratio"] = np.where(records["status"] == b"pass", 0.1, 1e3) * random.random(count)
    for name in "backward_error forward_error first_row_percent h2d_seconds d2h_seconds allocate_seconds".split():
        records[name] = 10.0 ** random.uniform(-15, -5, count)
    sample = np.zeros(count * samples, dtype=SAMPLE)
    sample["trial"], sample["index"] = np.repeat(i, samples), np.tile(np.arange(samples), count)
    sample["seconds"], sample["clock"] = drawn.ravel(), 1500.0
    stage = np.zeros(count * 2, dtype=[(n, {"S": "S16"}.get(k, k)) for n, k in STAGE])
    stage["trial"], stage["kernel"] = np.repeat(i, 2), np.tile([b"eliminate", b"update"], count)
    stage["calls"], stage["share"], stage["occupancy"] = 10, 0.5, 0.9
    stage["seconds"], stage["mean"] = np.repeat(t, 2), np.repeat(t, 2) / 10
    night = Night("bulk")
    for name, _ in gpus:
        night.gpu(name)
    with h5py.File(path, "w") as file:
        for name, value in night.attributes.items():
            file.attrs[name] = np.bytes_(value.encode())
        for name, data in (
            ("records", records),
            ("samples", sample),
            ("stages", stage),
            ("iterations", table(ITERATION, [])),
            ("devices", table(DEVICE, night.devices)),
            ("hosts", table(HOST, night.hosts)),
        ):
            file.create_dataset(name, data=data, maxshape=(None,), chunks=True, compression=1, shuffle=True)
    return path
