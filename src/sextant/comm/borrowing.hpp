// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/places.hpp"
#include "sextant/schedule/loans.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// What a rank has borrowed from its peers in a run: operands of folds that are read where the
/// sender keeps them, until the last fold that reads them is done.
class Borrowing {
  public:
    Borrowing(const Program& program, const Loans& loans, Places& places);

    /// Points the folds that read what a receive brought at the sender's own bytes. False, and
    /// nothing done, where an operand is not in one piece there: then it must be copied.
    bool borrow(int receive, std::span<const Blocks> lent);
    /// The same, at a code, which is read from anywhere.
    void borrow(int receive, const kernel::SparseCode& code);

    /// A fold is done: calls `give_back` with each receive whose loan nothing reads any more.
    template <class GiveBack>
    void fold_done(int fold, GiveBack&& give_back) {
        forget_operands(fold);
        for (const int receive : receives_of_[static_cast<std::size_t>(fold)]) {
            auto& uses_left = held_[static_cast<std::size_t>(receive)];
            if (uses_left > 0 && --uses_left == 0)
                give_back(receive);
        }
    }

  private:
    const std::byte* piece(const Loans::Use& use, std::span<const Blocks> lent) const;
    void forget_operands(int fold);

    const Program& program_;
    const Loans& loans_;
    Places& places_;
    std::vector<std::vector<int>> receives_of_; // by fold: the receives whose loans it may read
    std::vector<std::uint32_t> held_;           // by receive: uses of its loan still to come
};

} // namespace sextant
