#!/bin/sh
# Times schedules for devices and PyTorch's functions, for a device that is lent for minutes: each
# kernel has a process and a limit of its own, and a line as soon as its time is known. From the
# top of the repository: `sh benches/device.sh`, which is meant to end within ten minutes. It times the
# chosen schedules, PyTorch, and then alternatives to the chosen ones. If compute-sanitizer is there, it
# looks for races last. TEML names the program, LIMIT is a kernel's seconds, and nothing starts after
# DEADLINE seconds. SCALE divides all sizes, and KERNELS lists what to time.
teml=${TEML:-target/release/teml}
limit=${LIMIT:-20}
deadline=${DEADLINE:-480}
scale=${SCALE:-1}
chosen="copy sums total any_total columns gemv transpose softmax layernorm attention jacobi stencil gemm bmm small mttkrp dgemm"
tried="stencil_tried gemm_tried columns_tried jacobi_tried lanes_tried"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$(date +%s)

# The time since the start, in seconds.
spent() {
    echo $(($(date +%s) - start))
}

# Times a kernel, unless it is too late.
time_one() {
    if [ "$(spent)" -ge "$deadline" ]; then
        echo "$1: not timed, since $deadline s have passed"
        return
    fi
    begins=$(date +%s)
    timeout "$2" "$teml" run benches/device.rhai --set kernel="$1" --set scale="$scale" >"$log" 2>&1
    status=$?
    if ! grep ' us' "$log"; then
        echo "$1: no time (exit status $status)"
        tail -n 12 "$log"
    fi
    echo "    $1 took $(($(date +%s) - begins)) s in all"
}

timeout 60 "$teml" machine | sed -n '/device/,$p'
for kernel in ${KERNELS:-$chosen}; do
    time_one "$kernel" "$limit"
done
timeout 90 python3 benches/device.py "$scale"
[ -n "$KERNELS" ] && exit
for kernel in $tried; do
    time_one "$kernel" $((3 * limit))
done
if command -v compute-sanitizer >/dev/null && [ "$(spent)" -lt "$deadline" ]; then
    timeout 60 compute-sanitizer --tool racecheck --target-processes all --error-exitcode 9 \
        "$teml" run tests/code/device/kernels.rhai --set type=f32 >"$log" 2>&1
    echo "races: exit status $? (9: found, 124: out of time)"
    grep -E 'RACECHECK SUMMARY|hazard' "$log" | sort | uniq -c
fi
echo "$(spent) s in all"
