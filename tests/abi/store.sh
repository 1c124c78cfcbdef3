#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# For a release: stores the ABI of this tree, with which later versions of the same major version are compared.
set -eu
cd "$(dirname "$0")/../.."
CMAKE=cmake CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} SOURCE=$PWD BUILD=$PWD/build/release sh tests/abi/check.sh --store
