"""The menu of the day as text."""

from datetime import datetime


def greeting(now=None):
    hour = (now or datetime.now()).hour
    if hour < 12:
        return "Good morning!"
    return "Good afternoon!" if hour < 18 else "Good evening!"


def render(dishes, now=None):
    lines = [greeting(now)]
    for name, (cents, allergens) in dishes.items():
        line = f"{name} {cents // 100}.{cents % 100:02}"
        if allergens:
            line += f" ({', '.join(sorted(allergens))})"
        lines.append(line)
    return "\n".join(lines) + "\n"
