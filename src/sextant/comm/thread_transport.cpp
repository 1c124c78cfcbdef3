// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_transport.hpp"

#include "sextant/comm/thread_exchange.hpp"

#include <algorithm>

namespace sextant {

std::unique_ptr<Exchange> ThreadTransport::open(std::vector<Message> messages) {
    return std::make_unique<ThreadExchange>(*this, std::move(messages));
}

void ThreadTransport::make_room(std::size_t notes) {
    room_ += notes;
    group_->inbox(rank_).reserve(room_);
    early.reserve(room_);
    taken.reserve(room_);
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
