"""Free and busy times of a room, in minutes of a day; intervals are (start, end), the end not included."""


def busy(intervals):
    """Joined: sorted, overlapping and touching ones as one, empty ones left out."""
    joined = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def free(intervals, opening, closing):
    """What is left between opening and closing."""
    gaps = []
    at = opening
    for start, end in busy(intervals):
        if start > at:
            gaps.append((at, start))
        at = end
    if at < closing:
        gaps.append((at, closing))
    return gaps


def fits(intervals, start, end, opening, closing):
    """Whether a booking can be added."""
    return any(first <= start and end <= last for first, last in free(intervals, opening, closing))
