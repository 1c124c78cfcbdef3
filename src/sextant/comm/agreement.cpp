// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant {

namespace {

using Fault = AgreedFailure::Fault;

/// The outcome of a rank's part; values of 0 or more are the rank's own Fault.
enum class Outcome : int { fine = -3, peer_failed = -2, cancelled = -1 };

constexpr Outcome outcome_of(Fault fault) {
    return static_cast<Outcome>(fault);
}

struct Report {
    Outcome outcome = Outcome::fine;
    std::string text;
};

Report attempt(const std::function<void()>& part) {
    Report report;
    Cancellation cancellation = cancellation_here();
    cancellation.may_throw = true; // the failure is reported to all ranks
    const CancellationScope scope(cancellation);
    try {
        part();
    } catch (const PeerFailed& error) {
        report = {Outcome::peer_failed, error.what()};
    } catch (const AgreedFailure& error) {
        report = {outcome_of(error.fault()), error.what()};
    } catch (const Cancelled& error) {
        report = {Outcome::cancelled, error.what()};
    } catch (const InvalidData& error) {
        report = {outcome_of(Fault::data), error.what()};
    } catch (const InvalidTask& error) {
        report = {outcome_of(Fault::task), error.what()};
    } catch (const InvalidFile& error) {
        report = {outcome_of(Fault::file), error.what()};
    } catch (...) {
        report = {outcome_of(Fault::other), text_of_current_exception()};
    }
    return report;
}

/// Returns the lowest rank that failed on its own; if there is none, the lowest rank that was
/// cancelled; otherwise the lowest rank that stopped because another rank failed.
std::size_t rank_that_counts(const std::vector<Outcome>& outcomes) {
    auto found = std::find_if(outcomes.begin(), outcomes.end(),
                              [](Outcome outcome) { return outcome > Outcome::cancelled; });
    if (found == outcomes.end())
        found = std::max_element(outcomes.begin(), outcomes.end());
    return static_cast<std::size_t>(found - outcomes.begin());
}

/// Throws the error of the rank chosen by rank_that_counts. If ranks are threads of one process,
/// the error does not name a rank, because all ranks see the same files.
[[noreturn]] void throw_what_counts(const std::vector<Outcome>& outcomes,
                                    const std::vector<std::string>& texts, bool one_process) {
    const std::size_t rank = rank_that_counts(outcomes);
    if (outcomes[rank] == Outcome::cancelled)
        throw Cancelled();
    const bool alike = std::all_of(texts.begin(), texts.end(),
                                   [&](const std::string& text) { return text == texts[0]; });
    std::string text = texts[rank];
    if (!alike && !one_process && !text.starts_with("rank "))
        text = fmt::format("rank {}: {}", rank, text);
    throw AgreedFailure(text, static_cast<Fault>(outcomes[rank]));
}

} // namespace

void agree(const Communicator& communicator, const std::function<void()>& part) {
    agree(communicator, part, 0);
}

std::vector<std::uint64_t> agree(const Communicator& communicator,
                                 const std::function<void()>& part, std::uint64_t number) {
    struct Said {
        Outcome outcome;
        std::uint64_t number;
    };
    const Report local = attempt(part);
    std::vector<Outcome> outcomes;
    std::vector<std::uint64_t> numbers;
    for (const Said& said : communicator.all_gather(Said{local.outcome, number})) {
        outcomes.push_back(said.outcome);
        numbers.push_back(said.number);
    }
    const bool fine = std::all_of(outcomes.begin(), outcomes.end(),
                                  [](Outcome outcome) { return outcome == Outcome::fine; });
    if (!fine) {
        throw_what_counts(outcomes, all_gather_texts(communicator, local.text),
                          communicator.shares_memory());
    }
    return numbers;
}

namespace {

/// Returns the value of a field in Record::settings, or "none" if it is absent or empty.
std::string value_in(const std::string& settings, const std::string& name) {
    const std::string line = "\n" + name + " ";
    const std::string all = "\n" + settings;
    const auto at = all.find(line);
    if (at == all.npos)
        return "none";
    const auto begin = at + line.size();
    const std::string value = all.substr(begin, all.find('\n', begin) - begin);
    return value.empty() ? "none" : value;
}

} // namespace

void require_same(const Communicator& communicator, const Record& options) {
    const std::string own = options.settings();
    const std::vector<std::uint64_t> hashes =
        communicator.all_gather(static_cast<std::uint64_t>(std::hash<std::string>()(own)));
    const auto other = std::find_if(hashes.begin(), hashes.end(),
                                    [&](std::uint64_t hash) { return hash != hashes[0]; });
    if (other == hashes.end())
        return;
    const std::vector<std::string> all = all_gather_texts(communicator, own);
    const auto rank = static_cast<std::size_t>(other - hashes.begin());
    for (const Field& field : options.fields) {
        const std::string first = value_in(all[0], field.name),
                          its = value_in(all[rank], field.name);
        if (first != its)
            throw AgreedFailure(
                fmt::format("{}: rank 0 has {}, rank {} has {}", field.called(), first, rank, its),
                Fault::task);
    }
    throw AgreedFailure(fmt::format("rank {} has different options from rank 0", rank),
                        Fault::task);
}

std::string first_failure(const Communicator& communicator, const std::function<void()>& part) {
    std::string local;
    try {
        part();
    } catch (...) {
        local = text_of_current_exception();
    }
    const std::vector<std::string> all = all_gather_texts(communicator, local);
    const auto found =
        std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    return found == all.end() ? "" : fmt::format("rank {}: {}", found - all.begin(), *found);
}

namespace {

/// Indices of the fields of a request message (Said).
constexpr std::size_t begun_field = 0, earliest_field = 1, run_field = 2, rank_field = 3,
                      count_field = 4, numbers_field = 5;

int rounds_for(int ranks) {
    int rounds = 0;
    while ((std::int64_t{1} << rounds) < ranks)
        ++rounds;
    return rounds;
}

/// True if `a` sorts before `b`: by request, then by run, ignoring the rank. Requests come first so
/// that an error message can name two different requests.
bool is_before(std::span<const int> a, std::span<const int> b) {
    const auto numbers = [](std::span<const int> said) {
        return said.subspan(numbers_field, static_cast<std::size_t>(said[count_field]));
    };
    const auto order = std::lexicographical_compare_three_way(numbers(a).begin(), numbers(a).end(),
                                                              numbers(b).begin(), numbers(b).end());
    return order == 0 ? a[run_field] < b[run_field] : order < 0;
}

} // namespace

Comparison::Comparison(Communicator communicator, std::size_t most_requested,
                       std::span<const int> requested, std::vector<int> names,
                       std::function<std::string(std::span<const int>)> text_of)
    : communicator_(std::move(communicator)),
      most_asked_(most_requested),
      names_(std::move(names)),
      text_of_(std::move(text_of)),
      rounds_(rounds_for(communicator_.size())),
      memory_(static_cast<Bytes>(sizeof(int) * 4 * static_cast<std::size_t>(rounds_) *
                                 (numbers_field + most_requested))),
      own_(said_size()),
      known_(2 * said_size()),
      came_(static_cast<std::size_t>(rounds_)) {
    own_[rank_field] = communicator_.rank();
    keep(requested);
    open();
}

/// If an exception destroys this object, reports the failure to the other ranks, which may be
/// waiting for this rank's request.
Comparison::~Comparison() {
    if (std::uncaught_exceptions() > 0)
        sextant::fail(communicator_, "an exception destroyed its Compositor");
    if (!failed_)
        exchange_->end();
}

/// In round k each rank receives from the rank 2^k before it everything that rank has gathered so
/// far. After the last round every rank has the requests of all.
void Comparison::open() {
    const int rank = communicator_.rank(), size = communicator_.size();
    std::vector<Message> messages;
    for (int round = 0; round < rounds_; ++round) {
        const int distance = 1 << round;
        for (const bool sends : {true, false}) {
            const std::span<int> words = sends ? outgoing(round) : incoming(round);
            const auto bytes = static_cast<Bytes>(words.size_bytes());
            Message message{sends, (rank + (sends ? distance : size - distance)) % size, round};
            message.blocks = {{reinterpret_cast<std::byte*>(words.data()), bytes, bytes, 1}};
            messages.push_back(std::move(message));
        }
    }
    exchange_ = communicator_.open(std::move(messages));
    reopen();
}

/// Posts all receives, so that a rank whose request has not changed receives the comparisons that
/// other ranks start. If a rank has failed, posts none, and no further comparison begins.
void Comparison::reopen() {
    try {
        exchange_->begin();
    } catch (const PeerFailed&) {
        failed_ = true;
        return;
    }
    std::fill(came_.begin(), came_.end(), false);
    for (int round = 0; round < rounds_; ++round)
        exchange_->start(2 * round + 1);
}

void Comparison::begin_run(std::span<const int> requested, bool changed) {
    ++run_;
    own_[run_field] = run_;
    if (!changed)
        return;
    keep(requested);
    say(false);
}

void Comparison::keep(std::span<const int> requested) {
    const std::size_t count = std::min(requested.size(), most_asked_);
    own_[count_field] = static_cast<int>(count);
    std::copy_n(requested.begin(), count, own_.begin() + numbers_field);
}

void Comparison::say(bool begun) {
    if (failed_)
        exchange_->begin(); // throws again
    said_ = true;
    own_[begun_field] = begun ? 1 : 0;
    own_[earliest_field] = std::min(run_, earliest_requested());
    for (const std::size_t which : {0u, 1u})
        std::copy(own_.begin(), own_.end(), part(known_, which).begin());
    next_ = 0;
    if (rounds_ > 0)
        send(0);
}

void Comparison::send(int round) {
    std::copy(known_.begin(), known_.end(), outgoing(round).begin());
    ++sends_open_;
    exchange_->start(2 * round);
}

void Comparison::poll() {
    const int count = exchange_->poll(completions_);
    for (int i = 0; i < count; ++i) {
        const int message = completions_[static_cast<std::size_t>(i)].message;
        if (message % 2 == 0)
            --sends_open_;
        else
            came_[static_cast<std::size_t>(message / 2)] = true;
    }
}

void Comparison::merge(std::span<int> message) {
    const int begun = std::max(part(message, 0)[begun_field], part(known_, 0)[begun_field]);
    const int earliest =
        std::min(part(message, 0)[earliest_field], part(known_, 0)[earliest_field]);
    for (const std::size_t which : {0u, 1u}) {
        const Said heard = part(message, which), known = part(known_, which);
        const bool same = !is_before(heard, known) && !is_before(known, heard);
        const bool replaces = which == 0 ? is_before(heard, known) : is_before(known, heard);
        if (replaces || (same && heard[rank_field] < known[rank_field])) // ties: lowest rank wins
            std::copy(heard.begin(), heard.end(), known.begin());
        known[begun_field] = begun;
        known[earliest_field] = earliest;
    }
}

void Comparison::advance() {
    if (!said_)
        return;
    poll();
    while (next_ < rounds_ && came_[static_cast<std::size_t>(next_)]) {
        merge(incoming(next_));
        if (++next_ < rounds_)
            send(next_);
    }
    if (next_ < rounds_ || sends_open_ > 0)
        return;
    said_ = false;
    exchange_->end();
    reopen();
    agreed_ = !is_before(part(known_, 0), part(known_, 1));
    spoiled_ = !agreed_ && part(known_, 0)[begun_field] != 0;
    if (!agreed_)
        fail();
}

/// Throws AgreedFailure, with the same text on every rank.
void Comparison::fail() {
    const Said low = part(known_, 0), high = part(known_, 1);
    const bool in_order = low[rank_field] < high[rank_field];
    const auto said = [&](Said by) {
        const auto numbers = by.subspan(numbers_field, static_cast<std::size_t>(by[count_field]));
        return fmt::format("rank {}: {}", names_[static_cast<std::size_t>(by[rank_field])],
                           text_of_(numbers));
    };
    const bool other_run = low[run_field] != high[run_field];
    throw AgreedFailure(fmt::format("ranks request different frames{}: {}; {}",
                                    other_run ? ", or have reached different frames" : "",
                                    said(in_order ? low : high), said(in_order ? high : low)),
                        Fault::task);
}

/// Returns the earliest run among the requests received; the largest int if none was received.
int Comparison::earliest_requested() {
    int earliest = std::numeric_limits<int>::max();
    for (int round = 0; round < rounds_; ++round) {
        if (came_[static_cast<std::size_t>(round)])
            earliest = std::min(earliest, part(incoming(round), 0)[earliest_field]);
    }
    return earliest;
}

/// Joins only if a request for this run or an earlier one has arrived: ranks that compare only
/// later runs are ahead of this rank and do not wait for it yet.
void Comparison::check() {
    if (said_)
        return advance();
    if (failed_)
        return;
    try {
        poll();
    } catch (const PeerFailed&) { // the peer failed in a later run: this run may still end normally
        return;
    }
    if (earliest_requested() <= run_)
        say(true);
}

void Comparison::settle() {
    for (int idle = 0; said_; ++idle) {
        advance();
        if (said_)
            rest(idle); // throws if a rank has failed
    }
}

} // namespace sextant
