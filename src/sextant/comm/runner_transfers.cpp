// SPDX-License-Identifier: BSD-3-Clause
// How messages leave, and where they come to.
#include "sextant/comm/runner.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

void Execution::Runner::start_messages() {
    for (int s = walk_.next_message(); s != Walk::none; s = walk_.next_message())
        start_message(s);
}

void Execution::Runner::start_message(int index) {
    const int message = table_.message_of(index);
    const bool sends = step_at(index).verb == Verb::send;
    tracer_.message_started(index);
    if (!sends)
        exchange_->start(message);
    else if (fine())
        send(index);
    else
        exchange_->start_empty(message);
    // Nothing of this rank waits for what it lends, so the step is done; the run is not.
    if (sends && loans_.may_lend(index) && lends(index)) {
        ++loans_out_;
        walk_.finish(index);
    }
}

/// Keeps messages moving while an operator or kernel works. What goes wrong with them is not its
/// failure.
void Execution::Runner::pump_within_work() {
    if (transport_failure_)
        return;
    try {
        pump();
    } catch (...) {
        transport_failure_ = std::current_exception();
    }
}

/// Takes what has arrived and starts what that allows. Whether anything came that there was to
/// wait for.
bool Execution::Runner::pump() {
    const int count = exchange_->poll(completions_);
    for (int i = 0; i < count; ++i)
        complete_message(completions_[static_cast<std::size_t>(i)]);
    if (count > 0)
        start_messages();
    return count > 0 || held_that_may_start() != held_.end();
}

void Execution::Runner::complete_message(const Completion& completion) {
    const int index = table_.step_of(completion.message);
    const Step& step = step_at(index);
    tracer_.message_completed(index);
    if (step.verb == Verb::send) {
        if (loans_.may_lend(index) && lends(index))
            --loans_out_;
        else
            walk_.finish(index);
        return;
    }
    if (completion.bytes == 0) {
        if (failed_peer_ < 0)
            failed_peer_ = step.peer;
    } else {
        check_bytes(index, completion);
    }
    arrived_ = true;
    take(index, completion);
    walk_.finish(index);
}

Bytes Execution::Runner::bytes_of(const Region& region) const {
    return region.elements() * places_.element_size(region.buffer);
}

/// Of a region that is one of the operator's elements what counts of it, of others all.
Bytes Execution::Runner::used_bytes(const Region& region) const {
    const bool of_operator = program_.buffers[static_cast<std::size_t>(region.buffer)].element == 0;
    if (operator_.used && of_operator && region.elements() == 1)
        return operator_.used(places_.at(region, 0));
    return bytes_of(region);
}

void Execution::Runner::copy_region(const Region& to, const Region& from) {
    const Bytes used = used_bytes(from);
    if (used < bytes_of(from) || bytes_of(to) != bytes_of(from)) // lists, in one piece
        std::copy_n(places_.at(from, 0), used, places_.at(to, 0));
    else
        copy(std::array{places_.blocks(to)}, std::array{places_.blocks(from)});
}

/// As it is, or a code, or what counts of a single element; where it was made with the receiver,
/// that.
void Execution::Runner::send(int index) {
    const int message = table_.message_of(index);
    const Bytes all = table_.bytes(message);
    Bytes bytes = all;
    if (delivery_.delivered(index)) {
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
