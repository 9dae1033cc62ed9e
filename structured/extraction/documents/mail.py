"""Mail: a message saved as a file (RFC 5322), its headers and its body as text.

Of a body in several forms the plain one is taken, else the visible text of the HTML. Attachments are named: they are
files of their own.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from structured.extraction.documents.content import Content
from structured.extraction.documents.visible_text import visible_text

if TYPE_CHECKING:
    from email.message import MIMEPart

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(path: Path) -> Content:
    """Return the headers that people read, and the body. Raises OSError if it cannot be read."""
    from email import policy
    from email.parser import BytesParser

    with path.open("rb") as file:
        mail = BytesParser(policy=policy.default).parse(file)
    lines = [f"{name}: {mail[name]}" for name in _HEADERS if mail[name]]
    attached = [name for part in mail.iter_attachments() if (name := part.get_filename())]
    if attached:
        lines.append(f"Attachments: {', '.join(attached)}")
    body = mail.get_body(("plain", "html"))
    text = "" if body is None else _text(body)
    return Content("\n".join((*lines, "", text)).strip())


def _text(part: "MIMEPart[Any, Any]") -> str:
    """Return the text of a part. Raises LookupError or UnicodeDecodeError if it is not in the encoding declared."""
    text = part.get_content(errors="strict")
    return visible_text(text) if part.get_content_subtype() == "html" else text.replace("\r\n", "\n")
