// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"

#include <string>

namespace sextant::command {

/// Draws the network of a platform, with one line per cable or bundle of cables, and the inside of
/// a host that runs several ranks. Large networks are drawn as groups (of a dragonfly) or planes
/// (of a torus or mesh), with one of them in detail; in long rows, a mark stands for several
/// vertices. Notes say what is left out.
///
/// Output    SVG that can be used alone or in a page.
/// Cost      one pass over the links of the network.
std::string draw_platform(const simulate::Platform& platform);

} // namespace sextant::command
