"""The kinds of record that samples are made of, and those that are kept for evaluation."""

from collections.abc import Mapping

from training.records.address import ADDRESS
from training.records.book import BOOK
from training.records.event import EVENT
from training.records.flight import FLIGHT
from training.records.home import PROPERTY
from training.records.hotel import HOTEL
from training.records.invoice import INVOICE
from training.records.job_post import JOB_POST
from training.records.kind import Kind
from training.records.medical_note import MEDICAL_NOTE
from training.records.meeting import MEETING
from training.records.movie import MOVIE
from training.records.order import ORDER
from training.records.person import PERSON
from training.records.product import PRODUCT
from training.records.recipe import RECIPE
from training.records.ticket import TICKET
from training.records.transaction import TRANSACTION
from training.records.vehicle import VEHICLE

WEIGHTS = {"person": 3.5, "invoice": 2.5, "support_ticket": 2.2, "medical_note": 2.2, "job_post": 2.2, "flight": 2.0}
"""How much likelier than the others the commonest kinds are."""

_SEEN = (
    INVOICE,
    PRODUCT,
    ORDER,
    TRANSACTION,
    JOB_POST,
    TICKET,
    MEETING,
    FLIGHT,
    HOTEL,
    EVENT,
    ADDRESS,
    PROPERTY,
    MOVIE,
    BOOK,
    PERSON,
    MEDICAL_NOTE,
)
KINDS: Mapping[str, Kind] = {one.name: one for one in _SEEN}
"""The kinds that training sees."""

HELD_OUT_KINDS: Mapping[str, Kind] = {one.name: one for one in (RECIPE, VEHICLE)}
"""The kinds that training never sees."""
