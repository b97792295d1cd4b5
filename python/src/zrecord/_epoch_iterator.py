"""The iterator of one ``for`` over a feed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zrecord._batch import Batch
from zrecord._progress import Pending
from zrecord.errors import FeedError

if TYPE_CHECKING:
    from zrecord._epochs import Feed


class EpochIterator(Iterator[Batch]):
    """The batches of the rest of one epoch. ``iter(feed)`` makes it."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._epoch = -1
        self._is_ended = False
        # Not only during a call, but also after one that raised: the loop around it has ended, though a traceback may keep it.
        self._is_asked = False
        #: The number of batches that were given.
        self.given = 0

    @property
    def is_under_way(self) -> bool:
        """Tells whether some but not all batches were given, and the last call gave one."""
        place = self._feed._place
        return (
            self.given > 0
            and not self._is_asked
            and not self._is_ended
            and place is not None
            and place.left != 0
            and place.epoch == self._epoch
        )

    def __next__(self) -> Batch:
        feed = self._feed
        thread = threading.get_ident()
        # As in Feed.__next__, no handler of a signal runs from here to the ``try``, nor from the first assignment to the return.
        if not feed._user:
            feed._user = thread
            self._is_asked = True
            try:
                pending = self._prepare()
                if pending is None or pending.batch is None:
                    self._is_ended = True
                    raise StopIteration
                feed._place = pending.place
                feed._pending = None
                self.given += 1
                self._is_asked = False
                given: Batch = pending.given
                return given
            finally:
                feed._user = 0
        raise feed._in_use()

    def _prepare(self) -> Pending | None:
        """Returns the next batch of the epoch; ``None`` after the last one."""
        feed = self._feed
        if feed._live() is not self:
            raise FeedError("This iterator was ended, by load_state_dict or by another iterator; write another for over the feed")
        if self._is_ended:
            return None
        feed._require_open()
        feed._begun()
        place = feed._place
        assert place is not None
        if self.given > 0 and (place.left == 0 or place.epoch != self._epoch):
            return None
        pending = feed._prepare()
        if pending.batch is None:
            if self.given == 0:
                raise feed._over()
            return None
        first = place.epoch if feed._arguments.as_completed else pending.batch.epoch
        if self.given == 0:
            self._epoch = first
        elif first != self._epoch:
            # The rest of the epoch was left out because of bad records.
            feed._place = place._replace(epoch=first, left=feed._header["batchesPerEpoch"])
            return None
        return pending
