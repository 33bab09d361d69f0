#!/bin/sh
# Times schedules for devices and PyTorch's functions, for a device that is lent for minutes: each
# kernel has a process and a limit of its own, and a line as soon as its time is known. From the
# top of the repository: `sh benches/device.sh`. TEML names the program, LIMIT a kernel's seconds,
# SCALE divides all sizes, and KERNELS lists what to time. TRIED=1 also times other schedules beside
# those that are chosen.
teml=${TEML:-target/release/teml}
limit=${LIMIT:-15}
scale=${SCALE:-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
kernels=${KERNELS:-copy sums gemv transpose softmax layernorm jacobi stencil gemm bmm mttkrp dgemm}
if [ -n "$TRIED" ]; then
    kernels="$kernels stencil_tried jacobi_tried gemm_tried lanes_tried"
    limit=${LIMIT:-60}
fi
for kernel in $kernels; do
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
