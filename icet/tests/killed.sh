#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh MPIRUN PROGRAM: a rank is killed in a frame. The others must end, with an error, and soon.
set -u
output=$(timeout 250 "$1" --oversubscribe -n 3 "$2" 2>&1)
status=$?
echo "$output"
echo "status $status"
case $output in
*"no rank was killed"* | *"frame 3"*) exit 1 ;;
*"frame 2"*) [ $status -ne 0 ] && [ $status -ne 124 ] ;;
*) exit 1 ;;
esac
