// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant::machine {

/// Where a user's profile of this machine lies, for one transport ("threads" or "mpi"):
/// sextant/machines/TRANSPORT.json in $XDG_CONFIG_HOME, or in ~/.config where that is not set to
/// an absolute path. Empty where neither is known. The folder need not exist.
std::string default_profile_path(std::string_view transport);

/// Where what was probed of this machine is kept: sextant/probes in $XDG_CACHE_HOME, or in
/// ~/.cache; likewise.
std::string probe_folder();

} // namespace sextant::machine
