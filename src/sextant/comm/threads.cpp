// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "sextant/comm/thread_transport.hpp"
#include "sextant/core/error.hpp"

#include <atomic>
#include <exception>
#include <thread>

#include <fmt/format.h>

namespace sextant {

namespace {

/// What each rank's body threw, and who was first.
class Errors {
  public:
    explicit Errors(int ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}

    void add(int rank) {
        of_rank_[static_cast<std::size_t>(rank)] = std::current_exception();
        int nobody = -1;
        first_.compare_exchange_strong(nobody, rank);
    }

    /// Throws the first error, by rank, that no other rank caused. If there is none, throws the
    /// first that names a rank without an error of its own, one that returned too early; else the
    /// earliest.
    void rethrow() const {
        std::exception_ptr of_one_that_returned;
        for (const std::exception_ptr& error : of_rank_) {
            if (!error)
                continue;
            try {
                std::rethrow_exception(error);
            } catch (const PeerFailed& peer) {
                const auto named = static_cast<std::size_t>(peer.rank());
                if (!of_one_that_returned && named < of_rank_.size() && !of_rank_[named])
                    of_one_that_returned = error;
            }
        }
        if (of_one_that_returned)
            std::rethrow_exception(of_one_that_returned);
        if (first_ >= 0)
            std::rethrow_exception(of_rank_[static_cast<std::size_t>(first_.load())]);
    }

  private:
    std::vector<std::exception_ptr> of_rank_;
    std::atomic<int> first_{-1}; // rank
};

} // namespace

void run_threads(int ranks, const std::function<void(Communicator)>& body) {
    if (ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", ranks));
    const auto group = std::make_shared<ThreadGroup>(ranks);
    Errors errors(ranks);
    const auto run = [&](int rank) {
        try {
            body(Communicator(std::make_shared<ThreadTransport>(group, rank)));
            group->rank_returns(rank);
        } catch (...) {
            errors.add(rank);
            group->cancel(rank);
        }
    };
    std::vector<std::jthread> threads;
    try {
        for (int rank = 1; rank < ranks; ++rank)
            threads.emplace_back(run, rank);
    } catch (const std::system_error& error) {
        group->cancel(static_cast<int>(threads.size()) + 1);
        throw CommunicationFailed(fmt::format("only {} of {} ranks got a thread: {}",
                                              threads.size() + 1, ranks, error.what()));
    }
    run(0);
    threads.clear();
    errors.rethrow();
}

} // namespace sextant
