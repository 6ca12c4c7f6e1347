"""The menu of the day as text."""

import datetime


def greeting(hour):
    """Good morning before noon, then good afternoon, from 18 o'clock on good evening."""
    if hour < 12:
        return "Good morning!"
    if hour < 18:
        return "Good afternoon!"
    return "Good evening!"


def render(dishes, hour=None):
    """`dishes`: name -> (price in cents, set of allergens); `hour`: of the day, the clock's where left out."""
    lines = [greeting(datetime.datetime.now().hour if hour is None else hour)]
    for name, (cents, allergens) in dishes.items():
        line = f"{name} {cents // 100}.{cents % 100:02}"
        if allergens:
            line += " (" + ", ".join(sorted(allergens)) + ")"
        lines.append(line)
    return "\n".join(lines) + "\n"
