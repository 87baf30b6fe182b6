"""Exceptions: one for each status of the library, all of them Error, each with a builtin parent of its kind."""

from __future__ import annotations

from typing import Any, Optional


class _Brief(type):
    """Lists what a class itself defines, so that help doesn't repeat for each exception what all of them inherit."""

    def __dir__(cls) -> list[str]:
        return list(vars(cls))


class Error(Exception, metaclass=_Brief):
    """What went wrong in the library. str() is the sentence: what, where, what to do.

    status is the number of enum idx_status in idx.h; errno that of the failed system call, or 0; file the file or
    folder concerned, or ""; offset the byte in that file where the fault lies, or 0; sentence is what str() gives.
    """

    status: int
    errno: Optional[int]
    file: str
    offset: int
    sentence: str

    def __init__(self, status: int, errno: Optional[int], file: str, offset: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.errno = errno
        self.file = file
        self.offset = offset
        self.sentence = sentence
        if isinstance(self, OSError):
            of_system: OSError = self  # these are attributes of OSError, and not of every Error
            of_system.filename, of_system.strerror = file or None, sentence

    def __str__(self) -> str:
        return self.sentence

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (self.status, self.errno, self.file, self.offset, self.sentence)


class InvalidArgumentError(Error, ValueError):
    """An argument outside its range, or an index, builder, writer or stream that has ended. Status 100."""


class BadSchemeError(Error, ValueError):
    """A scheme that can't be parsed, or does not fit the bits. Status 101."""


class WeakSchemeError(Error, ValueError):
    """A scheme that does not cover k. Status 102."""


class BadRecipeError(Error, ValueError):
    """A recipe that is not known. Status 103."""


class BadDistanceError(Error, ValueError):
    """A distance above the k of the index, or what it was unpacked for, or 16 if any distance is possible. Status
    104."""


class NotFoundError(Error, FileNotFoundError):
    """There is nothing at that path. Status 200."""


class NotAnIndexError(Error, ValueError):
    """There is something at that path, but no index. Status 201."""


class ExistsError(Error, FileExistsError):
    """The output exists, and replacing it was not asked for. Status 202."""


class NewVersionError(Error, NotImplementedError):
    """A format version, or an addition to the format, that this library does not read. Status 203."""


class UnsupportedError(Error, NotImplementedError):
    """The system or the file system can't do it. Status 204."""


class LimitError(Error, OverflowError):
    """More than the format, or the bound that was given, allows. Status 205."""


class CancelledError(Error):
    """The progress callable returned False. Status 206."""


class BusyError(Error, BlockingIOError):
    """Another writer or compaction has the index. Status 207."""


class DamagedError(Error, OSError):
    """A file that is missing, or not as it was written. The statuses from 300 on."""


class MissingFileError(DamagedError):
    """A file that the manifest names is not there. Status 300."""


class ForeignFileError(DamagedError):
    """A file of another index or segment. Status 301."""


class WrongSizeError(DamagedError):
    """A file of another size than it needs. Status 302."""


class BadChecksumError(DamagedError):
    """A checksum that differs. Status 303."""


class BadContentError(DamagedError):
    """Checksums agree, but a rule of SPEC.md is broken. Status 304."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory. Status 400."""


class InputOutputError(Error, OSError):
    """A system call failed; errno says how. Status 401."""


class DiskFullError(Error, OSError):
    """No space, no quota, or over the file size limit. Status 402."""


class NoAccessError(Error, PermissionError):
    """No permission, or a read-only file system. Status 403."""


BY_STATUS: dict[int, type[Error]] = {
    100: InvalidArgumentError,
    101: BadSchemeError,
    102: WeakSchemeError,
    103: BadRecipeError,
    104: BadDistanceError,
    200: NotFoundError,
    201: NotAnIndexError,
    202: ExistsError,
    203: NewVersionError,
    204: UnsupportedError,
    205: LimitError,
    206: CancelledError,
    207: BusyError,
    300: MissingFileError,
    301: ForeignFileError,
    302: WrongSizeError,
    303: BadChecksumError,
    304: BadContentError,
    400: OutOfMemoryError,
    401: InputOutputError,
    402: DiskFullError,
    403: NoAccessError,
}


# Which arguments do what sentences of the library end in, which name none.
ARGUMENTS = {
    "ask for it to be replaced": "replace=True",
    "build it with such a map": "by_id=True",
    "choose another residence": 'residence="none"',
    "give that table": "table=",
    "and give it": "table=, as libidx.train makes it",
}


def make(status: int, errno: Optional[int], file: str, offset: int, sentence: str) -> Error:
    """Makes the exception of a status; its sentence names the arguments that are meant."""
    for ending, arguments in ARGUMENTS.items():
        if sentence.endswith(ending):
            sentence += f" ({arguments})"
    return BY_STATUS.get(status, Error)(status, errno, file, offset, sentence)


def invalid_argument(sentence: str) -> Error:
    """Makes the exception of an argument that is refused before the library is called."""
    return make(100, None, "", 0, sentence)
