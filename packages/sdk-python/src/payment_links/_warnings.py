import contextlib
import re
import warnings
from collections.abc import Callable

_FIELD_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
_WARNED_FIELDS_MAX = 1_000


def warn(message: str) -> None:
    warnings.warn(message, stacklevel=5)


class FieldWarnings:
    """Warns once per field that the service ignored. A failing callback fails no call."""

    def __init__(self, on_warning: Callable[[str], None]) -> None:
        self._on_warning = on_warning
        self._warned_fields: set[str] = set()

    def report(self, ignored_fields: str) -> None:
        for name in ignored_fields.split(", "):
            if _FIELD_NAME.fullmatch(name) is None or name in self._warned_fields:
                continue
            if len(self._warned_fields) >= _WARNED_FIELDS_MAX:
                return
            self._warned_fields.add(name)
            # The link has been created.
            with contextlib.suppress(Exception):
                self._on_warning(
                    f'Payment Links ignored the field "{name}" of a new link. Check its name.'
                )
