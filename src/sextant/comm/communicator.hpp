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

/// A group of ranks and this one's place in it: a small value that knows nothing of images. Made by
/// `run_threads` (threads.hpp), `from_mpi` (mpi.hpp) or `launch` (launch.hpp).
class Communicator {
  public:
    explicit Communicator(std::shared_ptr<Transport> transport)
        : transport_(std::move(transport)) {}

    int rank() const { return transport_->rank(); }
    int size() const { return transport_->size(); }
    bool shares_memory() const { return transport_->shares_memory(); }

    /// Prepares messages for a program. Not collective.
    std::unique_ptr<Exchange> open(std::vector<Message> messages) const {
        return transport_->open(std::move(messages));
    }

    /// Zeroed memory for what is to be exchanged: where ranks share memory their peers read it in
    /// place. Not collective.
    Memory memory(Bytes size) const { return transport_->memory(size); }

    /// Whether ranks of a node read each other's memory (share_nodes.hpp), or all do.
    bool shares_nodes() const { return transport_->shares_nodes(); }
    /// Why some of what this rank asked for is no such memory; empty where all is.
    std::string shortage() const { return transport_->shortage(); }

    /// Transport::shared_segments. Collective.
    std::vector<Segment> shared_segments(Bytes size) const {
        return transport_->shared_segments(size);
    }

    /// Waits until every rank is here. Collective.
    void barrier() const { transport_->barrier(); }

    /// Everyone's value, by rank. Collective; for small values.
    template <class Value>
    std::vector<Value> all_gather(const Value& mine) const {
        static_assert(std::is_trivially_copyable_v<Value>);
        std::vector<Value> all(static_cast<std::size_t>(size()));
        transport_->all_gather(std::as_bytes(std::span(&mine, 1)),
                               std::as_writable_bytes(std::span(all)));
        return all;
    }

    /// The same of bytes, as many of each.
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
        transport_->all_gather(mine, all);
    }

    /// The ranks of equal `color` as a group of their own, ordered by `key`, then by rank. A
    /// negative color joins none; its communicator must not be used. Collective.
    Communicator split(int color, int key) const {
        return Communicator(transport_->split(color, key));
    }
    /// Transport::split_for_notices. Collective.
    Communicator split_for_notices(int color, int key) const {
        return Communicator(transport_->split_for_notices(color, key));
    }
    bool valid() const { return transport_ != nullptr; }
    /// For those who know what it runs on (mpi.hpp).
    const Transport& transport() const { return *transport_; }
    const std::shared_ptr<Transport>& handle() const { return transport_; }

  private:
    std::shared_ptr<Transport> transport_;
};

/// Everyone's text, by rank, on every rank: messages for people, of any length.
/// Collective.
/// Cost      an all-gather of lengths, and one of 1 KiB, or one for each 16 KiB of the longest.
std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& mine);

/// Everyone's bytes, of so many of each rank, one after another in rank order.
/// Requires  `sizes` as they are, on every rank, and as many bytes to write to as they say
///           (std::logic_error).
/// Collective.
/// Cost      as of texts, but for the lengths; no memory but of 16 KiB a rank.
void all_gather_bytes(const Communicator& communicator, std::span<const std::byte> mine,
                      std::span<const std::size_t> sizes, std::span<std::byte> all);

/// Everyone's values, any number of each rank, one after another in rank order, on every rank.
/// Collective.
/// Cost      as of texts; no memory beside the result.
template <class Value>
std::vector<Value> all_gather_lists(const Communicator& communicator, std::span<const Value> mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::vector<std::size_t> sizes = communicator.all_gather(mine.size_bytes());
    const std::size_t bytes = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    std::vector<Value> all(bytes / sizeof(Value));
    all_gather_bytes(communicator, std::as_bytes(mine), sizes,
                     std::as_writable_bytes(std::span(all)));
    return all;
}

/// A number of this host since it was started: equal where clocks and memory can be shared.
std::uint64_t host_identity();

/// On which node each rank lies, by rank: nodes are numbered by their first ranks. Collective.
std::vector<int> nodes_of(const Communicator& communicator);

} // namespace sextant
