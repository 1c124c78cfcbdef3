// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_transport.hpp"

#include "sextant/comm/loan_exchange.hpp"
#include "sextant/comm/waiting.hpp"

#include <algorithm>
#include <thread>

namespace sextant {

ThreadTransport::ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank)
    : group_(std::move(group)), rank_(rank), crowded_(group_->crowded()) {
    runs.resize(static_cast<std::size_t>(size()));
}

std::unique_ptr<Exchange> ThreadTransport::open(std::vector<Message> messages) {
    Neighbourhood& neighbours = *this;
    return std::make_unique<LoanExchange>(neighbours, std::move(messages));
}

void ThreadTransport::make_room(std::size_t notes) {
    room_ += notes;
    group_->inbox(rank_).reserve(room_);
    early.reserve(room_);
    taken_.reserve(room_);
}

const std::vector<Note>& ThreadTransport::take() {
    group_->check();
    taken_.clear();
    group_->inbox(rank_).take(taken_);
    return taken_;
}

void ThreadTransport::rest(int idle) {
    constexpr int pauses = 200, yields = 400;
    if (idle < pauses && !crowded_)
        pause_briefly();
    else if (idle < yields)
        std::this_thread::yield();
    else
        group_->inbox(rank_).sleep();
}

void ThreadTransport::abandon_run() {
    group_->cancel(rank_);
    group_->leave_run();
    group_->wait_until_none_runs();
}

std::shared_ptr<Transport> ThreadTransport::split(int color, int key) {
    struct Wish {
        int color, key, rank;
        auto operator<=>(const Wish&) const = default;
    };
    std::vector<Wish> wishes(static_cast<std::size_t>(size()));
    const Wish mine{color, key, rank_};
    all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(wishes)));
    ++splits_;
    if (color < 0)
        return nullptr;
    std::erase_if(wishes, [&](const Wish& wish) { return wish.color != color; });
    std::sort(wishes.begin(), wishes.end());
    const auto place = std::find(wishes.begin(), wishes.end(), mine) - wishes.begin();
    return std::make_shared<ThreadTransport>(
        group_->child(splits_, color, static_cast<int>(wishes.size())), static_cast<int>(place));
}

} // namespace sextant
