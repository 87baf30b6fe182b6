"""Types of arguments and results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

if TYPE_CHECKING:
    import array

    from ._progress import Progress

    import numpy
    import numpy.typing

    UInt64Array = numpy.typing.NDArray[numpy.uint64]
    Int64Array = numpy.typing.NDArray[numpy.int64]
    Float64Array = numpy.typing.NDArray[numpy.float64]
    UInt8Array = numpy.typing.NDArray[numpy.uint8]
    BoolArray = numpy.typing.NDArray[numpy.bool_]


class ArrowArray(Protocol):
    """Arrow's interface of an array."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...


class ArrowStream(Protocol):
    """Arrow's interface of a stream of arrays: a column in chunks."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Numbers = Union[
    "UInt64Array", "Int64Array", "array.array[int]", memoryview, ArrowArray, ArrowStream, "list[int]", "tuple[int, ...]"
]
Texts = Union[
    ArrowArray, ArrowStream, "numpy.typing.NDArray[Any]", list[str], list[bytes], tuple[str, ...], tuple[bytes, ...]
]
Ids = Union[Numbers, Texts]
Call = tuple[int, int, Optional[Path], "Progress"]
"""What most calls take: threads, memory, tmpdir and progress."""
