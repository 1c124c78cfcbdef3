// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace sextant {

/// Notifies all other ranks that this rank makes no more collective calls on a communicator, so
/// that no rank waits for this one forever. Returns at once, and throws nothing.
///
/// Input     the reason, at most 2000 bytes of which are sent.
/// Output    another rank throws PeerFailed, with the number of this rank and the text, if it waits
///           in a call that this rank has not completed or begins a later call. Calls that this
///           rank has completed still complete on other ranks. Later calls on this rank throw
///           PeerFailed too. Only the first failure counts. The same applies to communicators that
///           were split from this one.
/// Not collective: one rank is enough.
/// Cost      over MPI, the communicator of each failed object is kept until the program ends,
///           because messages may still arrive. MPICH supports about 2000 communicators.
void fail(const Communicator& communicator, const std::string& text);

/// The ranks that take part in each run of a schedule on a communicator.
enum class RunsOf : std::uint8_t {
    some_ranks, ///< possibly not all ranks
    all_ranks   ///< all ranks, so that runs in different orders are detected
};

/// Returns the number of the call that follows call `last` (0: none) on a rank. The upper half
/// counts calls that all ranks make; the lower half counts the runs of some ranks since then. Ranks
/// may skip the latter, so two ranks are in the same call if the upper halves are equal.
constexpr std::int64_t call_after(std::int64_t last, bool by_all) {
    return by_all ? ((last >> 32) + 1) << 32 : last + 1;
}
constexpr std::int64_t calls_by_all(std::int64_t call) {
    return call >> 32;
}

/// Returns a communicator over the same ranks for the calls of one object. As with MPI_Comm_dup,
/// its messages and failures do not affect other communicators, and vice versa. If an exception
/// destroys the last copy on a rank, that rank has failed (`fail`). If ranks call objects of a
/// communicator in different orders, they throw InvalidTask naming two ranks and the objects that
/// they call.
///
/// Input     the name of the object for error messages. The part before the first comma must be the
///           same on all ranks; otherwise all throw AgreedFailure.
/// Requires  that this is the object's first collective call on the communicator. Ranks that create
///           different objects are then detected before they gather different numbers of bytes,
///           which would make MPI end the program.
/// Collective.
/// Cost      an all-gather of two integers. Over MPI, also a duplicate of the communicator, unless
///           the duplicate of an object that was destroyed on all ranks can be reused.
Communicator scope_of(const Communicator& communicator, const std::string& what,
                      RunsOf runs = RunsOf::some_ranks);

/// Like scope_of(), but not collective: the first collective call on the new communicator calls
/// scope_of(). Until then, `fail` on the new communicator fails the original one.
Communicator scope_later(const Communicator& communicator, const std::string& what);
/// Returns the communicator that scope_of() created for a result of scope_later(), or the original
/// communicator if scope_of() was not called yet. Returns other communicators unchanged.
const Communicator& made_scope(const Communicator& communicator);

/// Implemented by transports that support scopes. `make_scope` implements scope_of(), and `fail`
/// implements the function of that name.
class Scoping {
  public:
    virtual ~Scoping() = default;
    virtual std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf runs) = 0;
    virtual void fail(const std::string& text) = 0;
    /// Called while this rank waits. Throws PeerFailed if a rank has failed, and InvalidTask if
    /// ranks wait for each other in different calls.
    virtual void look() = 0;
    /// Counts the start of a run. Called even if the run is delayed before its exchange begins, so
    /// that all ranks count runs in the order of their requests. Counts only in scopes with
    /// RunsOf::all_ranks.
    virtual void begin_run() = 0;
    /// Ends a run. Called even if all ranks give up the run with the same error.
    virtual void end_run() = 0;
};

/// Hashes the name of an object up to the first comma.
std::uint64_t hash_of_kind(const std::string& what);

/// Reports that rank 0 and rank `other` create different objects: throws AgreedFailure with the
/// same text on every rank. Collective.
[[noreturn]] void throw_different_names(Transport& transport, const std::string& own, int other);

/// The transport's scopes; null if it has none.
Scoping* scoping_of(const Communicator& communicator);

} // namespace sextant
