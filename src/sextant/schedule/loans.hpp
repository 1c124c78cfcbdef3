// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// Messages of fewer bytes are copied, which is cheaper than sending the receiver's address to the
/// sender.
inline constexpr Bytes least_room = Bytes{4} << 10;
/// From this message size on, a kernel that computes a message first waits for the receiver's
/// address.
inline constexpr Bytes least_promised_room = Bytes{64} << 10;

/// True if a receive has at least `least` bytes in one region whose memory no earlier step uses, so
/// that the sender may write its message there directly. `usual` has the same meaning as in
/// Program::bytes_of.
bool is_room(const Program& program, const Dependences& dependences, int receive, Bytes usual,
             Bytes least);

/// Decides which messages need no copy between ranks that share memory: the receiver folds directly
/// from the sender's buffer, and notifies the sender when the fold is done. Kernels that read in
/// place (Step::reads_in_place) also read directly from the sender's buffer.
///
/// A buffer may be shared if no step of the sender waits for the message. A late notification then
/// delays only the end of the run, so it cannot cause a deadlock. The receiver may read the buffer
/// in place if every use of the received elements is an operand of a fold or of a kernel that reads
/// in place, and if the operand is within one region of the message and has not been written since.
class Loans {
  public:
    Loans(const Program& program, const Dependences& dependences);

    /// A fold or kernel that reads from the message: its operand (an index into Program::regions)
    /// begins `offset` elements into the message.
    struct Use {
        std::uint32_t step;
        std::uint32_t region;
        Elements offset;
    };

    bool may_lend(int send) const { return lendable_[static_cast<std::size_t>(send)] != 0; }
    /// The uses of a received message; none if it must be copied.
    std::span<const Use> uses(int receive) const {
        const auto i = static_cast<std::size_t>(receive);
        return {uses_.data() + first_[i], first_[i + 1] - first_[i]};
    }

    /// Returns the send whose message is exactly a fold's result, if no other step needs this
    /// result; -1 if there is none. The fold may then be computed directly in the receiver's
    /// memory.
    int taker(int fold) const { return takers_[static_cast<std::size_t>(fold)]; }
    /// True if a send is the taker() of some fold.
    bool takes_folded(int send) const { return takes_folded_[static_cast<std::size_t>(send)] != 0; }

    /// The same as taker(), for a region written by a kernel (an index into Program::regions). The
    /// region may be a part of the message, if kernels write the other parts too.
    int taker_of_made(std::uint32_t region) const {
        return made_takers_.empty() ? -1 : made_takers_[region];
    }
    /// True if kernels compute all elements of a send, and no other step reads them; made_for()
    /// lists the regions that these kernels write.
    bool takes_made(int send) const {
        return !takes_made_.empty() && takes_made_[static_cast<std::size_t>(send)] != 0;
    }
    std::vector<std::uint32_t> made_for(int send) const;

  private:
    std::vector<std::uint8_t> lendable_;
    std::vector<int> takers_;
    std::vector<std::uint8_t> takes_folded_; // by step
    std::vector<int> made_takers_;           // by region; empty if there are no compute steps
    std::vector<std::uint8_t> takes_made_;   // by step; empty if there are no compute steps
    std::vector<std::uint32_t> first_;
    std::vector<Use> uses_;
};

} // namespace sextant
