"""Twenty documents about purchases, with what a model may have said of them: values, spans, matches and confidences.

In the texts, `⟦path|words⟧` is a value that is stated. What differs from the words, and what stands nowhere, follows.
"""

import random
import re
from collections.abc import Iterator
from typing import Any

from doubles import made_result

from structured import Result
from structured.output_types.paths import path_to_steps
from structured.results.evidence import Evidence, Match

Said = dict[str, tuple[Any, Match]]

_MARKED = re.compile(r"⟦([^|⟧]*)\|([^⟧]*)⟧")

_PURCHASES: list[tuple[str, Said]] = [
    (
        """⟦vendor|Halden Paper & Print Ltd⟧
14 Quay Street, Bristol BS1 4HN

INVOICE ⟦number|HP-20417⟧                         Date: ⟦date|14 March 2024⟧

Bill to: Ms ⟦buyer|Ana Brandt⟧, Kestrel Books

  Qty  Item                              Price
  40   ⟦lines[0].item|Cartridge paper A2, 220 gsm⟧       ⟦lines[0].price|£312.00⟧
   6   ⟦lines[1].item|Linen tape, 25 mm⟧                  ⟦lines[1].price|£28.50⟧
                                        -------
  Total due within 30 days              ⟦total|£340.50⟧

Please quote the invoice number when you pay.
""",
        {
            "date": ("2024-03-14", "normalised"),
            "lines[0].price": (312.0, "normalised"),
            "lines[1].price": (28.5, "normalised"),
            "total": (340.5, "normalised"),
            "currency": ("GBP", "concluded"),
            "paid": (False, "concluded"),
        },
    ),
    (
        """From: Tom Okafor <tom@okafor-joinery.example>
To: office@kestrel.example
Subject: Re: shelves for the back room

Hi ⟦buyer|Priya⟧,

lovely to see you on Monday. As agreed, the ⟦lines[0].item|oak shelves⟧ come to ⟦lines[0].price|1,150⟧ euros, and \
⟦lines[1].item|fitting⟧ is another ⟦lines[1].price|two hundred⟧. So ⟦total|€1,350⟧ altogether, and you have paid \
nothing yet. I will send a proper invoice once the wood is here, around the ⟦date|3rd of June⟧.

All the best
Tom
⟦vendor|Okafor Joinery⟧
""",
        {
            "date": ("2024-06-03", "fuzzy"),
            "lines[0].price": (1150.0, "normalised"),
            "lines[1].price": (200.0, "normalised"),
            "total": (1350.0, "normalised"),
            "number": (None, "absent"),
            "currency": ("EUR", "concluded"),
            "paid": (False, "concluded"),
        },
    ),
    (
        """*** ⟦vendor|CORNER GROCER⟧ ***
⟦date|2024-05-02⟧ 17:43   Till 3

⟦lines[0].item|Oat milk 1L⟧          ⟦lines[0].price|2.10⟧
⟦lines[1].item|Rye bread⟧            ⟦lines[1].price|3.40⟧
⟦lines[2].item|Coffee beans 500g⟧    ⟦lines[2].price|11.95⟧
-----------------------------
TOTAL  ⟦currency|USD⟧           ⟦total|17.45⟧
Card ending 8812      APPROVED

Thank you, come again!
""",
        {
            "lines[0].price": (2.1, "normalised"),
            "lines[1].price": (3.4, "normalised"),
            "lines[2].price": (11.95, "exact"),
            "total": (17.45, "exact"),
            "buyer": (None, "absent"),
            "number": ("8812-3", "none"),
            "paid": (True, "concluded"),
        },
    ),
    (
        """⟦vendor|Bäckerei Öztürk GmbH⟧\r
Lindenstraße 8, 10969 Berlin\r
\r
Rechnung Nr. ⟦number|2024/118⟧ vom ⟦date|09.04.2024⟧\r
\r
⟦lines[0].item|Brötchenlieferung April⟧: ⟦lines[0].price|1.284,60 €⟧\r
Gesamtbetrag: ⟦total|1.284,60 €⟧, zahlbar bis 30.04.2024.\r
\r
Empfänger: Café ⟦buyer|Müller⟧, z. Hd. Frau Jäger\r
""",
        {
            "date": ("2024-04-09", "normalised"),
            "lines[0].price": (1284.6, "normalised"),
            "total": (1284.6, "normalised"),
            "currency": ("EUR", "concluded"),
            "paid": (False, "concluded"),
        },
    ),
    (
        """🎂🎉 Order confirmed! 🎉🎂

⟦vendor|Sugar & Bloom 🌸⟧ says thank you, ⟦buyer|Zoë⟧!

• ⟦lines[0].item|Three-tier 🍓 cake⟧ — ⟦lines[0].price|$86⟧
• ⟦lines[1].item|24 macarons⟧ — ⟦lines[1].price|$36⟧

You paid ⟦total|$122⟧ with your card on ⟦date|July 9, 2024⟧. Order ⟦number|#SB🌸771⟧.
""",
        {
            "lines[0].price": (86.0, "normalised"),
            "lines[1].price": (36.0, "normalised"),
            "total": (122.0, "normalised"),
            "date": ("2024-07-09", "normalised"),
            "currency": ("USD", "concluded"),
            "paid": (True, "concluded"),
        },
    ),
    (
        """⟦vendor|株式会社やまだ工房⟧
請求書番号：⟦number|Y-0093⟧
発行日：⟦date|2024年2月1日⟧

⟦buyer|鈴木一郎⟧ 様

⟦lines[0].item|桐箪笥の修理⟧　⟦lines[0].price|48,000円⟧
合計　⟦total|48,000円⟧

お支払いは月末までにお願いいたします。
""",
        {
            "date": ("2024-02-01", "normalised"),
            "lines[0].price": (48000.0, "normalised"),
            "total": (48000.0, "normalised"),
            "currency": ("JPY", "concluded"),
            "paid": (False, "concluded"),
        },
    ),
    (
        """فاتورة رقم ⟦number|٢٠٢٤-٥٥⟧
⟦vendor|مكتبة النور⟧ — عمّان

السيدة ⟦buyer|ليلى حداد⟧
⟦lines[0].item|قاموس عربي إنجليزي⟧: ⟦lines[0].price|35⟧ دينارًا
المجموع: ⟦total|35⟧ دينارًا، مدفوع نقدًا بتاريخ ⟦date|2024-01-20⟧
""",
        {
            "lines[0].price": (35.0, "exact"),
            "total": (35.0, "exact"),
            "currency": ("JOD", "concluded"),
            "paid": (True, "concluded"),
        },
    ),
    (
        """Field notes, Tuesday. Bought from the fellow at the gate (calls himself ⟦vendor|Old Marlowe⟧):
  - ⟦lines[0].item|a coil of rope⟧, ⟦lines[0].price|9⟧
  - ⟦lines[1].item|lamp oil, two tins⟧, ⟦lines[1].price|14⟧
He wanted 25, we settled on ⟦total|twenty-two⟧ and shook hands. No receipt.
""",
        {
            "lines[0].price": (9.0, "exact"),
            "lines[1].price": (14.0, "exact"),
            "total": (22.0, "normalised"),
            "buyer": (None, "absent"),
            "number": (None, "absent"),
            "date": ("2024-05-07", "none"),
            "currency": ("USD", "none"),
            "paid": (True, "concluded"),
        },
    ),
    (
        """TENANCY SERVICES — STATEMENT
<script>alert("not a script, a tenant's joke")</script> <!-- nor a comment
Account of ⟦buyer|R. O'Connell⟧ & Sons   Ref ⟦number|TS/4471⟧
⟦date|1 Feb 2024⟧  ⟦lines[0].item|Boiler service </script>⟧  ⟦lines[0].price|95.00⟧
Paid with thanks: ⟦currency|GBP⟧ ⟦total|95.00⟧.  ⟦vendor|Marsh <b>&amp;</b> Field⟧
""",
        {
            "date": ("2024-02-01", "normalised"),
            "lines[0].price": (95.0, "normalised"),
            "total": (95.0, "normalised"),
            "paid": (True, "concluded"),
        },
    ),
    (
        """Facture ⟦number|F-2024-031⟧

⟦vendor|Atelier Lefèvre⟧, 3 rue des Tanneurs, 69005 Lyon
Client : ⟦buyer|Mme Hélène Roux⟧
Date : ⟦date|le 28 février 2024⟧

⟦lines[0].item|Reliure plein cuir⟧ ........ ⟦lines[0].price|240,00 €⟧
⟦lines[1].item|Dorure à la main⟧ .......... ⟦lines[1].price|85,00 €⟧
Total TTC ................. ⟦total|325,00 €⟧ — acquittée
""",
        {
            "date": ("2024-02-28", "normalised"),
            "lines[0].price": (240.0, "normalised"),
            "lines[1].price": (85.0, "normalised"),
            "total": (325.0, "normalised"),
            "currency": ("EUR", "concluded"),
            "paid": (True, "concluded"),
        },
    ),
]

_TEMPLATES = (
    """Dear ⟦buyer|{buyer}⟧,

thank you for your order ⟦number|{number}⟧ of ⟦date|{date}⟧. We have sent you the ⟦lines[0].item|{item}⟧ today, by the \
usual carrier. The price of ⟦lines[0].price|{price}⟧ and the postage of four pounds fifty make ⟦total|{total}⟧ in all, \
which we have taken from your account.

If anything is not as it should be, write to us within fourteen days. The parcel is insured, so keep the wrapping \
until you have looked at everything.

With kind regards
⟦vendor|{vendor}⟧
""",
    """⟦vendor|{vendor}⟧ · delivery note and invoice

No.        ⟦number|{number}⟧
Date       ⟦date|{date}⟧
Customer   ⟦buyer|{buyer}⟧

1 × ⟦lines[0].item|{item}⟧     ⟦lines[0].price|{price}⟧
Postage and packing     4.50
To pay                  ⟦total|{total}⟧

Payment is due in thirty days.
""",
)
_VENDORS = ("Northgate Tools", "Petrel Optics", "Wick & Tallow", "The Seed Merchant", "Arden Instruments")
_BUYERS = ("Maya Lindqvist", "Jonas Feld", "Ifeoma Eze", "Luca Moretti", "Grace Whitlock", "Omar Haddad")
_ITEMS = ("brass field compass", "spare eyepiece, 10 mm", "beeswax candles", "heritage tomato seeds", "torque wrench")


def purchases(count: int = 20) -> list[Result[None]]:
    """Return the extractions of so many documents: ten by hand, and then letters that differ in all their values."""
    return [_extraction(marked, said, number) for number, (marked, said) in zip(range(count), _marked(), strict=False)]


def _marked() -> Iterator[tuple[str, Said]]:
    yield from _PURCHASES
    draw = random.Random(7)
    while True:
        price = draw.randrange(500, 90000) / 100
        day, number = draw.randrange(1, 29), draw.randrange(1000, 100000)
        names = {"vendor": draw.choice(_VENDORS), "buyer": draw.choice(_BUYERS), "item": draw.choice(_ITEMS)}
        shown = {
            "number": f"N{number}",
            "date": f"{day} May 2024",
            "price": f"{price:.2f}",
            "total": f"{price + 4.5:.2f}",
        }
        said: Said = {
            "date": (f"2024-05-{day:02}", "normalised"),
            "lines[0].price": (price, "exact"),
            "total": (round(price + 4.5, 2), "exact"),
            "currency": ("GBP", "concluded") if draw.random() < 0.8 else ("CHF", "none"),
            "paid": (draw.random() < 0.5, "concluded"),
        }
        yield draw.choice(_TEMPLATES).format(**names, **shown), said


def _extraction(marked: str, said: Said, number: int) -> Result[None]:
    draw = random.Random(number)
    document, end = "", 0
    found: dict[str, tuple[Any, Match, tuple[int, int] | None]] = {}
    for match in _MARKED.finditer(marked):
        document += marked[end : match.start()]
        path, words = match.groups()
        value, how = said.get(path, (words, "exact" if draw.random() < 0.6 else "grounded"))
        found[path] = value, how, (len(document), len(document) + len(words))
        document, end = document + words, match.end()
    document += marked[end:]
    found |= {path: (*value, None) for path, value in said.items() if path not in found}
    order = ("vendor", "number", "date", "buyer", "lines", "total", "currency", "paid")
    found = dict(sorted(found.items(), key=lambda one: order.index(str(path_to_steps(one[0])[0]))))
    data: dict[str, Any] = {}
    for path, (value, how, _) in found.items():
        match path_to_steps(path):
            case str(name), int(index), str(member):
                lines = data.setdefault(name, [])
                if index == len(lines):
                    lines.append({})
                lines[index][member] = value
            case (str(name),) if how != "absent":
                data[name] = value
    evidence = {path: Evidence(span, how, _confidence(how, draw)) for path, (_, how, span) in found.items()}
    missing = tuple(path for path, (_, how, _) in found.items() if how == "absent")
    return made_result(None, data, missing, evidence=evidence, document=document)


def _confidence(how: Match, draw: random.Random) -> float | None:
    """Return a confidence as a model may have it: higher for what is stated; now and then unknown."""
    lowest = {"grounded": 0.8, "exact": 0.75, "normalised": 0.6, "fuzzy": 0.35, "none": 0.15}.get(how, 0.4)
    return None if draw.random() < 0.03 else min(1.0, lowest + (1 - lowest) * draw.random() ** 0.4)
