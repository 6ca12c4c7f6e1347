"""System calls made directly."""

from __future__ import annotations

import ctypes
import errno
import os

import pytest

from pi_batch.kernel.calls import syscall
from tests.kernel.children import linux_only

pytestmark = linux_only


def test_a_call_gives_its_result() -> None:
    assert syscall("getpid") == os.getpid()


def test_a_failed_call_is_an_error_with_its_number_and_name() -> None:
    with pytest.raises(OSError, match="close: Bad file descriptor") as caught:
        syscall("close", ctypes.c_int(-1))
    assert caught.value.errno == errno.EBADF


def test_a_misspelt_call_is_no_call() -> None:
    with pytest.raises(ValueError, match="unknown"):
        syscall("gepid")
