"""Products of a shop."""

from training.records.compound import flag, several
from training.records.kind import Field, kind
from training.values import code, company, day, decimal, from_list, from_pool, integer, money, product

PRODUCT = kind(
    "product",
    (
        Field(
            "name",
            product,
            "name, product, product name, item, title, item name",
            "the name of the product",
            "Product, Product name, Item, Article",
            weight=3,
        ),
        Field(
            "brand",
            company,
            "brand, manufacturer, maker, made by, brand name, producer",
            "who makes it",
            "Brand, Manufacturer, Maker",
            weight=2,
        ),
        Field(
            "price",
            money(3, 1500),
            "price, cost, unit price, retail price, price amount, sale price",
            "what it costs",
            "Price, Retail price, Our price, Costs",
            weight=3,
        ),
        Field(
            "sku",
            code("SKU-####, @@-####-@, ########, @@@###, ###-##-###, @####"),
            "sku, article number, product code, item number, product id, model number",
            "the article number",
            "SKU, Article no., Item number, Product code",
            weight=1.5,
        ),
        Field(
            "colours",
            several(from_pool("colours")),
            "colors, colours, available colors, color options, variants",
            "the colours it comes in",
            "Colours, Colors, Available in, Colour options",
            weight=1.4,
        ),
        Field(
            "rating",
            decimal(1.0, 5.0),
            "rating, stars, average rating, score, customer rating",
            "average rating of the customers",
            "Rating, Stars, Customer rating",
            weight=1.3,
        ),
        Field(
            "discount",
            integer(5, 70, words=0.0, units="%| %| percent"),
            "discount, discount percent, percent off, reduction",
            "the discount in percent",
            "Discount, Reduction",
            weight=0.7,
        ),
        Field(
            "reviews",
            integer(3, 9000, words=0.03),
            "reviews, review count, number of reviews, ratings count",
            "how many reviews there are",
            "Reviews, Number of reviews",
            weight=0.7,
        ),
        Field(
            "stock",
            integer(1, 900, words=0.1),
            "stock, quantity in stock, units left, stock level, available units",
            "how many pieces there are",
            "Stock, Units in stock, Pieces left",
            weight=0.7,
        ),
        Field(
            "weight",
            decimal(0.1, 60.0, units=" kg|kg| kilograms"),
            "weight, weight kg, mass, weight in kg",
            "weight in kilograms",
            "Weight, Net weight",
            weight=0.9,
        ),
        Field(
            "material",
            from_list(
                "aluminium, bamboo, brass, cast iron, ceramic, cotton, glass, leather, linen, marble, "
                "nylon, oak, pine, polyester, recycled plastic, rubber, silicone, stainless steel, steel, "
                "walnut, wool"
            ),
            "material, made of, main material, fabric",
            "what it is made of",
            "Material, Made of",
            weight=0.9,
        ),
        Field(
            "origin",
            from_pool("countries"),
            "origin, country of origin, made in, produced in",
            "where it is made",
            "Country of origin, Made in, Origin",
            weight=0.7,
        ),
        Field(
            "launched",
            day(-2000, 300),
            "launch date, release date, available from, launched",
            "when it came on the market",
            "Launch date, Available from, Released",
            weight=0.7,
        ),
        Field(
            "in_stock",
            flag(0.6),
            "in stock, available, is available, availability, on stock, can be ordered",
            "whether it can be delivered now",
            "In stock, Available",
            wordings={
                "true": """
                It is in stock.
                It can be delivered right away.
                Available now.
                We have it in our warehouse.
                It ships today.
                In stock, ready to ship.
                You can order it immediately.
                There are plenty left.
                """,
                "false": """
                It is out of stock.
                It is currently sold out.
                Not available at the moment.
                We do not have any left.
                It cannot be ordered right now.
                Sold out, sorry.
                It is on back order.
                Currently unavailable.
                """,
            },
            plain=False,
            may_miss=False,
            weight=1.5,
        ),
    ),
    plural="products, items, articles, catalogue, offers",
    nests={
        "details, specification, properties": "weight, material, colours, origin",
        "feedback, customer feedback": "rating, reviews",
    },
    titles="Product details, New arrival, Data sheet, Catalogue entry, Special offer, Item, Product of the week",
    sentences="""
    This is the {name}.
    Have a look at the {name}.
    New in our shop: {name}.
    We now sell the {name}.
    Introducing the {name}.
    I bought the {name} last week.
    The product is called {name}.
    Today's offer: {name}!
    Product: {name}
    I have a question about the {name}.
    The {name} is a favourite of our customers.
    Everybody loves the {name}.
    It is made by {brand}.
    The manufacturer is {brand}.
    The brand is {brand}.
    It comes from {brand}.
    A classic by {brand}.
    {brand} makes it.
    {brand} designed and built it.
    It is sold under the brand {brand}.
    By {brand}.
    Manufactured by {brand}.
    As always, {brand} delivers quality with this one.
    Another piece from the house of {brand}.
    It costs {price}.
    The price is {price}.
    It sells for {price}.
    Now only {price}!
    Yours for {price}.
    Price: {price}.
    You can get it for {price}.
    It is priced at {price}.
    Buy it for {price}.
    We charge {price} for it.
    It will set you back {price}.
    At {price} it is a bargain.
    The article number is {sku}.
    SKU: {sku}.
    Item number {sku}.
    Its product code is {sku}.
    Order it under the number {sku}.
    You find it under {sku} in the catalogue.
    It comes in {colours}.
    Available in {colours}.
    Choose between {colours}.
    You can have it in {colours}.
    Colours: {colours}.
    There are versions in {colours}.
    Customers rate it {rating} out of 5.
    It has a rating of {rating}.
    The average rating is {rating} stars.
    Rated {rating} / 5.
    Buyers give it {rating} stars.
    It scores {rating} of 5 stars.
    It is {discount} off today.
    You save {discount}.
    There is a discount of {discount}.
    The price was cut by {discount}.
    We give you {discount} off.
    Discount: {discount}.
    Now {price}, that is {discount} off.
    With {discount} off you pay {price}.
    The {name} is {discount} off this week.
    There are {reviews} reviews.
    {reviews} customers have reviewed it.
    Based on {reviews} reviews.
    So far it got {reviews} reviews.
    It has been reviewed {reviews} times.
    Number of reviews: {reviews}.
    There are {stock} left.
    We have {stock} pieces in the warehouse.
    Only {stock} units left.
    Our stock is {stock} units.
    {stock} of them are on the shelf.
    Units in stock: {stock}.
    It weighs {weight}.
    The weight is {weight}.
    Weight: {weight}.
    At {weight} it is easy to carry.
    On the scales it shows {weight}.
    With a weight of {weight} it is no burden.
    It is made of {material}.
    The material is {material}.
    Built from {material}.
    It consists of {material}.
    They used {material} throughout.
    Material: {material}.
    It is made in {origin}.
    Country of origin: {origin}.
    It is produced in {origin}.
    Made in {origin}.
    The factory is in {origin}.
    It is imported from {origin}.
    It has been available since {launched}.
    It was launched on {launched}.
    The launch date is {launched}.
    It hit the shops on {launched}.
    Release date: {launched}.
    On sale from {launched}.
    The {name} by {brand} costs {price}.
    The {name} from {brand} is sold for {price}.
    {brand} {name}, {price}
    {name} ({sku}) - {price}
    {name} by {brand}
    {name}: {price}
    {brand} presents the {name}.
    The {name} comes in {colours} and costs {price}.
    The {name} is available in {colours}.
    The {name} is made of {material}.
    The {name}, made by {brand}, has {rating} stars.
    The {name} has a rating of {rating} after {reviews} reviews.
    The {name} (article {sku}) is made by {brand}.
    For {price} you get the {name} by {brand}.
    I paid {price} for the {name}.
    {brand} has launched the {name} at {price}.
    The {name} weighs {weight} and is made of {material}.
    It is made by {brand} and costs {price}.
    It costs {price} and comes in {colours}.
    It is rated {rating} by {reviews} customers.
    {rating} stars ({reviews} reviews)
    Made of {material} in {origin}.
    It weighs {weight} and costs {price}.
    SKU {sku}, price {price}.
    {brand}, {sku}, {price}
    The {name} costs {price}.
    The {name} sells for {price} and weighs {weight}.
    We have {stock} pieces of the {name}.
    {stock} left at {price} each.
    """,
    asides="""
    Delivery costs {any_money}.
    It fits well with the {any_product}.
    Customers also bought the {any_product}.
    Delivery takes {any_int} days.
    The shop in {any_city} opens at {any_time}.
    {any_person} sent us a picture of it.
    The old model was discontinued.
    Orders before {any_time} leave the same day.
    Use the code {any_code} for free shipping.
    Returns are free within {any_int} days.
    The packaging is plastic-free.
    Our newsletter comes every week.
    """,
)
