// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/message_graph.hpp"
#include "sextant/report/svg.hpp"

#include <string>
#include <vector>

// What is said of a message graph beside its picture.
namespace sextant::report {

/// How many there are of each thing.
std::vector<KeyFigure> key_figures(const MessageGraph& graph);

/// How the picture is to be read, and what an aggregated one leaves out, a line each.
std::vector<std::string> notes_on(const MessageGraph& graph, bool animated);

} // namespace sextant::report
