#!/usr/bin/env python3
"""Measures an unchanged PyTorch with and without libgaussweep_cusolver, alternately in one process.

Usage: LD_PRELOAD=libgaussweep_cusolver.so preload_torch.py times [--orders N,...] [--float] [--seconds S]
       LD_PRELOAD=libgaussweep_cusolver.so preload_torch.py answers [--count N] [--seed S] [--seconds S]

times    prints, per operation and order, the time without the library divided by the time with it
answers  solves random and hard matrices with both, and prints the library's answers whose residual ratio is above
         0.1 and above twice that of the vendor's answer
"""

import argparse
import os
import statistics
import sys
import time

import torch

LIBRARY = "gaussweep"


def use(who):
    """Lets the vendor or the library answer the calls that follow. The library reads this variable at each call."""
    os.environ["GAUSSWEEP_CUSOLVER"] = "off" if who == "vendor" else ""


def factored(lu, pivots):
    p, lower, upper = torch.lu_unpack(lu, pivots)
    return p @ lower @ upper


# name: operands from a general matrix, a positive definite one, and a triangle; the operation; its residual
OPERATIONS = {
    "lu_factor": (lambda a, s, t: (a,), torch.linalg.lu_factor, lambda a, x: a - factored(*x)),
    "solve": (lambda a, s, t: (a, a[:, :1].clone()), torch.linalg.solve, lambda a, b, x: a @ x - b),
    "solve_8": (lambda a, s, t: (a, a[:, :8].clone()), torch.linalg.solve, lambda a, b, x: a @ x - b),
    "solve_n": (lambda a, s, t: (a, a.flip(0).contiguous()), torch.linalg.solve, lambda a, b, x: a @ x - b),
    "inv": (
        lambda a, s, t: (a,),
        torch.linalg.inv,
        lambda a, x: a @ x - torch.eye(len(a), dtype=a.dtype, device="cuda"),
    ),
    "cholesky": (lambda a, s, t: (s,), torch.linalg.cholesky, lambda s, x: s - x @ x.mT),
    "cholesky_inverse": (
        lambda a, s, t: (torch.linalg.cholesky_ex(s)[0],),
        torch.cholesky_inverse,
        lambda lower, x: lower @ (lower.mT @ x) - torch.eye(len(x), dtype=x.dtype, device="cuda"),
    ),
    "solve_triangular": (
        lambda a, s, t: (t, a),
        lambda t, b: torch.linalg.solve_triangular(t, b, upper=False),
        lambda t, b, x: t @ x - b,
    ),
    "solve_triangular_1": (
        lambda a, s, t: (t, a[:, :1].clone()),
        lambda t, b: torch.linalg.solve_triangular(t, b, upper=False),
        lambda t, b, x: t @ x - b,
    ),
}


def matrices(n, precision, generator):
    """Returns a uniform matrix, a positive definite one, and a lower triangle."""
    a = torch.rand(n, n, dtype=precision, device="cuda", generator=generator) * 2 - 1
    definite = a @ a.mT / n + 0.1 * torch.eye(n, dtype=precision, device="cuda")
    triangle = torch.tril(a) / n**0.5 + torch.eye(n, dtype=precision, device="cuda")
    return a, definite, triangle


def seconds_of(operation, operands, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        operation(*operands)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / calls


def measure(arguments):
    precision = torch.float32 if arguments.float else torch.float64
    generator = torch.Generator("cuda").manual_seed(1)
    deadline = time.monotonic() + arguments.seconds
    print("operation,precision,n,milliseconds_without,milliseconds_with,speedup,speedup_low,speedup_high", flush=True)
    for n in arguments.orders:
        operands = matrices(n, precision, generator)
        for name, (choose, operation, _) in OPERATIONS.items():
            if time.monotonic() > deadline:
                sys.exit(f"cut off at {name}, n = {n}")
            chosen = choose(*operands)
            for who in ("vendor", LIBRARY, "vendor", LIBRARY):
                use(who)
                operation(*chosen)
            once = seconds_of(operation, chosen, 1)
            calls = max(1, min(20, int(0.02 / once)))
            times = {"vendor": [], LIBRARY: []}
            for pair in range(9 if once < 0.3 else 3):
                for who in ("vendor", LIBRARY) if pair % 2 == 0 else (LIBRARY, "vendor"):
                    use(who)
                    times[who].append(seconds_of(operation, chosen, calls))
            without, with_it = (statistics.median(times[who]) for who in ("vendor", LIBRARY))
            ratios = sorted(a / b for a, b in zip(times["vendor"], times[LIBRARY], strict=True))
            print(
                f"{name},{str(precision)[6:]},{n},{1e3 * without:.4g},{1e3 * with_it:.4g},{without / with_it:.3f},"
                f"{ratios[len(ratios) // 4]:.3f},{ratios[-1 - len(ratios) // 4]:.3f}",
                flush=True,
            )
            del chosen
        del operands


def orthogonal(n, generator):
    return torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, device="cuda", generator=generator))[0]


def hard_matrix(kind, n, generator):
    """Returns a matrix of order n in double."""
    i = torch.arange(n, dtype=torch.float64, device="cuda")
    uniform = torch.rand(n, n, dtype=torch.float64, device="cuda", generator=generator) * 2 - 1
    if kind == "normal":
        return torch.randn(n, n, dtype=torch.float64, device="cuda", generator=generator)
    if kind == "graded":
        return uniform * 10 ** (-12 * i / n)[:, None]
    if kind == "scaled_columns":
        return uniform * 10 ** (-12 * i / n)[None, :]
    if kind == "kernel":
        x = torch.rand(n, 3, dtype=torch.float64, device="cuda", generator=generator)
        return torch.exp(-4 * torch.cdist(x, x) ** 2) + 1e-8 * torch.eye(n, dtype=torch.float64, device="cuda")
    if kind == "cauchy":
        return 1 / (i[:, None] + i[None, :] + 1.5) + 1e-6 * uniform
    if kind in ("condition_6", "condition_14"):
        q, r = orthogonal(n, generator), orthogonal(n, generator)
        return (q * 10 ** (-int(kind[10:]) * i / (n - 1))) @ r
    if kind == "tiny_element":
        uniform[0, 0] = 1e-30
        return uniform
    if kind == "orthogonal":
        return orthogonal(n, generator)
    if kind == "bands":
        return uniform.tril(3).triu(-3) + 2 * torch.eye(n, dtype=torch.float64, device="cuda")
    return uniform


KINDS = ("uniform", "normal", "graded", "scaled_columns", "kernel", "cauchy", "condition_6", "condition_14")
KINDS += ("tiny_element", "orthogonal", "bands")
DEFINITE = {"kernel"}


def definite_from(kind, a):
    """Returns a positive definite matrix with the properties of a kind."""
    if kind in DEFINITE:
        return a
    product = a @ a.mT
    largest = product.diagonal().max()
    return product + 1e-9 * largest * torch.eye(len(a), dtype=a.dtype, device="cuda")


def norm(matrix):
    return torch.linalg.matrix_norm(matrix.double(), 1).item()


def ratio_of(name, operands, answer, roundoff):
    """Returns the residual's 1-norm, computed in double, divided by n u and the norms of the factors."""
    answers = answer if isinstance(answer, tuple) else (answer,)
    doubles = [x.double() if x.is_floating_point() else x for x in answers]
    inputs = [x.double() for x in operands]
    residual = OPERATIONS[name][2](*inputs, tuple(doubles) if len(doubles) > 1 else doubles[0])
    scale = norm(inputs[0])
    if name.startswith(("solve", "inv", "cholesky_inverse")):
        scale *= norm(doubles[0]) * (norm(inputs[0].mT) if name == "cholesky_inverse" else 1)
    found = norm(residual) / (len(inputs[0]) * roundoff * scale) if scale > 0 else float("nan")
    return found if found == found else float("inf")


def compare_answers(arguments):
    generator = torch.Generator("cuda").manual_seed(arguments.seed)
    draw = torch.Generator().manual_seed(arguments.seed)
    deadline = time.monotonic() + arguments.seconds
    compared, worse, largest = 0, 0, 0.0
    while compared < arguments.count and time.monotonic() < deadline:
        number = int(torch.randint(0, 1 << 30, (1,), generator=draw))
        kind = KINDS[number % len(KINDS)]
        n = 1024 + number // len(KINDS) % 600
        precision = torch.float64 if number // 7 % 3 else torch.float32
        roundoff = 2.0**-53 if precision == torch.float64 else 2.0**-24
        a = hard_matrix(kind, n, generator)
        definite = definite_from(kind, a)
        triangle = torch.tril(a) + (norm(a) / n) * torch.eye(n, dtype=a.dtype, device="cuda")
        operands = [x.to(precision).contiguous() for x in (a, definite, triangle)]
        for name, (choose, operation, _) in OPERATIONS.items():
            use("vendor")
            try:
                chosen = choose(*operands)
                answers = [operation(*chosen)]
            except torch.linalg.LinAlgError:  # singular or not positive definite in this precision
                use(LIBRARY)
                try:
                    operation(*choose(*operands))
                    print(f"only the vendor fails: {name} {kind} n={n} {precision}", flush=True)
                except torch.linalg.LinAlgError:
                    pass
                continue
            use(LIBRARY)
            try:
                answers.append(operation(*chosen))
            except torch.linalg.LinAlgError as error:
                worse += 1
                print(f"only the library fails: {name} {kind} n={n} {precision}: {error}", flush=True)
                continue
            vendor, library = (ratio_of(name, chosen, answer, roundoff) for answer in answers)
            compared += 1
            if library == library and vendor > 0 and library > 0.1:
                largest = max(largest, library / vendor)
            if library > 0.1 and library > 2 * vendor:
                worse += 1
                print(
                    f"worse: {name} {kind} n={n} {precision} seed {number}: {library:.3g}, vendor {vendor:.3g}",
                    flush=True,
                )
    print(f"{compared} answers, {worse} worse; largest library / vendor where library > 0.1: {largest:.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("times", "answers"))
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--float", action="store_true")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600)
    arguments = parser.parse_args()
    if "gaussweep" not in os.environ.get("LD_PRELOAD", ""):
        sys.exit("preload_torch.py: LD_PRELOAD does not contain libgaussweep_cusolver.so")
    if arguments.orders is None:
        arguments.orders = [512, 1000, 1024, 1537, 2048, 3001, 4096, 5001, 8192, 16384]
    torch.backends.cuda.matmul.allow_tf32 = False
    (measure if arguments.what == "times" else compare_answers)(arguments)


if __name__ == "__main__":
    main()
