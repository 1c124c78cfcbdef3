// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <initializer_list>
#include <span>
#include <vector>

namespace sextant {

/// Builds one rank's program step by step. Empty steps are omitted, a fold of one operand becomes a
/// copy, and a copy onto itself is omitted. Throws std::logic_error if sizes within a step differ
/// or a part does not fit, because only a bug in an algorithm can cause that.
class ProgramBuilder {
  public:
    /// Declares a buffer and returns the region of all its elements. `element` has the same meaning
    /// as in BufferSpec.
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

    /// Sets the round (or the group) of the steps that follow.
    void round(int round) { round_ = round; }
    void group(int group) { group_ = group; }
    /// The number of rounds whose messages may be open at once; 0 means no limit.
    void window(int rounds) { program_.window = rounds; }

    /// Appends another program of this rank as a part of this program. The part's round 0 becomes
    /// the current round. The part must have the same window as this program, or none.
    ///
    /// Input     one region for each of the part's buffers, except scratch, in order: contiguous,
    ///           of the buffer's size, in a buffer of the same element size. All parts share
    ///           scratch.
    /// Output    the region of the part's result; if that is in scratch, it is valid until the next
    ///           part that does not use it as a buffer.
    Region run(const Program& part, std::span<const Region> places);
    Region run(const Program& part, std::initializer_list<Region> places) {
        return run(part, std::span<const Region>(places.begin(), places.size()));
    }

    void send(int peer, std::span<const Region> regions);
    void send(int peer, const Region& region) { send(peer, {&region, 1}); }
    void receive(int peer, std::span<const Region> regions);
    void receive(int peer, const Region& region) { receive(peer, {&region, 1}); }
    void copy(const Region& to, const Region& from);
    /// Combines the operands in the given order. `to` may equal an operand, but must not partially
    /// overlap one.
    void fold(const Region& to, std::span<const Region> operands);
    void fold(const Region& to, std::initializer_list<Region> operands) {
        fold(to, std::span<const Region>(operands.begin(), operands.size()));
    }

    /// The regions `made` (outputs) must not overlap the regions `read`. A step without outputs is
    /// omitted. `reads_in_place` has the same meaning as in Step.
    void compute(int kernel, std::span<const Region> read, std::span<const Region> made,
                 bool reads_in_place = false);
    void compute(int kernel, std::initializer_list<Region> read,
                 std::initializer_list<Region> made) {
        compute(kernel, std::span(read.begin(), read.size()), {made.begin(), made.size()});
    }

    /// Returns the finished program, with `result` as the region of its result.
    Program finish(const Region& result);

  private:
    void add(Verb verb, int peer, std::span<const Region> regions, const Region& to);
    std::vector<Region> placed(const Program& part, std::span<const Region> places);
    Bytes element_of(int buffer) const;
    std::uint32_t append(std::span<const Region> regions);

    Program program_;
    std::vector<int> shared_; ///< numbers of the scratch buffers that the parts share
    int round_ = 0, group_ = 0;
};

/// Returns an equivalent program with contiguous messages only: a non-contiguous message is packed
/// into a contiguous buffer before it is sent, and unpacked after it is received. Whether packing
/// is faster than an MPI datatype depends on the MPI library and the length of the pieces.
///
/// Output    the program, with one scratch buffer for each packed message.
/// Cost      two copies of each packed message, one per side.
Program with_packed_messages(const Program& program);

} // namespace sextant
