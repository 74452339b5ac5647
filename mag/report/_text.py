"""Numbers and dates as people write them."""

import math

import numpy as np

THIN = "\N{NARROW NO-BREAK SPACE}"
_DATES = [  # coarse to fine: numpy's unit, steps, characters of the ISO text
    ("Y", (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1), 4),
    ("M", (6, 3, 1), 7),
    ("D", (14, 7, 2, 1), 10),
    ("h", (12, 6, 3, 1), 16),
    ("m", (30, 15, 5, 1), 16),
]


def tally(number: float) -> str:
    """An integer with thin spaces between thousands."""
    return f"{int(number):,}".replace(",", THIN)


def several(number: int, one: str, many: str) -> str:
    """A number and the noun that it counts."""
    return f"{tally(number)} {one if number == 1 else many}"


def span(low: int, high: int) -> str:
    """One integer, or from one to another."""
    return tally(low) if low == high else f"{tally(low)} to {tally(high)}"


def share(fraction: float) -> str:
    """A share as a percentage of three digits, never rounded to 0 or 100 %."""
    if math.isnan(fraction) or math.isinf(fraction):
        return "–" if math.isnan(fraction) else "∞"
    percent = 100 * fraction
    if 0 < percent < 0.01:
        return f"< 0.01{THIN}%"
    digits = 0 if abs(percent) >= 100 or percent == 0 else 1 if abs(percent) >= 10 else 2
    text = f"{percent:.{digits}f}"
    return f"> 99.9{THIN}%" if text == "100.0" and percent < 100 else f"{text}{THIN}%"


def figure(number: float) -> str:
    """A number of three digits."""
    if math.isnan(number) or math.isinf(number):
        return "–" if math.isnan(number) else "∞"
    if number == int(number) and abs(number) < 1e15:
        return tally(number)
    return f"{number:.3g}"


def signed(number: float, decimals: int) -> str:
    """A number with its sign, unless it is 0 to these decimals."""
    if math.isnan(number):
        return "–"
    text = f"{number:+.{decimals}f}".replace("-", "−")
    return text if text.strip("+−0.") else text[1:]


def number_ticks(low: float, high: float, most: int = 5) -> list[tuple[float, str]]:
    """Round numbers in [low, high], a few of them, and their texts."""
    span = high - low
    if not 0 < span < math.inf:
        return []
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((times * power for times in (1, 2, 5) if times * power >= rough), 10 * power)
    ticks = [place * step for place in range(math.ceil(low / step), math.floor(high / step) + 1)][: 2 * most]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals <= 4 and max(abs(low), abs(high)) < 1e7:
        return [(tick, f"{tick:,.{decimals}f}".replace(",", THIN).replace("-", "−")) for tick in ticks]
    return [(tick, f"{tick:.{_digits(ticks)}g}".replace("e+", "e")) for tick in ticks]


def _digits(numbers: list[float]) -> int:
    """The number of digits needed to distinguish the numbers."""
    return next((digits for digits in range(3, 17) if len({f"{x:.{digits}g}" for x in numbers}) == len(numbers)), 17)


def date_ticks(low: float, high: float, most: int = 4) -> list[tuple[float, str]]:
    """Round dates between two seconds since 1970, a few of them, and their texts."""
    for unit, steps, characters in _DATES:
        origin = 1970 if unit == "Y" else 0  # round years, not round numbers of years since 1970
        ends = np.array([low, high]).astype("M8[s]").astype(f"M8[{unit}]").astype(int) + origin
        for step in steps:
            units = np.arange(-(-ends[0] // step) * step, ends[1] + 1, step)[:1000] - origin
            dates = units.astype(f"M8[{unit}]")
            seconds = dates.astype("M8[s]").astype(float)
            dates, seconds = dates[(low <= seconds) & (seconds <= high)], seconds[(low <= seconds) & (seconds <= high)]
            if seconds.size >= 3:
                some = slice(None, None, -(-seconds.size // most))
                texts = [text[:characters].replace("T", " ") for text in np.datetime_as_string(dates[some], unit="m")]
                return list(zip(seconds[some].tolist(), texts, strict=True))
    return []
