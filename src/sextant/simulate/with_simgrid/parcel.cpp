// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/with_simgrid/parcel.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace sextant::simulate {

namespace {

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t count = values.size();
    bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
    bytes.append(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
}

template <class T>
std::vector<T> take(const std::string& bytes, std::size_t& at) {
    std::size_t count = 0;
    if (bytes.size() - at < sizeof count)
        throw std::logic_error("a simulation's parcel is cut off");
    std::memcpy(&count, bytes.data() + at, sizeof count);
    at += sizeof count;
    if ((bytes.size() - at) / sizeof(T) < count)
        throw std::logic_error("a simulation's parcel is cut off");
    std::vector<T> values(count);
    if (count > 0)
        std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
    at += count * sizeof(T);
    return values;
}

} // namespace

std::string pack(const Simulation& simulation) {
    std::string bytes;
    append(bytes, std::vector{simulation.seconds, simulation.timeline.duration});
    append(bytes, simulation.finished);
    append(bytes, simulation.timeline.events);
    return bytes;
}

Simulation unpack(const std::string& bytes) {
    std::size_t at = 0;
    Simulation simulation;
    const auto times = take<Seconds>(bytes, at);
    simulation.seconds = times.at(0);
    simulation.timeline.duration = times.at(1);
    simulation.finished = take<Seconds>(bytes, at);
    simulation.timeline.events = take<Event>(bytes, at);
    return simulation;
}

} // namespace sextant::simulate
