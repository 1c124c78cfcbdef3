#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stores the ABI of this tree, for a release: later versions of the same major version are compared with it.
set -eu
cd "$(dirname "$0")/../.."
CMAKE=cmake CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} SOURCE=$PWD BUILD=$PWD/build/release sh tests/abi/check.sh --store
