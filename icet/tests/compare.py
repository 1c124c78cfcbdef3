#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the transcripts of conversation.cpp: compare.py THEIRS OURS RANKS.

Numbers after "~" may differ by the number of ranks, because IceT truncates after each blending; all
else must be the same.
"""
import sys


def read(prefix, rank):
    with open(f"{prefix}{rank}", encoding="utf-8") as file:
        return file.read().splitlines()


def same(a, b):
    if a == b:
        return True
    if not (a.startswith("~") and b.startswith("~")):
        return False
    (name, _, left), (other, _, right) = a.partition(": "), b.partition(": ")
    left, right = left.split(), right.split()
    return name == other and len(left) == len(right) and all(
        abs(int(x) - int(y)) <= ranks for x, y in zip(left, right))


ranks = int(sys.argv[3])
differences = []
compared = 0
for rank in range(ranks):
    theirs, ours = read(sys.argv[1], rank), read(sys.argv[2], rank)
    if len(theirs) != len(ours):
        differences.append(f"rank {rank}: {len(theirs)} and {len(ours)} lines")
    for number, (a, b) in enumerate(zip(theirs, ours)):
        compared += 1
        if not same(a, b):
            differences.append(f"rank {rank}, line {number}:\n  IceT:    {a}\n  Sextant: {b}")
print("\n".join(differences[:20]))
print(f"{ranks} ranks: {compared} lines, {len(differences)} differences")
sys.exit(1 if differences or not compared else 0)
