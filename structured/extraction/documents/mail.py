"""Mail: a message saved as a file (RFC 5322), its headers and its body as text.

Of a body in several forms the plain one is taken, else the visible text of the HTML. Attachments are named: they are
files of their own.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from structured.errors import PromptError
from structured.extraction.documents.content import Content
from structured.extraction.documents.visible_text import visible_text

if TYPE_CHECKING:
    from email.message import MIMEPart

MAX_HEADER = 50_000
"""Characters of a header, enough for a thousand receivers; the standard library takes quadratic time for them."""

MAX_LEVELS = 30
"""Parts within parts; each line of the mail is looked at on every level."""

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(path: Path) -> Content:
    """Return the headers that people read, and the body.

    Raises OSError if it cannot be read, and PromptError for headers or levels that no mail has.
    """
    from email.message import EmailMessage
    from email.parser import BytesParser
    from email.policy import EmailPolicy

    class Policy(EmailPolicy):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            if sum(map(len, sourcelines)) > MAX_HEADER:
                name = sourcelines[0].partition(":")[0][:40]
                raise PromptError(
                    f"The mail {path} has a header {name!r} of more than {MAX_HEADER:,} characters. Shorten it, or "
                    "leave the mail out."
                )
            return super().header_source_parse(sourcelines)

    class Part(EmailMessage):
        level = 1

        def attach(self, payload: Any) -> None:
            if isinstance(payload, Part):
                payload.level = self.level + 1
                if payload.level > MAX_LEVELS:
                    raise PromptError(
                        f"The mail {path} has parts within parts on more than {MAX_LEVELS} levels. Save the inner "
                        "mail by itself, or leave it out."
                    )
            super().attach(payload)

    with path.open("rb") as file:
        mail: Any = BytesParser(policy=Policy(message_factory=Part)).parse(file)
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
