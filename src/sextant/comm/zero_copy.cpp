// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/zero_copy.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant {

Borrowing::Borrowing(const Program& program, const Loans& loans, BufferAddresses& places)
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

/// The shared data of a use; the base is null if it cannot be read in place. A kernel may read one
/// whole block of the message even if its runs differ from those of the region.
Blocks Borrowing::piece(const Loans::Use& use, std::span<const Blocks> lent) const {
    const Bytes size = places_.element_size(program_.regions[use.region].buffer);
    const Bytes bytes = program_.regions[use.region].elements() * size;
    Bytes first = use.offset * size;
    if (const std::byte* const data = in_one_piece(lent, first, bytes))
        return {const_cast<std::byte*>(data), bytes, bytes, 1};
    if (program_.steps[use.step].verb == Verb::fold)
        return {};
    for (const Blocks& block : lent) {
        if (first == 0 && block.bytes() == bytes)
            return block;
        first -= block.bytes();
    }
    return {};
}

bool Borrowing::borrow(int receive, std::span<const Blocks> lent) {
    const auto uses = loans_.uses(receive);
    const auto readable = [&](const Loans::Use& use) { return piece(use, lent).base != nullptr; };
    if (!std::all_of(uses.begin(), uses.end(), readable))
        return false;
    for (const Loans::Use& use : uses)
        places_.borrow(use.region, piece(use, lent));
    held_[static_cast<std::size_t>(receive)] = static_cast<std::uint32_t>(uses.size());
    return true;
}

bool Borrowing::can_read_code(int receive) const {
    const auto uses = loans_.uses(receive);
    return !uses.empty() && std::all_of(uses.begin(), uses.end(), [this](const Loans::Use& use) {
        return program_.steps[use.step].verb == Verb::fold;
    });
}

void Borrowing::borrow(int receive, const kernel::SparseCode& code) {
    const auto uses = loans_.uses(receive);
    for (const Loans::Use& use : uses)
        places_.borrow(use.region, code, use.offset);
    held_[static_cast<std::size_t>(receive)] = static_cast<std::uint32_t>(uses.size());
}

void Borrowing::forget_operands(int done) {
    const Step& step = program_.steps[static_cast<std::size_t>(done)];
    for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
        if (places_.lent(r))
            places_.give_back(r);
    }
}

DirectDelivery::DirectDelivery(const Program& program, const Loans& loans,
                               const MessageTable& table, const BufferAddresses& places,
                               const Operator& op, const std::optional<Encoding>& encoding)
    : program_(program),
      loans_(loans),
      table_(table),
      places_(places),
      varies_in_size_(static_cast<bool>(op.used)),
      encoding_(encoding) {}

void DirectDelivery::begin(const Exchange& exchange) {
    exchange_ = &exchange;
    delivered_.assign(program_.steps.size(), 0);
    settled_.assign(program_.steps.size(), 0);
}

bool DirectDelivery::sent_as_it_turns_out(int send) const {
    return varies_in_size_ || (encoding_ && encoding_->covers(table_.message_of(send)));
}

Folding::ReceiveBuffer DirectDelivery::room_for(int fold) {
    const int send = loans_.taker(fold);
    if (send < 0 || sent_as_it_turns_out(send))
        return {};
    const ReceiveBuffer room = room_of(send);
    const bool usable = room.at.base && room.at.contiguous();
    delivered_[static_cast<std::size_t>(send)] = usable;
    return {usable ? room.at.base : nullptr, room.open};
}

bool DirectDelivery::is_settled(const Step& step) {
    bool settled = true;
    for (std::uint32_t m = 0; step.verb == Verb::compute && m < step.made; ++m) {
        const int send = loans_.taker_of_made(step.first + step.count + m);
        settled = settled && (send < 0 || is_known(send));
    }
    return settled;
}

/// True if the memory to which kernels write the data of a send is known: the receiver's or this
/// rank's own.
bool DirectDelivery::is_known(int send) {
    const auto at = static_cast<std::size_t>(send);
    if (settled_[at] || sent_as_it_turns_out(send))
        return true;
    const ReceiveBuffer room = room_of(send);
    if (room.open && room.promised)
        return false;
    settled_[at] = true;
    delivered_[at] = room.at.base && fits(send, room.at);
    return true;
}

bool DirectDelivery::fits(int send, const Blocks& room) const {
    for (std::uint32_t region = 0; region < program_.regions.size(); ++region) {
        if (loans_.taker_of_made(region) == send && !place_within(region, send, room).base)
            return false;
    }
    return true;
}

Blocks DirectDelivery::place_of_made(std::uint32_t region) const {
    const int send = loans_.taker_of_made(region);
    if (send >= 0 && delivered(send))
        return place_within(region, send, room_of(send).at);
    return places_.blocks(program_.regions[region]);
}

/// The blocks of a region within the destination of its message, which is contiguous at the sender.
Blocks DirectDelivery::place_within(std::uint32_t region, int send, const Blocks& room) const {
    const Region& made = program_.regions[region];
    const Region& sent = program_.regions_of(step_at(send))[0];
    return within(room, (made.offset - sent.offset) * places_.element_size(made.buffer),
                  places_.blocks(made));
}

Computing::Computing(const Program& program, std::vector<Kernel> kernels,
                     const BufferAddresses& places, const DirectDelivery& delivery, int rank,
                     const std::function<void()>& progress)
    : program_(program),
      kernels_(std::move(kernels)),
      places_(places),
      delivery_(delivery),
      progress_(progress) {
    for (const Step& step : program.steps) {
        if (step.kernel >= static_cast<int>(kernels_.size()))
            throw std::logic_error(
                fmt::format("rank {} has {} kernels, but its program uses kernel {}", rank,
                            kernels_.size(), step.kernel));
        made_.reserve(step.made); // so that runs allocate nothing
        read_.reserve(step.count);
    }
}

void Computing::run(const Step& step) {
    read_.clear();
    for (std::uint32_t r = step.first; r < step.first + step.count; ++r)
        read_.push_back(places_.source(program_, r));
    made_.clear();
    for (std::uint32_t m = 0; m < step.made; ++m)
        made_.push_back(delivery_.place_of_made(step.first + step.count + m));
    kernels_[static_cast<std::size_t>(step.kernel)]({step, program_.regions_of(step),
                                                     program_.made_by(step), places_.bases(), read_,
                                                     made_, progress_});
}

} // namespace sextant
