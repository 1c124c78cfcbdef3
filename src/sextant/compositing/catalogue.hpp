// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
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
    /// Whether a position's program depends on how many images the other positions hold.
    bool depends_on_layers = false;
    /// Whether it depends on which position the root has.
    bool depends_on_root = false;
};

/// Every algorithm, in the order of `sextant list`.
std::span<const Algorithm> catalogue();

/// By name. Throws InvalidTask with near names.
const Algorithm& find(std::string_view name);

/// The program of one rank: that of its seat, positions turned into ranks. Where the task names a
/// root, the pieces are collected there, interlaced if tuned so. A rank without an
/// image only collects, or does nothing. Throws InvalidTask.
Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// What a rank's program depends on: the task in positions. Position i is rank i there; after the
/// positions come a root without an image and a rank that has no part in the task. What this rank's
/// program does not depend on has a fixed value. So one program serves all visibility orders that
/// give a rank the same seat.
struct Seat {
    Task task;
    int rank = 0; ///< this rank in `task`

    bool operator==(const Seat&) const = default;
};

/// Lists in `key` what tells the seats of a rank apart, in place of what it held. Allocates nothing
/// where there is room for two numbers more than positions.
void list_seat(const Algorithm& algorithm, const Task& task, int rank, std::vector<int>& key);

/// Requires  a task that `check` accepts.
Seat seat_of(const Algorithm& algorithm, const Task& task, int rank);

/// The program of a seat, whose peers are positions, or the root.
Program program(const Algorithm& algorithm, const Seat& seat, const Tuning& tuning);

/// The ranks that the peers of a seat's program stand for.
std::vector<int> peers_of(const Task& task);

/// The pixels that a rank ends up with: the whole picture at the root, its piece otherwise, which
/// is one of the dealt order where it is interlaced.
Piece piece(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// Which pixels of the picture those are, in the order in which it holds them.
std::vector<Elements> pixels(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
                             int rank);

/// What `prove` is to show of a task's schedule: every pixel of every layer blended once, front to
/// back, and the pieces together cover the picture once.
Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning);

/// An algorithm in one tuning.
struct Way {
    const Algorithm* algorithm = nullptr;
    Tuning tuning;

    /// "radix-k, radices 8,4".
    std::string text() const;
    bool operator==(const Way&) const = default;
};

/// Every way to do a task, in the order of the catalogue, each algorithm's usual tuning first.
/// Cost      the ordered factorisations of the positions: 8,192 at 16,384.
std::vector<Way> ways(const Task& task);

/// A way as the planner sees it. Keep the task alive.
Candidate candidate(const Task& task, const Way& way);

} // namespace sextant::compositing
