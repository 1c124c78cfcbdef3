// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/sample_strips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sextant::registration {

namespace {

template <class T>
void blend_row(const Taps::Row& row, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i)
        to[i] = row.weights[0] * value_of<T>(row.at[0] + i * sizeof(T));
    for (int tap = 1; tap < row.count; ++tap) {
        const double weight = row.weights[tap];
        const std::byte* const from = row.at[tap];
        for (std::size_t i = 0; i < count; ++i)
            to[i] += weight * value_of<T>(from + i * sizeof(T));
    }
}

/// Specialisation for two rows of two taps: bilinear interpolation.
template <class T>
void blend_four(const Taps& taps, std::size_t count, double* to) {
    const Taps::Row& above = taps.rows[0];
    const Taps::Row& below = taps.rows[1];
    const std::byte* const a = above.at[0];
    const std::byte* const b = above.at[1];
    const std::byte* const c = below.at[0];
    const std::byte* const d = below.at[1];
    const double left = above.weights[0], right = above.weights[1];
    const double lower_left = below.weights[0], lower_right = below.weights[1];
    const double top = above.weight, bottom = below.weight;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * sizeof(T);
        const double high = left * value_of<T>(a + at) + right * value_of<T>(b + at);
        const double low = lower_left * value_of<T>(c + at) + lower_right * value_of<T>(d + at);
        to[i] = top * high + bottom * low;
    }
}

template <class T>
void blend(const Taps& taps, std::size_t count, double* to) {
    if (taps.count == 2 && taps.rows[0].count == 2 && taps.rows[1].count == 2)
        return blend_four<T>(taps, count, to);
    std::array<double, strip_length> row;
    for (int number = 0; number < taps.count; ++number) {
        blend_row<T>(taps.rows[number], count, row.data());
        const double weight = taps.rows[number].weight;
        if (number == 0) {
            for (std::size_t i = 0; i < count; ++i)
                to[i] = weight * row[i];
        } else {
            for (std::size_t i = 0; i < count; ++i)
                to[i] += weight * row[i];
        }
    }
}

__extension__ typedef __int128 Wide;

template <class T>
void put(T value, std::byte* to) {
    std::memcpy(to, &value, sizeof(T));
}

/// Calls visit_sample() with an integer type.
template <class Visit>
auto visit_integer(Sample sample, const Visit& visit) {
    using Result = decltype(visit(std::type_identity<int>()));
    return visit_sample(sample, [&]<class T>(std::type_identity<T> type) -> Result {
        if constexpr (std::is_integral_v<T>)
            return visit(type);
        else
            throw std::logic_error("an operation on integers has floating-point samples");
    });
}

/// Returns a nonzero value if `value` might not be exactly representable as a double. Compilers
/// vectorise this, but not a comparison.
template <class T>
std::uint64_t excess(T value) {
    constexpr int bits = 53; // bits of largest_exact
    if constexpr (std::is_signed_v<T>)
        return (static_cast<std::uint64_t>(value) + (std::uint64_t{1} << bits)) >> (bits + 1);
    else
        return value >> bits;
}

template <class Visit>
void for_each_tap(const Taps& taps, const Visit& visit) {
    for (int row = 0; row < taps.count; ++row) {
        for (int tap = 0; tap < taps.rows[row].count; ++tap)
            visit(taps.rows[row], tap);
    }
}

/// Returns the run of samples with the largest weight.
const std::byte* heaviest_tap(const Taps& taps) {
    const std::byte* heaviest = nullptr;
    double most = -1;
    for_each_tap(taps, [&](const Taps::Row& row, int tap) {
        if (const double weight = std::abs(row.weight * row.weights[tap]); weight > most) {
            most = weight;
            heaviest = row.at[tap];
        }
    });
    return heaviest;
}

/// A weighted sum of integers, stored as one of the integers plus the weighted differences of the
/// others from it. This avoids rounding to double.
struct SplitSum {
    Wide base;
    double rest;
    /// The nearest whole number; ties to even.
    Wide whole() const {
        const Wide odd = base & 1;
        return base - odd + static_cast<Wide>(std::nearbyint(rest + static_cast<double>(odd)));
    }
    double value() const {
        const auto high = static_cast<double>(base);
        return high + (rest + static_cast<double>(base - static_cast<Wide>(high)));
    }
};

template <class T>
SplitSum split_sum(const Taps& taps, const std::byte* base_run, std::size_t at) {
    const Wide base = sample_at<T>(base_run + at * sizeof(T));
    double sum = 0;
    for (int number = 0; number < taps.count; ++number) {
        const Taps::Row& row = taps.rows[number];
        double of_row = 0;
        for (int tap = 0; tap < row.count; ++tap)
            of_row += row.weights[tap] *
                      static_cast<double>(sample_at<T>(row.at[tap] + at * sizeof(T)) - base);
        sum += row.weight * of_row;
    }
    return {base, sum};
}

/// Rounds a number of magnitude below 2⁵¹ to nearest, ties to even. The compiler can vectorise
/// this.
double rounded(double value) {
    constexpr double shift = 0x1.8p52;
    return (value + shift) - shift;
}

template <class T>
T stored(double value) {
    if constexpr (std::is_same_v<T, Half>) {
        return to_half(static_cast<float>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else if constexpr (sizeof(T) < 8) {
        constexpr double least = std::numeric_limits<T>::min(),
                         most = std::numeric_limits<T>::max();
        const double number = value == value ? value : 0;
        return static_cast<T>(
            static_cast<std::int64_t>(rounded(std::min(std::max(number, least), most))));
    } else {
        constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
        constexpr auto beyond = static_cast<double>(std::numeric_limits<T>::max()); // rounded up
        if (!(value > least))
            return value == value ? std::numeric_limits<T>::min() : T{0};
        return value >= beyond ? std::numeric_limits<T>::max()
                               : static_cast<T>(std::nearbyint(value));
    }
}

/// Stores a sum as a sample. Returns false if the nearest whole number is beyond largest_exact and
/// the sample type is a floating-point type that cannot represent it.
template <class T>
bool store_split(const SplitSum& sum, std::byte* to) {
    if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        put(static_cast<T>(std::clamp<Wide>(sum.whole(), Limits::min(), Limits::max())), to);
        return true;
    } else {
        const double value = sum.value();
        put(stored<T>(value), to);
        const double kept = value_of<T>(to);
        return std::abs(value) <= largest_exact || !std::isfinite(kept) ||
               static_cast<Wide>(kept) == sum.whole();
    }
}

} // namespace

void combine_taps(Sample sample, const Taps& taps, std::size_t count, double* to) {
    visit_sample(sample, [&]<class T>(std::type_identity<T>) { blend<T>(taps, count, to); });
}

void add_samples(Sample sample, const std::byte* from, std::size_t count, double weight,
                 double* to) {
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < count; ++i)
            to[i] += weight * value_of<T>(from + i * sizeof(T));
    });
}

void store_samples(Sample sample, const double* from, std::size_t count, std::byte* to) {
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < count; ++i)
            put(stored<T>(from[i]), to + i * sizeof(T));
    });
}

void note_losses(Sample sample, const double* values, std::size_t count, const std::byte* samples,
                 Losses& losses) {
    const auto add = [](std::atomic<Elements>& sum, Elements lost) {
        if (lost > 0)
            sum += lost;
    };
    if (is_integer(sample))
        return add(losses.clamped, std::count_if(values, values + count, [sample](double value) {
                       return value == value && !is_in_range(sample, value);
                   }));
    visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        Elements vanished = 0, rounded = 0, whole = 0;
        bool exceed = false;
        // All whole numbers up to this are exact.
        constexpr double holds_all = sizeof(T) == 2 ? 0x1p11 : 0x1p24;
        for (std::size_t i = 0; i < count; ++i) {
            const double stored = value_of<T>(samples + i * sizeof(T));
            vanished += stored == 0 && values[i] != 0;
            rounded += stored != values[i] && std::isfinite(values[i]);
            exceed = exceed || (std::isinf(stored) && std::isfinite(values[i]));
            const double size = std::abs(values[i]);
            if (stored != values[i] && size > holds_all && size <= largest_exact) {
                const double number = std::nearbyint(values[i]);
                const T nearest = sextant::registration::stored<T>(number);
                whole += value_of<T>(reinterpret_cast<const std::byte*>(&nearest)) != number;
            }
        }
        add(losses.vanished, vanished);
        add(losses.rounded, rounded);
        add(losses.whole, whole);
        if (exceed)
            losses.exceed = true;
    });
}

bool add_integers(Sample sample, const std::byte* from, std::size_t count, std::uint64_t* sums) {
    return visit_integer(sample, [&]<class T>(std::type_identity<T>) {
        using Sum = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        bool fits = true;
        for (std::size_t i = 0; i < count; ++i) {
            Sum sum = static_cast<Sum>(sums[i]);
            const auto value = static_cast<Sum>(sample_at<T>(from + i * sizeof(T)));
            fits = !__builtin_add_overflow(sum, value, &sum) && fits;
            sums[i] = static_cast<std::uint64_t>(sum);
        }
        return fits;
    });
}

std::size_t store_integers(Sample from, const std::uint64_t* sums, std::size_t count, Sample sample,
                           std::byte* to) {
    const bool is_signed = name(from).front() == 'i';
    return visit_integer(sample, [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < count; ++i) {
            if (is_signed ? !std::in_range<T>(static_cast<std::int64_t>(sums[i]))
                          : !std::in_range<T>(sums[i]))
                return i;
            put(static_cast<T>(sums[i]), to + i * sizeof(T));
        }
        return count;
    });
}

void convert_integers(Sample from, const std::byte* samples, std::size_t count, Sample sample,
                      std::byte* to, Losses* losses) {
    visit_integer(from, [&]<class From>(std::type_identity<From>) {
        visit_integer(sample, [&]<class To>(std::type_identity<To>) {
            using Limits = std::numeric_limits<To>;
            Elements changed = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const auto value = sample_at<From>(samples + i * sizeof(From));
                const To clamped = std::cmp_less(value, Limits::min()) ? Limits::min()
                                   : std::cmp_greater(value, Limits::max())
                                       ? Limits::max()
                                       : static_cast<To>(value);
                changed += !std::cmp_equal(clamped, value);
                put(clamped, to + i * sizeof(To));
            }
            if (losses && changed > 0)
                losses->clamped += changed;
        });
    });
}

void store_large_integers(Sample from, const Taps& taps, std::size_t count, Sample sample,
                          std::byte* to, Losses* losses) {
    visit_sample(from, [&]<class From>(std::type_identity<From>) {
        if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
            std::array<std::uint64_t, strip_length> large;
            std::fill_n(large.begin(), count, std::uint64_t{0});
            for_each_tap(taps, [&](const Taps::Row& row, int tap) {
                for (std::size_t i = 0; i < count; ++i)
                    large[i] |= excess(sample_at<From>(row.at[tap] + i * sizeof(From)));
            });
            if (std::all_of(large.data(), large.data() + count, [](auto of) { return of == 0; }))
                return;
            const std::byte* const base = heaviest_tap(taps);
            Elements lost = 0;
            visit_sample(sample, [&]<class To>(std::type_identity<To>) {
                for (std::size_t i = 0; i < count; ++i) {
                    if (large[i] != 0)
                        lost +=
                            !store_split<To>(split_sum<From>(taps, base, i), to + i * sizeof(To));
                }
            });
            if (losses)
                losses->whole += lost;
        }
    });
}

bool is_integer(Sample sample) {
    return name(sample).front() != 'f';
}

bool has_range_of(Sample sample, Sample from) {
    return visit_sample(sample, [&]<class To>(std::type_identity<To>) {
        return visit_sample(from, []<class From>(std::type_identity<From>) {
            if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
                return std::in_range<To>(std::numeric_limits<From>::min()) &&
                       std::in_range<To>(std::numeric_limits<From>::max());
            else
                return false;
        });
    });
}

bool is_in_range(Sample sample, double value) {
    return visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) {
            // Compare with the power of two above the largest value, because doubles cannot
            // represent the largest 64-bit values.
            constexpr double beyond = 2.0 * (std::numeric_limits<T>::max() / 2 + 1);
            const double whole = std::nearbyint(value);
            return whole >= static_cast<double>(std::numeric_limits<T>::min()) && whole < beyond;
        } else {
            return true;
        }
    });
}

double sum_of(Sample sample, const std::byte* from, std::size_t count) {
    return visit_sample(sample, [&]<class T>(std::type_identity<T>) {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i)
            sum += value_of<T>(from + i * sizeof(T));
        return sum;
    });
}

} // namespace sextant::registration
