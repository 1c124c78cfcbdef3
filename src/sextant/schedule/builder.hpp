// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <initializer_list>
#include <span>
#include <vector>

namespace sextant {

/// Writes one rank's program step by step. Steps of no elements are left out, a fold of one operand
/// is a copy, and a copy onto itself is nothing. Throws std::logic_error where sizes within a step
/// differ, or a part does not fit, since only an algorithm's bug can cause that.
class ProgramBuilder {
  public:
    /// Declares a buffer; the region is the whole of it. `element` as in BufferSpec.
    Region input(Elements size, Bytes element = 0) { return buffer({Role::input, size, element}); }
    Region in_out(Elements size, Bytes element = 0) {
        return buffer({Role::in_out, size, element});
    }
    Region output(Elements size, Bytes element = 0) {
        return buffer({Role::output, size, element});
    }
    Region scratch(Elements size, Bytes element = 0) {
        return buffer({Role::scratch, size, element});
    }
    Region buffer(const BufferSpec& spec);

    /// Labels for the steps that follow.
    void round(int round) { round_ = round; }
    void group(int group) { group_ = group; }
    /// How many rounds of messages may be open at once; 0 for any number.
    void window(int rounds) { program_.window = rounds; }

    /// Does what another program of this rank does, as a part of this one. Its round 0 is the
    /// current round; without a window of its own it has that of the whole, or none.
    ///
    /// Input     where those of its buffers lie that are no scratch, in order: contiguous, of their
    ///           size, in buffers of the same elements. Scratch is shared by all parts.
    /// Output    where its result lies; in scratch only until a part follows that is not given it.
    Region run(const Program& part, std::span<const Region> places);
    Region run(const Program& part, std::initializer_list<Region> places) {
        return run(part, std::span<const Region>(places.begin(), places.size()));
    }

    void send(int peer, std::span<const Region> regions);
    void send(int peer, const Region& region) { send(peer, {&region, 1}); }
    void receive(int peer, std::span<const Region> regions);
    void receive(int peer, const Region& region) { receive(peer, {&region, 1}); }
    void copy(const Region& to, const Region& from);
    /// Operands in order; `to` may equal one of them and may not otherwise overlap any.
    void fold(const Region& to, std::span<const Region> operands);
    void fold(const Region& to, std::initializer_list<Region> operands) {
        fold(to, std::span<const Region>(operands.begin(), operands.size()));
    }

    /// What is made overlaps nothing that is read. A kernel that makes nothing is not called.
    void compute(int kernel, std::span<const Region> read, std::span<const Region> made);
    void compute(int kernel, std::initializer_list<Region> read,
                 std::initializer_list<Region> made) {
        compute(kernel, std::span(read.begin(), read.size()), {made.begin(), made.size()});
    }

    /// The finished program, whose rank then holds `result`.
    Program finish(const Region& result);

  private:
    void add(Verb verb, int peer, std::span<const Region> regions, const Region& to);
    std::vector<Region> placed(const Program& part, std::span<const Region> places);
    Bytes element_of(int buffer) const;
    std::uint32_t append(std::span<const Region> regions);

    Program program_;
    std::vector<int> shared_; ///< scratch of parts
    int round_ = 0, group_ = 0;
};

/// The same program with contiguous messages only: what lies in pieces is copied together before it
/// is sent, and taken apart when it has come. Whether that is faster than a datatype of pieces
/// depends on the MPI and on how long they are.
///
/// Output    the program, with a scratch buffer for each side of a message that lies in pieces.
/// Cost      two copies of what lies in pieces.
Program with_packed_messages(const Program& program);

} // namespace sextant
