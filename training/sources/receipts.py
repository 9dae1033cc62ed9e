"""Receipts of shops, composed around real addresses: those of OpenCageData/address-formatting, MIT.

No receipt here was printed by anybody: there is no public repository that has texts of receipts and a licence. What is
composed is the form: a head with marks of companies and taxes, items as a reader of columns or of rows gives them,
several sums of which one is to be paid, and a foot. The addresses, of all countries, are real.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.names import fill_pattern, full_name, organisation, phone, product
from training.scene import Scene, new_scene
from training.sources.asking import Slot, fields, listed, some
from training.words import by_comma

MAX_LINES = 70
"""Of a receipt; one that is longer is drawn again."""


def samples(rng: random.Random, repository: Path, count: int = 9_000) -> Iterator[Sample]:
    """Yield so many receipts, each with a type that asks for some of what it says."""
    places = list(_places(repository))
    for _ in range(count):
        yield _sample(rng, rng.choice(places))


def _places(repository: Path) -> Iterator[list[str]]:
    """Yield the lines of addresses in Latin letters, without their countries."""
    import yaml

    for path in sorted(repository.glob("testcases/countries/*.yaml")):
        for test in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
            if not test or not test.get("expected"):
                continue
            lines = [line.strip() for line in test["expected"].splitlines() if line.strip()][:-1]
            is_latin = all(ord(sign) < 0x250 for line in lines for sign in line)
            if is_latin and len(lines) > 1 and any(sign.isdigit() for line in lines for sign in line):
                yield lines


_SLOTS = (
    Slot(
        "company",
        "name of the shop",
        other_names=("shop", "merchant", "store", "vendor", "seller", "merchant_name", "store_name", "issuer"),
    ),
    Slot(
        "address",
        "address of the shop, its lines joined by spaces",
        other_names=("location", "store_address", "shop_address", "merchant_address"),
    ),
    Slot("date", "day of the purchase, as printed", other_names=("purchase_date", "day", "issued", "receipt_date")),
    Slot(
        "total", "amount to pay, as printed", other_names=("amount", "total_amount", "amount_due", "grand_total", "sum")
    ),
    Slot("time", "as printed", other_names=("time_of_day", "purchase_time", "clock_time")),
    Slot("phone", "as printed", other_names=("telephone", "phone_number", "tel")),
    Slot("tax_id", "tax number of the shop", other_names=("tax_number", "vat_number", "vat_id", "tax_registration")),
    Slot("registration", "number of the company, as printed", other_names=("company_number", "registration_number")),
    Slot(
        "receipt_number",
        "number of the receipt",
        other_names=("number", "invoice_number", "document_number", "bill_no"),
    ),
    Slot("cashier", "who served", other_names=("served_by", "clerk", "server", "operator")),
    Slot("customer", "to whom it was sold", other_names=("buyer", "bill_to", "sold_to")),
    Slot("subtotal", "sum before tax, as printed", other_names=("net", "net_amount", "sub_total")),
    Slot("tax", "amount of tax, as printed", other_names=("vat", "tax_amount", "sales_tax")),
    Slot("discount", "as printed", other_names=("reduction", "savings", "rebate")),
    Slot("rounding", "as printed", other_names=("rounding_adjustment",)),
    Slot("paid", "what the customer gave, as printed", other_names=("amount_paid", "tendered", "cash_received")),
    Slot("change", "what the customer got back, as printed", other_names=("change_due", "returned")),
    Slot("payment_method", "how it was paid, as printed", other_names=("paid_by", "payment", "means_of_payment")),
)
_ESSENTIAL = _SLOTS[:4]
_ABOUT = (
    "A receipt, as a machine has read it.",
    "A receipt of a shop.",
    "What a receipt says; values as they are printed.",
    "A till receipt. Values as printed, without labels.",
)
_LABELS = {
    "subtotal": by_comma("""
SUBTOTAL, Sub Total, Sub-total, TOTAL EXCL. TAX, Net, TOTAL SALES (EXCL. TAX), Amount before tax
"""),
    "tax": by_comma("""
TAX, VAT, Sales tax, GST, TAX 8%, VAT 20%, GST 6%, MwSt 19%, TVA 10%, Total tax, HST
"""),
    "discount": by_comma("""
DISCOUNT, Discount, You saved, LESS DISC, Member discount
"""),
    "rounding": by_comma("""
ROUNDING, Rounding adj., Rounding Adjustment, ROUND OFF
"""),
    "total": by_comma("""
TOTAL, TOTAL, TOTAL, Total, Grand Total, GRAND TOTAL, AMOUNT DUE, Amount payable, BALANCE DUE, TOTAL TO PAY, NET
TOTAL, Total incl. tax, TOTAL (INCL. TAX), Total Amount, BALANCE, TOTAL DUE
"""),
    "paid": by_comma("""
CASH, Cash, CASH TENDERED, Paid, VISA, CREDIT CARD, MASTERCARD, Debit, EFTPOS, AMEX, Tendered
"""),
    "change": by_comma("""
CHANGE, Change, CHANGE DUE, Change given, BALANCE RETURNED
"""),
}
_TITLES = by_comma("""
RECEIPT, INVOICE, TAX INVOICE, SALES RECEIPT, Cash sale, SIMPLIFIED TAX INVOICE, *** RECEIPT ***, Cash bill,
CUSTOMER COPY, Official receipt, VAT RECEIPT, Guest check, Order
""")
_BEFORE = ("Welcome to", "R", "COPY", "*** DUPLICATE ***", "#1", "WELCOME", "Store 0412", "---", "Est. 1987")
_FEET = by_comma("""
THANK YOU, Thank you and please come again, GOODS SOLD ARE NOT RETURNABLE, Have a nice day!, Please keep this
receipt, Exchange within 14 days with receipt, Follow us @ourshop, Prices include tax, POWERED BY TILLSOFT, See you
soon, Tell us what you think: www.feedback-till.example, No refund without receipt, Items sold: 4, Points earned: 12
""")
_HEADS = (
    ("ITEM", "QTY", "PRICE", "AMOUNT"), ("Description", "Qty", "Unit price", "Total"), ("QTY", "DESCRIPTION", "TOTAL"),
    ("Item", "Price"), ("ARTICLE", "QTE", "PRIX"), (),
)  # fmt: skip
_DATES: tuple[Callable[[date], str], ...] = (
    lambda day: f"{day:%d/%m/%Y}",
    lambda day: f"{day:%m/%d/%Y}",
    lambda day: f"{day:%d/%m/%y}",
    lambda day: f"{day:%m/%d/%y}",
    lambda day: f"{day:%d-%m-%Y}",
    lambda day: f"{day:%d.%m.%Y}",
    lambda day: f"{day:%d.%m.%y}",
    lambda day: f"{day:%Y-%m-%d}",
    lambda day: f"{day:%Y/%m/%d}",
    lambda day: f"{day:%d %b %Y}",
    lambda day: f"{day:%d-%b-%Y}",
    lambda day: f"{day:%b %d, %Y}",
    lambda day: f"{day:%d %B %Y}",
    lambda day: f"{day:%d-%m-%y}",
    lambda day: f"{day.day}/{day.month}/{day.year}",
)
_REGISTRATIONS = (
    "(######-@)",
    "Reg. No. ######-@",
    "Co. No: ########",
    "HRB ####",
    "ABN ## ### ### ###",
    "(#######-@)",
    "SIRET ### ### ### #####",
)
_TAX_IDS = (
    ("GST No: ", "############"), ("VAT Reg ", "GB ### #### ##"), ("USt-IdNr. ", "DE#########"),
    ("TIN: ", "###-###-###"), ("GST ID : ", "@############"), ("VAT No ", "IE#######@"), ("NIF ", "@########"),
    ("Tax ID: ", "##-#######"),
)  # fmt: skip
_SIGNS = ("", "", "", "", "$", "$", "£", "€", "EUR ", "Rs.", "R", "USD ", "kr ", "S$")


@dataclass(slots=True)
class _Printed:
    """A receipt while it is written: its lines, and what they say."""

    lines: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    items: list[dict[str, str]] = field(default_factory=list)


def _sample(rng: random.Random, place: Sequence[str]) -> Sample:
    while True:
        printed = _printed(new_scene(rng, "train"), place)
        if len(printed.lines) <= MAX_LINES:
            break
    separator = "\n" if rng.random() < 0.93 else " "
    document = separator.join(printed.lines)
    values: dict[str, Any] = dict(printed.values)
    items = printed.items
    if rng.random() < 0.55:
        change: Callable[[str], str] = str.upper
        document, values = document.upper(), {name: change(value) for name, value in values.items()}
        items = [{name: change(value) for name, value in item.items()} for item in items]
    roll = rng.random()
    if roll < 0.12:
        schema, answer = _listed(rng, items)
        return Sample("receipts", schema, document, answer, None)
    slots = list(_ESSENTIAL) if roll < 0.4 else some(rng, _SLOTS, values, all_share=0.1)
    required = rng.choice((0.1, 0.5, 1.0))
    schema, answer = fields(rng, slots, values, required=required)
    if roll > 0.85:
        of_items, found = _listed(rng, items)
        if not of_items["properties"].keys() & schema["properties"].keys():
            schema["properties"] |= of_items["properties"]
            schema["required"] = list(schema["properties"])
            answer |= found
    if rng.random() < 0.6:
        schema["description"] = rng.choice(_ABOUT)
    if rng.random() < 0.7:
        schema["title"] = rng.choice(("Receipt", "Purchase", "Sale", "Bill"))
    return Sample("receipts", schema, document, answer, None)


_ITEM = (
    Slot("name", "what was bought", other_names=("item", "description", "product", "article")),
    Slot("quantity", "how many, as printed", other_names=("qty", "count", "number")),
    Slot("amount", "what it came to, as printed", other_names=("price", "line_total", "total", "cost")),
)


def _listed(rng: random.Random, items: Sequence[dict[str, str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    chosen = [slot for slot in _ITEM if slot.name == "name" or rng.random() < 0.7]
    names = {slot.name for slot in chosen}
    of_slots = [{name: value for name, value in item.items() if name in names} for item in items]
    filled = [{slot.name: item.get(slot.name) for slot in chosen} for item in of_slots]
    about = rng.choice(("what was bought", "the items, in order", "lines of the receipt"))
    return listed(rng, ("items", "lines", "products", "purchases"), chosen, filled, about=about, required=("name",))


def _printed(scene: Scene, place: Sequence[str]) -> _Printed:
    """Return a receipt: head, items, sums and foot."""
    printed = _Printed()
    mark = "," if scene.marks in ("german", "french") else "."
    places = 0 if scene.chance(0.06) else 2
    sign = scene.pick(_SIGNS)

    def amount(value: float, *, is_signed: bool) -> str:
        text = f"{value:,.{places}f}" if scene.marks == "english" else f"{value:.{places}f}"
        text = text.replace(".", mark) if mark == "," else text
        return f"{sign}{text}" if is_signed else text

    _head(scene, printed, place)
    moment = _moment(scene, printed)
    is_early = scene.chance(0.5)
    if is_early:
        printed.lines += moment
    _middle(scene, printed)
    net = _items(scene, printed, lambda value: amount(value, is_signed=scene.chance(0.1)))
    _sums(scene, printed, net, lambda value: amount(value, is_signed=scene.chance(0.7)))
    if not is_early:
        printed.lines += moment
    printed.lines += scene.rng.sample(_FEET, scene.rng.randint(0, 3))
    if scene.chance(0.12):
        printed.lines.append(printed.values["company"])
    return printed


def _head(scene: Scene, printed: _Printed, place: Sequence[str]) -> None:
    """Add who sells, and where."""
    lines, values = printed.lines, printed.values
    values["company"] = _company(scene)
    if scene.chance(0.2):
        lines.append(scene.pick(_BEFORE))
    lines.append(values["company"])
    if scene.chance(0.25):
        pattern = scene.pick(_REGISTRATIONS)
        number = fill_pattern(scene, pattern)
        values["registration"] = number.strip("()") if number[0] == "(" else number[pattern.index("#") :]
        lines.append(number)
    tax_id = _tax_id(scene, printed) if scene.chance(0.4) else ""
    if tax_id and scene.chance(0.3):
        lines.append(tax_id)
        tax_id = ""
    if scene.chance(0.92):
        shown = _shown_place(scene, place)
        values["address"] = " ".join(shown)
        lines += shown
    if scene.chance(0.6):
        number = fill_pattern(scene, scene.pick(_PHONES)) if scene.chance(0.5) else phone(scene).text
        values["phone"] = number
        lines.append(scene.pick(("Tel: {}", "TEL : {}", "Tel. {}", "Phone: {}", "{}", "Ph {}", "T: {}")).format(number))
        if scene.chance(0.25):
            lines.append(f"Fax: {fill_pattern(scene, scene.pick(_PHONES))}")
    if scene.chance(0.12):
        lines.append(f"www.{values['company'].split()[0].lower()}.{scene.pick(('com', 'co', 'net', 'shop'))}")
    if tax_id:
        lines.append(tax_id)


_PHONES = (
    "0#-#### ####",
    "0#-########",
    "(0##) ### ####",
    "0### ######",
    "+## # #### ####",
    "###-####",
    "0#.##.##.##.##",
    "#### ####",
)


_COMPANIES = (
    "LLC",
    "Ltd",
    "Pty Ltd",
    "Pte Ltd",
    "Inc.",
    "GmbH",
    "S.A.",
    "S.r.l.",
    "B.V.",
    "Co. Ltd.",
    "Sp. z o.o.",
    "Kft.",
    "d.o.o.",
    "AS",
)
_SHOPS = by_comma("""
Market, Supermarket, Bakery, Cafe, Coffee, Restaurant, Pharmacy, Books, Hardware, Stationers, Grill, Mini Mart,
Electronics, Trading, Enterprise, Stores, Petrol, Florist, Bar & Kitchen, Noodle House, Pizzeria, Furniture,
Fashion, Auto Parts, Optics, Toys, Foods, Bistro, Hotel, Parking
""")


def _company(scene: Scene) -> str:
    name = organisation(scene).text
    if scene.chance(0.55):
        first, last = full_name(scene)
        before = scene.pick(
            (name.split()[0], f"{first}'s", last, f"{name.split()[0]} {last}", f"The {name.split()[0]}")
        )
        name = f"{before} {scene.pick(_SHOPS)}"
    if scene.chance(0.35):
        name = f"{name} {scene.pick(_COMPANIES)}"
    if scene.chance(0.08):
        name = f"{name} #{scene.rng.randrange(2, 999)}"
    return name


def _tax_id(scene: Scene, printed: _Printed) -> str:
    label, pattern = scene.pick(_TAX_IDS)
    printed.values["tax_id"] = fill_pattern(scene, pattern)
    return label + printed.values["tax_id"]


def _shown_place(scene: Scene, place: Sequence[str]) -> list[str]:
    """Return the lines of an address as a receipt has them: joined or parted in other places, with commas or not."""
    lines = list(place)
    if scene.chance(0.25):
        unit = scene.pick(
            ("No. {}", "Lot {}", "Unit {}", "Shop {}", "Suite {}", "Ground Floor, No. {}", "G-{}", "Level {}")
        )
        lines[0] = f"{unit.format(scene.rng.randrange(1, 200))}{scene.pick((', ', ' '))}{lines[0]}"
    roll = scene.rng.random()
    if roll < 0.2 and len(lines) > 2:
        at = scene.rng.randrange(1, len(lines))
        lines[at - 1 : at + 1] = [f"{lines[at - 1]}, {lines[at]}"]
    elif roll < 0.35:
        words = ", ".join(lines).split()
        at = scene.rng.randrange(1, len(words))
        lines = [" ".join(words[:at]), " ".join(words[at:])]
    elif roll < 0.45:
        lines = [", ".join(lines)]
    if scene.chance(0.5):
        lines = [*(f"{line.rstrip(',')}," for line in lines[:-1]), lines[-1]]
    if scene.chance(0.15):
        lines[-1] += "."
    return lines


def _moment(scene: Scene, printed: _Printed) -> list[str]:
    """Return the lines with day and time, in one or apart."""
    values = printed.values
    if scene.chance(0.04):
        return []
    day = scene.today + timedelta(days=scene.rng.randrange(300))
    values["date"] = scene.pick(_DATES)(day)
    label = scene.pick(("", "", "Date: ", "DATE : ", "Date ", "Invoice date: ", "Bill date : "))
    if scene.chance(0.25):
        return [f"{label}{values['date']}"]
    hour, minute, second = scene.rng.randint(6, 23), scene.rng.randrange(60), scene.rng.randrange(60)
    half = "AM" if hour < 12 else "PM"
    clock = f"{(hour - 1) % 12 + 1}:{minute:02}"
    values["time"] = scene.pick(
        (
            f"{hour:02}:{minute:02}",
            f"{hour:02}:{minute:02}:{second:02}",
            f"{clock} {half}",
            f"{clock}{half}",
            f"{clock}:{second:02} {half}",
        )
    )
    if scene.chance(0.55):
        return [f"{label}{values['date']}{scene.pick((' ', ' ', '  ', ', ', ' - '))}{values['time']}"]
    return [f"{label}{values['date']}", f"{scene.pick(('Time: ', 'TIME : ', ''))}{values['time']}"]


def _middle(scene: Scene, printed: _Printed) -> None:
    """Add title, number, who served and who bought, in any order."""
    parts: list[list[str]] = []
    values = printed.values
    if scene.chance(0.6):
        parts.append([scene.pick(_TITLES)])
    if scene.chance(0.6):
        pattern = scene.pick(
            ("CS########", "######", "INV-####", "#-####-#", "@@#####", "##/######", "####-##-#####", "T#### ####")
        )
        values["receipt_number"] = fill_pattern(scene, pattern)
        label = scene.pick(
            ("No: {}", "Receipt # {}", "Invoice No : {}", "Bill No. {}", "Doc No.\n: {}", "Trans {}", "Check #: {}")
        )
        parts.append(label.format(values["receipt_number"]).split("\n"))
    if scene.chance(0.4):
        first, last = full_name(scene)
        values["cashier"] = scene.pick(
            (first, f"{first} {last}", f"{first} {last[0]}.", "Admin", f"User {scene.rng.randrange(9)}")
        )
        parts.append(
            [
                scene.pick(("Cashier: {}", "CASHIER : {}", "Served by {}", "Server: {}", "Staff: {}")).format(
                    values["cashier"]
                )
            ]
        )
    if scene.chance(0.1):
        values["customer"] = scene.pick((organisation(scene).text, " ".join(full_name(scene))))
        parts.append(
            [scene.pick(("Bill to: {}", "BILL TO :\n{}", "Customer: {}", "Sold to\n{}")).format(values["customer"])]
        )
        parts[-1] = parts[-1][0].split("\n")
    if scene.chance(0.2):
        parts.append(
            [
                scene.pick(
                    ("Table 12", "TABLE: 4", "Covers: 2", "Till 3", "Terminal 02", "Dine in", "TAKE AWAY", "Counter 1")
                )
            ]
        )
    scene.rng.shuffle(parts)
    for part in parts:
        printed.lines += part


def _items(scene: Scene, printed: _Printed, amount: Callable[[float], str]) -> float:
    """Add what was bought, cell by cell or row by row; return what it comes to."""
    is_cells, has_quantity = scene.chance(0.5), scene.chance(0.7)
    has_unit_price = has_quantity and scene.chance(0.5)
    is_parted = is_cells and scene.chance(0.12)
    has_codes = scene.chance(0.3)
    heads = scene.pick(_HEADS)
    printed.lines += heads if is_cells else ([" ".join(heads)] if heads else [])
    net, amounts = 0.0, []
    for _ in range(scene.rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 6, 8))):
        name = scene.pick((product(scene).text, scene.pick(scene.pools.dishes), scene.pick(scene.pools.ingredients)))
        name = name[0].upper() + name[1:]
        quantity = 1 if scene.chance(0.6) else scene.rng.randrange(2, 12)
        price = round(scene.rng.choice((2, 5, 20, 80)) * (0.4 + scene.rng.random()), 2)
        price = round(price, 1) if scene.chance(0.4) else price
        net += quantity * price
        shown = (
            scene.pick((f"{quantity}", f"{quantity}", f"{quantity}.00", f"{quantity}x", f"{quantity} pcs"))
            if has_quantity
            else ""
        )
        cells = [name, shown, amount(price) if has_unit_price else "", amount(quantity * price)]
        if has_quantity and scene.chance(0.2):
            cells[:2] = [shown, name]
        item = {"name": name, "amount": cells[-1]} | ({"quantity": shown} if shown else {})
        printed.items.append(item)
        code = fill_pattern(scene, scene.pick(("######", "#############", "@##-###"))) if has_codes else ""
        tail = scene.pick((" SR", " T", " A", "")) if scene.chance(0.2) else ""
        cells = [cell for cell in (code, *cells[:-1]) if cell] + ([] if is_parted else [cells[-1] + tail])
        amounts.append(item["amount"])
        printed.lines += cells if is_cells else [scene.pick(("  ", " ", "   ")).join(cells)]
    if is_parted:  # a reader of columns: all names, then all amounts
        printed.lines += amounts
    return net


def _sums(scene: Scene, printed: _Printed, gross: float, amount: Callable[[float], str]) -> None:
    """Add the sums with their labels, side by side, one below the other, or all labels before all sums."""
    rate = scene.pick((0.05, 0.06, 0.07, 0.08, 0.1, 0.19, 0.2))
    discount = round(gross * scene.pick((0.05, 0.1, 0.2)), 2) if scene.chance(0.12) else 0.0
    net = (gross - discount) / (1 + rate if scene.chance(0.5) else 1)
    labels: list[str] = []
    values = printed.values
    for name, value in _drawn_sums(scene, net, rate, discount).items():
        label = scene.pick(_LABELS[name])
        values[name] = amount(value)
        if name == "paid" and label not in ("Paid", "Tendered", "CASH TENDERED"):
            values["payment_method"] = label
        labels.append(label + scene.pick(("", ":", " :", "")))
    rows = list(zip(labels, (values[name] for name in _LABELS if name in values), strict=True))
    roll = scene.rng.random()
    if roll < 0.1:  # a reader of columns
        printed.lines += [*labels, *(text for _, text in rows)]
    elif roll < 0.45:
        printed.lines += [cell for row in rows for cell in row]
    else:
        printed.lines += [f"{label}{scene.pick((' ', '  ', '    '))}{text}" for label, text in rows]
    if scene.chance(0.25):
        row = scene.pick(("SR {rate}%\n{net}\n{tax}", "A {rate}% {net} {tax}", "{rate}% {net} {tax}"))
        shown = row.format(rate=round(rate * 100), net=amount(net), tax=amount(net * rate))
        title = scene.pick(("GST SUMMARY", "Tax summary", "VAT summary", "TAX CODE  NET  TAX"))
        printed.lines += [title, *shown.split("\n")]


def _drawn_sums(scene: Scene, net: float, rate: float, discount: float) -> dict[str, float]:
    """Return the sums that a receipt prints, in the order of `_LABELS`."""
    sums: dict[str, float] = {}
    total = net * (1 + rate)
    if scene.chance(0.5):
        sums["subtotal"] = net if scene.chance(0.7) else total
    if scene.chance(0.6):
        sums["tax"] = net * rate
    if discount:
        sums["discount"] = discount
    if scene.chance(0.2):
        rounded = round(total * 20) / 20
        sums["rounding"] = round(rounded - total, 2) + 0.0
        total = rounded
    sums["total"] = total
    if scene.chance(0.7):
        is_cash = scene.chance(0.6)
        sums["paid"] = float(int(total / 10 + 1) * 10) if is_cash and scene.chance(0.7) else total
        if is_cash and scene.chance(0.8):
            sums["change"] = sums["paid"] - total
    return sums
