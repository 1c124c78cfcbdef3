// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace sextant::machine {

/// How the enumerations are written in a profile, in their order.
inline constexpr std::string_view link_names[] = {"same process", "same node", "other node"};
inline constexpr std::string_view path_names[] = {"send", "receive", "full"};
inline constexpr std::string_view layout_names[] = {"cc", "cn", "nc", "nn"};
inline constexpr std::string_view strategy_names[] = {"contiguous", "datatype", "packing",
                                                      "lending"};
inline constexpr std::string_view element_names[] = {"f32", "f16", "u8"};
inline constexpr std::string_view routing_names[] = {"store and forward", "wormhole"};
inline constexpr std::string_view shape_names[] = {"linear array", "mesh",      "torus",
                                                   "binary tree",  "butterfly", "shuffle-exchange",
                                                   "hypercube",    "fat tree",  "complete graph"};

} // namespace sextant::machine
