"""The feed of ``zrecord.feed``, which goes epoch by epoch."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, NoReturn

import numpy as np

from zrecord._batch import Batch
from zrecord._engine import END, Engine
from zrecord._epoch_iterator import EpochIterator
from zrecord._feed_arguments import FeedArguments
from zrecord._progress import FeedStatistics, Messages, Pending, Place
from zrecord.errors import FeedError, FeedTimeoutError

_START_SECONDS = 600.0


class Feed(Iterator[Batch]):
    """Batches one after the other, epoch by epoch. ``feed`` makes it.

    ``for batch in feed`` gives the rest of the current epoch, and the next ``for`` gives the next epoch. ``next(feed)`` gives the
    next batch, whatever its epoch. A feed belongs to one thread at a time: a call while another thread is in a call is a
    ``FeedError``. Arrays may be dropped on any thread. An interrupt loses no batch: after one in ``next``, the same batch comes
    again.
    """

    def __init__(self, arguments: FeedArguments) -> None:
        self._arguments = arguments
        self._timeout = arguments.timeout
        self._engine: Engine | None = None
        self._indices_file: IO[str] | None = None
        self._header: dict[str, Any] = {}
        self._messages: Messages | None = None
        self._loaded: str | None = None
        self._place: Place | None = None
        self._pending: Pending | None = None
        self._waited_before = 0.0
        self._current: weakref.ref[EpochIterator] | None = None
        self._user = 0
        self._is_closed = False

    def __iter__(self) -> EpochIterator:
        """Begins the rest of the current epoch.

        Raises ``FeedError`` after the last epoch, if another iterator is amid an epoch, or if the feed is closed.
        """
        self._require_open()
        live = self._live()
        if live is not None and live.is_under_way:
            assert self._place is not None
            raise FeedError(
                f"Another iterator of this feed is amid epoch {self._place.epoch}; finish or delete it, or call load_state_dict,"
                " such as with the state of the batch that was used last, which ends it; next(feed) gives single batches"
            )
        if self._place is not None and self._place.left == 0:
            raise self._over()
        iterator = EpochIterator(self)
        self._current = weakref.ref(iterator)
        return iterator

    def __next__(self) -> Batch:
        """Returns the next batch, whatever its epoch.

        Raises ``StopIteration`` after the last one, ``FeedTimeoutError`` if the batch does not come in time, and ``FeedError`` if
        all batches are still referenced, if another thread is in a call, or if the feed is closed.
        """
        thread = threading.get_ident()
        # From here to the ``try``, and from the first assignment below to the return, nothing is called, and no jump is taken,
        # at which Python 3.10 looks for signals as well: no handler of a signal runs in between, and no other thread.
        if not self._user:
            self._user = thread
            try:
                pending = self._prepare()
                if pending.batch is None:
                    raise StopIteration
                self._place = pending.place
                self._pending = None
                given: Batch = pending.given
                return given
            finally:
                self._user = 0
        raise self._in_use()

    def _prepare(self) -> Pending:
        """Returns the next batch or the end, and keeps it until the caller has taken it. May be interrupted anywhere."""
        self._require_open()
        engine = self._begun()
        pending = self._pending
        if pending is None:
            place, messages = self._place, self._messages
            assert place is not None and messages is not None
            if place.left == 0:
                engine.close()
                return Pending(None, place, (), 0)
            kind, payload, end = engine.peek(self._timeout)
            if kind == END:
                pending = messages.end(payload, place)
            else:
                pending = messages.batch(engine, payload, place, engine.waited - self._waited_before)
            waited = engine.waited
            self._pending = pending
            engine.at = end
            self._waited_before = waited
        if pending.memory is not None:
            engine.lease(pending.number, pending.memory)
        pending.log(self._arguments.dataset, self._arguments.bad_records)
        if pending.batch is not None and pending.given is None:
            pending.given = self._arguments.convert(pending.batch, self._header)
        if pending.batch is None:
            self._place = pending.place
            self._pending = None
            engine.close()
        return pending

    def _begun(self) -> Engine:
        """Returns the engine, whose header has been read. After an interrupt on the way another call goes on with it."""
        if self._engine is None:
            self._refuse_workers()
            words = list(self._arguments.words)
            if self._loaded is not None:
                words += ["--resume", self._loaded]
            if self._arguments.indices is not None:
                self._indices_file = tempfile.NamedTemporaryFile("w", prefix="zrecord-indices-")  # noqa: SIM115
                np.savetxt(self._indices_file, self._arguments.indices, "%d")
                self._indices_file.flush()
                words += ["--indices", self._indices_file.name]
            self._engine = Engine(words, self._arguments.depth, self._arguments.writable)
        engine = self._engine
        if self._place is None:
            try:
                # The command line may have to be built first.
                header, end = engine.header(max(self._timeout, _START_SECONDS))
            except FeedTimeoutError:
                raise
            except Exception:
                self._stop()
                raise
            messages, place, waited = Messages(header), Place.first(header), engine.waited
            self._header = header
            self._messages = messages
            self._place = place
            self._pending = None
            self._waited_before = waited
            engine.at = end
            self._indices_file = None
        return engine

    def _refuse_workers(self) -> None:
        data = sys.modules.get("torch.utils.data")
        worker = None if data is None else data.get_worker_info()
        if worker is not None and not self._arguments.is_one_of_ranks:
            raise FeedError(
                f"This process is worker {worker.id} of {worker.num_workers} of a DataLoader, and each worker would"
                " deliver all batches; use num_workers=0, for the feed loads ahead by itself, or iterate over the feed without a"
                " DataLoader"
            )

    def _require_open(self) -> None:
        if self._is_closed:
            raise FeedError("The feed is closed; begin another one")

    def _in_use(self) -> FeedError:
        same = self._user == threading.get_ident()
        return FeedError(
            "The feed is in use: "
            + ("a handler or finalizer" if same else "another thread")
            + " called it during a call of next; a feed belongs to one thread at a time, so give each thread a feed of"
            " its own, or let one thread call next and hand the batches on"
        )

    def _over(self) -> FeedError:
        if self._header["batchesPerEpoch"] == 0:
            return FeedError(
                f"The feed has no batch: an epoch of this rank has none of the {self._header['length']} records of the"
                " dataset in a batch; give a smaller batch_size, no drop_remainder, or other records"
            )
        return FeedError(
            f"The training is over: epochs is {self.epochs}, and all batches up to number {self._header['lastBatch']}"
            " were given; give more epochs, or call load_state_dict to go back"
        )

    def _live(self) -> EpochIterator | None:
        return None if self._current is None else self._current()

    def _begun_place(self) -> Place:
        if self._place is None:
            self._require_open()
            self._begin_alone()
        assert self._place is not None
        return self._place

    def _begin_alone(self) -> None:
        thread = threading.get_ident()
        # As in ``__next__``.
        if not self._user:
            self._user = thread
            try:
                self._begun()
                return
            finally:
                self._user = 0
        raise self._in_use()

    @property
    def epochs(self) -> int | None:
        """The number of epochs from the argument ``epoch`` on, as it was given; ``None`` if there is no end."""
        return self._arguments.epochs

    @property
    def epoch(self) -> int:
        """The epoch of the next batch, from 0. Starts the engine if need be."""
        return self._begun_place().epoch

    @property
    def batches_per_epoch(self) -> int | None:
        """The number of batches of a whole epoch of this rank; ``None`` if the epoch does not end."""
        self._begun_place()
        batches: int | None = self._header["batchesPerEpoch"]
        return batches

    @property
    def first_batch(self) -> int:
        """The ``number`` of the first batch of this feed, or of the first one after the state that was loaded."""
        self._begun_place()
        number: int = self._header["firstBatch"]
        return number

    @property
    def last_batch(self) -> int | None:
        """The ``number`` of the last batch; ``None`` if there is no end."""
        self._begun_place()
        number: int | None = self._header["lastBatch"]
        return number

    @property
    def deterministic(self) -> bool:
        """Whether batches come in the order of the sampler, which ``as_completed`` gives up."""
        return not self._arguments.as_completed

    def remaining_epochs(self) -> Iterator[int]:
        """Gives the number of each epoch that is not finished, as long as there are batches; nothing after the last one.

        For ``for epoch in feed.remaining_epochs(): for batch in feed: …``, which goes on amid an epoch after a resume. An epoch
        that the inner loop left with ``break`` comes again, with its rest.
        """
        while self._begun_place().left != 0:
            yield self.epoch

    def __len__(self) -> int:
        """Returns how many batches the ``for`` that is under way gives in all, or the next one if none is.

        That is an epoch, or its rest after a resume. After the last epoch it is that of a whole epoch. Batches that are left out
        because of bad records count. Raises ``TypeError`` if the epoch does not end.
        """
        place = self._begun_place()
        live = self._live()
        if place.left is None:
            raise TypeError("The epochs of this feed do not end; give num_samples")
        if live is not None and live.is_under_way:
            return live.given + place.left
        return place.left or int(self._header["batchesPerEpoch"])

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(
            "A feed has no batch by number, and is no Dataset of PyTorch: it gives whole batches in the order of its"
            " sampler, loaded ahead. Write `for batch in feed`, without a DataLoader; take"
            " zrecord.torch.FeedLoader; for a DataLoader, give it a zrecord.torch.Dataset and a zrecord.torch.BatchSampler"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("A feed cannot be pickled or copied, for it belongs to one process; begin one where it is used")

    def statistics(self) -> FeedStatistics:
        """Returns what the feed did up to the batch that was returned last. Counts begin anew with ``load_state_dict``."""
        return FeedStatistics() if self._place is None else self._place.statistics

    def state_dict(self) -> dict[str, Any]:
        """Returns the state from which a feed continues after the batch that was returned last. Fit for JSON.

        ``batch.state`` is that after one batch: save it where batches are taken ahead of their use.
        """
        if self._place is None and self._loaded is not None:
            state: dict[str, Any] = json.loads(self._loaded)
        else:
            state = json.loads(self._begun_place().state)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state of ``state_dict`` or ``batch.state``, of this feed or one with the same dataset, sampler and seed.

        Ends an iterator that is under way. A state at the end of an epoch continues with the next epoch. The next batch, or
        property that needs the engine, raises ``ValueError`` if the state is of another order.
        """
        loaded = json.dumps(dict(state))
        self._require_open()
        if self._user:
            raise self._in_use()
        engine = self._engine
        self._loaded = loaded
        self._current = None
        self._place = None
        self._pending = None
        self._engine = None
        if engine is not None:
            engine.close()

    def _stop(self) -> None:
        engine = self._engine
        self._engine = None
        self._indices_file = None
        if engine is not None:
            engine.close()

    def close(self) -> None:
        """Ends the engine; closing again does nothing. Batches that were returned stay readable."""
        self._is_closed = True
        self._pending = None
        self._stop()

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
