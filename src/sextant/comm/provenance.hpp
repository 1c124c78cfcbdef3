// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>

namespace sextant {

/// The name of this host.
std::string host();

/// The transport between ranks: "threads", or the MPI library (mpi_of_build).
std::string transport_of(const Communicator& communicator);

/// The number of cores of this host, including those that this process may not use.
int cores_of_host();

/// The version of Sextant: "0.9.0".
std::string version();

/// The current time in UTC: "2025-01-31T12:00:00Z".
std::string date();

} // namespace sextant
