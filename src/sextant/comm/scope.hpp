// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace sextant {

/// Tells all other ranks that this rank makes no more collective calls on a communicator, so that
/// no rank waits for it for ever. Returns at once, and throws nothing.
///
/// Input     the reason, at most 2000 bytes of which are sent.
/// Output    a rank that waits in a call of this communicator that this rank has not completed, or
///           begins a later one, throws PeerFailed with this rank and the text. Calls that this
///           rank completed still complete elsewhere. Later calls of this rank throw PeerFailed
///           too. The first failure counts. The same holds for communicators that were split from
///           this one.
/// Not collective: one rank is enough.
/// Cost      over MPI, the communicator of each object that failed is kept until the program ends,
///           because messages may still arrive; MPICH has about 2000.
void fail(const Communicator& communicator, const std::string& text);

/// The ranks that take part in each run of a schedule on a communicator.
enum class RunsOf : std::uint8_t {
    some_ranks, ///< perhaps not all
    all_ranks   ///< so that runs in different orders are detected
};

/// The number of the call after call `last` (0: none) of a rank: in the upper half the number of
/// calls that all ranks make, in the lower half that of runs of some ranks since. Ranks may leave
/// out the latter, so that only the upper half shows whether two ranks are in the same call.
constexpr std::int64_t call_after(std::int64_t last, bool by_all) {
    return by_all ? ((last >> 32) + 1) << 32 : last + 1;
}
constexpr std::int64_t calls_by_all(std::int64_t call) {
    return call >> 32;
}

/// Returns a communicator of the same ranks for the calls of one object, as for MPI's duplicate of
/// a communicator: messages and failures of others do not affect it, nor the reverse. If an
/// exception destroys its last copy on a rank, the rank has failed (`fail`). Ranks that call
/// objects of a communicator in different orders throw InvalidTask, which names two of them and
/// what they call.
///
/// Input     the name of the object in errors. Up to the first comma, it must be the same on all
///           ranks; else all throw AgreedFailure. Must be the first collective call that the object
///           makes on the communicator, so that ranks that make different objects are detected: MPI
///           ends the program if ranks gather different numbers of bytes.
/// Collective.
/// Cost      an all-gather of two integers; over MPI also a duplicate of the communicator, unless
///           that of an object that has ended on all ranks is free.
Communicator scope_of(const Communicator& communicator, const std::string& what,
                      RunsOf runs = RunsOf::some_ranks);

/// As scope_of(), but not collective: scope_of() runs before the first collective call of the new
/// communicator. Until then, `fail` ends the calls of the whole communicator.
Communicator scope_later(const Communicator& communicator, const std::string& what);
/// Returns the communicator that scope_of() has made for one of scope_later(); other communicators
/// are returned unchanged.
const Communicator& made_scope(const Communicator& communicator);

/// Implemented by transports that have scopes. The functions are those of communicators.
class Scoping {
  public:
    virtual ~Scoping() = default;
    virtual std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf runs) = 0;
    virtual void fail(const std::string& text) = 0;
    /// Called while this rank waits. Throws PeerFailed if a rank has failed, and InvalidTask if
    /// ranks wait for each other in different calls.
    virtual void look() = 0;
    /// Begins a run, also if it is held back before its exchange begins, so that all ranks count
    /// runs in the order in which they request them. Only counts in scopes of RunsOf::all_ranks.
    virtual void begin_run() = 0;
    /// Ends a run, also if all ranks give it up by the same error.
    virtual void end_run() = 0;
};

/// A number for the name of an object up to the first comma.
std::uint64_t hash_of_kind(const std::string& what);

/// Throws AgreedFailure with the same text on every rank: rank 0 makes one object, `other` another
/// one. Collective.
[[noreturn]] void throw_different_names(Transport& transport, const std::string& own, int other);

/// The transport's scopes; null if it has none.
Scoping* scoping_of(const Communicator& communicator);

} // namespace sextant
