// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

namespace sextant::machine {

/// What to plan with where nothing was measured: round figures of servers and clusters of the
/// 2020s, of threads, processes of a node, and nodes. Good for orders of magnitude.
const Profile& built_in();

} // namespace sextant::machine
