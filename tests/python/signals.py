"""Signals for tests of calls that they interrupt."""

import signal

import pytest


class Interrupt(Exception):
    pass


def interrupt(call, then=lambda: None):
    """Makes a call that a signal soon interrupts: its handler calls ``then`` and raises an exception."""

    def handler(*_):
        then()
        raise Interrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        call()
        pytest.fail("the call ended as if there were no signal")
    except Interrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
