"""Movements on a bank account."""

from training.records.compound import choice, flag
from training.records.kind import Field, kind
from training.values import code, company, currency, day, invented_word, money, other_person, text_fact

TRANSACTION = kind(
    "bank_transaction",
    (
        Field(
            "id",
            code("TX#######, TXN-####-####, ##########, @@########, REF######, T-#####"),
            "transaction id, id, reference, transaction number, reference number",
            "the number of the transaction",
            "Transaction ID, Reference, Ref., Transaction no.",
            weight=2,
        ),
        Field(
            "currency",
            currency,
            "currency, currency code",
            "ISO code of the currency",
            "Currency",
            implied_by=("amount", "balance", "fee"),
            weight=0.9,
            plain=False,
        ),
        Field(
            "amount",
            money(2, 6000),
            "amount, sum, value, transaction amount, transferred amount",
            "the amount moved",
            "Amount, Sum, Transaction amount",
            weight=3,
        ),
        Field(
            "sender",
            other_person,
            "sender, from, payer, sender name, paid by, from account holder",
            "who pays",
            "Sender, Payer, From, Paid by",
            weight=2,
        ),
        Field(
            "receiver",
            lambda scene: company(scene) if scene.chance(0.6) else other_person(scene),
            "receiver, to, payee, recipient, merchant, beneficiary, paid to, counterparty",
            "who gets the money",
            "Receiver, Payee, To, Recipient, Beneficiary",
            weight=2.4,
        ),
        Field(
            "date",
            day(-30, 30),
            "date, booking date, transaction date, booked on, value date",
            "when it was booked",
            "Date, Booking date, Booked on, Transaction date",
            weight=2.2,
        ),
        Field(
            "balance",
            money(50, 20000),
            "balance, new balance, account balance, balance after",
            "what is left on the account",
            "Balance, New balance, Account balance",
            weight=1.2,
        ),
        Field(
            "fee",
            money(1, 40),
            "fee, bank fee, charge, transaction fee, charges",
            "what the bank charges",
            "Fee, Charges, Bank fee",
            weight=0.8,
        ),
        Field(
            "account",
            code("****####, DE## #### #### ####, ####-####, xxxx####, ########, GB##@@@@######"),
            "account, account number, from account, iban, card number",
            "the account it was booked on",
            "Account, Account no., Card",
            weight=1.2,
        ),
        Field(
            "purpose",
            lambda scene: text_fact(
                scene.pick(
                    (
                        f"{scene.pick(scene.pools.nouns)} fee {scene.rng.randrange(2015, 2026)}",
                        f"rent for the {scene.pick(scene.pools.nouns)}",
                        f"{scene.pick(scene.pools.adjectives)} {scene.pick(scene.pools.nouns)}",
                        f"{scene.pick(scene.pools.things)}",
                        f"{invented_word(scene)} membership",
                    )
                )
            ),
            "purpose, memo, note, payment reference, subject, remittance info, for what",
            "what it was for",
            "Purpose, Memo, Note, Payment reference",
            weight=1.2,
        ),
        Field(
            "category",
            choice(
                {
                    "groceries": "groceries",
                    "rent": "rent",
                    "salary": "salary, wages",
                    "travel": "travel",
                    "utilities": "utilities",
                    "entertainment": "entertainment",
                    "insurance": "insurance",
                }
            ),
            "category, type, spending category, kind",
            "what sort of payment it is",
            "Category, Type",
            plain=False,
            weight=1,
        ),
        Field(
            "pending",
            flag(0.4),
            "pending, is pending, not booked yet, on hold",
            "whether it is still to be booked",
            "Pending, On hold",
            wordings={
                "true": """
                    The transaction is still pending.
                    It has not been booked yet.
                    The bank is holding it for now.
                    It is waiting to be processed.
                    The transfer has not gone through so far.
                    """,
                "false": """
                    The transaction is completed.
                    It has been booked.
                    The transfer has gone through.
                    It is no longer pending.
                    The bank has processed it.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=0.9,
        ),
    ),
    plural="transactions, payments, bookings, transfers",
    nests={"parties": "sender, receiver", "money, sums": "amount, currency, fee"},
    titles="Account statement, Transaction details, Payment receipt, Transfer confirmation, Bank notification, Booking",
    sentences="""
    The transaction ID is {id}.
    Reference: {id}.
    Transaction {id}.
    The reference number of the transfer is {id}.
    It is booked under {id}.
    This concerns transaction {id}.
    All amounts in {currency}.
    The account is kept in {currency}.
    The payment was made in {currency}.
    Currency: {currency}.
    The transfer is in {currency}.
    The currency of the account is {currency}.
    The amount is {amount}.
    Amount: {amount}
    {amount} was transferred.
    A transfer of {amount} was made.
    A payment of {amount} has been booked.
    The sum is {amount}.
    We moved {amount} for you.
    A booking over {amount} was made.
    {amount} has left the account.
    The payment was for {amount}.
    {amount} was debited.
    It was paid by {sender}.
    The sender is {sender}.
    The money came from {sender}.
    {sender} made the payment.
    Payer: {sender}.
    {sender} sent the money.
    The payment was ordered by {sender}.
    {sender} paid.
    The receiver is {receiver}.
    The money went to {receiver}.
    It was paid to {receiver}.
    Payee: {receiver}.
    {receiver} received the money.
    The beneficiary is {receiver}.
    It was a payment to {receiver}.
    The money is for {receiver}.
    It was booked on {date}.
    The booking date is {date}.
    Date: {date}.
    The payment was made on {date}.
    It happened on {date}.
    Booked {date}.
    The transfer took place on {date}.
    The bank executed it on {date}.
    The new balance is {balance}.
    Your balance is now {balance}.
    Balance after this: {balance}.
    That leaves {balance} on the account.
    There is {balance} left on the account.
    The account now stands at {balance}.
    The fee is {fee}.
    We charged a fee of {fee}.
    The bank took {fee} for it.
    Charges: {fee}.
    A fee of {fee} applies.
    {fee} was charged as a fee.
    It was booked on account {account}.
    The account is {account}.
    Account: {account}.
    Your account {account} was debited.
    Card ending {account}.
    We used the account {account}.
    The purpose is "{purpose}".
    Memo: {purpose}.
    It was for {purpose}.
    The note says "{purpose}".
    Payment reference: {purpose}.
    As purpose, "{purpose}" was given.
    The category is {category}.
    It counts as {category}.
    We filed it under {category}.
    Category: {category}.
    It belongs to {category}.
    Sorted into {category}.
    {sender} sent {amount} to {receiver}.
    {sender} paid {receiver} {amount} on {date}.
    {receiver} received {amount} from {sender}.
    On {date} {sender} transferred {amount} to {receiver}.
    You paid {amount} to {receiver} on {date}.
    A payment of {amount} to {receiver} was made on {date}.
    Transfer {id}: {amount} to {receiver}
    Transaction {id} of {date} over {amount}
    {date} {receiver} {amount}
    {amount} was debited from account {account} on {date}.
    {amount} was paid to {receiver} for "{purpose}".
    Your card {account} was charged {amount} at {receiver}.
    The amount is {amount}, the fee {fee}.
    {amount} plus a fee of {fee} was debited.
    After the payment of {amount} your balance is {balance}.
    The payment {id} from {sender} was booked on {date}.
    {receiver} got {amount} on {date}.
    From {sender} to {receiver}.
    Transaction {id} was made from account {account}.
    {sender} wired {amount}.
    """,
    asides="""
    Your adviser is {any_person}.
    The branch in {any_city} is closed on Mondays.
    Your credit limit is high enough.
    The next statement comes on {any_date}.
    Never share your PIN.
    The app was updated.
    For help call {any_phone}.
    You have {any_int} unread messages.
    The branch opens at {any_time}.
    {any_company} has changed its prices.
    Your old card {any_code} has expired.
    """,
)
