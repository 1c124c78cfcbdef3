// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/pair/rigid.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant::registration {

/// The kind of registration whose result is stored.
enum class Work : std::uint32_t {
    link,     ///< registers two nearby frames, with a search
    mended,   ///< registers two neighbours, starting from the motion implied by nearby frames
    combined, ///< ⊙: registers two frames, starting at the composition of their motions to a frame
              ///< in between
    to_reference, ///< registers a frame to a reference other than the first frame
    averaged,     ///< registers a frame to the average
    field,        ///< registers a frame to the reference or the average with a displacement field
    neighbour_field, ///< registers two neighbours with a displacement field
    combined_field,  ///< ⊙ for displacement fields
    family,  ///< registers a frame to the average of the others with a family of affine motions
    station, ///< registers the averages around two stations (stations.hpp)
    rows,    ///< registers the rows of a frame to the average of the others
};

/// The number of kinds of work.
inline constexpr std::size_t kinds_of_work = static_cast<std::size_t>(Work::rows) + 1;

/// The key of a result.
struct EntryName {
    Work work = Work::link;
    std::uint32_t stage = 0;
    std::int64_t reference = 0, between = 0, moved = 0; ///< frame numbers; 0 if not applicable
    auto operator<=>(const EntryName&) const = default;
};

/// Stores the results of a run, so that a later run can resume it, and data that is too large for
/// memory. One object per rank. Thread-safe.
class Ledger {
  public:
    /// Receives the time interval in which a result was computed, on the steady clock of the host.
    /// The interval begins with the failed lookup of the result and ends when the result is stored,
    /// on the same thread.
    using Worked = std::function<void(Work work, Seconds begin, Seconds end)>;

    Ledger() = default;
    virtual ~Ledger() = default;
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// Sets a callback that is called after each computed result.
    void report_to(Worked worked) { worked_ = std::move(worked); }

    std::optional<std::vector<std::byte>> find(const EntryName& name) {
        const std::scoped_lock lock(mutex_);
        auto found = load(name);
        if (worked_)
            began_[std::this_thread::get_id()] = now();
        return found;
    }
    void keep(const EntryName& name, std::span<const std::byte> bytes) {
        const std::scoped_lock lock(mutex_);
        store(name, bytes);
        if (worked_)
            worked_(name.work, began_[std::this_thread::get_id()], now());
    }
    /// Makes the results that other ranks have stored so far visible to find(). Collective.
    void refresh() {
        const std::scoped_lock lock(mutex_);
        update();
    }

  private:
    virtual std::optional<std::vector<std::byte>> load(const EntryName& name) = 0;
    virtual void store(const EntryName& name, std::span<const std::byte> bytes) = 0;
    virtual void update() = 0;

    static Seconds now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    std::mutex mutex_;
    Worked worked_;
    std::map<std::thread::id, Seconds> began_;
};

/// Returns decode(bytes) of a stored result. Returns nothing if there is no ledger or no result, or
/// if decode throws Error because the bytes are invalid.
template <class Decode>
auto stored_result(Ledger* ledger, const EntryName& name, const Decode& decode)
    -> std::optional<decltype(decode(std::span<const std::byte>()))> {
    const auto bytes = ledger ? ledger->find(name) : std::nullopt;
    try {
        return bytes ? std::optional(decode(*bytes)) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// A result and its computing time.
template <class Result>
struct Timed {
    Result result;
    Seconds seconds = 0;
};

using TimedResult = Timed<RigidResult>;

/// Returns the stored result of a registration. If there is none, runs and times the registration
/// and stores its result. Without a ledger, nothing is stored.
template <class Register>
auto timed_result(Ledger* ledger, const EntryName& name, const Register& registered) {
    Timed<decltype(registered())> made;
    static_assert(std::is_trivially_copyable_v<decltype(made)>);
    const auto bytes = ledger ? ledger->find(name) : std::nullopt;
    if (bytes && bytes->size() == sizeof made) {
        std::memcpy(&made, bytes->data(), sizeof made);
        return made;
    }
    timed(made.seconds, [&] { made.result = registered(); });
    if (ledger)
        ledger->keep(name, std::as_bytes(std::span(&made, 1)));
    return made;
}

/// True if the registration is usable. Convergence is not required, because steps may oscillate by
/// a negligible distance.
inline bool trusted(const RigidResult& result) {
    constexpr double least_overlap = .1;
    return !result.unrelated && result.overlap >= least_overlap;
}

/// Returns the refined result; if it cannot be trusted, returns the start, marked unrelated.
/// `ambiguous` is the flag of the start; it is copied to the result.
inline RigidResult refined_from(const RigidMotion& start, RigidResult refined, bool ambiguous) {
    if (!trusted(refined)) {
        refined.motion = start;
        refined.unrelated = true;
    }
    refined.ambiguous = ambiguous;
    return refined;
}

} // namespace sextant::registration
