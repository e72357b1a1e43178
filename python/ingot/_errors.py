"""Exceptions of the package. The library's message says what happened, where, and what to do."""
from __future__ import annotations


class IngotError(Exception):
    """Any failure that the library reports; the classes below say of what kind.

    str(error) is the library's message.
    """


class InvalidArgument(IngotError, ValueError):
    """An argument of the call is not valid."""


class InvalidModel(IngotError, ValueError):
    """The model breaks the ONNX standard."""


class Unsupported(IngotError, NotImplementedError):
    """The model or option is valid but not supported."""


class NotFound(IngotError, LookupError):
    """A file, a name or an index does not exist."""


class FileError(IngotError, OSError):
    """A file could not be read or written."""


class OutOfMemory(IngotError, MemoryError):
    """Memory could not be had or the limit would be passed."""


class InvalidInput(IngotError, ValueError):
    """A value given to a run has a wrong type, shape or content."""


class Cancelled(IngotError):
    """The work was cancelled."""


class Busy(IngotError):
    """The object is in use by another run."""


class InternalError(IngotError):
    """A fault of Ingot itself: please report it."""


BY_STATUS = (IngotError, InvalidArgument, InvalidModel, Unsupported, NotFound, FileError, OutOfMemory, InvalidInput,
             Cancelled, Busy, InternalError)  # index: ingot_status
