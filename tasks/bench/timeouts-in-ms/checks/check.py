import json

from lab import DATA, files, probe, same, text


def starts():
    return {name[len("start/"):]: content for name, content in DATA.items() if name.endswith("config.json")}


def changed(value):
    if isinstance(value, dict):
        return {("timeout_ms" if key == "timeout" and not isinstance(inner, str) else key):
                (None if inner is None else round(inner * 1000)) if key == "timeout" and not isinstance(inner, str) else changed(inner)
                for key, inner in value.items()}
    return [changed(inner) for inner in value] if isinstance(value, list) else value


def seconds(value):
    if isinstance(value, dict):
        return [one for key, inner in value.items()
                for one in ([inner] if key == "timeout" and not isinstance(inner, str) else seconds(inner))]
    return [one for inner in value for one in seconds(inner)] if isinstance(value, list) else []


def check_every_file():
    for name, content in starts().items():
        wanted = json.dumps(changed(json.loads(content)), indent=2, ensure_ascii=False) + "\n"
        same(text(name), wanted, name)


def check_the_loader_gives_seconds():
    names = sorted(starts())
    found = probe(f"from loader import timeouts; give([timeouts(name) for name in {names!r}])")
    for name, one in zip(names, found):
        wanted = seconds(json.loads(starts()[name]))
        same([value if value is None else round(value, 6) for value in one],
             [value if value is None else round(value, 6) for value in wanted], f"timeouts({name!r})")


def check_no_file_came_or_went():
    same([name for name in files() if name.startswith("services/") and not name.endswith("README.md")], sorted(starts()), "files")
