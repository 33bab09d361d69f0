"""How long the REPL lets people wait, as seen at a terminal: `python3 benches/repl.py TEML`.

From the start to the prompt, from a key to the line with its hint, and from `:moves` to its answer,
for every nest that the scripts of the ten kernels name.
"""

import fcntl
import os
import pty
import re
import select
import statistics
import struct
import sys
import tempfile
import termios
import time

KERNELS = ["mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars"]


class Terminal:
    """`teml repl` at a terminal of its own."""

    def __init__(self, teml, directory, color=False):
        self.process, self.keys = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.environ.update(TERM="xterm-256color", TEML_HISTORY=os.path.join(directory, "history"))
            os.environ["NO_COLOR"] = "1"
            if color:
                # There are hints only with colors.
                del os.environ["NO_COLOR"]
            os.execv(teml, [teml, "repl"])
        fcntl.ioctl(self.keys, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))

    def wait(self, text, seconds=120):
        """Waits for a text, and returns what came until then."""
        came, end = b"", time.monotonic() + seconds
        while text not in came:
            ready, _, _ = select.select([self.keys], [], [], max(0, end - time.monotonic()))
            if not ready:
                sys.exit(f"{text!r} did not come: {came[-500:]!r}")
            came += os.read(self.keys, 1 << 20)
        return came

    def rest(self, seconds=0.2):
        """What still comes until nothing has come for a while."""
        came = b""
        while select.select([self.keys], [], [], seconds)[0]:
            came += os.read(self.keys, 1 << 20)
        return came

    def timed(self, keys, text):
        """The milliseconds from some keys to a text."""
        self.rest()
        begin = time.perf_counter()
        os.write(self.keys, keys.encode())
        self.wait(text)
        return 1e3 * (time.perf_counter() - begin)

    def close(self):
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)
        os.close(self.keys)


def starts(teml, directory):
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        terminal = Terminal(teml, directory)
        terminal.wait(b"teml> ")
        times.append(1e3 * (time.perf_counter() - begin))
        terminal.close()
    print(f"start to prompt: median {statistics.median(times):.1f} ms, most {max(times):.1f} ms")


def hints(teml, directory):
    loops = (
        f"for i{k} in 0..8\\n  for j{k} in 0..8\\n    A[i{k}][j{k}] = {k}\\n" for k in range(250)
    )
    with open(os.path.join(directory, "loops.rhai"), "w", encoding="utf-8") as file:
        file.write(f'let l = nest("f64 A[8][8]\\n{"".join(loops)}");')
    terminal = Terminal(teml, directory, color=True)
    terminal.wait(b"teml> ")
    terminal.timed(":load loops.rhai\r", b"500 loops")
    terminal.timed("l.interchange", b"interchange")
    times = [terminal.timed(key, key.encode()) for key in '("i12']
    print(f"key to hint with 500 loops in scope: most {max(times):.1f} ms")
    terminal.close()


def moves(teml, directory):
    for kernel in KERNELS:
        terminal = Terminal(teml, directory)
        terminal.wait(b"teml> ")
        terminal.timed(f':kernels {kernel}\rprint("lo" + "aded")\r', b"loaded")
        terminal.rest()
        os.write(terminal.keys, b":vars\r")
        nests = re.findall(r"(\w+) = nest", terminal.rest(1).decode(errors="replace"))
        times = [(terminal.timed(f":moves {nest}\r", b"cost model"), nest) for nest in nests]
        shown = ", ".join(f"{nest} {time:.0f} ms" for time, nest in times)
        print(f":moves of {kernel}: {shown}", flush=True)
        terminal.close()


def main():
    teml = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        starts(teml, directory)
        hints(teml, directory)
        moves(teml, directory)


if __name__ == "__main__":
    main()
