"""What every service calls."""


def fetch(path, timeout=None, retries=0):
    return {"path": path, "timeout": timeout, "retries": retries}
