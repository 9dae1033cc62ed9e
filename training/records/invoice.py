"""Invoices."""

from training.records.compound import flag, part_of, records
from training.records.kind import Field, kind
from training.values import code, company, currency, day, integer, money, other_person, product

LINE_ITEMS = records(
    {
        "description": part_of(product, "description, name, item, product, article"),
        "quantity": part_of(integer(1, 60, words=0.08), "quantity, qty, amount, count, number of units, units"),
        "unit_price": part_of(money(1, 900), "unit price, price, price per unit, price each, cost"),
    },
    (
        "{quantity} x {description} at {unit_price} each",
        "{quantity} x {description} ({unit_price} each)",
        "{description}, {quantity} pcs, {unit_price} each",
        "{quantity} {description} for {unit_price} apiece",
        "{description} ({quantity} × {unit_price})",
        "{description} – {quantity} units at {unit_price} per unit",
        "{description} x{quantity} @ {unit_price}",
        "{quantity}× {description} @ {unit_price}",
        "{description}: {quantity} at {unit_price}",
        "{quantity} pieces of {description} at {unit_price} a piece",
        "{description} | {quantity} | {unit_price}",
        "{unit_price} each for {quantity} {description}",
    ),
)

INVOICE = kind(
    "invoice",
    (
        Field(
            "number",
            code(
                "INV-####, INV-2024-00##, ####-##, F-#####, RE-2023-###, INV#####, @@-####, #####/##, A-###-##, ######"
            ),
            "invoice number, number, invoice no, invoice id, reference, bill number, id",
            "the number of the invoice",
            "Invoice number, Invoice no., Invoice #, Invoice ID, Bill no.",
            weight=3,
        ),
        Field(
            "currency",
            currency,
            "currency, currency code, invoice currency",
            "ISO code of the currency",
            "Currency",
            implied_by=("total", "net", "tax"),
            weight=0.9,
            plain=False,
        ),
        Field(
            "vendor",
            company,
            "vendor, seller, supplier, issuer, vendor name, issued by, from company, supplier name",
            "the company that issued the invoice",
            "Vendor, Seller, Supplier, Issued by, Biller",
            weight=2,
        ),
        Field(
            "customer",
            lambda scene: company(scene) if scene.chance(0.6) else other_person(scene),
            "customer, buyer, client, bill to, customer name, recipient, billed to",
            "who has to pay",
            "Customer, Client, Bill to, Buyer, Billed to",
            weight=2,
        ),
        Field(
            "issued",
            day(-60, 60),
            "issue date, date, invoice date, issued on, issued, date issued",
            "when the invoice was issued",
            "Issue date, Invoice date, Date of issue, Issued on",
            weight=2,
        ),
        Field(
            "due",
            day(61, 150),
            "due date, due, payment due, due by, pay by, deadline, payment deadline",
            "when it has to be paid",
            "Due date, Payment due, Due, Pay by, Payable until",
            weight=2.4,
        ),
        Field(
            "total",
            money(20, 9000),
            "total, total amount, amount due, grand total, amount, invoice total, total due, gross amount",
            "the amount to be paid",
            "Total, Total due, Amount due, Grand total, Total amount",
            weight=3,
        ),
        Field(
            "net",
            money(20, 8000),
            "subtotal, net amount, net total, amount before tax, net",
            "the amount without tax",
            "Subtotal, Net amount, Net",
            weight=0.6,
        ),
        Field(
            "tax",
            money(2, 1500),
            "tax, vat, tax amount, vat amount, sales tax",
            "the tax",
            "VAT, Tax, VAT amount, Sales tax",
            weight=0.8,
        ),
        Field(
            "rate",
            integer(3, 27, words=0.0, units="%| %| percent"),
            "tax rate, vat rate, vat percent, tax percent",
            "the tax rate in percent",
            "Tax rate, VAT rate",
            weight=0.5,
        ),
        Field(
            "order",
            code("PO-####, PO####, #######, ORD-###-##, 45######"),
            "purchase order, order number, po number, po",
            "the number of the purchase order",
            "PO number, Purchase order, Your order no.",
            weight=0.7,
        ),
        Field(
            "items",
            LINE_ITEMS,
            "items, line items, lines, positions, articles, invoice lines",
            "what was delivered",
            "Items, Positions, Line items, Articles",
            none="""
                There are no items on this invoice.
                The list of items is empty.
                No items are listed.
                """,
            weight=2,
            plain=False,
        ),
        Field(
            "iban",
            code(
                "DE## #### #### #### #### ##, GB## @@@@ #### #### #### ##, NL##@@@@##########, "
                "FR## #### #### #### #### #### ###"
            ),
            "iban, bank account, account number, pay to account, account",
            "the account to pay to",
            "IBAN, Bank account, Account",
            weight=0.6,
        ),
        Field(
            "paid",
            flag(),
            "paid, is paid, settled, already paid, payment received",
            "whether the invoice is paid",
            "Paid, Settled, Already paid",
            wordings={
                "true": """
                It has already been paid.
                The amount was paid in full.
                Payment has been received, thank you.
                This invoice is settled.
                We confirm that your payment arrived.
                Paid in full.
                Nothing is left to pay.
                We have already paid it.
                """,
                "false": """
                It has not been paid yet.
                Payment is still outstanding.
                We have not received your payment.
                This invoice is unpaid.
                The amount is still open.
                Please transfer the amount, which is still outstanding.
                It is not settled yet.
                Not paid so far.
                """,
            },
            plain=False,
            weight=1.2,
        ),
    ),
    plural="invoices, bills",
    nests={
        "parties, companies": "vendor, customer",
        "dates, terms": "issued, due",
        "amounts, totals, summary": "net, tax, total, currency",
    },
    titles="INVOICE, Invoice, Your invoice, Bill, Payment reminder, Tax invoice, Invoice attached, Rechnung / Invoice",
    sentences="""
    Please find attached invoice {number}.
    This is about invoice {number}.
    Invoice {number} is ready.
    The invoice number is {number}.
    Invoice no. {number}
    Our reference for this invoice: {number}.
    Please quote invoice number {number} with your payment.
    We are writing about invoice {number}.
    Attached you will find our invoice no. {number}.
    Your invoice {number} can be downloaded now.
    INVOICE #{number}
    Regarding invoice # {number}:
    All amounts are in {currency}.
    The invoice is in {currency}.
    Prices are given in {currency}.
    Please pay in {currency}.
    Invoice currency: {currency}.
    We only accept payments in {currency}.
    It was issued by {vendor}.
    The vendor is {vendor}.
    Thank you for shopping at {vendor}.
    The bill comes from {vendor}.
    {vendor} has sent us the bill.
    We got it from our supplier {vendor}.
    {vendor} thanks you for your business.
    The goods were supplied by {vendor}.
    From: {vendor}
    The seller is {vendor}.
    Payment goes to {vendor}.
    Issued by {vendor}.
    It is addressed to {customer}.
    The customer is {customer}.
    Billed to {customer}.
    Bill to: {customer}
    {customer} has to pay it.
    The invoice was made out to {customer}.
    The buyer is {customer}.
    The client on this one is {customer}.
    It goes to {customer}.
    Customer: {customer}
    We billed {customer}.
    The goods were bought by {customer}.
    It was issued on {issued}.
    The invoice is dated {issued}.
    Invoice date: {issued}
    The issue date is {issued}.
    It was sent out on {issued}.
    Dated {issued}.
    We wrote it on {issued}.
    The date on the invoice is {issued}.
    It was drawn up on {issued}.
    Issued {issued}.
    It bears the date {issued}.
    We issued it on {issued}.
    It is due on {due}.
    Payment is due by {due}.
    Please pay by {due}.
    The due date is {due}.
    Kindly transfer the amount no later than {due}.
    The payment deadline is {due}.
    Payable until {due}.
    It must be paid before {due}.
    We expect your payment by {due}.
    Due {due}.
    You have until {due} to pay.
    Please settle it by {due}.
    The total is {total}.
    The total comes to {total}.
    The amount due is {total}.
    Total: {total}
    The grand total is {total}.
    Please transfer {total}.
    In total that makes {total}.
    The total amount is {total}.
    You owe us {total} in total.
    Altogether {total} has to be paid.
    The invoice amounts to {total}.
    It is for {total} in total.
    {total} is the total amount due.
    The sum to pay is {total}.
    The bill adds up to {total}.
    The subtotal is {net}.
    Before tax it is {net}.
    The net amount is {net}.
    Subtotal {net}.
    Without tax that is {net}.
    Net: {net}
    Tax is {tax}.
    This includes {tax} VAT.
    VAT: {tax}
    Of this, {tax} is tax.
    The tax amounts to {tax}.
    The VAT comes to {tax}.
    The tax rate is {rate}.
    VAT is charged at {rate}.
    We add {rate} tax.
    Tax rate: {rate}.
    All prices are subject to {rate} VAT.
    A tax of {rate} applies.
    It refers to purchase order {order}.
    Your order number is {order}.
    PO number {order}.
    It belongs to your order {order}.
    You ordered under PO {order}.
    Please see purchase order {order}.
    It covers {items}.
    You ordered {items}.
    The items are {items}.
    We delivered {items}.
    We bill you for {items}.
    Items: {items}.
    The invoice lists {items}.
    The following was bought: {items}.
    Please use the account {iban}.
    Our IBAN is {iban}.
    Pay to IBAN {iban}.
    The money should go to account {iban}.
    Bank account: {iban}.
    Transfer it to {iban}.
    Invoice {number} from {vendor} is due on {due}.
    Invoice {number} over {total} is due on {due}.
    Please find attached invoice {number} for {total}, due on {due}.
    {vendor} sent invoice {number} to {customer}.
    Invoice {number} was issued by {vendor} on {issued}.
    Invoice {number}, dated {issued}, comes to {total}.
    On {issued}, {vendor} billed {customer} {total}.
    {vendor} billed {customer} for {items}.
    {customer} owes {vendor} {total}, payable by {due}.
    Invoice {number} ({total}) for {customer} is due {due}.
    The total of {total} is due by {due}.
    Please pay {total} by {due}.
    Please transfer {total} to {iban} by {due}.
    It was issued on {issued} and is due on {due}.
    Invoice date {issued}, due date {due}.
    The net amount is {net} plus {tax} VAT, {total} in total.
    Subtotal {net}, tax {tax}, total {total}.
    Net {net} + VAT {tax} = {total}
    The total including {tax} tax is {total}.
    It lists {items}, {total} in total.
    You bought {items} for a total of {total}.
    We, {vendor}, delivered {items} to {customer}.
    Invoice {number} / {issued} / {vendor}
    {vendor}\\nInvoice {number}\\nDate: {issued}
    {vendor}\\nInvoice no. {number}\\nBill to: {customer}
    INVOICE {number}\\n{vendor}\\n{customer}
    From: {vendor}\\nTo: {customer}
    Total due: {total}\\nPayable by {due}
    Subtotal: {net}\\nVAT: {tax}\\nTotal: {total}
    Subtotal: {net}\\nTax ({rate}): {tax}\\nTotal due: {total}
    please find attached invoice {number} dated {issued} for {items}.
    Attached is invoice {number} for {items}, {total} in total.
    Please find attached our invoice {number} dated {issued}, due on {due}.
    The total amount due is {total}, payable by {due}.
    This is invoice {number} from {vendor} to {customer}.
    The amount of {total} for invoice {number} is due by {due}.
    {vendor} has issued invoice {number} to {customer} in the amount of {total}.
    A VAT of {rate} comes to {tax}.
    {net} plus {rate} tax gives {total}.
    The invoice of {issued} comes to {total}.
    From {vendor} to {customer}.
    {vendor} -> {customer}: {total}
    Your order {order} was billed as invoice {number}.
    Invoice {number} refers to purchase order {order}.
    {vendor} wants {total} by {due}.
    We received invoice {number} from {vendor}, and it is for {total}.
    Thank you for your order with {vendor}; the total is {total}.
    """,
    asides="""
    Your contact for questions is {any_person}.
    The goods left our warehouse in {any_city}.
    The offer was dated {any_date}.
    Your previous invoice, {any_code}, has been archived.
    The delivery took {any_int} days.
    Our new office is at {any_street}.
    Please call {any_phone} with questions.
    Last month's bill was much lower.
    The parcel was carried by {any_company}.
    A late fee of {any_money} applies after that.
    Our price list changes soon.
    The delivery note has the number {any_code}.
    """,
)
