// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::compositing {

/// A compositing algorithm: one file of code and one row here. In return it has a command line, the
/// proof ring, conformance tests on threads and MPI, drawings and documentation.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    std::string_view takes; ///< how many ranks: "any number", "a power of two"
    /// Whether it can be tuned by radices.
    bool has_radices;
    /// The tunings for this many positions, the usual one first; none where the algorithm does not
    /// take that many.
    std::vector<Tuning> (*tunings)(int positions);
    /// One position's program, in positions. Throws InvalidTask.
    Program (*program)(const Task& task, const Tuning& tuning, int position);
    /// The pixels a position ends up with.
    Piece (*piece)(const Task& task, const Tuning& tuning, int position);
};

/// Every algorithm, in the order of `sextant list`.
std::span<const Algorithm> catalogue();

/// By name. Throws InvalidTask with near names.
const Algorithm& find(std::string_view name);

/// The program of one rank: positions turned into ranks and, where the task names a root, the
/// pieces collected there, in segments or interlaced if tuned so. A rank without an image only
/// collects, or does nothing. Throws InvalidTask.
Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// The pixels that a rank ends up with: the whole picture at the root, its piece otherwise, which
/// is one of the dealt order where it is interlaced.
Piece piece(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// Which pixels of the picture those are, in the order in which it holds them.
std::vector<Elements> pixels(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
                             int rank);

/// What `prove` is to show of a task's schedule: every pixel of every layer blended once, front to
/// back, and the pieces together cover the picture once.
Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning);

} // namespace sextant::compositing
