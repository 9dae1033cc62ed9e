"""Orders and their shipment."""

from training.records.compound import choice, flag, part_of, records
from training.records.kind import Field, kind
from training.values import city, code, company, day, decimal, integer, money, other_person, product, street

ORDER = kind(
    "order",
    (
        Field(
            "number",
            code("ORD-#####, #######, @@######, ###-#######-###, SO-####, W######"),
            "order number, order id, order no, id, order, number",
            "the number of the order",
            "Order number, Order no., Order #, Order ID",
            weight=2.5,
        ),
        Field(
            "customer",
            other_person,
            "customer, recipient, customer name, buyer, ordered by, deliver to, ship to",
            "who ordered",
            "Customer, Recipient, Ship to, Ordered by",
            weight=2,
        ),
        Field(
            "items",
            records(
                {
                    "product": part_of(product, "product, name, item, description, article"),
                    "quantity": part_of(integer(1, 40, words=0.15), "quantity, qty, count, amount, units"),
                },
                (
                    "{quantity} x {product}",
                    "{product} ({quantity})",
                    "{quantity} {product}",
                    "{product} x {quantity}",
                    "{quantity}x {product}",
                    "{product} – {quantity} pcs",
                    "{quantity} units of the {product}",
                    "{product}, {quantity} pcs",
                    "{quantity} pieces of {product}",
                    "{product} ×{quantity}",
                ),
            ),
            "items, products, articles, contents, order items",
            "what was ordered",
            "Items, Products, Contents",
            none="""
                No items are listed.
                The basket is empty.
                The list of items is missing.
                """,
            weight=1.6,
            plain=False,
        ),
        Field(
            "ordered",
            day(-30, 0),
            "order date, ordered on, date ordered, date, placed on",
            "when it was ordered",
            "Order date, Ordered on, Placed on",
            weight=1.4,
        ),
        Field(
            "shipped",
            day(1, 15),
            "ship date, shipped on, dispatch date, shipping date, sent on",
            "when it was sent",
            "Shipped on, Ship date, Dispatch date",
            weight=1.3,
        ),
        Field(
            "delivery",
            day(16, 40),
            "delivery date, estimated delivery, expected delivery, eta, arrival date, expected on",
            "when it should arrive",
            "Delivery date, Estimated delivery, Expected delivery, ETA",
            weight=1.7,
        ),
        Field(
            "carrier",
            company,
            "carrier, shipping company, courier, delivery service, shipped with",
            "who delivers it",
            "Carrier, Courier, Shipped with",
            weight=1.5,
        ),
        Field(
            "tracking",
            code("1Z###@@####, @@#########@@, ##########, TRK######, JD##########, ############"),
            "tracking number, tracking, tracking id, tracking code, parcel number, shipment number",
            "the number of the parcel",
            "Tracking number, Tracking, Parcel no., Tracking ID",
            weight=1.8,
        ),
        Field(
            "destination",
            city,
            "destination, city, delivery city, ship to city, destination city",
            "the city it goes to",
            "Destination, Delivery city, City",
            weight=1.2,
        ),
        Field(
            "street",
            street,
            "street, delivery address, shipping address, address, street address",
            "street and number it goes to",
            "Delivery address, Street, Shipping address",
            weight=1.2,
        ),
        Field(
            "total",
            money(8, 3000),
            "total, order total, amount, total price, sum, paid amount",
            "what the order costs",
            "Total, Order total, Sum",
            weight=1.8,
        ),
        Field(
            "shipping",
            money(1, 60),
            "shipping cost, shipping, delivery fee, postage, shipping fee",
            "what the delivery costs",
            "Shipping, Postage, Delivery fee",
            weight=0.7,
        ),
        Field(
            "weight",
            decimal(0.2, 40, units=" kg|kg| kilograms"),
            "weight, parcel weight, weight kg, package weight",
            "weight in kilograms",
            "Weight, Parcel weight",
            weight=0.6,
        ),
        Field(
            "status",
            choice(
                {
                    "pending": "pending, being processed",
                    "shipped": "shipped, in transit, on its way",
                    "delivered": "delivered, handed over",
                    "cancelled": "cancelled, called off",
                    "returned": "returned, sent back",
                }
            ),
            "status, order status, state, shipment status",
            "the state of the order",
            "Status, Order status, State",
            wordings={
                "pending": """
                    It has not left our warehouse yet.
                    We are still packing it.
                    We are preparing it for dispatch.
                    It is still waiting to be packed.
                    """,
                "shipped": """
                    The parcel is on its way.
                    It has been handed to the courier.
                    It is on the truck to you.
                    The parcel has left our warehouse and is travelling to you.
                    """,
                "delivered": """
                    The parcel was delivered.
                    It was left with a neighbour.
                    The recipient signed for the parcel.
                    It arrived safely at the door.
                    """,
                "cancelled": """
                    The order was cancelled.
                    The customer called the order off.
                    We had to cancel the order.
                    The order was called off before dispatch.
                    """,
                "returned": """
                    The parcel was sent back to us.
                    The customer returned everything.
                    It came back to our warehouse.
                    The goods were returned and refunded.
                    """,
            },
            plain=False,
            may_miss=False,
            weight=1.6,
        ),
        Field(
            "express",
            flag(0.5),
            "express, is express, express delivery, priority shipping",
            "whether it is sent by express",
            "Express, Express delivery",
            wordings={
                "true": """
                    It goes by express.
                    Express delivery was booked.
                    It will be sent as an express parcel.
                    The customer paid extra for express shipping.
                    Please use express delivery.
                    """,
                "false": """
                    It goes by standard mail, not by express.
                    Standard delivery, no express.
                    No express delivery was booked.
                    The parcel travels by ordinary mail.
                    Normal shipping is enough.
                    """,
            },
            plain=False,
            weight=0.7,
        ),
    ),
    plural="orders, shipments, parcels, deliveries",
    nests={
        "address, delivery, shipping address, ship to": "street, destination",
        "shipment, parcel, shipping": "carrier, tracking, shipped, weight",
        "dates": "ordered, shipped, delivery",
    },
    titles="Order confirmation, Your order, Shipping notice, Delivery update, Order details, Dispatch note",
    sentences="""
    Thank you for your order {number}.
    Your order number is {number}.
    This is about order {number}.
    Order {number} has been updated.
    We have news about order {number}.
    Order no. {number}
    Order #{number}
    We received your order {number}.
    The order has the number {number}.
    It is filed as order {number}.
    Regarding order {number}:
    Please quote order {number} if you call.
    The customer is {customer}.
    It was ordered by {customer}.
    {customer} placed the order.
    The parcel is for {customer}.
    The recipient is {customer}.
    It goes to {customer}.
    Deliver to {customer}.
    {customer} bought it.
    Name on the order: {customer}.
    {customer} is waiting for it.
    Please hand it to {customer} only.
    It is addressed to {customer}.
    It contains {items}.
    The order consists of {items}.
    You ordered {items}.
    Items: {items}.
    In the box: {items}.
    We packed {items}.
    It was placed on {ordered}.
    The order date is {ordered}.
    You ordered on {ordered}.
    Ordered on {ordered}.
    The order came in on {ordered}.
    It dates from {ordered}.
    The order was made {ordered}.
    We got the order on {ordered}.
    It was shipped on {shipped}.
    It left our warehouse on {shipped}.
    We sent it on {shipped}.
    Shipped {shipped}.
    The parcel was dispatched on {shipped}.
    Dispatch date: {shipped}.
    We handed it over for shipping on {shipped}.
    It will arrive on {delivery}.
    Estimated delivery: {delivery}.
    Delivery is expected on {delivery}.
    You should have it by {delivery}.
    Expect it on {delivery}.
    The delivery date is {delivery}.
    It should reach you by {delivery}.
    ETA {delivery}.
    The carrier is {carrier}.
    It travels with {carrier}.
    {carrier} will deliver it.
    Shipped with {carrier}.
    We gave it to {carrier}.
    The courier is {carrier}.
    {carrier} takes care of the delivery.
    The tracking number is {tracking}.
    Track it with {tracking}.
    Tracking: {tracking}
    Follow the parcel under {tracking}.
    Your parcel has the number {tracking}.
    Use {tracking} to track the parcel.
    Tracking ID {tracking}.
    It goes to {destination}.
    The destination is {destination}.
    It will be delivered in {destination}.
    Its way leads to {destination}.
    Destination: {destination}.
    The parcel is bound for {destination}.
    The delivery address is {street}.
    Deliver it to {street}.
    Street: {street}.
    The parcel should go to {street}.
    Ring the bell at {street}.
    Address: {street}.
    The total is {total}.
    The order comes to {total}.
    Total: {total}
    You paid {total}.
    The order total is {total}.
    In total you pay {total}.
    {total} was charged to your card.
    Altogether it cost {total}.
    Shipping is {shipping}.
    Postage: {shipping}.
    The delivery fee is {shipping}.
    Delivery costs {shipping}.
    We charge {shipping} for shipping.
    {shipping} was added for postage.
    The parcel weighs {weight}.
    Parcel weight: {weight}.
    It weighs {weight}.
    The weight is {weight}.
    With packaging it is {weight}.
    The scales show {weight}.
    The status is {status}.
    Status: {status}.
    It is marked as {status}.
    According to the system it is {status}.
    The order is {status}.
    The current state is "{status}".
    Order {number} from {ordered} has been shipped with {carrier}.
    Order {number} for {customer} was shipped on {shipped}.
    Your order {number} of {ordered} comes to {total}.
    {customer} ordered {items} on {ordered}.
    {customer} ordered {items}.
    Order {number}: {items}
    Order {number} contains {items}.
    Order {number} left our warehouse on {shipped} and should arrive on {delivery}.
    It was shipped on {shipped} with {carrier}.
    It was shipped on {shipped} and will arrive on {delivery}.
    {carrier} will bring it to {street} in {destination}.
    {customer}, {street}, {destination}
    Ship to {customer}, {street}, {destination}.
    It goes to {street}, {destination}.
    The tracking number at {carrier} is {tracking}.
    {carrier} tracking number: {tracking}
    Track it at {carrier} with the number {tracking}.
    {items} for {total}.
    You ordered {items} for {total} in total.
    The total is {total}, including {shipping} for shipping.
    {customer} in {destination} is waiting for order {number}.
    Order {number} will reach {customer} on {delivery}.
    {carrier} expects to deliver it on {delivery}.
    Delivery to {destination} is planned for {delivery}.
    Order {number} ({total}) was placed by {customer}.
    """,
    asides="""
    {any_person} packed it for you.
    Our shop in {any_city} is closed today.
    Your voucher {any_code} is still valid.
    You have collected {any_int} bonus points.
    Please rate us.
    Returns go to {any_street}.
    Your last order was on {any_date}.
    You may also like the {any_product}.
    The hotline is {any_phone}.
    We saved you {any_money} with this one.
    The box is made of recycled paper.
    Your account manager is {any_person}.
    """,
)
