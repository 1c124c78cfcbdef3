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

/// What a step does.
enum class Verb : std::uint8_t {
    send,    ///< its regions, one after another, are one message to `peer`
    receive, ///< one message from `peer` fills its regions, one after another
    fold,    ///< `to` = the combination of its regions, in operand order
    copy,    ///< `to` = its region
    compute  ///< a kernel reads its regions and makes others from all of them
};

std::string_view name(Verb verb);

/// Whether a verb moves data between ranks.
constexpr bool is_message(Verb verb) {
    return verb == Verb::send || verb == Verb::receive;
}

/// Whether what a verb makes goes to `Step::to`.
constexpr bool has_destination(Verb verb) {
    return verb == Verb::fold || verb == Verb::copy;
}

/// One step of a rank's program. Its regions are `Program::regions[first .. first + count)`; those
/// that a compute step makes follow them.
struct Step {
    Verb verb = Verb::copy;
    int round = 0; ///< a label for models and pictures; binds only where there is a window
    int group = 0; ///< the submachine this step belongs to: a label
    int peer = -1; ///< of a message
    std::uint32_t first = 0; ///< its first region
    std::uint32_t count = 0; ///< its number of regions
    Region to;               ///< of a fold or copy
    int kernel = -1;         ///< of a compute step: its place among the kernels given with the run
    std::uint32_t made = 0;  ///< of a compute step: how many regions it makes
};

/// Who provides a buffer.
enum class Role : std::uint8_t {
    input,  ///< the caller; defined from the start, and never written
    in_out, ///< the caller; defined from the start
    output, ///< the caller, or the executor in his place; at first undefined
    scratch ///< the executor; at first undefined
};

struct BufferSpec {
    Role role = Role::scratch;
    Elements size = 0;
    Bytes element = 0; ///< the bytes of one; 0: as the elements that the run is about
    /// The bytes that one may take here, where elements of the run differ in size (Operator::used);
    /// 0: as many as its format says. Messages meet buffers of the same room.
    Bytes room = 0;
};

/// What one rank does: plain data, made by an algorithm, which `execute` runs, `prove` proves and
/// `report` draws, and cost models and simulators read.
///
/// A program means what its steps mean one after another. A step may start as soon as no earlier
/// step of the rank that has not finished conflicts with its regions (see Dependences); the k-th
/// message sent from a to b is the k-th that b receives from a; both sides may cut it into regions
/// as they like. A message of no elements does not exist.
///
/// What a kernel does is not said here: who runs a program gives its code, who proves it what it
/// means for symbols, who predicts it what an element costs. All that it makes depends on all that
/// it reads, and on nothing else.
///
/// With `window` = w > 0 a message of round r waits for the rank's own messages of rounds <= r - w
/// to finish. It is never a barrier between ranks and never holds a fold.
struct Program {
    std::vector<BufferSpec> buffers;
    std::vector<Step> steps;
    std::vector<Region> regions; ///< of all steps, in step order
    int window = 0;              ///< 0: rounds do not bind
    Region result;               ///< what the rank ends up holding; may be empty

    std::span<const Region> regions_of(const Step& step) const {
        return {regions.data() + step.first, step.count};
    }
    /// What a compute step makes.
    std::span<const Region> made_by(const Step& step) const {
        return {regions.data() + step.first + step.count, step.made};
    }
    /// The elements a step moves or makes.
    Elements elements_of(const Step& step) const;
    /// The bytes of an element in a buffer, where those of the run have `usual`.
    Bytes element_size(int buffer, Bytes usual) const {
        const BufferSpec& spec = buffers[static_cast<std::size_t>(buffer)];
        const Bytes own = spec.element == 0 ? spec.room : spec.element;
        return own == 0 ? usual : own;
    }
    /// The bytes that a message moves.
    Bytes bytes_of(const Step& message, Bytes usual) const {
        return elements_of(message) * element_size(regions_of(message)[0].buffer, usual);
    }
};

/// The programs of all ranks. Needed to draw or prove; a rank that runs needs only its own.
using Schedule = std::vector<Program>;

/// A schedule from a function that makes one rank's program.
Schedule make_schedule(int ranks, const std::function<Program(int rank)>& program);

/// The same program for ranks that go by other numbers: peer i becomes `ranks[i]`.
Program with_peers(Program program, std::span<const int> ranks);

/// The same program, of elements of so many bytes; 0: of those that the run is about.
Program with_elements_of(Program program, Bytes size);

/// The same program, whose result is copied to an output of its own at the end: in one piece, and
/// where who runs it may read it, wherever the rank held it before.
Program with_packed_result(Program program);

/// How the operands of a fold are bracketed.
enum class Association : std::uint8_t {
    in_order,  ///< only the leftmost finished run grows: one bracketing, results equal to the bit
    by_arrival ///< neighbouring runs merge as they come: more overlap, bracketing varies
};

std::string_view name(Association association);

/// One way to do a task, whatever the family: what a planner compares. Rank programs are made when
/// they are asked for, since those of all ranks are many.
struct Candidate {
    std::string algorithm; ///< a name of the family's catalogue
    std::string tuning;    ///< as text; empty where nothing is set
    int ranks = 1;
    std::function<Program(int rank)> program;
    /// Ranks that may have most to do, cheap programs first: what one of them needs, all need.
    std::vector<int> busiest = {0};
    Seconds before = 0; ///< that pass before it begins, as for reading, by whatever knows

    /// "radix-k, radices 8,4".
    std::string text() const { return tuning.empty() ? algorithm : algorithm + ", " + tuning; }
};

/// Whether two programs do the same, whatever their rounds and groups are called.
bool same_work(const Program& a, const Program& b);

} // namespace sextant
