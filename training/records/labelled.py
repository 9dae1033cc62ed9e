"""Short texts enter classes: how a message sounds, what it is about, what its writer wants, in which language it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from training.records.kind import lines
from training.words import by_comma


@dataclass(frozen=True, slots=True)
class Classes:
    """A question with a few possible answers, each with sentences that leave no doubt, and ways to ask it."""

    names: tuple[str, ...]
    instructions: tuple[str, ...]
    sentences: Mapping[str, tuple[str, ...]]


def classes(names: str, instructions: str, sentences: Mapping[str, str]) -> Classes:
    """Return the classes of a table."""
    return Classes(by_comma(names), lines(instructions), {label: lines(texts) for label, texts in sentences.items()})


SENTIMENT = classes(
    "sentiment, mood, tone, opinion, feeling",
    """
    Classify the sentiment.
    How does the writer feel?
    Is this positive or negative?
    What is the sentiment of the text?
    Judge the tone of the message.
    Label the review.
    """,
    {
        "positive": """
        I love the {any_product}, it is wonderful.
        Best purchase in a long time!
        The staff at {any_company} were friendly and helpful.
        Everything worked perfectly from the first day.
        I am more than happy with it.
        What a great evening, thank you so much!
        I would recommend it to everybody.
        The quality is excellent.
        Delivery was fast and the packaging lovely.
        Five stars from me!
        {any_person} did a fantastic job.
        It exceeded all my expectations.
        We had a marvellous time in {any_city}.
        The food was delicious.
        A real pleasure to use.
        Absolutely worth the {any_money}.
        I smile every time I see it.
        Great value and beautiful design.
        """,
        "negative": """
        I hate the {any_product}, it is awful.
        Worst purchase in a long time!
        The staff at {any_company} were rude.
        It broke after two days.
        I am very disappointed.
        What a terrible evening, never again.
        I would not recommend it to anybody.
        The quality is poor.
        Delivery was late and the box was damaged.
        One star is still too much.
        {any_person} was of no help at all.
        It is a complete waste of {any_money}.
        Our stay in {any_city} was a nightmare.
        The food was cold and tasteless.
        I want my money back.
        It does not do what was promised.
        I regret buying it.
        It smells bad and looks cheap.
        """,
        "neutral": """
        The {any_product} arrived on {any_date}.
        It is neither good nor bad.
        The box contains a manual and a cable.
        It is okay, nothing special.
        I bought it at {any_company}.
        The shop in {any_city} opens at {any_time}.
        It is about as large as a book.
        I have no strong opinion on it.
        The price was {any_money}.
        It does its job, no more and no less.
        I received it last week and have used it twice.
        {any_person} asked me to write a few lines.
        It comes in two sizes.
        Average in every respect.
        """,
    },
)

TOPIC = classes(
    "topic, category, subject, section, theme, label",
    """
    What is the text about?
    Choose the topic.
    Classify the text by topic.
    Which section does the article belong to?
    Assign a category.
    Pick the subject of the text.
    """,
    {
        "sports": """
        The home team won the match with three goals.
        The striker scored in the last minute.
        {any_person} won the tennis tournament in {any_city}.
        The runner broke the record over the marathon distance.
        The coach praised the defence of the team.
        The league begins its new season on {any_date}.
        The swimmers trained for the championship.
        The goalkeeper saved a penalty.
        """,
        "politics": """
        The parliament passed the new law.
        The minister {any_person} resigned.
        The party lost seats in the election.
        Voters in {any_city} go to the polls on {any_date}.
        The president met the heads of government.
        The opposition criticised the reform.
        The senate debated the bill for hours.
        The coalition agreed on a new chancellor.
        """,
        "business": """
        The shares of {any_company} fell by a tenth.
        The company reported a profit of {any_money}.
        {any_company} wants to buy its rival.
        The central bank raised interest rates.
        Investors sold their stocks on {any_date}.
        The firm will cut jobs at its plant in {any_city}.
        Exports grew in the last quarter.
        The new chief executive of {any_company} is {any_person}.
        """,
        "science": """
        Researchers discovered a new planet.
        The telescope sent its first pictures.
        A study shows how bees find their way.
        Biologists in {any_city} described an unknown frog.
        The physicist {any_person} measured the particle's mass.
        The probe landed on the comet on {any_date}.
        Chemists made a material that conducts heat well.
        The experiment confirmed the theory.
        """,
        "food": """
        Stir the onions in butter until they are golden.
        The new restaurant in {any_city} serves fresh pasta.
        The chef {any_person} bakes bread with sourdough.
        Add a pinch of salt to the soup.
        The best dumplings are steamed.
        Roast the vegetables in the oven for half an hour.
        The cheese matures for a year.
        A good stew needs time.
        """,
        "travel": """
        The night train to {any_city} has sleeping cars.
        The island has white beaches and few tourists.
        We hiked from hut to hut.
        Pack light if you go backpacking.
        The hotel by the sea was fully booked.
        Visa rules for visitors changed on {any_date}.
        A guided tour of the old town of {any_city} takes two hours.
        The ferry runs twice a day in summer.
        """,
        "technology": """
        The new phone has a folding screen.
        The software update closes a security gap.
        {any_company} presented a faster processor.
        Hackers stole passwords from a server.
        The app runs on all operating systems.
        The start-up builds robots for warehouses.
        The programming language got a new compiler.
        The laptop's battery lasts two days.
        """,
        "weather": """
        It will rain in {any_city} tomorrow.
        Snow is expected above a thousand metres.
        A storm with strong winds is coming from the west.
        The heat wave lasts until {any_date}.
        Fog in the morning, later sunny spells.
        Temperatures drop below zero at night.
        Thunder and hail hit the coast.
        The week stays dry and mild.
        """,
    },
)

INTENT = classes(
    "intent, request type, purpose, type, intention, kind",
    """
    What does the writer want?
    Classify the intent.
    Choose the type of the request.
    Find out why the customer writes.
    Route this message.
    Label the purpose of the message.
    """,
    {
        "order": """
        I would like to order the {any_product}.
        Please send me two of the {any_product}.
        We want to buy {any_int} pieces.
        Please put the {any_product} on my account and ship it.
        I'll take one, please send it to {any_city}.
        Here is our order for {any_int} units of the {any_product}.
        """,
        "complaint": """
        The {any_product} arrived broken and I am angry.
        This is the third time that something is wrong with my delivery.
        I must complain about your service.
        Your employee {any_person} shouted at me.
        I am not satisfied at all with the {any_product}.
        It is unacceptable that I had to wait {any_int} days.
        """,
        "question": """
        Could you tell me how long the {any_product} is?
        Do you also deliver to {any_city}?
        What are your opening hours?
        I would like to know whether the {any_product} is washable.
        How do I change my password?
        Is there a discount for students?
        """,
        "cancellation": """
        Please cancel my subscription.
        I want to cancel my order {any_code}.
        I hereby terminate the contract as of {any_date}.
        Please do not renew my membership.
        I no longer need the {any_product}, please cancel it.
        We have to call off our booking.
        """,
        "praise": """
        I just wanted to say thank you.
        You have a great team, keep it up!
        {any_person} helped me wonderfully.
        Compliments for the fast delivery.
        I am delighted with the {any_product}, well done!
        Your service is the best I have ever had.
        """,
        "application": """
        I am applying for the open position.
        Please find my CV attached.
        I would love to work at {any_company}.
        I am interested in the job you advertised on {any_date}.
        With this letter I apply as a trainee.
        When could I come for an interview?
        """,
    },
)

LANGUAGE = classes(
    "language, text language, written in, lang",
    """
    In which language is the text written?
    Detect the language.
    Name the language of the message.
    Identify the language.
    """,
    {
        "English": """
            Where can I find the station?
            The children are playing in the garden.
            I will come back tomorrow.
            Thank you for your letter.
            The weather is fine today.
            Please close the door.
            """,
        "German": """
            Wo finde ich den Bahnhof?
            Die Kinder spielen im Garten.
            Ich komme morgen wieder.
            Vielen Dank für Ihren Brief.
            Das Wetter ist heute schön.
            Bitte schließen Sie die Tür.
            """,
        "French": """
            Où se trouve la gare ?
            Les enfants jouent dans le jardin.
            Je reviendrai demain.
            Merci beaucoup pour votre lettre.
            Il fait beau aujourd'hui.
            Fermez la porte, s'il vous plaît.
            """,
        "Spanish": """
            ¿Dónde está la estación?
            Los niños juegan en el jardín.
            Volveré mañana.
            Muchas gracias por su carta.
            Hoy hace buen tiempo.
            Cierre la puerta, por favor.
            """,
        "Italian": """
            Dove si trova la stazione?
            I bambini giocano in giardino.
            Tornerò domani.
            Grazie mille per la Sua lettera.
            Oggi fa bel tempo.
            Chiuda la porta, per favore.
            """,
        "Dutch": """
            Waar is het station?
            De kinderen spelen in de tuin.
            Ik kom morgen terug.
            Hartelijk dank voor uw brief.
            Het is vandaag mooi weer.
            Doe de deur dicht, alstublieft.
            """,
        "Portuguese": """
            Onde fica a estação?
            As crianças brincam no jardim.
            Eu volto amanhã.
            Muito obrigado pela sua carta.
            Hoje o tempo está bom.
            Feche a porta, por favor.
            """,
        "Swedish": """
            Var ligger stationen?
            Barnen leker i trädgården.
            Jag kommer tillbaka i morgon.
            Tack så mycket för brevet.
            Vädret är fint i dag.
            Stäng dörren, tack.
            """,
    },
)

SPAM = classes(
    "spam, is spam, unwanted, junk",
    """
    Is this message spam?
    Decide whether it is junk mail.
    Say whether the message is unwanted advertising.
    """,
    {
        "true": """
        Congratulations, you have won {any_money}! Click here now!
        Make money fast from home, no work needed!
        Cheap pills without prescription!
        Your account will be blocked unless you enter your password at this link!
        Last chance: free phones for the first {any_int} callers!
        Dear friend, I am a prince and need your help to move {any_money}.
        """,
        "false": """
        Hi, shall we have lunch on {any_date}?
        The minutes of our meeting are attached.
        {any_person} will pick up the children at {any_time}.
        Please send me the file again, I cannot open it.
        Thanks for your help with the garden yesterday.
        See you at the office in {any_city}.
        """,
    },
)

CLASSIFICATIONS = (SENTIMENT, TOPIC, INTENT, LANGUAGE, SPAM)
"""What a text can be asked about as a whole."""
