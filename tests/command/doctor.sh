#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `doctor` starts two processes and reports what the launcher requires.
. "$(dirname "$0")/start.sh"
doctor() { "$SEXTANT" doctor "$@" || [ $? = 1 ]; }

doctor >"$folder/said"
cat "$folder/said"
XDG_CONFIG_HOME=/nowhere doctor | grep -q "^note  profile  *none" || fail "no line about a profile"
status=0
SEXTANT_MACHINE=/nowhere.json "$SEXTANT" doctor >/dev/null || status=$?
[ $status = 1 ] || fail "a missing profile is found"

# The instruction set chosen for kernels is one that the processor supports.
sets=$(sed -n 's/^good  SIMD *kernels run with \([A-Z0-9_]*\), .*/\1/p' "$folder/said")
case " $(grep -m 1 '^flags' /proc/cpuinfo) " in
*" avx512bw "*) expected="AVX3 AVX3_DL AVX3_ZEN4 AVX3_SPR" ;;
*" avx2 "*) expected=AVX2 ;;
*) expected=$sets ;;
esac
case " $expected " in *" $sets "*) ;; *) fail "kernels run with '$sets', expected one of $expected" ;; esac

# Two processes can be started if mpirun belongs to the MPI of this build.
if ! grep -q "^good  launcher" "$folder/said" || ! grep -q "built with [OM]" "$folder/said"; then
    exit 0
fi
grep -q "^[a-z]*  *two processes *.*mpirun .*-n 2: 2 processes exchanged messages" "$folder/said" ||
    fail "two processes cannot exchange messages"
cores=$(getconf _NPROCESSORS_ONLN)
$MPIRUN -n 2 "$SEXTANT" doctor >"$folder/launched" || [ $? = 1 ]
grep -q "started by a launcher (.*); 2 processes exchanged messages" "$folder/launched" || fail "$(cat "$folder/launched")"
[ "$(grep -c "^good  this process " "$folder/launched")" = 1 ] || fail "several processes print"
# Each process may be bound to some of the machine's cores, and pages of benchmarks show these.
all=$(sed -n 's/^good  cores *\([0-9]* of the \)*\([0-9]*\).*/\2/p' "$folder/launched")
[ "$all" = "$cores" ] || fail "cores of the machine: '$all', expected '$cores'"
$MPIRUN -n 2 "$SEXTANT" bench --size 64 --rounds 5 --json - | grep -q "\"cores\": $cores," || fail "the cores of a benchmark"

if mpirun --version | grep -q "Open MPI" && [ "$(id -u)" = 0 ]; then
    unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    doctor | grep -A 1 "two processes" >"$folder/root"
    grep -q "^note" "$folder/root" || fail "no hint for root: $(cat "$folder/root")"
    grep -q -- "-> as root: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" "$folder/root" ||
        fail "the hint for root: $(cat "$folder/root")"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# A launcher with one slot, and one that fails with its own message.
mkdir "$folder/bin"
cat >"$folder/bin/mpirun" <<TEXT
#!/bin/sh
case "\$*" in
--version) exec "$(command -v mpirun)" --version ;;
--oversubscribe*) exec "$(command -v mpirun)" "\$@" ;;
*) echo "There are not enough slots available in the system"; exit 1 ;;
esac
TEXT
chmod +x "$folder/bin/mpirun"
if mpirun --version | grep -q "Open MPI"; then
    PATH=$folder/bin:$PATH doctor | grep -A 1 "two processes" >"$folder/slots"
    grep -q -- "-> for more processes than cores: mpirun --oversubscribe" "$folder/slots" ||
        fail "the hint for one slot: $(cat "$folder/slots")"
fi
cat >"$folder/bin/mpirun" <<TEXT
#!/bin/sh
[ "\$1" = --version ] && exec "$(command -v mpirun)" --version
echo ----- >&2
echo "no daemon answers" >&2
exit 1
TEXT
PATH=$folder/bin:$PATH doctor | grep -A 1 "two processes" >"$folder/broken"
grep -q "^BAD" "$folder/broken" || fail "a broken launcher is accepted"
grep -q -- "-> no daemon answers" "$folder/broken" || fail "the launcher's output: $(cat "$folder/broken")"
