// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/execute.hpp"

#include "sextant/comm/folding.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace sextant {

std::string_view name(Association association) {
    return association == Association::in_order ? "in-order" : "by-arrival";
}

/// Holds what a program needs to run; never moves, since its parts refer to each other.
class Execution::Runner {
  public:
    Runner(Communicator communicator, Program program, Operator op, ExecuteOptions options)
        : program_(std::move(program)),
          operator_(std::move(op)),
          options_(options),
          dependences_(program_),
          loans_(program_, dependences_),
          walk_(program_, dependences_),
          places_(program_, operator_.element.size),
          folding_(program_, operator_, places_, options.association, [this] { pump(); }),
          communicator_(std::move(communicator)),
          rank_(communicator_.rank()),
          message_of_(program_.steps.size(), -1),
          receives_of_(program_.steps.size()),
          loans_held_(program_.steps.size(), 0) {
        allocate_scratch();
        list_borrowers();
        if (options.trace) {
            trace_.events.reserve(2 * program_.steps.size());
            started_at_.resize(program_.steps.size());
        }
    }

    void bind(int buffer, std::byte* memory, std::size_t bytes);
    void run();

    const Program& program() const { return program_; }
    const Trace& trace() const { return trace_; }
    std::span<const std::byte> result() const {
        const Region& region = program_.result;
        if (region.empty())
            return {};
        if (!region.contiguous())
            throw std::logic_error("the result is not contiguous");
        return {places_.at(region, 0),
                static_cast<std::size_t>(region.elements() * places_.element_size())};
    }

  private:
    using Clock = std::chrono::steady_clock;

    void allocate_scratch();
    void list_borrowers();
    void place_messages();
    void open_messages();
    std::vector<Blocks> blocks_of(const Step& step) const;
    void begin();
    void walk_to_the_end();
    bool finished() const { return walk_.done() && loans_out_ == 0; }

    bool pump();
    void start_messages();
    void start_message(int step);
    void complete_message(const Completion& completion);
    void accept_loan(int step, std::span<const Blocks> lent);
    bool work();
    void do_work(int step);
    void do_copy(const Step& step);
    bool combine_some();
    void give_back_loans_of(int fold);
    void fail_here();
    void end();

    const Step& step_at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }
    Seconds now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void note(int step, Activity activity, Elements elements, Seconds begin);

    const Program program_;
    const Operator operator_;
    const ExecuteOptions options_;
    const Dependences dependences_;
    const Loans loans_;
    Walk walk_;
    Places places_;
    Folding folding_;
    const Communicator communicator_;
    const int rank_;
    Memory scratch_;
    std::vector<int> message_of_;               // by step; -1 for folds and copies
    std::vector<int> step_of_;                  // by message
    std::vector<std::vector<int>> receives_of_; // by fold: the receives whose loans it may read
    std::vector<Bytes> bytes_of_;               // by message
    std::unique_ptr<Exchange> exchange_;
    bool lends_ = false;
    bool moved_ = true; // a buffer was bound since messages were placed

    // Of the run at hand.
    bool arrived_ = false;                  // an operand, since combining found nothing
    int loans_out_ = 0;                     // lent sends not yet given back
    std::vector<std::uint32_t> loans_held_; // by receive: uses of its loan still to come
    std::exception_ptr failure_;            // of this rank
    int failed_step_ = Walk::none;
    int failed_peer_ = -1; // who told us that it failed
    std::array<Completion, 64> completions_;

    Clock::time_point start_;
    std::vector<Seconds> started_at_;
    Trace trace_;
};

void Execution::Runner::allocate_scratch() {
    constexpr Bytes line = 64;
    std::vector<Bytes> offsets;
    Bytes size = 0;
    for (const BufferSpec& buffer : program_.buffers) {
        offsets.push_back(size);
        const bool ours = buffer.role == Role::scratch || buffer.role == Role::output;
        if (ours)
            size += (buffer.size * operator_.element.size + line - 1) / line * line;
    }
    scratch_ = Memory(size);
    for (std::size_t b = 0; b < offsets.size(); ++b) {
        const Role role = program_.buffers[b].role;
        if (role == Role::scratch || role == Role::output) {
            places_.bind(static_cast<int>(b), scratch_.data() + offsets[b]);
        }
    }
}

void Execution::Runner::list_borrowers() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        if (program_.steps[i].verb != Verb::receive)
            continue;
        for (const Loans::Use& use : loans_.uses(static_cast<int>(i))) {
            receives_of_[use.step].push_back(static_cast<int>(i));
        }
    }
}

std::vector<Blocks> Execution::Runner::blocks_of(const Step& step) const {
    std::vector<Blocks> blocks;
    for (const Region& region : program_.regions_of(step))
        blocks.push_back(places_.blocks(region));
    return blocks;
}

void Execution::Runner::open_messages() {
    const std::vector<int> tags = message_tags(program_);
    std::vector<Message> messages;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const Step& step = program_.steps[i];
        if (!is_message(step.verb))
            continue;
        message_of_[i] = static_cast<int>(messages.size());
        step_of_.push_back(static_cast<int>(i));
        const bool sends = step.verb == Verb::send;
        const int index = static_cast<int>(i);
        const bool lends = sends ? loans_.may_lend(index) : !loans_.uses(index).empty();
        messages.push_back({sends, step.peer, tags[i], lends, blocks_of(step)});
    }
    for (const Message& message : messages)
        bytes_of_.push_back(message.bytes());
    exchange_ = communicator_.open(std::move(messages));
    lends_ = exchange_->lends();
}

void Execution::Runner::bind(int buffer, std::byte* memory, std::size_t bytes) {
    const BufferSpec& spec = program_.buffers.at(static_cast<std::size_t>(buffer));
    const Bytes expected = spec.size * operator_.element.size;
    if (spec.role == Role::scratch)
        throw std::logic_error("scratch is not the caller's to bind");
    if (static_cast<Bytes>(bytes) != expected) {
        throw InvalidTask(fmt::format("rank {}: {} bytes given, expected {} ({} elements of {})",
                                      rank_, bytes, expected, spec.size, operator_.element.name));
    }
    if (places_.base(buffer) == memory)
        return;
    places_.bind(buffer, memory);
    moved_ = true;
}

void Execution::Runner::place_messages() {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
        if (!places_.base(static_cast<int>(b)) && program_.buffers[b].size > 0) {
            throw InvalidTask(fmt::format("rank {}: input buffer {} is not bound", rank_, b));
        }
    }
    if (!exchange_)
        open_messages();
    for (std::size_t m = 0; m < step_of_.size(); ++m) {
        exchange_->place(static_cast<int>(m), blocks_of(step_at(step_of_[m])));
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
    failure_ = nullptr;
    failed_step_ = Walk::none;
    failed_peer_ = -1;
    trace_.events.clear();
    if (options_.trace) {
        start_ = Clock::now();
        trace_.origin = std::chrono::duration<double>(start_.time_since_epoch()).count();
    }
    exchange_->begin();
}

void Execution::Runner::run() {
    begin();
    try {
        walk_to_the_end();
    } catch (...) {
        exchange_->abandon();
        throw;
    }
    end();
}

void Execution::Runner::walk_to_the_end() {
    // How long to wait for more operands before combining some: where peers' elements are read in
    // place one pass over all of them is cheaper than several.
    const int patience = lends_ ? 300 : 1;
    int idle = 0;
    Seconds idle_since = 0;
    while (true) {
        start_messages();
        if (work() || (!finished() && pump())) {
            if (idle > 0 && options_.trace)
                note(Walk::none, Activity::wait, 0, idle_since);
            idle = 0;
            continue;
        }
        if (finished())
            break;
        if (idle >= patience && arrived_) {
            if (combine_some())
                idle = 0;
            else
                arrived_ = false;
            continue;
        }
        if (idle == 0 && options_.trace)
            idle_since = now();
        exchange_->rest(++idle);
    }
}

void Execution::Runner::start_messages() {
    for (int s = walk_.next_message(); s != Walk::none; s = walk_.next_message())
        start_message(s);
}

void Execution::Runner::start_message(int index) {
    const int message = message_of_[static_cast<std::size_t>(index)];
    const bool sends = step_at(index).verb == Verb::send;
    if (options_.trace)
        started_at_[static_cast<std::size_t>(index)] = now();
    const bool failed = failure_ || failed_peer_ >= 0;
    if (sends && failed)
        exchange_->start_empty(message);
    else
        exchange_->start(message);
    // Nothing of this rank waits for what it lends, so the step is done; the run is not.
    if (sends && lends_ && loans_.may_lend(index)) {
        ++loans_out_;
        walk_.finish(index);
    }
}

/// Takes what has arrived and starts what that allows. Whether anything came.
bool Execution::Runner::pump() {
    const int count = exchange_->poll(completions_);
    for (int i = 0; i < count; ++i)
        complete_message(completions_[static_cast<std::size_t>(i)]);
    if (count > 0)
        start_messages();
    return count > 0;
}

void Execution::Runner::complete_message(const Completion& completion) {
    const int index = step_of_[static_cast<std::size_t>(completion.message)];
    const Step& step = step_at(index);
    if (options_.trace) {
        note(index, step.verb == Verb::send ? Activity::send : Activity::receive,
             program_.elements_of(step), started_at_[static_cast<std::size_t>(index)]);
    }
    if (step.verb == Verb::send) {
        if (lends_ && loans_.may_lend(index))
            --loans_out_;
        else
            walk_.finish(index);
        return;
    }
    if (completion.bytes == 0) {
        if (failed_peer_ < 0)
            failed_peer_ = step.peer;
    } else if (completion.bytes != bytes_of_[static_cast<std::size_t>(completion.message)]) {
        throw std::logic_error(fmt::format(
            "rank {}, step {}: {} bytes from rank {}, expected {}", rank_, index, completion.bytes,
            step.peer, bytes_of_[static_cast<std::size_t>(completion.message)]));
    }
    arrived_ = true;
    if (!completion.lent.empty())
        accept_loan(index, completion.lent);
    walk_.finish(index);
}

/// Points the folds that use a message at the sender's own elements, or copies them where a fold's
/// operand is not in one piece there.
void Execution::Runner::accept_loan(int index, std::span<const Blocks> lent) {
    const Bytes size = places_.element_size();
    const auto uses = loans_.uses(index);
    const auto piece = [&](Elements offset, Elements length) -> const std::byte* {
        Bytes skip = offset * size;
        for (const Blocks& blocks : lent) {
            if (skip >= blocks.bytes()) {
                skip -= blocks.bytes();
                continue;
            }
            if (blocks.contiguous()) {
                return skip + length * size <= blocks.bytes() ? blocks.base + skip : nullptr;
            }
            const Bytes in_run = skip % blocks.length;
            if (in_run + length * size > blocks.length)
                return nullptr;
            return blocks.base + skip / blocks.length * blocks.stride + in_run;
        }
        return nullptr;
    };
    for (const Loans::Use& use : uses) {
        if (piece(use.offset, program_.regions[use.region].elements()))
            continue;
        exchange_->copy_loan(message_of_[static_cast<std::size_t>(index)]);
        return;
    }
    for (const Loans::Use& use : uses) {
        places_.borrow(use.region, piece(use.offset, program_.regions[use.region].elements()));
    }
    loans_held_[static_cast<std::size_t>(index)] = static_cast<std::uint32_t>(uses.size());
}

/// One fold or copy that may be done now, if any.
bool Execution::Runner::work() {
    const int step = walk_.next_work();
    if (step == Walk::none)
        return false;
    if (!failure_ && failed_peer_ < 0) {
        try {
            do_work(step);
        } catch (...) {
            failed_step_ = step;
            fail_here();
        }
    }
    if (lends_)
        give_back_loans_of(step);
    walk_.finish(step);
    arrived_ = true;
    return true;
}

void Execution::Runner::do_work(int index) {
    const Step& step = step_at(index);
    const Seconds begin = options_.trace ? now() : 0;
    if (step.verb == Verb::fold)
        folding_.complete(index);
    else
        do_copy(step);
    if (!options_.trace)
        return;
    note(index, step.verb == Verb::fold ? Activity::fold : Activity::copy, step.to.elements(),
         begin);
}

void Execution::Runner::do_copy(const Step& step) {
    const Region& from = program_.regions_of(step)[0];
    const Elements elements = step.to.elements();
    const auto run_left = [&](const Region& region, Elements e) {
        return region.contiguous() ? elements - e : region.length - e % region.length;
    };
    for (Elements e = 0; e < elements;) {
        const Elements count = std::min(run_left(step.to, e), run_left(from, e));
        std::memcpy(places_.at(step.to, e), places_.at(from, e),
                    static_cast<std::size_t>(count * places_.element_size()));
        e += count;
    }
}

bool Execution::Runner::combine_some() {
    if (failure_ || failed_peer_ >= 0)
        return false;
    const Seconds begin = options_.trace ? now() : 0;
    try {
        const int step = folding_.combine_some(walk_);
        if (step == Walk::none)
            return false;
        if (options_.trace)
            note(step, Activity::fold, step_at(step).to.elements(), begin);
    } catch (...) {
        fail_here();
    }
    return true;
}

void Execution::Runner::give_back_loans_of(int fold) {
    const Step& step = step_at(fold);
    for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
        if (places_.lent(r))
            places_.give_back(r);
    }
    for (int receive : receives_of_[static_cast<std::size_t>(fold)]) {
        auto& uses_left = loans_held_[static_cast<std::size_t>(receive)];
        if (uses_left > 0 && --uses_left == 0) {
            exchange_->give_back(message_of_[static_cast<std::size_t>(receive)]);
        }
    }
}

void Execution::Runner::fail_here() {
    if (!failure_)
        failure_ = std::current_exception();
}

void Execution::Runner::end() {
    exchange_->end();
    if (options_.trace)
        trace_.duration = now();
    if (failure_)
        std::rethrow_exception(failure_);
    if (failed_peer_ >= 0) {
        throw PeerFailed(failed_peer_, fmt::format("rank {} stopped: rank {}, whose part it needs, "
                                                   "failed or needed one that did",
                                                   rank_, failed_peer_));
    }
}

void Execution::Runner::note(int index, Activity activity, Elements elements, Seconds begin) {
    Event event{rank_, index, activity, 0, -1, elements, begin, now()};
    if (index != Walk::none) {
        event.round = step_at(index).round;
        event.peer = step_at(index).peer;
    }
    trace_.events.push_back(event);
}

Execution::Execution(Communicator communicator, Program program, Operator op,
                     ExecuteOptions options)
    : runner_(std::make_unique<Runner>(std::move(communicator), std::move(program), std::move(op),
                                       options)) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

void Execution::bind(int buffer, std::span<const std::byte> memory) {
    // Inputs are never written: Dependences refuses a program that would.
    runner_->bind(buffer, const_cast<std::byte*>(memory.data()), memory.size());
}

void Execution::bind(int buffer, std::span<std::byte> memory) {
    runner_->bind(buffer, memory.data(), memory.size());
}

void Execution::run() {
    runner_->run();
}
std::span<const std::byte> Execution::result() const {
    return runner_->result();
}
const Program& Execution::program() const {
    return runner_->program();
}
const Trace& Execution::trace() const {
    return runner_->trace();
}

} // namespace sextant
