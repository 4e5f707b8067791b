"""A server looks for cycles less often than Python does."""

import gc

from manylabel.server.collecting import collect_less


def test_what_is_alive_is_not_looked_through_again():
    before = gc.get_threshold()
    try:
        collect_less()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
