// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

/// A group of ranks, and this rank's number in the group. Transfers bytes; knows nothing of images.
/// A value type that is cheap to copy. Created by `run_threads` (threads.hpp), `from_mpi` (mpi.hpp)
/// or `launch` (launch.hpp).
class Communicator {
  public:
    explicit Communicator(std::shared_ptr<Transport> transport)
        : transport_(std::move(transport)) {}

    int rank() const { return transport_->rank(); }
    int size() const { return transport_->size(); }
    bool shares_memory() const { return transport_->shares_memory(); }

    /// Prepares the messages of a program. Not collective.
    std::unique_ptr<Exchange> open(std::vector<Message> messages) const {
        return transport_->open(std::move(messages));
    }

    /// Allocates zeroed memory for data to exchange. If ranks share memory, peers read the data in
    /// place. Not collective.
    Memory memory(Bytes size) const { return transport_->memory(size); }

    /// True if all ranks, or all ranks of each node, read each other's memory (node_sharing.hpp).
    bool shares_nodes() const { return transport_->shares_nodes(); }
    /// The reason why some memory that this rank requested is not shared; empty if all memory is
    /// shared.
    std::string shortage() const { return transport_->shortage(); }

    /// See Transport::shared_segments. Collective.
    std::vector<Segment> shared_segments(Bytes size) const {
        return transport_->shared_segments(size);
    }

    /// Waits until every rank has called barrier(). Collective.
    void barrier() const { transport_->barrier(); }

    /// Returns the values of all ranks, indexed by rank. Meant for small values. Collective.
    template <class Value>
    std::vector<Value> all_gather(const Value& own) const {
        static_assert(std::is_trivially_copyable_v<Value>);
        std::vector<Value> all(static_cast<std::size_t>(size()));
        transport_->all_gather(std::as_bytes(std::span(&own, 1)),
                               std::as_writable_bytes(std::span(all)));
        return all;
    }

    /// Gathers the bytes of all ranks in rank order; every rank passes the same number of bytes.
    /// Collective.
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) const {
        transport_->all_gather(own, all);
    }

    /// Splits the communicator: ranks of equal `color` form a group, ordered by `key`, then by
    /// rank. A rank with a negative color joins no group and must not use the returned
    /// communicator. Collective.
    Communicator split(int color, int key) const {
        return Communicator(transport_->split(color, key));
    }
    /// See Transport::split_for_notices. Collective.
    Communicator split_for_notices(int color, int key) const {
        return Communicator(transport_->split_for_notices(color, key));
    }
    bool valid() const { return transport_ != nullptr; }
    /// The underlying transport, for callers that depend on its kind (mpi.hpp).
    const Transport& transport() const { return *transport_; }
    const std::shared_ptr<Transport>& handle() const { return transport_; }

  private:
    std::shared_ptr<Transport> transport_;
};

/// Returns the texts of all ranks, indexed by rank, on every rank. Texts may have any length; meant
/// for error messages. Collective.
/// Cost      an all-gather of the lengths, then one of 1 KiB per rank if every text fits, else one
///           for each 16 KiB of the longest text.
std::vector<std::string> all_gather_texts(const Communicator& communicator, const std::string& own);

/// Gathers bytes from all ranks, `sizes[rank]` from each, concatenated in rank order.
/// Requires  the same `sizes` on every rank; `all` has their total size (std::logic_error).
/// Collective.
/// Cost      as all_gather_texts, but without gathering the lengths; allocates only 16 KiB per
///           rank.
void all_gather_bytes(const Communicator& communicator, std::span<const std::byte> own,
                      std::span<const std::size_t> sizes, std::span<std::byte> all);

/// Returns the values of all ranks, any number from each, concatenated in rank order, on every
/// rank. Collective.
/// Cost      as all_gather_texts; allocates only the result.
template <class List>
auto all_gather_lists(const Communicator& communicator, const List& own) {
    const auto bytes = std::as_bytes(std::span(own));
    using Value = typename decltype(std::span(own))::value_type;
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::vector<std::size_t> sizes = communicator.all_gather(bytes.size());
    const std::size_t all_bytes = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    std::vector<Value> all(all_bytes / sizeof(Value));
    all_gather_bytes(communicator, bytes, sizes, std::as_writable_bytes(std::span(all)));
    return all;
}

/// Returns a number that identifies this host until the next reboot. Equal on ranks that can share
/// a clock and memory.
std::uint64_t host_identity();

/// Returns the node number of each rank, indexed by rank; nodes are numbered in the order of their
/// lowest ranks. Collective.
std::vector<int> nodes_of(const Communicator& communicator);

} // namespace sextant
