// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// The operation of a step.
enum class Verb : std::uint8_t {
    send,    ///< the step's regions, concatenated, are one message to `peer`
    receive, ///< one message from `peer` fills the step's regions, one after another
    fold,    ///< `to` = the combination of the step's regions, in operand order
    copy,    ///< `to` = the step's region
    compute  ///< a kernel computes other regions from the step's regions
};

std::string_view name(Verb verb);

/// True for verbs that move data between ranks.
constexpr bool is_message(Verb verb) {
    return verb == Verb::send || verb == Verb::receive;
}

/// True for verbs that write to `Step::to`.
constexpr bool has_destination(Verb verb) {
    return verb == Verb::fold || verb == Verb::copy;
}

/// One step of a rank's program. The regions that it reads are `Program::regions[first .. first +
/// count)`; the regions that a compute step writes come next.
struct Step {
    Verb verb = Verb::copy;
    int round = 0;           ///< a label for models and drawings; has an effect only with a window
    int group = 0;           ///< a label: the group of ranks (submachine) that the step is for
    int peer = -1;           ///< rank that a message is sent to or received from
    std::uint32_t first = 0; ///< index of the step's first region
    std::uint32_t count = 0; ///< number of the step's regions
    Region to;               ///< destination of a fold or copy
    int kernel = -1;         ///< for a compute step: index of its kernel among the run's kernels
    std::uint32_t made = 0;  ///< for a compute step: the number of regions it writes
    /// For a compute step: true if its kernel finds its inputs with Computation::sources, so that
    /// data of other ranks may be read in place.
    bool reads_in_place = false;
};

/// The provider of a buffer, and its initial state.
enum class Role : std::uint8_t {
    input,  ///< provided by the caller; defined from the start, never written
    in_out, ///< provided by the caller; defined from the start
    output, ///< provided by the caller or the executor; initially undefined
    scratch ///< provided by the executor; initially undefined
};

struct BufferSpec {
    Role role = Role::scratch;
    Elements size = 0;
    Bytes element = 0; ///< bytes per element; 0 for the element size of the run
    /// The maximum number of bytes of an element if elements vary in size (Operator::used); 0 for
    /// the size of the element format. Both sides of a message must have the same maximum.
    Bytes room = 0;
};

/// The program of one rank: plain data, made by an algorithm. `execute` runs it, `prove` verifies
/// it, `report` draws it, and cost models and simulators read it.
///
/// A program is equivalent to executing its steps one after another. A step may start as soon as no
/// unfinished earlier step of the rank conflicts with its regions (see Dependences). The k-th
/// message sent from a to b is the k-th that b receives from a; each side may divide it into
/// regions differently. Messages are never empty.
///
/// The program does not define its kernels: a run supplies their code, a proof their meaning for
/// symbols, and a prediction their cost per element. All outputs of a kernel depend on all its
/// inputs and on nothing else.
///
/// With `window` = w > 0, a message of round r waits until the rank's own messages of rounds <= r -
/// w have finished. A window is not a barrier between ranks and does not delay folds.
struct Program {
    std::vector<BufferSpec> buffers;
    std::vector<Step> steps;
    std::vector<Region> regions; ///< regions of all steps, in step order
    int window = 0;              ///< maximum number of open rounds; 0: rounds have no effect
    Region result;               ///< the rank's final data; may be empty

    std::span<const Region> regions_of(const Step& step) const {
        return {regions.data() + step.first, step.count};
    }
    /// The regions that a compute step writes.
    std::span<const Region> made_by(const Step& step) const {
        return {regions.data() + step.first + step.count, step.made};
    }
    /// The number of elements that a step moves or computes.
    Elements elements_of(const Step& step) const;
    /// The bytes per element of a buffer if the run's elements have `usual` bytes.
    Bytes element_size(int buffer, Bytes usual) const {
        const BufferSpec& spec = buffers[static_cast<std::size_t>(buffer)];
        const Bytes own = spec.element == 0 ? spec.room : spec.element;
        return own == 0 ? usual : own;
    }
    /// The size of a message in bytes.
    Bytes bytes_of(const Step& message, Bytes usual) const {
        return elements_of(message) * element_size(regions_of(message)[0].buffer, usual);
    }
};

/// The programs of all ranks. Needed for drawings and proofs; in a run, each rank needs only its
/// own.
using Schedule = std::vector<Program>;

/// Creates a schedule with a function that creates one rank's program.
Schedule make_schedule(int ranks, const std::function<Program(int rank)>& program);

/// Returns the program with ranks renumbered: peer i becomes `ranks[i]`.
Program with_peers(Program program, std::span<const int> ranks);

/// Returns the program for elements of `size` bytes; 0 for the element size of the run.
Program with_elements_of(Program program, Bytes size);

/// Returns the program with its result copied, at the end, to a separate contiguous output buffer,
/// where the caller can read it.
Program with_packed_result(Program program);

/// The order in which a fold associates its operands.
enum class Association : std::uint8_t {
    in_order,  ///< left to right: always the same order, bit-identical results
    by_arrival ///< neighbours are combined as they arrive: more overlap, but the order varies
};

std::string_view name(Association association);

/// One configuration of a task, of any family of algorithms, for the planner to compare. Programs
/// are created on demand, because the programs of all ranks take much memory.
struct Candidate {
    std::string algorithm; ///< a name in the family's catalogue
    std::string tuning;    ///< as text; empty if the algorithm has no tuning
    int ranks = 1;
    std::function<Program(int rank)> program;
    /// Ranks that may have the most work, those with cheap programs first. The time of each of
    /// these ranks is a lower bound for the time of the run.
    std::vector<int> busiest = {0};
    Seconds before = 0; ///< time before the run, such as for reading files; set by the caller

    /// The algorithm and its tuning as text: "radix-k, radices 8,4".
    std::string text() const { return tuning.empty() ? algorithm : algorithm + ", " + tuning; }
};

/// True if two programs do the same work, regardless of labels without effect.
bool same_work(const Program& a, const Program& b);

} // namespace sextant
