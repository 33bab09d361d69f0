#!/bin/sh
# Times schedules for devices and PyTorch's functions, for a device that is lent for minutes: each
# kernel has a process and a limit of its own, and a line as soon as its time is known. From the
# top of the repository: `sh benches/device.sh`. TEML names the program, LIMIT a kernel's seconds,
# SCALE divides all sizes, and KERNELS lists what to time.
teml=${TEML:-target/release/teml}
limit=${LIMIT:-15}
scale=${SCALE:-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for kernel in ${KERNELS:-copy sums gemv transpose softmax layernorm jacobi stencil gemm bmm mttkrp dgemm}; do
    begins=$(date +%s)
    timeout "$limit" "$teml" run benches/device.rhai --set kernel="$kernel" --set scale="$scale" >"$log" 2>&1
    status=$?
    if ! grep ' us' "$log"; then
        echo "$kernel: no time (exit status $status)"
        tail -n 12 "$log"
    fi
    echo "    $kernel took $(($(date +%s) - begins)) s in all"
done
timeout 60 python3 benches/device.py "$scale"
