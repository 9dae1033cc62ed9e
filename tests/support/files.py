"""Small files of several kinds, as programs write them."""

import zipfile
from email.message import EmailMessage
from pathlib import Path

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(path: Path, pages: list[str]) -> Path:
    """Write a PDF with a text on each page, a line of it on each line (ISO 32000-1, 7.5)."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for text in pages:
        escaped = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
        lines = "".join(f"({line}) Tj T* " for line in escaped if line)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {lines}ET".encode("latin-1")
        objects.append(b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % len(objects)
        )
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<</Type/Pages/Kids[%b]/Count %d>>" % (listed, len(kids))
    data, starts = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        starts.append(len(data))
        data += b"%d 0 obj%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(objects) + 1
    data += b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        *(size, table, size),
        len(data),
    )
    path.write_bytes(data)
    return path


def docx(path: Path, body: str) -> Path:
    """Write a Word file with a body of WordprocessingML (ECMA-376, part 1, 17)."""
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>')
    return path


def paragraph(text: str) -> str:
    """Return a paragraph of a Word file."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def mail(path: Path, text: str, html: str | None = None, attachment: str | None = None) -> Path:
    """Write a mail."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Zoë <zoe@example.org>", "b@example.org", "Grüße"
    message.set_content(text)
    if html is not None:
        message.set_content(html, subtype="html")
    if attachment is not None:
        message.add_attachment(b"x", maintype="application", subtype="pdf", filename=attachment)
    path.write_bytes(message.as_bytes())
    return path
