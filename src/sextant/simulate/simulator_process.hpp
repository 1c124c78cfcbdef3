// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/simulate/simulation.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant::simulate {

/// The other process closed its end: it has ended, or will.
class ChannelClosed : public Error {
  public:
    ChannelClosed() : Error("the other end of a simulation's channel was closed") {}
};

/// One end of a socket between two processes of one host, which takes and gives plain values, and
/// closes it at last. Throws ChannelClosed where the other end is closed, Error naming the reason
/// where the system refuses.
class Channel {
  public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() { close(); }

    int descriptor() const { return descriptor_; }
    void close();

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        write(&value, sizeof value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put_all(values);
    }
    void put(const std::string& text) { put_all(text); }

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        read(&value, sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> get_vector() {
        return get_all<std::vector<T>>();
    }
    std::string get_text() { return get_all<std::string>(); }

  private:
    template <class Values>
    void put_all(const Values& values) {
        put(values.size());
        write(values.data(), values.size() * sizeof values[0]);
    }
    template <class Values>
    Values get_all() {
        Values values(get<std::size_t>(), typename Values::value_type{});
        static_assert(std::is_trivially_copyable_v<typename Values::value_type>);
        read(values.data(), values.size() * sizeof values[0]);
        return values;
    }
    void write(const void* bytes, std::size_t count);
    void read(void* bytes, std::size_t count);

    int descriptor_;
};

/// A question on its way from the process that asks to the one that simulates.
void put_question(Channel& to, const Question& question);

/// A question that arrived, with the schedule that it refers to.
struct ArrivedQuestion {
    std::unique_ptr<const Schedule> schedule;
    Question question;
};

/// Throws Error where the other process is of another version of Sextant.
ArrivedQuestion get_question(Channel& from);

/// Sends what a simulation gives, or the exception that it ends in.
void put_answer(Channel& to, const std::function<Simulation()>& simulation);

/// The answer: returns or throws what the simulation did. Exceptions that are not InvalidTask,
/// InvalidFile or std::logic_error become Error.
Simulation get_answer(Channel& from);

/// The name of the program that simulates by SimGrid. It is a program because SimGrid's library has
/// functions of MPI's names, which would take the place of MPI's own in any process that loads it;
/// and because SimGrid holds one world a process, and ends the process where its input is wrong.
inline constexpr const char* simulator_name = "sextant-simgrid";

/// Where that program is, of the folders that machine::installation() names; "" where it is not.
std::string simulator_path();

/// Starts that program, puts a question to it, and gives its answer. The program ends with the
/// thread that calls.
///
/// Throws    as `simulate`; Error with the last line that the program wrote where it ends without
///           an answer.
Simulation ask(const std::string& program, const Question& question);

} // namespace sextant::simulate
