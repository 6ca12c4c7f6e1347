"""The menu of the day as text."""

import datetime


def greeting():
    hour = datetime.datetime.now().hour
    if hour < 12:
        return "Good morning!"
    if hour < 18:
        return "Good afternoon!"
    return "Good evening!"


def render(dishes):
    lines = [greeting()]
    for name, (cents, allergens) in dishes.items():
        line = f"{name} {cents // 100}.{cents % 100:02}"
        if allergens:
            line += " (" + ", ".join(sorted(allergens)) + ")"
        lines.append(line)
    return "\n".join(lines) + "\n"
