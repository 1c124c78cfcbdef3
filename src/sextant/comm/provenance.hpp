// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>

namespace sextant {

/// Where a result was made.
std::string host();

/// Over what its ranks exchanged: "threads", or which MPI.
std::string transport_of(const Communicator& communicator);

/// How many cores that host has, also those that this process is kept from.
int cores_of_host();

/// By which Sextant, "0.1.0".
std::string version();

/// When: now, UTC, "2025-01-31T12:00:00Z".
std::string date();

} // namespace sextant
