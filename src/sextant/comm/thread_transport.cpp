// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_transport.hpp"

#include "sextant/comm/loan_exchange.hpp"

#include <algorithm>

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
    room_ = std::max(room_, notes);
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
    constexpr int yields = 400;
    if (!crowded_ && idle < looks_before_sleep)
        return pause_briefly();
    if (crowded_ && idle < yields && yielding_.yield())
        return;
    group_->inbox(rank_).sleep();
}

void ThreadTransport::abandon_run() {
    group_->cancel(rank_);
    leave_with_all();
}

void ThreadTransport::leave_with_all() {
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
    std::vector<int> ranks;
    for (const Wish& wish : wishes)
        ranks.push_back(wish.rank);
    return std::make_shared<ThreadTransport>(group_->child(splits_, color, std::move(ranks)),
                                             static_cast<int>(place));
}

} // namespace sextant
