"""Compares two BLAS libraries on random calls: blas_random.py OURS THEIRS [CALLS] [SEED].

Sizes go to 300. Matrices have gaps between their columns, and vectors any increment. Every element of
every argument is compared, gaps included. Results may differ by rounding.
"""

import ctypes
import random
import sys

MOST = 300


def letter(choices):
    return ctypes.c_char_p(random.choice(choices).encode())


class Call:
    """A call of one routine: its arguments, and the arrays among them."""

    def __init__(self, real):
        self.real, self.arguments, self.arrays = real, [], []

    def text(self, choices):
        value = random.choice(choices)
        self.arguments.append(ctypes.c_char_p(value.encode()))
        return value

    def integer(self, value):
        self.arguments.append(ctypes.byref(ctypes.c_int(value)))
        return value

    def number(self):
        value = random.choice([0, 1, -1, random.uniform(-2, 2)])
        self.arguments.append(ctypes.byref(self.real(value)))

    def array(self, count, scale=1.0):
        values = [random.uniform(-scale, scale) for _ in range(max(count, 1))]
        self.arrays.append((len(self.arguments), values))
        self.arguments.append(None)

    def vector(self, n):
        inc = random.choice([1, 1, 2, -1, -3])
        self.array(1 + max(n - 1, 0) * abs(inc))
        self.integer(inc)

    def matrix(self, rows, columns, triangle=False):
        ld = max(rows, 1) + random.choice([0, 0, 3])
        self.array(ld * columns, 1.0 / max(rows, 1) if triangle else 1.0)
        if triangle:
            # Solutions for other triangles grow beyond all bounds.
            values = self.arrays[-1][1]
            for k in range(columns):
                values[k * ld + triangle[0](k)] = random.choice([1, -1]) * random.uniform(1, 2)
        self.integer(ld)

    def run(self, library, name):
        arrays = [(self.real * len(values))(*values) for _, values in self.arrays]
        arguments = list(self.arguments)
        for (place, _), array in zip(self.arrays, arrays):
            arguments[place] = array
        getattr(library, name + "_")(*arguments)
        return [list(array) for array in arrays]


def size():
    return random.choice([0, 1, 2, 7, 16, 17, 33, 64, random.randrange(MOST), random.randrange(MOST)])


def call(routine, c):
    m, n, k = size(), size(), size()
    diagonal = [lambda j: j]
    if routine == "gemm":
        ta, tb = c.text("NTC"), c.text("NTC")
        for value in (m, n, k):
            c.integer(value)
        c.number()
        c.matrix(*((m, k) if ta == "N" else (k, m)))
        c.matrix(*((k, n) if tb == "N" else (n, k)))
        c.number()
        c.matrix(m, n)
    elif routine == "symm":
        side = c.text("LR")
        c.text("UL")
        c.integer(m), c.integer(n), c.number()
        c.matrix(*((m, m) if side == "L" else (n, n)))
        c.matrix(m, n), c.number(), c.matrix(m, n)
    elif routine in ("syrk", "syr2k"):
        c.text("UL")
        trans = c.text("NT")
        c.integer(n), c.integer(k), c.number()
        for _ in range(1 if routine == "syrk" else 2):
            c.matrix(*((n, k) if trans == "N" else (k, n)))
        c.number(), c.matrix(n, n)
    elif routine in ("trmm", "trsm"):
        side = c.text("LR")
        c.text("UL"), c.text("NT"), c.text("NU")
        c.integer(m), c.integer(n), c.number()
        c.matrix(*((m, m) if side == "L" else (n, n)), diagonal)
        c.matrix(m, n)
    elif routine in ("gemv", "gbmv"):
        trans = c.text("NT")
        c.integer(m), c.integer(n)
        rows = m
        if routine == "gbmv":
            kl, ku = random.randrange(20), random.randrange(20)
            c.integer(kl), c.integer(ku)
            rows = kl + ku + 1
        c.number(), c.matrix(rows, n)
        c.vector(n if trans == "N" else m), c.number(), c.vector(m if trans == "N" else n)
    elif routine in ("symv", "sbmv", "spmv"):
        c.text("UL"), c.integer(n)
        if routine == "sbmv":
            k = c.integer(random.randrange(20))
        c.number()
        if routine == "spmv":
            c.array(n * (n + 1) // 2)
        else:
            c.matrix(k + 1 if routine == "sbmv" else n, n)
        c.vector(n), c.number(), c.vector(n)
    elif routine == "ger":
        c.integer(m), c.integer(n), c.number(), c.vector(m), c.vector(n), c.matrix(m, n)
    elif routine in ("syr", "syr2", "spr", "spr2"):
        c.text("UL"), c.integer(n), c.number(), c.vector(n)
        if routine.endswith("2"):
            c.vector(n)
        if routine.startswith("sp"):
            c.array(n * (n + 1) // 2)
        else:
            c.matrix(n, n)
    elif routine in ("trmv", "trsv", "tbmv", "tbsv"):
        uplo = c.text("UL")
        c.text("NT"), c.text("NU"), c.integer(n)
        rows = n
        if routine[1] == "b":
            k = c.integer(random.randrange(20))
            rows = k + 1
            diagonal = [lambda j: k if uplo == "U" else 0]
        c.matrix(rows, n, diagonal), c.vector(n)
    elif routine in ("axpy", "swap", "copy", "scal", "rot"):
        c.integer(n)
        if routine in ("axpy", "scal"):
            c.number()
        c.vector(n)
        if routine != "scal":
            c.vector(n)
        if routine == "rot":
            c.number(), c.number()


ROUTINES = (
    "gemm gemm symm syrk syr2k trmm trmm trsm trsm gemv gbmv symv sbmv spmv ger syr syr2 spr spr2 "
    "trmv trsv tbmv tbsv axpy swap copy scal rot"
).split()


def main():
    ours, theirs = (ctypes.CDLL(path, ctypes.RTLD_LOCAL) for path in sys.argv[1:3])
    calls = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    wrong = 0
    for number in range(calls):
        routine = random.choice(ROUTINES)
        letter, real, tolerance = random.choice([("s", ctypes.c_float, 1e-3), ("d", ctypes.c_double, 1e-11)])
        c = Call(real)
        call(routine, c)
        for got, expected in zip(c.run(ours, letter + routine), c.run(theirs, letter + routine)):
            most = max(map(abs, expected))
            error = max(abs(a - b) if a == a else float("inf") for a, b in zip(got, expected))
            if error > tolerance * max(most, 1):
                wrong += 1
                shown = [a if isinstance(a, ctypes.c_char_p) else getattr(a, "_obj", "array") for a in c.arguments]
                print(f"{number}: {letter}{routine}{shown}: {error} of {most}")
                break
    print(f"{calls} calls, {wrong} differ")
    sys.exit(wrong > 0)


main()
