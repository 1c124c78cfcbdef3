// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/borrowing.hpp"

#include <algorithm>

namespace sextant {

Borrowing::Borrowing(const Program& program, const Loans& loans, Places& places)
    : program_(program),
      loans_(loans),
      places_(places),
      receives_of_(program.steps.size()),
      held_(program.steps.size(), 0) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (program.steps[i].verb != Verb::receive)
            continue;
        for (const Loans::Use& use : loans.uses(static_cast<int>(i)))
            receives_of_[use.step].push_back(static_cast<int>(i));
    }
}

const std::byte* Borrowing::piece(const Loans::Use& use, std::span<const Blocks> lent) const {
    const Bytes size = places_.element_size(program_.regions[use.region].buffer);
    return in_one_piece(lent, use.offset * size, program_.regions[use.region].elements() * size);
}

bool Borrowing::borrow(int receive, std::span<const Blocks> lent) {
    const auto uses = loans_.uses(receive);
    const auto readable = [&](const Loans::Use& use) { return piece(use, lent) != nullptr; };
    if (!std::all_of(uses.begin(), uses.end(), readable))
        return false;
    for (const Loans::Use& use : uses)
        places_.borrow(use.region, piece(use, lent));
    held_[static_cast<std::size_t>(receive)] = static_cast<std::uint32_t>(uses.size());
    return true;
}

void Borrowing::borrow(int receive, const kernel::SparseCode& code) {
    const auto uses = loans_.uses(receive);
    for (const Loans::Use& use : uses)
        places_.borrow(use.region, code, use.offset);
    held_[static_cast<std::size_t>(receive)] = static_cast<std::uint32_t>(uses.size());
}

void Borrowing::forget_operands(int fold) {
    const Step& step = program_.steps[static_cast<std::size_t>(fold)];
    for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
        if (places_.lent(r))
            places_.give_back(r);
    }
}

} // namespace sextant
