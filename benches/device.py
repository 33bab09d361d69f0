"""Times the computations of benches/device.rhai by PyTorch: `python3 benches/device.py [SCALE]`.

Each line has the least of several times of the device, by events, and the rate in GB/s of what has
to be read and written at least, or in TFLOP/s. Products of f32 use no tensor cores.
"""

import sys

import torch
import torch.nn.functional as functional


def timed(run, repeats=20, calls=10):
    """The least time of a call, in seconds, as the mean of several calls in a row. The first one keeps
    the device busy while Python starts the others."""
    begins, ends = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    best = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        run()
        begins.record()
        for _ in range(calls):
            run()
        ends.record()
        torch.cuda.synchronize()
        best = min(best, begins.elapsed_time(ends) * 1e-3 / calls)
    return best


def line(name, run, bytes_moved=0, flops=0):
    time = timed(run)
    memory = f", {bytes_moved / time / 1e9:.0f} GB/s" if bytes_moved else ""
    units = f", {flops / time / 1e12:.2f} TFLOP/s" if flops else ""
    print(f"{name}: {time * 1e6:.2f} us{memory}{units}", flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    f32 = {"device": "cuda", "dtype": torch.float32}
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    n, m = 8192 // scale, 4096 // scale
    a, b = torch.rand(n, m, **f32), torch.empty(n, m, **f32)
    whole = 4 * n * m
    line("copy f32", lambda: b.copy_(a), 2 * whole)
    square, x = torch.rand(n, n, **f32), torch.rand(n, **f32)
    line("row sums f32", lambda: square.sum(1), 4 * n * n)
    line("sum f32", lambda: square.sum(), 4 * n * n)
    line("column sums f32", lambda: square.sum(0), 4 * n * n)
    line("gemv f32", lambda: torch.mv(square, x), 4 * n * n)
    turned = torch.empty(m, n, **f32)
    line("transpose f32", lambda: turned.copy_(a.t()), 2 * whole)
    line("softmax f32", lambda: torch.softmax(a, 1), 2 * whole)
    line("layer norm f32", lambda: functional.layer_norm(a, (m,)), 2 * whole)
    rows = 2048 // scale
    q, r, v = (torch.rand(rows, 64, **f32) for _ in range(3))
    flops = 4 * 64 * rows * rows
    line("attention f32", lambda: torch.softmax(q @ r.t(), 1) @ v, 0, flops)
    line("attention at once f32", lambda: functional.scaled_dot_product_attention(q, r, v, scale=1), 0, flops)
    cross = torch.tensor([[0, 0.2, 0], [0.2, 0.2, 0.2], [0, 0.2, 0]], **f32)[None, None]

    def jacobi():
        return functional.conv2d(functional.conv2d(a[None, None], cross), cross)

    line("5-point stencil twice f32", jacobi, 4 * whole)
    del square, turned
    k = 320 // scale
    cube, star = torch.rand(k, k, k, **f32), torch.zeros(1, 1, 3, 3, 3, **f32)
    for offset in [(1, 1, 1), (0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)]:
        star[(0, 0, *offset)] = 0.14
    line("7-point stencil f32", lambda: functional.conv3d(cube[None, None], star), 2 * 4 * k**3)

    def gemm(dtype, name):
        m, k = 2048 // scale, 512 // scale
        c = torch.rand(m, k, device="cuda", dtype=dtype)
        d = torch.rand(k, m, device="cuda", dtype=dtype)
        line(f"gemm {name}", lambda: c @ d, 0, 2 * m * m * k)

    gemm(torch.float32, "f32")
    m = 256 // scale
    e, g = (torch.rand(64, m, m, **f32) for _ in range(2))
    line("bmm f32", lambda: torch.bmm(e, g), 0, 64 * 2 * m**3)
    e, g = (torch.rand(100000 // scale, 8, 8, **f32) for _ in range(2))
    line("small products f32", lambda: torch.bmm(e, g), 3 * 4 * e.numel())
    m = 384 // scale
    t = torch.rand(m, m, m, **f32)
    c, d = torch.rand(m, 32, **f32), torch.rand(m, 32, **f32)
    line("mttkrp f32", lambda: torch.einsum("ikl,kj,lj->ij", t, d, c), 4 * m**3, 2 * 32 * m**3)
    gemm(torch.float64, "f64")


if __name__ == "__main__":
    main()
