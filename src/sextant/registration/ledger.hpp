// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/rigid.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace sextant::registration {

/// What a result of a series is of.
enum class Work : std::uint32_t {
    link,            ///< two frames near to one another in the series, from nothing
    mended,          ///< two neighbours, from what frames around them say
    combined,        ///< ⊙: two frames, from the motions to and from a third between them
    turned,          ///< a frame to another reference than the first
    averaged,        ///< a frame to the average
    field,           ///< a frame to the reference or the average, by a field
    neighbour_field, ///< two neighbours, by a field
    combined_field,  ///< ⊙ of two fields
};

/// How many kinds of work there are.
inline constexpr std::size_t kinds_of_work = static_cast<std::size_t>(Work::combined_field) + 1;

/// The name of a result.
struct EntryName {
    Work work = Work::link;
    std::uint32_t stage = 0;
    std::int64_t reference = 0, between = 0, moved = 0; ///< frames; 0 where there is none
    auto operator<=>(const EntryName&) const = default;
};

/// Keeps the results of a run, so that another run of the same work need not find them again, and
/// what is too large for memory. One rank's; not for several threads.
class Ledger {
  public:
    Ledger() = default;
    virtual ~Ledger() = default;
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    virtual std::optional<std::vector<std::byte>> find(const EntryName& name) = 0;
    virtual void keep(const EntryName& name, std::span<const std::byte> bytes) = 0;
    /// Has `find` know what other ranks kept until now.
    virtual void refresh() = 0;
};

/// The result of a name, or else what `make` gives, which is kept. Without a ledger, `make()`.
template <class Make>
auto found_or_made(Ledger* ledger, const EntryName& name, const Make& make) {
    using Result = decltype(make());
    static_assert(std::is_trivially_copyable_v<Result>);
    if (!ledger)
        return make();
    Result result;
    const auto bytes = ledger->find(name);
    if (bytes && bytes->size() == sizeof result) {
        std::memcpy(&result, bytes->data(), sizeof result);
        return result;
    }
    result = make();
    ledger->keep(name, std::as_bytes(std::span(&result, 1)));
    return result;
}

/// A result, and how long it took.
struct TimedResult {
    RigidResult result;
    Seconds seconds = 0;
};

/// A registration that is looked up in a ledger first.
template <class Register>
TimedResult timed_result(Ledger* ledger, const EntryName& name, const Register& registered) {
    return found_or_made(ledger, name, [&] {
        const auto begin = std::chrono::steady_clock::now();
        TimedResult timed{registered()};
        timed.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return timed;
    });
}

/// Whether anything follows from a registration. Steps that did not end are no reason against: they
/// may go to and fro by less than matters.
inline bool trusted(const RigidResult& result) {
    constexpr double least_overlap = .1;
    return !result.unrelated && result.overlap >= least_overlap;
}

/// What refined a motion, or the motion itself where that cannot be trusted, with the doubt that
/// there was about it.
inline RigidResult refined_from(const RigidMotion& start, RigidResult refined, bool ambiguous) {
    if (!trusted(refined)) {
        refined.motion = start;
        refined.unrelated = true;
    }
    refined.ambiguous = ambiguous;
    return refined;
}

} // namespace sextant::registration
