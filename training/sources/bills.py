"""Receipts, invoices, orders and tickets of companies that exist: names of osmlab/name-suggestion-index, BSD 3-Clause.

What they say is composed, with the taxes, dates, marks and towns of a country: no bill here was printed by anybody.
Several sums stand on each, of which one is to be paid; a sum may be asked for as printed, or as a number.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from training.generate import Sample
from training.names import fill_pattern, full_name
from training.scene import Scene, new_scene
from training.sources.asking import Habits, Slot, fields, listed, some
from training.words import by_comma


@dataclass(frozen=True, slots=True)
class Land:
    """How bills look in a country."""

    code: str
    signs: tuple[str, ...]
    mark: str
    """The one before the cents."""
    taxes: tuple[str, ...]
    rates: tuple[int, ...]
    tax_ids: tuple[tuple[str, str], ...]
    endings: tuple[str, ...]
    streets: tuple[str, ...]
    """Lines with a street, with `{n}` for a number."""
    towns: tuple[str, ...]
    dates: tuple[str, ...]
    phones: tuple[str, ...]
    totals: tuple[str, ...] = ("TOTAL", "Total", "Grand Total")


_LANDS = (
    Land(
        "my",
        ("RM", "RM ", "", ""),
        ".",
        ("GST", "SST", "Service Tax", "GST @"),
        (6,),
        (
            ("GST ID: ", "############"),
            ("GST Reg No : ", "############"),
            ("Co. Reg. No. ", "######-@"),
            ("SST ID ", "@##-####-########"),
        ),
        (" SDN BHD", " Sdn. Bhd.", " (M) SDN BHD", " ENTERPRISE", " TRADING", ""),
        by_comma("""
NO. {n} JALAN MELATI {n}/{n}, LOT {n} JALAN BUKIT INDAH, {n} Jalan Ampang, No {n}-G Jalan Wangsa {n}, {n} & {n} Lorong
Seri Kuala, G-{n} PLAZA MUTIARA, Lot {n} Lebuh Pantai, NO {n} PERSIARAN DAMAI, {n}A Jalan Tun Razak
"""),
        by_comma("""
81100 Johor Bahru Johor, 50450 Kuala Lumpur, 10200 George Town Pulau Pinang, 40150 Shah Alam Selangor, 75000 Melaka,
30000 Ipoh Perak, 47301 Petaling Jaya Selangor, 93100 Kuching Sarawak, 88000 Kota Kinabalu Sabah, 70200 Seremban
Negeri Sembilan, 25000 Kuantan Pahang, 05000 Alor Setar Kedah, 43000 Kajang Selangor
"""),
        ("%d/%m/%Y", "%d-%m-%Y", "%d/%m/%y", "%d %b %Y", "%Y-%m-%d", "%d-%b-%Y"),
        ("0#-#######", "0#-#### ####", "+60# ### ####"),
        (
            "TOTAL",
            "Total Amt Payable",
            "TOTAL (INCL. GST)",
            "Total Inclusive of GST",
            "NET TOTAL",
            "Grand Total",
            "TOTAL RM",
        ),
    ),
    Land(
        "in",
        ("Rs.", "Rs ", "₹", "INR ", "", ""),
        ".",
        ("CGST", "GST", "IGST", "VAT"),
        (5, 12, 18),
        (("GSTIN: ", "##@@@@@####@#@#"), ("GSTIN ", "##@@@@@####@#@#"), ("FSSAI No. ", "##############")),
        (" Pvt. Ltd.", " Private Limited", " & Sons", " Ltd", "", ""),
        by_comma("""
Shop No. {n} MG Road, {n}/{n} Brigade Road, Plot {n} Sector {n}, {n} Linking Road Bandra West, Door No {n} Anna Salai,
{n} Park Street, G-{n} Connaught Place, Survey No. {n} Hitech City, {n} Residency Road
"""),
        by_comma("""
Bengaluru - 560001, Mumbai 400050, New Delhi 110001, Chennai - 600002, Hyderabad 500081, Kolkata 700016, Pune 411001
Maharashtra, Kochi - 682016 Kerala, Ahmedabad 380009 Gujarat, Jaipur 302001 Rajasthan
"""),
        ("%d/%m/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%d.%m.%y", "%d/%m/%y"),
        ("080-########", "+91 ##### #####", "##########"),
        ("Grand Total", "Net Amount", "TOTAL", "Bill Amount", "Net Payable", "Amount Payable"),
    ),
    Land(
        "us",
        ("$", "$", "$ ", "", ""),
        ".",
        ("Sales Tax", "TAX", "Tax 8.25%", "State Tax"),
        (6, 7, 8),
        (("EIN ", "##-#######"), ("STORE #", "####"), ("Tax ID ", "##-#######")),
        (" Inc.", " LLC", " #{n}", "", "", "", ""),
        by_comma("""
{n} Main St, {n} W 5th Ave, {n} S. Congress Ave. Ste {n}, {n} Broadway, {n} Lincoln Hwy, {n} N Oak Street, {n} Sunset
Blvd, {n} NE 42nd St, {n} Pine Ridge Dr Unit {n}, {n} Route 9
"""),
        by_comma("""
Austin TX 78704, Portland OR 97211, Columbus OH 43215, Ames IA 50010, Tucson AZ 85705, Albany NY 12207, Madison WI
53703, Reno NV 89501, Macon GA 31201, Fresno CA 93721, Boise ID 83702, Tampa FL 33602
"""),
        ("%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y"),
        ("(###) ###-####", "###-###-####"),
        ("TOTAL", "Total", "BALANCE DUE", "Amount Due", "TOTAL DUE", "Grand Total"),
    ),
    Land(
        "de",
        ("EUR ", "€ ", "", ""),
        ",",
        ("MwSt", "USt", "inkl. MwSt"),
        (7, 19),
        (("USt-IdNr. ", "DE#########"), ("St.-Nr. ", "##/###/#####"), ("HRB ", "#####")),
        (" GmbH", " GmbH & Co. KG", " AG", " e.K.", ""),
        by_comma("""
Hauptstraße {n}, Bahnhofstr. {n}, Am Markt {n}, Lindenweg {n}a, Goethestraße {n}, Berliner Allee {n}, Schillerplatz
{n}
"""),
        by_comma("""
10115 Berlin, 80331 München, 50667 Köln, 04109 Leipzig, 24103 Kiel, 70173 Stuttgart, 99084 Erfurt, 28195 Bremen
"""),
        ("%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d"),
        ("0#### ######", "+49 ## #######", "030/#######"),
        ("SUMME", "Gesamtbetrag", "Zu zahlen", "TOTAL", "Summe EUR", "Rechnungsbetrag"),
    ),
    Land(
        "fr",
        ("€ ", "", "EUR "),
        ",",
        ("TVA", "TVA 20%", "dont TVA"),
        (10, 20),
        (("SIRET ", "### ### ### #####"), ("TVA FR", "## #########"), ("RCS Paris ", "### ### ###")),
        (" SARL", " SAS", " S.A.", "", ""),
        by_comma("""
{n} rue de la République, {n} bis avenue Jean Jaurès, {n} place du Marché, {n} boulevard Voltaire, Centre Commercial
Les Halles
"""),
        by_comma("""
75011 Paris, 69002 Lyon, 13001 Marseille, 44000 Nantes, 33000 Bordeaux, 67000 Strasbourg, 59800 Lille, 31000 Toulouse
"""),
        ("%d/%m/%Y", "%d/%m/%y", "%d-%m-%Y"),
        ("0# ## ## ## ##", "+33 # ## ## ## ##"),
        ("TOTAL TTC", "NET A PAYER", "Total", "TOTAL", "Montant dû"),
    ),
    Land(
        "gb",
        ("£", "£", "", "GBP "),
        ".",
        ("VAT", "VAT @", "Total VAT"),
        (20, 5),
        (("VAT No. ", "GB ### #### ##"), ("VAT Reg ", "### #### ##"), ("Company No. ", "########")),
        (" Ltd", " Limited", " PLC", "", ""),
        by_comma("""
{n} High Street, Unit {n} Station Road, {n}-{n} Church Lane, {n} Victoria Road, The Arcade {n} King Street, {n}a Mill
Lane
"""),
        by_comma("""
Leeds LS1 4DY, Bristol BS1 5TR, London SE1 9GF, Cardiff CF10 1EP, York YO1 7HH, Glasgow G1 3SL, Norwich NR2 1TF, Bath
BA1 1SU
"""),
        ("%d/%m/%Y", "%d/%m/%y", "%d %b %Y", "%d %B %Y", "%d-%m-%y"),
        ("0#### ######", "020 #### ####", "0### ### ####"),
        ("TOTAL", "Balance Due", "TOTAL TO PAY", "Total", "AMOUNT DUE"),
    ),
    Land(
        "it",
        ("€ ", "EUR ", "", ""),
        ",",
        ("IVA", "di cui IVA", "IVA 22%"),
        (10, 22),
        (("P.IVA ", "###########"), ("Partita IVA: ", "###########")),
        (" S.r.l.", " S.p.A.", " di Rossi M.", ""),
        by_comma("""
Via Roma {n}, Corso Garibaldi {n}, Piazza Dante {n}, Viale dei Mille {n}/A, Via Mazzini {n}
"""),
        by_comma("""
20121 Milano MI, 00184 Roma RM, 40121 Bologna BO, 10123 Torino TO, 50122 Firenze FI, 80133 Napoli NA
"""),
        ("%d/%m/%Y", "%d-%m-%Y", "%d/%m/%y"),
        ("0# #######", "Tel0######"),
        ("TOTALE COMPLESSIVO", "TOTALE", "Totale euro", "IMPORTO PAGATO"),
    ),
    Land(
        "au",
        ("$", "A$", "AUD ", ""),
        ".",
        ("GST", "GST included", "Incl. GST"),
        (10,),
        (("ABN ", "## ### ### ###"), ("A.B.N. ", "## ### ### ###")),
        (" Pty Ltd", " Pty. Limited", "", ""),
        by_comma("""
{n} George St, Shop {n} Westgate Plaza, {n}/{n} Station Street, {n} Pacific Highway, {n} Beach Rd
"""),
        by_comma("""
Sydney NSW 2000, Fitzroy VIC 3065, Brisbane QLD 4000, Perth WA 6000, Hobart TAS 7000, Adelaide SA 5000
"""),
        ("%d/%m/%Y", "%d/%m/%y", "%d %b %Y", "%d-%b-%y"),
        ("(0#) #### ####", "1300 ### ###", "04## ### ###"),
        ("TOTAL", "Total (inc GST)", "AMOUNT DUE", "Total AUD", "BALANCE"),
    ),
)

_GOODS = by_comma("""
Milk 1L, Brown Bread, Basmati Rice 5kg, Teh O Ais, Nasi Lemak, Chicken Curry Set, AA Battery 4pk, A4 Paper 80gsm, Hex
Bolt M8 x 40, PVC Pipe 1/2in, Cement 50KG, Wall Paint White 5L, LED Bulb 9W, USB Cable 1m, Notebook A5, Ball Pen Blue,
Olive Oil 500ml, Free Range Eggs x12, Bananas, Tomatoes loose, Cheddar 400g, Cappuccino L, Iced Latte, Croissant,
Veggie Burger, Fries Med, Mineral Water 1.5L, Diesel, Unleaded 95, Car Wash Basic, Paracetamol 500mg, Hand Cream,
Shampoo 400ML, Toothpaste, Kitchen Towel 2s, Socks 3 pairs, T-Shirt Navy M, Running Shoes 42, Door Hinge, Masking
Tape, Hose Connector, Flower Bouquet, Greeting Card, Paperback, Gift Wrap, Dog Food 3kg, Cat Litter, Screwdriver Set,
Plastic Bag, Masala Dosa, Filter Coffee, Paneer Tikka, Butter Naan, Thali, Roti Canai, Mee Goreng, Fish Head Curry,
Sirloin Steak, House Wine 175ml, Apple Juice, Ginger Tea, Tiramisu, Pizza Margherita, Espresso, Salad Bowl, Soup of
the day, Toner Cartridge, Stapler, Envelope DL 50s, Printing B/W, Lamination A4, Haircut, Tyre 205/55R16, Engine Oil
4L
""")
_KINDS = {
    "receipt": ("", "RECEIPT", "TAX INVOICE", "CASH RECEIPT", "Sales Receipt", "SIMPLIFIED TAX INVOICE", "CASH SALES"),
    "invoice": ("INVOICE", "Tax Invoice", "INVOICE / DELIVERY NOTE", "Pro forma invoice"),
    "order": ("PURCHASE ORDER", "Order confirmation", "Sales Order", "ORDER"),
    "ticket": ("TICKET", "Parking ticket", "ADMIT ONE", "E-Ticket", "BUS TICKET"),
}
_NATIVE = {
    "de": ("Rechnung", "Quittung"),
    "fr": ("Facture", "Ticket de caisse"),
    "it": ("Fattura", "Documento commerciale"),
}
_TRAPS = (
    "Total items: {n}",
    "TOTAL QTY {n}",
    "Total savings {small}",
    "Points earned {n}",
    "Items sold : {n}",
    "Total discount 0.00",
    "No. of items {n}",
    "Deposit {small}",
    "Total before rounding {total}",
)
_SLOTS = (
    Slot(
        "company",
        "who issued it",
        other_names=("vendor", "merchant", "seller", "shop", "supplier", "store_name", "issuer"),
    ),
    Slot(
        "address",
        "address of the company, its lines joined by spaces",
        other_names=("location", "shop_address", "company_address"),
    ),
    Slot(
        "date", "day, as printed", other_names=("issued_on", "invoice_date", "date_of_issue", "day", "transaction_date")
    ),
    Slot(
        "total",
        "amount to be paid, as printed",
        other_names=("total_amount", "amount_due", "grand_total", "amount", "sum"),
    ),
    Slot("tax", "amount of tax, as printed", other_names=("vat", "gst", "tax_amount")),
    Slot("subtotal", "sum before tax, as printed", other_names=("net_amount", "total_before_tax", "net")),
    Slot("rounding", "as printed", other_names=("rounding_adjustment", "round_off")),
    Slot(
        "number",
        "number of the document",
        other_names=("invoice_number", "receipt_no", "document_number", "bill_number"),
    ),
    Slot("tax_id", "tax or company number", other_names=("registration_number", "vat_number", "gst_number")),
    Slot("phone", "as printed", other_names=("telephone", "tel", "phone_number")),
    Slot("time", "as printed", other_names=("clock_time", "time_of_sale")),
    Slot("customer", "who is billed", other_names=("bill_to", "buyer", "client")),
    Slot("cashier", "who served", other_names=("served_by", "operator", "staff")),
    Slot("paid", "amount that was given, as printed", other_names=("cash", "tendered", "amount_tendered")),
    Slot("change", "amount given back, as printed", other_names=("change_due",)),
)
_ITEM = (
    Slot("name", "what was bought", other_names=("description", "item", "product")),
    Slot("quantity", "how many, as printed", other_names=("qty", "pieces")),
    Slot("amount", "what it came to, as printed", other_names=("price", "line_total", "total")),
)


def samples(rng: random.Random, repository: Path, count: int = 7_000) -> Iterator[Sample]:
    """Yield so many bills, each with a type that asks for some of what it says."""
    names = _names(repository)
    lands = [land for land in _LANDS if names.get(land.code)]
    weights = [3 if land.code == "my" else 2 if land.code in ("in", "us") else 1 for land in lands]
    for _ in range(count):
        land = rng.choices(lands, weights)[0]
        yield _sample(rng, land, rng.choice(names[land.code] if rng.random() < 0.7 else names[rng.choice(lands).code]))


def _names(repository: Path) -> dict[str, list[str]]:
    """Return names of companies by country, in Latin letters."""
    found: dict[str, list[str]] = {}
    for path in sorted(repository.glob("data/brands/*/*.json")):
        for item in json.loads(path.read_text(encoding="utf-8"))["items"]:
            name = re.sub(r" \([^)]*\)", "", item.get("displayName", ""))
            if re.fullmatch(r"[\w &'’.+-]{3,32}", name) and all(ord(sign) < 0x250 for sign in name):
                for land in item["locationSet"].get("include", ()):
                    if isinstance(land, str):
                        found.setdefault(land, []).append(name)
    return found


@dataclass(slots=True)
class _Bill:
    """A bill while it is written."""

    lines: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    items: list[dict[str, str]] = field(default_factory=list)


def _numbered(rng: random.Random, text: str) -> str:
    return re.sub(r"\{n\}", lambda _: str(rng.choice((rng.randint(1, 40), rng.randint(1, 999)))), text)


def _printed(scene: Scene, land: Land, name: str) -> _Bill:
    rng, bill = scene.rng, _Bill()
    kind = rng.choices([*_KINDS], (12, 4, 2, 1))[0]
    _head(scene, bill, land, name)
    title = rng.choice(_KINDS[kind])
    if kind in ("receipt", "invoice") and rng.random() < 0.5:
        title = rng.choice(_NATIVE.get(land.code, (title,)))
    middle = [*([title] if title else []), *_facts(scene, bill, land, kind)]
    is_late = rng.random() < 0.2
    bill.lines += [] if is_late else middle
    sign = rng.choice(land.signs)
    net = _goods(rng, bill, land, 1 if kind == "ticket" else rng.choice((1, 1, 2, 2, 3, 4, 5, 7)))
    _sums(rng, bill, land, net, sign)
    bill.lines += middle if is_late else []
    for _ in range(rng.choice((0, 0, 1, 2))):
        bill.lines.append(
            rng.choice(("THANK YOU", "Please come again", "Goods sold are not refundable", "E. & O. E.", "***"))
        )
    return bill


def _head(scene: Scene, bill: _Bill, land: Land, name: str) -> None:
    rng, values, lines = scene.rng, bill.values, bill.lines
    company = name + _numbered(rng, rng.choice(land.endings))
    values["company"] = company if rng.random() < 0.5 else company.upper()
    if rng.random() < 0.12:
        lines.append(
            rng.choice((name.split(maxsplit=1)[0].lower(), "Welcome", " ".join(full_name(scene)), "COPY", "01"))
        )
    lines.append(values["company"])
    label, pattern = rng.choice(land.tax_ids)
    tax_lines = []
    if rng.random() < 0.6:
        values["tax_id"] = fill_pattern(scene, pattern)
        tax_lines = [label + values["tax_id"]]
    if rng.random() < 0.4:
        lines += tax_lines
        tax_lines = []
    if rng.random() < 0.93:
        street, town = _numbered(rng, rng.choice(land.streets)), rng.choice(land.towns)
        shown = rng.choice(([f"{street},", f"{town}."], [f"{street}, {town}"], [street, town], [f"{street},", town]))
        words = " ".join(shown).split()
        if rng.random() < 0.25 and len(words) > 4:
            first, second = sorted(rng.sample(range(1, len(words)), 2))
            shown = [" ".join(words[:first]), " ".join(words[first:second]), " ".join(words[second:])]
        values["address"] = " ".join(words)
        lines += shown
    if rng.random() < 0.55:
        values["phone"] = fill_pattern(scene, rng.choice(land.phones))
        lines.append(rng.choice(("Tel: ", "TEL ", "Tel : ", "Phone ", "Ph: ", "")) + values["phone"])
    lines += tax_lines


def _facts(scene: Scene, bill: _Bill, land: Land, kind: str) -> list[str]:
    """Return lines with number, date, customer and who served, in any order."""
    rng, values = scene.rng, bill.values
    facts: list[list[str]] = []
    if rng.random() < 0.95:
        day = date(2015, 1, 1) + timedelta(days=rng.randrange(3_600))
        values["date"] = day.strftime(rng.choice(land.dates))
        label = rng.choice(
            ("Date: ", "DATE ", "", "Date : ", "Invoice Date: ", "Dt. ", "Datum: " if land.code == "de" else "")
        )
        moment = [label + values["date"]]
        if rng.random() < 0.6:
            hour, minute = rng.randint(7, 22), rng.randint(0, 59)
            half = f"{(hour - 1) % 12 + 1:02}:{minute:02} {'AM' if hour < 12 else 'PM'}"
            clock = f"{hour:02}:{minute:02}"
            values["time"] = rng.choice((clock, f"{clock}:{rng.randint(10, 59)}", half))
            moment = [f"{moment[0]} {values['time']}"] if rng.random() < 0.6 else [*moment, f"Time: {values['time']}"]
        facts.append(moment)
        if kind in ("invoice", "order") and rng.random() < 0.5:
            due = (day + timedelta(days=rng.choice((7, 14, 30)))).strftime(rng.choice(land.dates))
            facts.append([rng.choice(("Due date: ", "Payable by ", "Delivery by ")) + due])
    if rng.random() < 0.7:
        values["number"] = fill_pattern(
            scene, rng.choice(("######", "@@-######", "INV####", "##-######-##", "@#####", "CS-####/##"))
        )
        facts.append(
            [rng.choice(("No. ", "Invoice No: ", "Receipt #", "Doc No : ", "Bill No. ", "Inv. ")) + values["number"]]
        )
    if rng.random() < (0.8 if kind in ("invoice", "order") else 0.1):
        values["customer"] = " ".join(full_name(scene))
        facts.append(
            rng.choice(
                ([f"Bill to: {values['customer']}"], ["Customer", values["customer"]], ["BILL TO:", values["customer"]])
            )
        )
    if rng.random() < 0.3:
        values["cashier"] = full_name(scene)[0]
        facts.append([rng.choice(("Cashier: ", "Served by: ", "Staff ", "Operator : ")) + values["cashier"]])
    rng.shuffle(facts)
    return [line for fact in facts for line in fact]


def _amount(land: Land, value: float, sign: str = "") -> str:
    text = f"{value:,.2f}"
    text = text.translate({ord(","): ".", ord("."): ","}) if land.mark == "," else text
    return f"-{sign}{text[1:]}" if text[0] == "-" else f"{sign}{text}"


def _goods(rng: random.Random, bill: _Bill, land: Land, count: int) -> float:
    """Add what was bought, a line or several for each; return what it comes to."""
    net, way = 0.0, rng.randrange(5)
    scale = 40 if land.code == "in" else 1
    if rng.random() < 0.5:
        bill.lines += rng.choice(
            (["Item  Qty  Price  Amount"], ["DESCRIPTION", "QTY", "AMOUNT"], ["Qty Item Total"], ["-" * 24])
        )
    for name in rng.sample(_GOODS, count):
        quantity = 1 if rng.random() < 0.55 else rng.randint(2, 12)
        price = scale * rng.choice((rng.randint(1, 60) / 2, rng.randint(90, 9_000) / 100, rng.randint(1, 20) - 0.01))
        net += quantity * price
        each, whole = _amount(land, price), _amount(land, quantity * price)
        tail = rng.choice((" SR", " A", " *", "")) if rng.random() < 0.2 else ""
        bill.items.append({"name": name, "quantity": str(quantity), "amount": whole})
        bill.lines += (
            [f"{quantity} {name} {whole}{tail}"],
            [name, f"{quantity} x {each}  {whole}{tail}"],
            [name, str(quantity), each, whole],
            [f"{name}  {quantity}  {each}  {whole}"],
            [f"{rng.randint(10**6, 10**9)}", name, f"{quantity} PCS @ {each}", f"{whole}{tail}"],
        )[way]
    return net


def _rows(rng: random.Random, land: Land, gross: float) -> list[tuple[str, str, float]]:
    """Return the sums with their names and labels: before tax, tax, rounding, what is to be paid, what was given."""
    rate = rng.choice(land.rates)
    net = round(gross / (1 + rate / 100) if rng.random() < 0.6 else gross, 2)
    tax = round(net * rate / 100, 2)
    total = round(net + tax, 2)
    label = rng.choice(land.taxes)
    label += f" {rate}%" if "%" not in label and rng.random() < 0.5 else ""
    rows: list[tuple[str, str, float]] = []
    if rng.random() < 0.6:
        rows.append(("subtotal", rng.choice(_NETS), net))
    if rng.random() < 0.7:
        rows.append(("tax", label, tax))
    if land.code in ("my", "in", "au") and rng.random() < 0.5:
        rounded = float(round(total)) if land.code == "in" else round(total * 20) / 20
        if rng.random() < 0.5:
            rows.append(("", rng.choice(("Total Incl. Tax", "Total Sales", "Amount")), total))
        labels = ("Rounding", "Rounding Adj", "ROUND OFF", "Rounding Adjustment")
        rows.append(("rounding", rng.choice(labels), round(rounded - total, 2) + 0.0))
        total = rounded
    rows.append(("total", rng.choice(land.totals), total))
    if rng.random() < 0.5:
        paid = float(-(-total // 10) * 10) if rng.random() < 0.6 else total
        rows.append(("paid", rng.choice(("CASH", "Cash", "VISA CARD", "Tendered", "Paid")), paid))
        if paid > total or rng.random() < 0.3:
            rows.append(("change", rng.choice(("CHANGE", "Change", "Change Due")), round(paid - total, 2) + 0.0))
    return rows


def _sums(rng: random.Random, bill: _Bill, land: Land, gross: float, sign: str) -> None:
    """Add the sums side by side with their labels, below them, or all after all labels."""
    rows = _rows(rng, land, gross)
    shown = [(label, _amount(land, value, sign)) for _, label, value in rows]
    for (name, _, value), (_, text) in zip(rows, shown, strict=True):
        if name:
            bill.values[name], bill.numbers[name] = text, value
    if rng.random() < 0.35:
        small, again = _amount(land, rng.randint(1, 400) / 100), _amount(land, gross)
        bill.lines.append(rng.choice(_TRAPS).format(n=rng.randint(1, 40), small=small, total=again))
    gap, roll = rng.choice((" ", "  ", ": ", " : ")), rng.random()
    if roll < 0.1:
        bill.lines += [*(label for label, _ in shown), *(amount for _, amount in shown)]
    elif roll < 0.4:
        bill.lines += [cell for row in shown for cell in row]
    else:
        bill.lines += [f"{label}{gap}{amount}" for label, amount in shown]
    if bill.numbers.keys() >= {"tax", "subtotal"} and rng.random() < 0.4:  # else it would state what is null
        net, tax = (_amount(land, bill.numbers[name]) for name in ("subtotal", "tax"))
        bill.lines += rng.choice(([f"Tax summary  {net}  {tax}"], ["TAX CODE", "AMOUNT", "TAX", "SR", net, tax]))


_NETS = ("Sub Total", "SUBTOTAL", "Total Excl. Tax", "Net", "Total (Excluding Tax)", "Amount before tax")
_ABOUT = (
    "What a bill says.",
    "A receipt as a machine has read it.",
    "Values as they are printed.",
    "A scanned document of a company.",
)


def _sample(rng: random.Random, land: Land, name: str) -> Sample:
    bill = _printed(new_scene(rng, "train"), land, name)
    document = "\n".join(bill.lines) if rng.random() < 0.95 else " ".join(bill.lines)
    values: Mapping[str, Any] = bill.values
    items: Sequence[Mapping[str, str]] = bill.items
    if rng.random() < 0.45:
        document, values = document.upper(), {name: text.upper() for name, text in values.items()}
        items = [{name: text.upper() for name, text in item.items()} for item in items]
    roll = rng.random()
    if roll < 0.1:
        schema, answer = _listed(rng, items)
        return Sample("bills", schema, document, answer, None)
    habits = Habits.drawn(rng)
    slots = list(_SLOTS[:4]) if roll < 0.45 else some(rng, _SLOTS, values, all_share=0.08)
    schema, answer = fields(rng, slots, values, required=rng.choice((0.1, 0.5, 1.0)), habits=habits)
    if rng.random() < 0.2:
        schema, answer = _with_numbers(schema, answer, values, bill.numbers)
    if roll > 0.87:
        of_items, found = _listed(rng, items)
        if not of_items["properties"].keys() & schema["properties"].keys():
            schema["properties"] |= of_items["properties"]
            schema["required"] = list(schema["properties"])
            answer |= found
    if rng.random() < 0.5:
        schema["description"] = rng.choice(_ABOUT)
    if rng.random() < 0.5:
        schema["title"] = rng.choice(("Receipt", "Invoice", "Bill", "Document", "Purchase"))
    return Sample("bills", schema, document, answer, None)


def _with_numbers(
    schema: dict[str, Any], answer: dict[str, Any], values: Mapping[str, Any], numbers: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a type that asks for the sums as numbers."""
    by_text = {values[name]: value for name, value in numbers.items()}
    names = [name for name, value in answer.items() if isinstance(value, str) and value in by_text]
    properties = dict(schema["properties"])
    for name in names:
        said = {
            key: text.removesuffix(", as printed") for key, text in properties[name].items() if key == "description"
        }
        number: dict[str, Any] = {"type": "number"}
        properties[name] = ({"anyOf": [number, {"type": "null"}]} if "anyOf" in properties[name] else number) | said
    return schema | {"properties": properties}, answer | {name: by_text[answer[name]] for name in names}


def _listed(rng: random.Random, items: Sequence[Mapping[str, str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    chosen = [slot for slot in _ITEM if slot.name == "name" or rng.random() < 0.7]
    filled = [{slot.name: item[slot.name] for slot in chosen} for item in items]
    about = rng.choice(("what was bought", "the items, in order", "lines of the bill"))
    return listed(
        rng, ("items", "lines", "products", "goods"), chosen, filled, about=about, required=("name", "amount")
    )
