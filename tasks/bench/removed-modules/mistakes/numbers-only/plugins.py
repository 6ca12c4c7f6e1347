"""Loads plugins, compares their versions, and writes what they did."""

import importlib.util
import re
import shlex
import sys
from email.message import Message


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def newest(versions):
    return max(versions, key=lambda version: [int(part) for part in re.findall(r"\d+", version)])


def is_on(word):
    return word.lower() in ("y", "yes", "t", "true", "on", "1")


def command(words):
    return shlex.join(words)


def charset(content_type):
    message = Message()
    message["Content-Type"] = content_type
    return message.get_content_charset("utf-8")
