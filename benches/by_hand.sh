#!/bin/sh
# How long `pluto` with plain loops takes beside C that was written by hand from Pluto's
# transformations (tests/nests/baseline/by_hand), in turn, on the same arrays, with the same compiler
# and options. Arrays are variables of the file there, as in Pluto's C. Only C of this tool is compiled
# with `-fwrapv`: Pluto's iterators are of type `int`, and compilers have to assume that they do not
# wrap. Both may contract to fused multiply-add, which `-std=c11` alone would forbid.
#
#   benches/by_hand.sh target/release/teml [KERNEL...]
set -eu
teml=$1
shift
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- mm tmm 2mm 3mm mvt bicg interp helm bmm gemver seidel-2d jacobi-2d deriche

for kernel in "$@"; do
    script=$here/scripts/polybench/$kernel.rhai
    nests=naive
    case $kernel in
    mm | tmm) sizes='-DNI=1024 -DNJ=1024 -DNK=1024' script=$here/scripts/$kernel.rhai ;;
    2mm) sizes='-DNI=500 -DNJ=600 -DNK=700 -DNL=800' ;;
    3mm) sizes='-DNI=400 -DNJ=450 -DNK=500 -DNL=550 -DNM=600' ;;
    bicg) sizes='-DN=8000 -DM=8000' ;;
    mvt) sizes='-DN=8000' ;;
    gemver) sizes='-DN=6000' ;;
    seidel-2d) sizes='-DN=1000 -DT=20' ;;
    jacobi-2d) sizes='-DN=1300 -DT=100' ;;
    deriche) sizes='-DW=3000 -DH=2500' ;;
    bmm) sizes='-DNB=8192 -DM=72 -DN=72 -DK=26' script=$here/scripts/$kernel.rhai ;;
    interp)
        sizes='-DE=50000 -DN=7' script=$here/scripts/$kernel.rhai
        nests='[first, second, naive]' ;;
    helm)
        sizes='-DE=5000 -DN=13' script=$here/scripts/$kernel.rhai
        nests='steps + [naive]' ;;
    esac
    sed -e '/^let plan/,$d' -e '/^compare/,$d' "$script" >"$work/script.rhai"
    echo "save(codegen(pluto($nests, #{code: \"pluto\"}).named(\"generated\")), \"$work/generated.c\");" >>"$work/script.rhai"
    (cd "$work" && "$teml" run script.rhai >/dev/null)
    # Temporaries are variables of the file by hand too, and too large for the stacks of threads.
    sed -i 's/static __thread/static/' "$work/generated.c"
    # The arguments, in the order of the prototype.
    arguments=$(tr '\n' ' ' <"$work/generated.c" | sed -e 's/.*void generated(\([^{]*\))  *{.*/\1/' |
        tr ',' '\n' | sed -e 's/.*TEML_RESTRICT \([A-Za-z0-9_]*\).*/AT(\1)/' | paste -sd, -)
    flags="-O3 -march=native -std=c11 -ffp-contract=fast -fopenmp -fno-math-errno"
    ${CC:-cc} $flags -fwrapv -c "$work/generated.c" -o "$work/generated.o"
    ${CC:-cc} $flags $sizes -D_POSIX_C_SOURCE=200809L "-DGENERATED=$arguments" \
        "$here/tests/nests/baseline/by_hand/$kernel.c" "$work/generated.o" -o "$work/run" -lm
    printf '%s: ' "$kernel"
    OMP_PROC_BIND=close "$work/run"
done
