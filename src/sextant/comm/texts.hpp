// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>
#include <vector>

namespace sextant {

/// Everyone's text, by rank, on every rank: messages for people, of any length.
/// Collective.
/// Cost      an all-gather of lengths, and one of 1 KiB for each KiB of the longest.
std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& mine);

} // namespace sextant
