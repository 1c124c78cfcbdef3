// SPDX-License-Identifier: BSD-3-Clause
// How a message leaves and where it comes to.
#include "sextant/comm/runner.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

/// As it is, or a code, or what counts of a single element; where it was made with the receiver,
/// that.
void Execution::Runner::send(int index) {
    const int message = table_.message_of(index);
    const Bytes all = table_.bytes(message);
    Bytes bytes = all;
    if (delivered_[static_cast<std::size_t>(index)]) {
        sent_.bytes += all;
        sent_.elements += all;
        return exchange_->start_delivered(message);
    }
    if (encodes(message))
        bytes = encoding_->encode(message);
    else if (step_at(index).count == 1)
        bytes = used_bytes(program_.regions_of(step_at(index))[0]);
    if (bytes < all)
        exchange_->start_short(message, bytes);
    else
        exchange_->start(message);
    sent_.bytes += bytes;
    sent_.elements += all;
}

void Execution::Runner::check_bytes(int index, const Completion& completion) const {
    const Bytes most = table_.bytes(completion.message);
    const bool may_be_short = operator_.used || encodes(completion.message);
    if (may_be_short ? completion.bytes <= most : completion.bytes == most)
        return;
    throw std::logic_error(fmt::format("rank {}, step {}: {} bytes from rank {}, expected {}",
                                       rank_, index, completion.bytes, step_at(index).peer, most));
}

/// What a message brought: read where it lies if that is possible, else brought to its regions.
void Execution::Runner::take(int index, const Completion& completion) {
    if (completion.bytes > 0 && encodes(completion.message))
        take_code(index, completion);
    else if (!completion.lent.empty() && !borrowing_.borrow(index, completion.lent))
        exchange_->copy_loan(completion.message);
}

const kernel::SparseCode* Execution::Runner::read_code(int index, int message,
                                                       std::span<const std::byte> came) {
    try {
        return encoding_->read(message, came);
    } catch (const kernel::InvalidCode& wrong) {
        throw CommunicationFailed(fmt::format("rank {}, step {}: the code that came from rank {} "
                                              "is damaged: {}",
                                              rank_, index, step_at(index).peer, wrong.what()));
    }
}

void Execution::Runner::take_code(int index, const Completion& completion) {
    const bool lent = !completion.lent.empty();
    const Blocks from = lent ? completion.lent.front() : encoding_->room(completion.message);
    const std::span<const std::byte> came(from.base, static_cast<std::size_t>(completion.bytes));
    const kernel::SparseCode* const code = read_code(index, completion.message, came);
    if (loans_.uses(index).empty()) {
        encoding_->unpack(completion.message, came);
        if (lent)
            exchange_->give_back(completion.message);
    } else if (code) {
        borrowing_.borrow(index, *code);
    } else {
        borrowing_.borrow(index, std::span(&from, 1));
    }
}

} // namespace sextant
