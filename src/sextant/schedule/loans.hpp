// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// Copying less costs less than saying where it should have been written.
inline constexpr Bytes least_room = Bytes{4} << 10;
/// Who makes as much waits to be told where its receiver wants it.
inline constexpr Bytes least_promised_room = Bytes{64} << 10;

/// Whether nothing else uses the memory of a receive of at least so many bytes until it has come,
/// so that it may be made there; `usual` as in Program::bytes_of.
bool is_room(const Program& program, const Dependences& dependences, int receive, Bytes usual,
             Bytes least);

/// Which messages need no copy where two ranks share memory: the sender lends its elements, and the
/// receiver folds straight from there and gives them back when the fold is done.
///
/// A message is lent when no step of the sender waits for it, so that giving back late can delay
/// only the end of the run: no deadlock can come of it. It is borrowed when each use of what came
/// is an operand of a fold that lies within one of its regions and holds nothing written since.
class Loans {
  public:
    Loans(const Program& program, const Dependences& dependences);

    /// A fold that reads from the message: its operand (an index into Program::regions) begins
    /// `offset` elements into the message.
    struct Use {
        std::uint32_t step;
        std::uint32_t region;
        Elements offset;
    };

    bool may_lend(int send) const { return lendable_[static_cast<std::size_t>(send)] != 0; }
    /// The uses of a message received; none where it must be copied.
    std::span<const Use> uses(int receive) const {
        const auto i = static_cast<std::size_t>(receive);
        return {uses_.data() + first_[i], first_[i + 1] - first_[i]};
    }

    /// The send that takes all that a fold makes, and nothing else, where nobody else needs it:
    /// then the fold may be made right where the receiver wants it. -1 where there is none.
    int taker(int fold) const { return takers_[static_cast<std::size_t>(fold)]; }
    /// Whether a send takes all that a fold makes.
    bool takes_folded(int send) const { return takes_folded_[static_cast<std::size_t>(send)] != 0; }

    /// The same of a region that a kernel makes (an index into Program::regions), which may be a
    /// part of the message: others of the same step, or of others, are the rest.
    int taker_of_made(std::uint32_t region) const {
        return made_takers_.empty() ? -1 : made_takers_[region];
    }
    /// Whether that is how a send comes by all that it takes, and by which regions.
    bool takes_made(int send) const {
        return !takes_made_.empty() && takes_made_[static_cast<std::size_t>(send)] != 0;
    }
    std::vector<std::uint32_t> made_for(int send) const;

  private:
    std::vector<std::uint8_t> lendable_;
    std::vector<int> takers_;
    std::vector<std::uint8_t> takes_folded_; // by step
    std::vector<int> made_takers_;           // by region; none where nothing is computed
    std::vector<std::uint8_t> takes_made_;   // by step; likewise
    std::vector<std::uint32_t> first_;
    std::vector<Use> uses_;
};

} // namespace sextant
