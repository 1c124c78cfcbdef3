// SPDX-License-Identifier: BSD-3-Clause
// Runs one rank's program: setup, progress, work, sending and receiving.

#include "sextant/comm/runner.hpp"

#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// True if ranks wait in different calls: before the end of a run, this is the only error that is
/// an InvalidTask, because errors of operators are thrown at the end.
bool is_wrong_order(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const InvalidTask&) {
        return true;
    } catch (...) {
        return false;
    }
}

std::vector<int> peers_of(const Program& program) {
    std::vector<int> peers;
    for (const Step& step : program.steps)
        peers.push_back(step.peer);
    return peers;
}

} // namespace

Execution::Runner::Runner(Communicator communicator, Program program, Operator op,
                          ExecuteOptions options, std::vector<Kernel> kernels)
    : communicator_(std::move(communicator)),
      rank_(communicator_.rank()),
      program_(std::move(program)),
      peers_(peers_of(program_)),
      workspace_(options.workspace ? options.workspace
                                   : std::make_shared<Workspace>(options.fold_threads)),
      operator_(options.fold_threads > 1 ? folded_by(workspace_->team, std::move(op))
                                         : std::move(op)),
      progress_([this] { pump_within_work(); }),
      dependences_(program_),
      loans_(program_, dependences_),
      walk_(program_, dependences_),
      places_(program_, operator_.element.size),
      borrowing_(program_, loans_, places_),
      table_(program_, dependences_, loans_, operator_.element.size),
      delivery_(program_, loans_, table_, places_, operator_, encoding_),
      folding_(program_, operator_, places_, options, progress_,
               [this](int fold) { return delivery_.room_for(fold); }),
      computing_(program_, std::move(kernels), places_, delivery_, rank_, progress_),
      tracer_(program_, rank_, options.trace),
      own_offsets_(own_offsets(program_, places_)),
      bound_(program_.buffers.size()),
      comparison_(options.comparison),
      sends_to_(static_cast<std::size_t>(communicator_.size())),
      receives_from_(sends_to_.size()) {
    workspace_->make_scratch(communicator_, own_bytes(program_, places_));
    if (options.sparse)
        encoding_.emplace(program_, table_, places_, operator_, *workspace_);
    place_own();
    touch_spared(program_, loans_, communicator_, places_);
    receives_ = std::any_of(program_.steps.begin(), program_.steps.end(),
                            [](const Step& step) { return step.verb == Verb::receive; });
    const auto computes = [](const Step& step) { return step.verb == Verb::compute; };
    held_.reserve(static_cast<std::size_t>(
        std::count_if(program_.steps.begin(), program_.steps.end(), computes)));
}

void Execution::Runner::bind(int buffer, std::byte* memory, std::size_t bytes) {
    const BufferSpec& spec = program_.buffers.at(static_cast<std::size_t>(buffer));
    const Bytes expected = spec.size * places_.element_size(buffer);
    if (spec.role == Role::scratch)
        throw std::logic_error("a scratch buffer cannot be bound");
    if (static_cast<Bytes>(bytes) != expected) {
        throw InvalidTask(fmt::format(
            "rank {}: {} bytes given, expected {} ({} elements of {})", rank_, bytes, expected,
            spec.size, spec.element == 0 ? operator_.element.name : "the buffer's own type"));
    }
    bound_[static_cast<std::size_t>(buffer)] = true;
    if (places_.base(buffer) == memory)
        return;
    places_.bind(buffer, memory);
    moved_ = true;
}

/// Assigns tags as message_tags does: peers mapped to the same rank share one counter.
void Execution::Runner::set_peers(std::span<const int> ranks) {
    std::fill(sends_to_.begin(), sends_to_.end(), 0);
    std::fill(receives_from_.begin(), receives_from_.end(), 0);
    any_lent_ = false;
    for (int m = 0; m < table_.size(); ++m) {
        const auto step = static_cast<std::size_t>(table_.step_of(m));
        const int peer = ranks[static_cast<std::size_t>(peers_[step])];
        program_.steps[step].peer = peer;
        if (!exchange_)
            continue;
        const bool sends = program_.steps[step].verb == Verb::send;
        exchange_->address(m, peer,
                           (sends ? sends_to_ : receives_from_)[static_cast<std::size_t>(peer)]++);
        any_lent_ = any_lent_ || exchange_->lends(m);
    }
}

std::span<const std::byte> Execution::Runner::result() const {
    const Region& region = program_.result;
    if (region.empty())
        return {};
    if (!region.contiguous())
        throw std::logic_error("the result is not contiguous");
    return {places_.at(region, 0),
            static_cast<std::size_t>(region.elements() * places_.element_size(region.buffer))};
}

void Execution::Runner::check_bound() const {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
        if (!places_.base(static_cast<int>(b)) && program_.buffers[b].size > 0) {
            throw InvalidTask(fmt::format("rank {}: input buffer {} is not bound", rank_, b));
        }
    }
}

/// Assigns workspace memory to the buffers that the caller did not bind.
void Execution::Runner::place_own() {
    for (std::size_t b = 0; b < own_offsets_.size(); ++b) {
        if (own_offsets_[b] >= 0 && !bound_[b])
            places_.bind(static_cast<int>(b), workspace_->scratch.data() + own_offsets_[b]);
    }
    workspace_version_ = workspace_->version;
    moved_ = true;
}

void Execution::Runner::place_messages() {
    if (exchange_) {
        for (int m = 0; m < table_.size(); ++m) {
            if (encodes(m))
                blocks_.assign(1, encoding_->room(m));
            else
                table_.list_blocks(m, places_, blocks_);
            exchange_->place(m, blocks_);
        }
    } else {
        std::vector<Message> messages = table_.messages(places_);
        for (int m = 0; m < table_.size(); ++m) {
            if (!encodes(m))
                continue;
            messages[static_cast<std::size_t>(m)].blocks = {encoding_->room(m)};
            // Compressed data is never written directly into the receiver's memory.
            messages[static_cast<std::size_t>(m)].free = false;
        }
        for (const Message& message : messages) // so that place() allocates nothing later
            blocks_.reserve(message.blocks.size());
        exchange_ = communicator_.open(std::move(messages));
        for (int m = 0; m < table_.size(); ++m)
            any_lent_ = any_lent_ || exchange_->lends(m);
    }
    moved_ = false;
}

void Execution::Runner::begin() {
    if (moved_)
        place_messages();
    walk_.reset();
    folding_.reset();
    arrived_ = false;
    loans_out_ = 0;
    sent_ = {};
    delivery_.begin(*exchange_);
    held_.clear();
    transport_failure_ = nullptr;
    failed_peer_ = -1;
    idle_ = 0;
    tracer_.begin();
    exchange_->begin();
    over_ = false;
    moved_ = failure_ != nullptr; // the next run must check for unbound buffers
}

void Execution::Runner::run() {
    start();
    go_through();
}

void Execution::Runner::run_failed(std::exception_ptr failure) {
    start_failed(std::move(failure));
    go_through();
}

void Execution::Runner::start() {
    if (workspace_version_ != workspace_->version)
        place_own();
    if (moved_)
        check_bound();
    open_or_wait(nullptr);
}

void Execution::Runner::start_failed(std::exception_ptr failure) {
    if (workspace_version_ != workspace_->version)
        place_own();
    open_or_wait(std::move(failure));
}

/// A rank that receives nothing never waits, so it checks here if other ranks wait for its request.
void Execution::Runner::open_or_wait(std::exception_ptr failure) {
    outcome_ = nullptr;
    failure_ = std::move(failure);
    if (Scoping* const scoping = scoping_of(communicator_))
        scoping->begin_run();
    if (comparison_ && !receives_ && !comparison_->closed())
        comparison_->check();
    opening_ = comparison_ && comparison_->closed();
    idle_ = 0;
    if (opening_)
        over_ = false;
    else
        begin();
}

void Execution::Runner::wait_for_opening() {
    comparison_->advance();
    if (comparison_->closed()) {
        constexpr int between_failures = 64;
        if (++idle_ % between_failures == 0)
            look();
        return;
    }
    begin();
    opening_ = false;
}

void Execution::Runner::go_through() {
    while (true) {
        if (advance())
            continue;
        if (over_)
            break;
        rest();
    }
    finish();
}

bool Execution::Runner::advance() {
    constexpr int between_looks = 16, before_looks = 256, between_failures = 64;
    if (over_)
        return false;
    try {
        if (opening_) {
            wait_for_opening();
            return !opening_;
        }
        if (take_turn())
            return true;
        if (finished())
            end();
        else if (comparison_ && idle_ >= before_looks &&
                 (comparison_->closed() || idle_ % between_looks == 0))
            comparison_->check();
        if (idle_ >= before_looks && idle_ % between_failures == 0 && !over_)
            look();
    } catch (...) {
        fail(std::current_exception());
    }
    return false;
}

void Execution::Runner::fail(std::exception_ptr failure) {
    outcome_ = std::move(failure);
    over_ = true;
    if (std::exchange(opening_, false)) { // this rank's run has not begun
        if (exchange_ && comparison_ && comparison_->spoiled())
            exchange_->leave(); // messages of the previous run may be in transit
        if (comparison_ && !comparison_->agreed())
            end_run();
        return;
    }
    try {
        // If ranks called in different orders, the other ranks may never join the comparison.
        if (comparison_ && !is_wrong_order(outcome_))
            comparison_->settle();
    } catch (...) { // every rank throws the same error
        outcome_ = std::current_exception();
    }
    tracer_.end();
    if (comparison_ && comparison_->spoiled()) { // every rank leaves the run on its own
        exchange_->leave();
        end_run();
    } else {
        tell_failed(outcome_);
        exchange_->abandon();
    }
}

/// Throws if another rank has failed.
void Execution::Runner::look() {
    if (Scoping* const scoping = scoping_of(communicator_))
        scoping->look();
}

void Execution::Runner::end_run() {
    if (Scoping* const scoping = scoping_of(communicator_))
        scoping->end_run();
}

/// Notifies the other ranks of a failure, unless it was received from another rank.
void Execution::Runner::tell_failed(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const PeerFailed&) {
    } catch (const std::exception& error) {
        sextant::fail(communicator_, error.what());
    } catch (...) {
        sextant::fail(communicator_, "failed during a run");
    }
}

void Execution::Runner::rest() {
    try {
        if (comparison_ && comparison_->closed())
            comparison_->rest(idle_);
        else
            exchange_->rest(idle_);
    } catch (...) {
        fail(std::current_exception());
    }
}

void Execution::Runner::finish() {
    if (!over_)
        throw std::logic_error("finish() was called before the end of the run");
    if (outcome_)
        std::rethrow_exception(std::exchange(outcome_, nullptr));
}

void Execution::Runner::abandon() {
    if (over_)
        return;
    over_ = true;
    sextant::fail(communicator_, "abandoned a run");
    if (!std::exchange(opening_, false))
        exchange_->abandon();
}

/// Makes progress; returns true if there was anything to do.
bool Execution::Runner::take_turn() {
    // The number of idle polls to wait for more operands before combining those that have arrived:
    // if operands are read in place, one pass over all of them is cheaper than several.
    const int patience = any_lent_ ? 300 : 1;
    if (transport_failure_)
        std::rethrow_exception(transport_failure_);
    start_messages();
    // Messages also make progress between two steps of work, because an operator may take seconds.
    const bool worked = work();
    if ((!finished() && pump()) || worked) {
        if (idle_ > 0)
            tracer_.busy();
        idle_ = 0;
        return true;
    }
    if (finished())
        return false;
    if (idle_ >= patience && arrived_) {
        if (combine_some())
            idle_ = 0;
        else
            arrived_ = false;
        return true;
    }
    if (idle_ == 0)
        tracer_.idle();
    ++idle_;
    return false;
}

std::vector<int>::iterator Execution::Runner::held_that_may_start() {
    return std::find_if(held_.begin(), held_.end(), [this](int step) { return may_start(step); });
}

/// Delays kernels that write directly into another rank's memory until the address is known.
int Execution::Runner::next_work() {
    if (const auto known = held_that_may_start(); known != held_.end()) {
        const int step = *known;
        held_.erase(known);
        return step;
    }
    int step = walk_.next_work();
    for (; step != Walk::none && !may_start(step); step = walk_.next_work())
        held_.push_back(step);
    return step;
}

/// Runs one fold, copy or compute step, if one is ready.
bool Execution::Runner::work() {
    const int step = next_work();
    if (step == Walk::none)
        return false;
    if (fine()) {
        try {
            do_work(step);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    if (any_lent_ || encoding_) {
        borrowing_.step_done(
            step, [this](int receive) { exchange_->give_back(table_.message_of(receive)); });
    }
    walk_.finish(step);
    arrived_ = true;
    return true;
}

void Execution::Runner::do_work(int index) {
    const Step& step = step_at(index);
    const std::int64_t begin = tracer_.now();
    if (step.verb == Verb::fold)
        folding_.complete(index);
    else if (step.verb == Verb::compute)
        computing_.run(step);
    else
        copy_region(step.to, program_.regions_of(step)[0]);
    tracer_.did(index, begin);
}

bool Execution::Runner::combine_some() {
    if (!fine())
        return false;
    const std::int64_t begin = tracer_.now();
    try {
        const int step = folding_.combine_some(walk_);
        if (step == Walk::none)
            return false;
        tracer_.did(step, begin);
    } catch (...) {
        failure_ = std::current_exception();
    }
    return true;
}

void Execution::Runner::end() {
    exchange_->end();
    end_run();
    over_ = true;
    tracer_.end();
    if (failure_) {
        outcome_ = failure_;
    } else if (failed_peer_ >= 0) {
        outcome_ = std::make_exception_ptr(
            PeerFailed(failed_peer_, fmt::format("rank {} stopped: rank {}, whose data it needs, "
                                                 "failed or depends on a rank that failed",
                                                 rank_, failed_peer_)));
    }
}

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
    // No step of this rank waits for a zero-copy send, so the step is done. The run ends only when
    // the buffer has been returned.
    if (sends && loans_.may_lend(index) && lends(index)) {
        ++loans_out_;
        walk_.finish(index);
    }
}

/// Makes progress on messages while an operator or kernel runs. Transport errors are stored and
/// thrown later, because they are not failures of the operator.
void Execution::Runner::pump_within_work() {
    if (transport_failure_)
        return;
    try {
        pump();
    } catch (...) {
        transport_failure_ = std::current_exception();
    }
}

/// Handles completed messages and starts the messages that they enable. Returns true if a message
/// has completed or a delayed computation may start.
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

/// Returns the number of bytes of a region that are in use: for a single element of the operator's
/// type, the part given by Operator::used; else all bytes.
Bytes Execution::Runner::used_bytes(const Region& region) const {
    const bool of_operator = program_.buffers[static_cast<std::size_t>(region.buffer)].element == 0;
    if (operator_.used && of_operator && region.elements() == 1)
        return operator_.used(places_.at(region, 0));
    return bytes_of(region);
}

void Execution::Runner::copy_region(const Region& to, const Region& from) {
    const Bytes used = used_bytes(from);
    if (used < bytes_of(from) || bytes_of(to) != bytes_of(from)) // only for contiguous regions
        std::copy_n(places_.at(from, 0), used, places_.at(to, 0));
    else
        copy(std::array{places_.blocks(to)}, std::array{places_.blocks(from)});
}

/// Sends a message: unchanged, compressed, or only the used part of a single element. If it was
/// written directly into the receiver's memory, only reports this.
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

/// Handles a received message: reads it in place if possible, else copies it to its regions.
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
        throw CommunicationFailed(
            fmt::format("rank {}, step {}: the encoded message from rank {} is damaged: {}", rank_,
                        index, step_at(index).peer, wrong.what()));
    }
}

void Execution::Runner::take_code(int index, const Completion& completion) {
    const bool lent = !completion.lent.empty();
    const Blocks from = lent ? completion.lent.front() : encoding_->room(completion.message);
    const std::span<const std::byte> came(from.base, static_cast<std::size_t>(completion.bytes));
    const kernel::SparseCode* const code = read_code(index, completion.message, came);
    if (!borrowing_.can_read_code(index)) {
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
