// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agree.hpp"

#include "sextant/comm/texts.hpp"
#include "sextant/core/exception_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant {

namespace {

enum class Outcome : int { fine, peer_failed, failed, invalid_task };

struct Report {
    Outcome outcome = Outcome::fine;
    std::string text;
};

Report attempt(const std::function<void()>& part) {
    Report report;
    try {
        part();
    } catch (const PeerFailed& error) {
        report = {Outcome::peer_failed, error.what()};
    } catch (const AgreedFailure& error) {
        report = {error.invalid_task() ? Outcome::invalid_task : Outcome::failed, error.what()};
    } catch (const InvalidTask& error) {
        report = {Outcome::invalid_task, error.what()};
    } catch (...) {
        report = {Outcome::failed, text_of_current_exception()};
    }
    return report;
}

/// The first rank whose error was its own, or else the first that heard of one.
std::size_t rank_that_counts(const std::vector<Outcome>& outcomes) {
    const auto own = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](Outcome outcome) { return outcome > Outcome::peer_failed; });
    const auto heard = std::find(outcomes.begin(), outcomes.end(), Outcome::peer_failed);
    return static_cast<std::size_t>((own != outcomes.end() ? own : heard) - outcomes.begin());
}

/// Where ranks are threads of one process their number says nothing: they see the same files.
[[noreturn]] void throw_what_counts(const std::vector<Outcome>& outcomes,
                                    const std::vector<std::string>& texts, bool one_process) {
    const std::size_t rank = rank_that_counts(outcomes);
    const bool alike = std::all_of(texts.begin(), texts.end(),
                                   [&](const std::string& text) { return text == texts[0]; });
    std::string text = texts[rank];
    if (!alike && !one_process && !text.starts_with("rank "))
        text = fmt::format("rank {}: {}", rank, text);
    throw AgreedFailure(text, outcomes[rank] == Outcome::invalid_task);
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
    const Report mine = attempt(part);
    std::vector<Outcome> outcomes;
    std::vector<std::uint64_t> numbers;
    for (const Said& said : communicator.all_gather(Said{mine.outcome, number})) {
        outcomes.push_back(said.outcome);
        numbers.push_back(said.number);
    }
    const bool fine = std::all_of(outcomes.begin(), outcomes.end(),
                                  [](Outcome outcome) { return outcome == Outcome::fine; });
    if (!fine) {
        throw_what_counts(outcomes, all_gather_texts(communicator, mine.text),
                          communicator.shares_memory());
    }
    return numbers;
}

} // namespace sextant
