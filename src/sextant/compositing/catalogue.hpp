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

/// A compositing algorithm: one source file and one row in the catalogue. The row alone adds the
/// algorithm to the command line, proofs, conformance tests on threads and MPI, drawings and
/// documentation.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    std::string_view takes; ///< supported numbers of ranks: "any number", "a power of two"
    /// True if the algorithm has radices to tune.
    bool has_radices;
    /// The tunings for this number of positions, the default first; none if the algorithm does not
    /// support that number.
    std::vector<Tuning> (*tunings)(int positions);
    /// The program of one position; its peers are positions, not ranks. Throws InvalidTask.
    Program (*program)(const Task& task, const Tuning& tuning, int position);
    /// The pixels that a position owns at the end.
    Piece (*piece)(const Task& task, const Tuning& tuning, int position);
    /// True if a position's program depends on the number of images at other positions.
    bool depends_on_layers = false;
    /// True if a position's program depends on the root's position.
    bool depends_on_root = false;
};

/// Every algorithm, in the order of `sextant list`.
std::span<const Algorithm> catalogue();

/// Finds an algorithm by name. Throws InvalidTask, which suggests similar names, if the name is
/// unknown.
const Algorithm& find(std::string_view name);

/// The program of one rank, with ranks as peers. If the task names a root, the pieces are collected
/// there; interlacing is applied if the tuning requests it. A rank without an image only collects
/// the pieces, if it is the root, or does nothing. Throws InvalidTask.
Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// The part of a task that a rank's program depends on, with ranks renumbered: rank i of this task
/// is position i. The two numbers after the positions stand for a root without an image, and for a
/// rank that takes no part in the task. Fields that this rank's program does not depend on have
/// fixed values, so that one program serves all visibility orders that give the rank the same seat.
struct Seat {
    Task task;
    int rank = 0; ///< this rank's number in `task`

    bool operator==(const Seat&) const = default;
};

/// Writes to `key` the numbers that distinguish the seats of a rank. Does not allocate if `key` has
/// capacity for task.positions() + 2 numbers.
void list_seat(const Algorithm& algorithm, const Task& task, int rank, std::vector<int>& key);

/// The seat of a rank in a task that `check` accepts.
Seat seat_of(const Algorithm& algorithm, const Task& task, int rank);

/// The program of a seat; its peers are positions or the root.
Program program(const Algorithm& algorithm, const Seat& seat, const Tuning& tuning);

/// True if the algorithm supports orders in which the images of a position are not adjacent
/// (ImageOrder).
bool takes_image_orders(const Algorithm& algorithm);

/// The part of a task that a rank's program depends on if the task has an image order.
Seat seat_with_images(const Task& task, int rank);

/// The program of a seat_with_images. Throws InvalidTask if the algorithm does not support image
/// orders.
Program program(const Algorithm& algorithm, const Seat& seat, const Tuning& tuning,
                ImageOrder images);

/// The rank of each peer number in a seat's program.
std::vector<int> peers_of(const Task& task);

/// The pixels that a rank owns at the end: all of them at a root, its piece otherwise. With
/// interlacing, a piece is a range in interlaced order.
Piece piece(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// The pixels that a rank owns at the end, as indices into the composited image, in the order in
/// which they are stored.
std::vector<Elements> pixels(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
                             int rank);

/// The claim to prove for a task's schedule: every pixel of every layer is blended once, front to
/// back, and the pieces together cover the composited image once.
Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning);
/// The same claim for a task with an image order.
Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning, ImageOrder images);

/// A configuration: an algorithm, its tuning, and the encoding of messages.
struct Configuration {
    const Algorithm* algorithm = nullptr;
    Tuning tuning = {};
    bool sparse = false; ///< skip empty pixels in messages

    /// Text such as "radix-k, radices 8,4, sparse".
    std::string text() const;
    bool operator==(const Configuration&) const = default;
};

/// Every configuration for a task, in catalogue order, each algorithm's default tuning first.
/// If the number of positions has more than 8,192 ordered factorisations, as 65,536 has, the
/// radices of Radix-k are only those in falling or rising order.
std::vector<Configuration> configurations(const Task& task);

/// Configurations as candidates for the planner. The task must outlive them.
std::vector<Candidate> candidates(const Task& task, std::span<const Configuration> configurations);
Candidate candidate(const Task& task, const Configuration& configuration);

} // namespace sextant::compositing
