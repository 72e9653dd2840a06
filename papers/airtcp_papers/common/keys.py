"""Name groups of resolved keys, and assumptions, that the cards of several models list."""

from __future__ import annotations

from typing import Final

from airtcp.predict.card import assumption, harmless, keys

#: Durations of frames and spaces with basic access, and their senders: used by every Wi-Fi model.
BASIC: Final = keys("basic")
#: The same under the DCF, with or without RTS/CTS.
FRAMES: Final = keys("frames")
#: Segments and their ACKs.
SEGMENTS: Final = keys("segments")
#: Collisions: what follows them, and how often a frame is sent.
COLLISIONS: Final = keys("collisions")
#: Flows of finite transfers, before and after the data.
TRANSFERS: Final = keys("transfers")

ALIKE: Final = assumption("alike")
ALL_ACKS: Final = assumption("all_acks")
BOUNDED: Final = assumption("bounded")
NEVER_ENDS: Final = assumption("never_ends")
NO_BEACONS: Final = assumption("no_beacons")
NO_ERRORS: Final = assumption("no_errors")
RENO: Final = assumption("reno")

#: Harmless to models without backoff, or with a mean one.
NO_BACKOFF: Final = harmless("no_backoff")
