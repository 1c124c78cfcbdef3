// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace sextant {

/// Serialises values for messages and records on the same machine: trivially copyable values,
/// vectors, optional values, and structs whose function `fields(self)` ties their members.
class Packer {
  public:
    template <class Value>
    void add(const Value& value) {
        if constexpr (std::is_trivially_copyable_v<Value>)
            add_bytes(std::as_bytes(std::span(&value, 1)));
        else if constexpr (requires { Value::fields(value); })
            std::apply([&](const auto&... each) { (add(each), ...); }, Value::fields(value));
        else
            add_list(value);
    }
    /// Adds bytes without their count, at the end of a record.
    void add_bytes(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }

    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    template <class Value>
    void add_list(const std::vector<Value>& values) {
        add(static_cast<std::uint64_t>(values.size()));
        if constexpr (std::is_trivially_copyable_v<Value>)
            add_bytes(std::as_bytes(std::span(values)));
        else
            for (const Value& value : values)
                add(value);
    }
    template <class Value>
    void add_list(const std::optional<Value>& value) {
        add(value.has_value());
        if (value)
            add(*value);
    }

    std::vector<std::byte> bytes_;
};

/// Reads the values of a Packer in the same order. Throws Error if the bytes end too early.
class Unpacker {
  public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    template <class Value>
    Value take() {
        Value value{};
        take_into(value);
        return value;
    }

  private:
    template <class Value>
    void take_into(Value& value) {
        if constexpr (std::is_trivially_copyable_v<Value>)
            take_bytes(&value, sizeof value);
        else if constexpr (requires { Value::fields(value); })
            std::apply([&](auto&... each) { (take_into(each), ...); }, Value::fields(value));
        else
            take_list(value);
    }
    template <class Value>
    void take_list(std::vector<Value>& values) {
        const auto count = take<std::uint64_t>();
        require(count <= bytes_.size() / (std::is_trivially_copyable_v<Value> ? sizeof(Value) : 1));
        values.resize(static_cast<std::size_t>(count));
        if constexpr (std::is_trivially_copyable_v<Value>)
            take_bytes(values.data(), values.size() * sizeof(Value));
        else
            for (Value& value : values)
                take_into(value);
    }
    template <class Value>
    void take_list(std::optional<Value>& value) {
        if (take<bool>())
            take_into(value.emplace());
    }
    void take_bytes(void* to, std::size_t size) {
        require(size <= bytes_.size());
        if (size > 0)
            std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    static void require(bool enough) {
        if (!enough)
            throw Error("a record is shorter than expected");
    }

    std::span<const std::byte> bytes_;
};

} // namespace sextant
