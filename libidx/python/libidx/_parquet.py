"""Texts and IDs of Parquet files, by pyarrow."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterator, NamedTuple, Optional, cast

from ._errors import invalid_argument

if TYPE_CHECKING:
    from ._types import Path

ROWS = 4096
"""Rows that are read at a time."""
LEFT_OUT = re.compile(r"\..*\.crc|\.libidx-.*|_SUCCESS|_(common_)?metadata|_(started|committed)_\d+")
LEFT_OUT_FOLDERS = re.compile(r"\.libidx-.*|_temporary|_delta_log")
"""What jobs leave beside the files that they write."""


def list_entries(folder: Path) -> Iterator[str]:
    """What is below a folder but for folders, those of each folder by name, without what jobs leave there. Links to folders
    are not followed, and come last."""

    def fail(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(os.fsdecode(folder), onerror=fail):
        folders[:] = sorted(name for name in folders if not LEFT_OUT_FOLDERS.fullmatch(name))
        names = sorted(name for name in names if not LEFT_OUT.fullmatch(name))
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        yield from (os.path.join(parent, name) for name in [*names, *links])


KNOWN = "link to a file that is read as well"


class Folders:
    """Which files of folders are read: regular ones, and links to others, by device and inode, unless the file is read as
    well, or was. inputs: all files and folders that are read. ending: of the names of files in folders. left_out: how many
    entries are not, by kind."""

    def __init__(self, inputs: list[str], ending: str = "") -> None:
        self.inputs, self.ending = inputs, ending
        self.left_out: dict[str, int] = {}
        self.known: Optional[set[tuple[int, int]]] = None

    def walk(self, folder: str) -> Iterator[str]:
        """The files of a folder."""
        for path in self.list_named(folder):
            kind = self.look(path)
            if kind is None:
                yield path
            else:
                self.leave_out(kind)

    def list_named(self, folder: str) -> Iterator[str]:
        return (path for path in list_entries(folder) if path.endswith(self.ending))

    def leave_out(self, kind: str) -> None:
        self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def look(self, path: str) -> Optional[str]:
        """Why a file or link is not read, or None."""
        if not os.path.islink(path):
            return None if stat.S_ISREG(os.lstat(path).st_mode) else "no regular file"
        try:
            found = os.stat(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):
                raise
            return "link to nothing"
        if not stat.S_ISREG(found.st_mode):
            return "link to a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        if self.known is None:
            self.known = {(one.st_dev, one.st_ino) for one in map(os.stat, self.list_regular())}
        if (found.st_dev, found.st_ino) in self.known:
            return KNOWN
        self.known.add((found.st_dev, found.st_ino))
        return None

    def list_regular(self) -> Iterator[str]:
        """All regular files of the inputs. What these name may be a link."""
        for path in self.inputs:
            if not os.path.isdir(path):
                yield path
                continue
            yield from (file for file in self.list_named(path) if stat.S_ISREG(os.lstat(file).st_mode))


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Names the file in an error of the system, such as of a full disk, which pyarrow raises without a name."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), path) from None


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Makes InvalidArgumentError, in a line that names the file, of what pyarrow raises, which may be of many types."""
    import pyarrow

    try:
        with naming(path):
            yield
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        what = "it is damaged, or no Parquet"
        if isinstance(error, pyarrow.ArrowNotImplementedError) and "Nested" in reason:
            what = "pyarrow does not read it: write dictionaries within structs or lists as plain values"
        raise invalid_argument(f"{path}: {what}: {reason}") from None


def open_file(path: str) -> Any:
    """The ParquetFile at a path. Raises what names the path."""
    from pyarrow import parquet

    os.stat(path)
    with named(path):
        return parquet.ParquetFile(path)


class Column(NamedTuple):
    """A column, or a field of columns of structs: its names from the outside in, and its type."""

    names: list[str]
    type: Any

    @property
    def path(self) -> str:
        """What pyarrow calls it."""
        return ".".join(self.names)

    def take(self, batch: Any) -> Any:
        """Its values, of a batch that was read with it."""
        from pyarrow import compute

        values = batch.column(batch.schema.get_field_index(self.names[0]))
        return compute.struct_field(values, self.names[1:]) if len(self.names) > 1 else values


def split(name: str) -> list[str]:
    """The names in a.b and in the JSON pointer /a/b."""
    if not name.startswith("/"):
        return name.split(".")
    return [part.replace("~1", "/").replace("~0", "~") for part in name[1:].split("/")]


def has_star(path: str) -> bool:
    """Whether a field's path has a *, for each element of an array, behind its first name."""
    return "*" in split(path)[1:]


def find_member(value: Any, name: str, missing: Any = None) -> Any:
    """The member of an object, or the element of an array."""
    if isinstance(value, list):
        return value[int(name)] if re.fullmatch(r"[0-9]{1,9}", name) and int(name) < len(value) else missing
    return value.get(name, missing) if isinstance(value, dict) else missing


def find_each(value: Any, names: list[str]) -> list[Any]:
    """What names lead to from a value, in order, but for what is missing or null."""
    found = [value]
    for name in names:
        if name == "*":
            lists = (some if isinstance(some, list) else [find_member(some, name)] for some in found)
            found = [element for some in lists for element in some]
        else:
            found = [find_member(some, name) for some in found]
        found = [some for some in found if some is not None]
    return found


class Joined(Column):
    """A column of lists; the names lead to strings in them that are joined."""

    @property
    def path(self) -> str:
        return self.names[0]

    def take(self, batch: Any) -> Any:
        import pyarrow

        rows = batch.column(batch.schema.get_field_index(self.names[0])).to_pylist()
        found = [find_each(row, self.names[1:]) for row in rows]
        return pyarrow.array(["\n".join(texts) if texts else None for texts in found], pyarrow.large_string())


def find_joined(path: str, schema: Any, name: str) -> Joined:
    """The column of a name with a *. Raises InvalidArgumentError if it holds no texts there."""
    from pyarrow import types

    names = split(name)
    place = schema.get_field_index(names[0])
    holder: Any = None if place < 0 else schema.field(place).type
    for part in names[1:]:
        if holder is not None and part == "*" and any(is_list(holder) for is_list in (types.is_list, types.is_large_list)):
            holder = holder.value_type
        elif holder is not None and types.is_struct(holder) and holder.get_field_index(part) >= 0:
            holder = holder.field(holder.get_field_index(part)).type
        else:
            holder = None
    if holder is None:
        raise invalid_argument(f"{path}: there is no column {name!r}: its type is {schema.field(place).type if place >= 0 else 'none'}")
    if not (types.is_string(holder) or types.is_large_string(holder)):
        raise invalid_argument(f"{path}: column {name!r} is of type {holder}, and holds no texts")
    return Joined(names, holder)


def find_column(path: str, schema: Any, name: str) -> Column:
    """The column of a name, a.b or /a/b. Raises InvalidArgumentError."""
    from pyarrow import types

    found = schema.get_field_index(name)
    names = [name] if found >= 0 else split(name)
    holder: Any = schema  # or the type of a struct, in which the next name is looked for
    for at, part in enumerate(names):
        place = holder.get_field_index(part)
        if place < 0:
            within = "it" if at == 0 else repr(".".join(names[:at]))
            has = ", ".join(holder.field(i).name for i in range(len(schema.names) if at == 0 else holder.num_fields))
            raise invalid_argument(f"{path}: there is no column {name!r}: {within} has {has or 'none'}")
        holder = holder.field(place).type
        if at + 1 < len(names) and not types.is_struct(holder):
            within = ".".join(names[: at + 1])
            raise invalid_argument(f"{path}: there is no column {name!r}: {within!r} is of type {holder}")
    return Column(names, holder)


def _find_plain_type(type: Any) -> Any:
    """The type of the values of a dictionary or an extension; any other type itself."""
    import pyarrow
    from pyarrow import types

    while types.is_dictionary(type) or isinstance(type, pyarrow.BaseExtensionType):
        type = type.value_type if types.is_dictionary(type) else type.storage_type
    return type


def _is_text(type: Any) -> bool:
    """Whether a type is one of strings, binaries or nulls."""
    from pyarrow import types

    kinds = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_null
    views = (getattr(types, name, None) for name in ("is_string_view", "is_binary_view"))
    return any(kind is not None and kind(type) for kind in (*kinds, *views))


def find_texts(path: str, schema: Any, name: str) -> Column:
    """The column of a name, as find_column. Raises InvalidArgumentError as well if it holds no texts."""
    if schema.get_field_index(name) < 0 and has_star(name):
        return find_joined(path, schema, name)
    column = find_column(path, schema, name)
    if not _is_text(_find_plain_type(column.type)):
        raise invalid_argument(f"{path}: column {name!r} is of type {column.type}, and holds no texts")
    return column


def find_ids(path: str, schema: Any, name: str) -> Column:
    """The column of a name, as find_column. Raises InvalidArgumentError as well if its values can't be printed."""
    from pyarrow import types

    column = find_column(path, schema, name)
    if types.is_nested(_find_plain_type(column.type)):
        raise invalid_argument(f"{path}: column {name!r} is of type {column.type}, and holds no IDs")
    return column


def _unwrap_values(values: Any) -> Any:
    """Values without what dictionaries and extensions have around them."""
    import pyarrow
    from pyarrow import types

    while types.is_dictionary(values.type) or isinstance(values, pyarrow.ExtensionArray):
        values = values.dictionary_decode() if types.is_dictionary(values.type) else values.storage
    return values


def plain_texts(values: Any) -> Any:
    """Texts as an array of binaries, whatever holds them and whether or not they are UTF-8; nulls stay."""
    import pyarrow

    values = _unwrap_values(values)
    if str(values.type) == "string_view":
        values = values.cast(pyarrow.large_string())
    if str(values.type) in ("string", "binary", "null"):
        return values.cast(pyarrow.binary())
    return values.cast(pyarrow.large_binary())


def plain_ids(values: Any) -> list[Optional[bytes]]:
    """IDs as they are printed."""
    from pyarrow import types

    plain = _unwrap_values(values)
    if _is_text(plain.type) or types.is_fixed_size_binary(values.type):
        return cast(list[Optional[bytes]], plain_texts(plain).to_pylist())
    return [None if value is None else str(value).encode() for value in values.to_pylist()]


def iterate(
    file: Any, path: str, columns: Optional[list[str]] = None, row_groups: Optional[list[int]] = None
) -> Iterator[Any]:
    """The rows of a ParquetFile in batches."""
    with named(path):
        yield from file.iter_batches(ROWS, columns=columns, row_groups=row_groups)


GROUP_BYTES = 1 << 28
"""Bytes of rows that make a row group of their own in what is written, even if they were part of a larger one."""


class Cut(NamedTuple):
    """What makes the text of a row shorter, the column of the text, and the rows."""

    texts: Column
    cut: Callable[[bytes, int], bytes]
    rows: Collection[int]


def copy_rows(file: Any, path: str, kept: list[bool], target: str, cut: Optional[Cut] = None) -> None:
    """Writes the rows that are kept, compressed and in row groups as they were, some of them with a shorter text."""
    import pyarrow
    from pyarrow import parquet

    def write_held() -> None:
        """Writes a row group of the rows that are held, if there are any."""
        if rows := sum(map(len, held)):
            writer.write_table(pyarrow.Table.from_batches(held, file.schema_arrow), row_group_size=rows)
        held.clear()

    begin, held, codec = 0, list[Any](), _find_codec(file.metadata)
    with named(path), naming(target), parquet.ParquetWriter(target, file.schema_arrow, **codec) as writer:
        for group in range(file.num_row_groups):
            for batch in iterate(file, path, row_groups=[group]):
                batch = batch if cut is None else _shorten(batch, cut, begin)
                held.append(_filter(batch, pyarrow.array(kept[begin : begin + len(batch)], pyarrow.bool_())))
                begin += len(batch)
                if sum(some.nbytes for some in held) >= GROUP_BYTES:
                    write_held()
            write_held()


def _shorten(batch: Any, cut: Cut, begin: int) -> Any:
    """The rows, which are counted from `begin` on, with texts that are cut."""
    rows = [row for row in range(len(batch)) if begin + row in cut.rows]
    if not rows:
        return batch
    given = plain_texts(cut.texts.take(batch)).to_pylist()
    for row in rows:
        given[row] = cut.cut(given[row], begin + row)
    place = batch.schema.get_field_index(cut.texts.names[0])
    column = _replace(batch.column(place), cut.texts.names[1:], given)
    return batch.set_column(place, batch.schema.field(place), column)


def _replace(column: Any, names: list[str], texts: list[Optional[bytes]]) -> Any:
    """A column of the same type with other texts, in the field of these names if it is of structs."""
    import pyarrow

    if names:
        place = column.type.get_field_index(names[0])
        fields = [column.field(at) for at in range(column.type.num_fields)]
        if len(names) == 1 and not column.type.field(place).nullable:
            texts = [text or b"" for text in texts]  # where the struct is null, its text can't be
        fields[place] = _replace(fields[place], names[1:], texts)
        return pyarrow.StructArray.from_arrays(fields, fields=list(column.type), mask=column.is_null())
    return _cast_texts(pyarrow.array(texts, pyarrow.large_binary()), column.type)


def _cast_texts(texts: Any, type: Any) -> Any:
    """Texts as an array of another type, whether or not they are UTF-8."""
    import pyarrow
    from pyarrow import types

    if isinstance(type, pyarrow.BaseExtensionType):
        return pyarrow.ExtensionArray.from_storage(type, _cast_texts(texts, type.storage_type))
    if types.is_dictionary(type):
        found = texts.dictionary_encode()
        indices, values = found.indices.cast(type.index_type), _cast_texts(found.dictionary, type.value_type)
        return pyarrow.DictionaryArray.from_arrays(indices, values, ordered=type.ordered)
    if types.is_string(type):
        return texts.cast(pyarrow.binary()).view(type)
    return texts.view(type) if types.is_large_string(type) else texts.cast(type)


def _find_codec(metadata: Any) -> dict[str, Any]:
    """What a writer has to know to compress columns, and to write times, as they are."""
    columns = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)] if metadata.num_row_groups else []
    codecs = {c.path_in_schema: "NONE" if c.compression == "UNCOMPRESSED" else c.compression for c in columns}
    same = set(codecs.values())
    return {
        "compression": codecs if len(same) > 1 else "".join(same) or "snappy",
        "use_deprecated_int96_timestamps": any(column.physical_type == "INT96" for column in columns),
    }


def _filter(batch: Any, kept: Any) -> Any:
    """The rows that are kept. pyarrow filters no views, which are few: those are made anew. Nor does it check, of a
    damaged file, that dictionaries have what is written from them; those that are columns may have strings that are not UTF-8."""
    import pyarrow
    from pyarrow import types

    columns = []
    for column in batch.columns:
        if types.is_dictionary(column.type):
            pyarrow.DictionaryArray.from_arrays(column.indices, column.dictionary)  # compares the indices with the size
        elif "dictionary<" in str(column.type):
            column.validate(full=True)
        try:
            columns.append(column.filter(kept))
        except pyarrow.ArrowNotImplementedError:
            values = zip(column.to_pylist(), kept.to_pylist(), strict=True)
            columns.append(pyarrow.array([value for value, stays in values if stays], column.type))
    return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)


def read_texts(paths: list[os.PathLike[str]], name: str) -> Callable[[], Iterator[Any]]:
    """What reads the texts of Parquet files, and of those in folders, in batches. Raises what is wrong with one."""
    files: list[tuple[str, Column]] = []
    folders = Folders([os.fsdecode(path) for path in paths], ".parquet")
    for path in folders.inputs:
        below = [*folders.walk(path)] if os.path.isdir(path) else [path]
        if not below:
            raise invalid_argument(f"{path}: there is no file in this folder whose name ends in .parquet")
        for file in below:
            with open_file(file) as opened:
                files.append((file, find_texts(file, opened.schema_arrow, name)))

    def read() -> Iterator[Any]:
        for path, column in files:
            with open_file(path) as file:
                for batch in iterate(file, path, [column.path]):
                    with named(path):
                        texts = plain_texts(column.take(batch))
                    yield texts

    return read
