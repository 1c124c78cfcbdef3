// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/sample_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/sample_sums.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Sums a whole number of vectors. Floats are added up only over short runs, so that rounding
/// errors remain below 10⁻⁵.
Elements vector_sums(const float* samples, Elements count, float low, float high, float shift,
                     SampleSums& sums) {
    constexpr Elements longest_run = 1024;
    const Floats d;
    const auto lanes = static_cast<Elements>(hn::Lanes(d));
    const FloatVector lowest = hn::Set(d, low), highest = hn::Set(d, high);
    const FloatVector centre = hn::Set(d, shift), one = hn::Set(d, 1.F);
    FloatVector least = hn::Set(d, sums.least), largest = hn::Set(d, sums.largest);
    const FloatVector most = least, fewest = largest;
    Elements at = 0;
    while (at + lanes <= count) {
        const Elements rest = count - at;
        const Elements end = at + (rest < longest_run ? rest : longest_run) / lanes * lanes;
        FloatVector number = hn::Zero(d), sum = hn::Zero(d), squares = hn::Zero(d);
        for (; at < end; at += lanes) {
            const FloatVector sample = hn::LoadU(d, samples + at);
            const auto in = hn::And(hn::Ge(sample, lowest), hn::Le(sample, highest));
            const FloatVector difference = hn::IfThenElseZero(in, hn::Sub(sample, centre));
            number = hn::Add(number, hn::IfThenElseZero(in, one));
            sum = hn::Add(sum, difference);
            squares = hn::Add(squares, hn::Mul(difference, difference));
            least = hn::Min(least, hn::IfThenElse(in, sample, most));
            largest = hn::Max(largest, hn::IfThenElse(in, sample, fewest));
        }
        sums.count += static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d, number)));
        sums.sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
        sums.squares += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, squares)));
    }
    sums.least = hn::GetLane(hn::MinOfLanes(d, least));
    sums.largest = hn::GetLane(hn::MaxOfLanes(d, largest));
    return at;
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(vector_sums);

SampleSums sample_sums(std::span<const float> samples, float low, float high, float shift) {
    SampleSums sums;
    const auto count = static_cast<Elements>(samples.size());
    Elements at = HWY_DYNAMIC_DISPATCH(vector_sums)(samples.data(), count, low, high, shift, sums);
    for (; at < count; ++at) {
        const float sample = samples[static_cast<std::size_t>(at)];
        if (!(sample >= low && sample <= high))
            continue;
        const float difference = sample - shift;
        ++sums.count;
        sums.sum += static_cast<double>(difference);
        sums.squares += static_cast<double>(difference * difference);
        sums.least = sample < sums.least ? sample : sums.least;
        sums.largest = sample > sums.largest ? sample : sums.largest;
    }
    return sums;
}

} // namespace sextant::kernel
#endif
