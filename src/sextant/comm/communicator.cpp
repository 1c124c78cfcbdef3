// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace sextant {

namespace {

/// Gathers the bytes of all ranks, at most `size` bytes of each rank at a time.
template <std::size_t size>
void gather(const Communicator& communicator, std::span<const std::byte> own,
            std::span<const std::size_t> sizes, std::span<std::byte> all) {
    const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
    for (std::size_t from = 0; from < longest; from += size) {
        std::array<std::byte, size> block{};
        if (from < own.size())
            std::ranges::copy(own.subspan(from, std::min(size, own.size() - from)), block.begin());
        const std::vector<std::array<std::byte, size>> blocks = communicator.all_gather(block);
        std::size_t before = 0; // offset of a rank's bytes
        for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
            if (from < sizes[rank])
                std::copy_n(blocks[rank].begin(), std::min(size, sizes[rank] - from),
                            all.begin() + static_cast<std::ptrdiff_t>(before + from));
            before += sizes[rank];
        }
    }
}

} // namespace

void all_gather_bytes(const Communicator& communicator, std::span<const std::byte> own,
                      std::span<const std::size_t> sizes, std::span<std::byte> all) {
    constexpr std::size_t little = 1 << 10, much = 1 << 14;
    if (std::ssize(sizes) != communicator.size() ||
        own.size() != sizes[static_cast<std::size_t>(communicator.rank())] ||
        all.size() != std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}))
        throw std::logic_error(
            "all_gather_bytes: the buffers do not match the sizes of the blocks");
    if (*std::max_element(sizes.begin(), sizes.end()) > little)
        gather<much>(communicator, own, sizes, all);
    else
        gather<little>(communicator, own, sizes, all);
}

std::vector<std::string> all_gather_texts(const Communicator& communicator,
                                          const std::string& own) {
    const std::vector<std::size_t> sizes = communicator.all_gather(own.size());
    std::vector<std::byte> all(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    all_gather_bytes(communicator, std::as_bytes(std::span(own)), sizes, all);
    std::vector<std::string> texts;
    const char* next = reinterpret_cast<const char*>(all.data());
    for (const std::size_t size : sizes) {
        texts.emplace_back(next, size);
        next += size;
    }
    return texts;
}

std::uint64_t host_identity() {
    static const std::uint64_t identity = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string boot;
        file >> boot;
        return std::hash<std::string>()(boot);
    }();
    return identity;
}

std::vector<int> nodes_of(const Communicator& communicator) {
    struct Place {
        std::uint64_t host;
        int node; ///< as returned by Transport::node_of_host
        auto operator<=>(const Place&) const = default;
    };
    std::map<Place, int> numbers;
    std::vector<int> nodes;
    const Place own{host_identity(), communicator.transport().node_of_host()};
    for (const Place& place : communicator.all_gather(own))
        nodes.push_back(numbers.try_emplace(place, static_cast<int>(numbers.size())).first->second);
    return nodes;
}

} // namespace sextant
