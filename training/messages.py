"""Short messages to classify: what a person wants, feels or writes about, by clauses that imply it.

A clause says `[this|that]` where one of several words may stand, and has places for a thing, a company and a person. A
label may be called by several words, so that what it means is learned, and not its place in a list.
"""

# ruff: noqa: E501  one line for one thing

import re
from collections.abc import Mapping
from typing import NamedTuple

from training.names import organisation, person, product
from training.scene import Scene
from training.splits import Parted, part
from training.words import by_comma

_OPENERS = by_comma("""
Hi, Hello, Hey there, Good morning, To be honest, Well, So, Just saying, Quick question, For your information,
Dear all, Hey, Good evening, By the way
""")

SENTIMENT = """
sentiment, tone, mood, opinion, attitude, rating, feedback | How does the writer feel?; Classify the sentiment.; Is this praise or criticism?; What is the tone?; Is the review good or bad?; What does the customer think?
positive, good, happy, satisfied, praise | the {thing} [exceeded my hopes|works perfectly|is a dream|is worth every cent|looks gorgeous]; I would buy the {thing} again [at once|any time|without thinking twice]; {org} solved everything within minutes; what a [lovely|wonderful|fantastic|beautiful|brilliant] {thing}; the [staff|team|people at the desk] could not have been [kinder|more helpful|friendlier]; I recommend {org} to [all my friends|everybody|anyone]; everything works like a charm; we had a [wonderful|great|perfect|delightful|superb] [time|evening|stay|day]; I am [so happy|very pleased|thrilled|delighted] with [it|the {thing}|my purchase]; [great|excellent|outstanding|amazing] [quality|service|value|taste|sound]; [absolutely|simply|really] [love|adore] [it|this {thing}|the design]; the [food|meal|dinner|cake] was [delicious|superb|excellent|tasty]; five stars from me; [fast|quick|prompt] delivery and [well|carefully|nicely] packed; the [room|flat|place] was [spotless|cosy|bright|lovely]; my [kids|children|parents] [love|enjoy|adore] it; it [makes|made] my [day|life] [easier|better]; the best {thing} I have ever [had|owned|used]; a [real|true] [pleasure|joy|bargain]; [comfortable|sturdy|elegant|reliable] and [easy to use|good value|well made]; we will [certainly|definitely|gladly] come [back|again]; thumbs up for {org}; I can only [praise|recommend] {person}; [impressive|flawless|top] from start to finish; an [enjoyable|exciting|inspiring|charming] [film|book|concert|show]
negative, bad, unhappy, dissatisfied, criticism | the {thing} [broke|failed|fell apart|died] on the [second|first|third] day; I want my money back; nobody at {org} ever [answers|picks up|cares]; what a [waste of time|rip-off|mess|disappointment|joke]; the {thing} is [a disaster|useless|junk|rubbish|far too loud]; I will never [order|come|stay|buy] there again; the [service|staff|manager] was [rude|slow|unfriendly|awful|horrible]; we were [deeply|bitterly|really|so] [disappointed|let down]; [poor|awful|dreadful|lousy|miserable] [quality|service|sound|food|workmanship]; I [hate|regret buying|cannot stand] [it|this {thing}]; the [food|meal|steak|coffee] was [cold|burnt|bland|stale|inedible]; the [room|bathroom|place] was [dirty|filthy|noisy|damp|smelly]; [overpriced|ugly|flimsy|uncomfortable] and [badly made|not worth it|hard to use]; it [scratched|leaked|tore|cracked|rusted] [at once|within a week|after two days]; one star is too many; avoid {org}; [late|slow] delivery and a [torn|crushed|wet] box; [boring|annoying|dull|tiresome] from start to finish; do not [buy|waste your money on] this {thing}; the worst {thing} I have ever [had|owned|used]; {person} was [unhelpful|impolite|arrogant]; we [left|went home] [angry|hungry|upset]; it does not even [turn on|fit|work|close]; such a [terrible|bad|poor|weak] [film|book|concert|show]; I had to [wait for hours|complain twice|throw it away]
neutral, factual, objective, none | the {thing} [arrived|came] on [Tuesday|Friday|Monday|Thursday]; the {thing} has [two handles|four legs|a cover|three drawers]; I bought the {thing} [at|from] {org}; the parcel contained a {thing} and a manual; {org} has moved to another street; the {thing} is sold in [three|two|four] sizes; it is [made of|covered in|lined with] [wood|cotton|glass|plastic|leather]; the [shop|museum|office] opens at [nine|ten|eight]; it [weighs|measures] [about|roughly|exactly] [two kilos|one metre|300 grams]; there are [two|five|twelve] [rooms|pages|seats|floors]; {person} [works|worked] [at|for] {org}; the [instructions|labels] are in [English|Spanish|Italian]; we [ate|stayed|met] there on [Sunday|Wednesday]; the {thing} [comes|is delivered] in a [box|bag|crate]; the [film|concert|book] [lasts|has] [two hours|300 pages|six chapters]; I use it [in the office|at home|on trips]; the [bus|train] stops [nearby|in front of the house]; the colour is [grey|blue|white]; it was [a present for|ordered by] [my sister|a colleague|my father]; the {thing} runs on [batteries|mains|petrol]
"""

INTENT = """
intent, request, purpose, reason, concern, type, message_type, kind | What does the writer want?; Choose the intent.; Why does this person write?; Route the message.; What is this message about?; What kind of message is it?; Classify the request.
refund, reimbursement, money back | please [send|pay|give] back the money for the {thing}; I [was charged|paid] twice and want it [returned|back]; I expect to be [paid back|reimbursed|refunded]; the amount should go back to my [card|account]; [reimburse|refund] me for the {thing}; I [would like|want|demand] a refund; when will I [get|see] my money [back|again]; [please|kindly] [transfer|return] the [price|sum|full amount]
cancellation, cancel, withdrawal, termination | I no longer [need|want] the {thing}, please [stop|cancel|drop] the order; [please|kindly] [cancel|end|terminate] my [subscription|membership|contract|order]; I would like to [withdraw|cancel|call off] my [booking|reservation|order]; do not send the {thing} after all; please [close|delete] my account; I [want|wish|have] to cancel [it|my order|the order of the {thing}|the appointment]; we have [decided against|changed our minds about] the {thing}; [stop|halt] the [delivery|shipment|renewal]; I am [cancelling|ending|quitting] my [plan|membership|subscription]; please take my name off the list
complaint, grievance, problem, criticism | the {thing} [is|was|arrived] [damaged|broken|cracked|scratched|dirty]; your [driver|clerk|agent] [shouted at me|was rude|hung up on me]; this is the [third|second|fourth] [delay|mistake|time]; the {thing} [stinks of paint|does not work|fell apart|leaks]; I am [fed up with|angry at|disappointed by] {org}; [something|half of it|a part] is [missing|wrong|broken]; I am [not satisfied|unhappy|very angry|furious]; nobody [answers|helps me|replies]; the {thing} [stopped working|tore|broke] [after a week|yesterday|on the first day]; you sent me the wrong {thing}; that is [unacceptable|a scandal|outrageous]; the [quality|service] is [terrible|poor|a disgrace]; it [came|was delivered] [two weeks late|much too late]
question, inquiry, enquiry, information | how do I [charge|clean|open|use] the {thing}; do you [deliver|ship|sell] [abroad|to islands|on Sundays]; when does the [shop|office|museum] [open|close]; is the {thing} [dishwasher-safe|waterproof|in stock|made of wood]; which [size|model|colour] should I [take|choose]; [what|how much] does the {thing} [cost|weigh]; do you [also|still] [have|sell|offer] the {thing}; can I [pay by card|bring my dog|return it]; where can I [park|find the manual|see the {thing}]; how [long|much|many] [is the warranty|does it take|does it hold]; does the {thing} [come with|need|have] [batteries|a cover|a guarantee]; what is the difference between the two
order, purchase, buying | I would like to [have|order|buy] [another|a|the|two of the] {thing}; please put me down for a {thing}; [please|kindly] send [me|us] [a|one|two|ten] {thing}; we want to [buy|purchase|order] the {thing}; can I get the {thing} in [blue|red|size L] as well; we [need|order|require] [five|twenty|three] more; I will take the {thing}; I [hereby|now] order the {thing}; [one|two|six] {thing} for {person}, please; please reserve the {thing} for me
thanks, gratitude, praise, compliment | I just wanted to say how grateful I am; thank you so much for the {thing}; {person} was a great help, many thanks; I really appreciate it; thanks a million to {org}; [many|a thousand] thanks for [your help|the quick answer]; you [made my day|saved my week]; what [wonderful|great] service, thank you; [kudos|compliments|praise] to {person}
change, update, modification | please [change|correct|update] my [address|name|phone number|email]; I [have moved|got married], so my [address|name] is new; can we [move|shift] the [appointment|delivery] to [Monday|next week]; please add a {thing} to my order; the [date|time] has to be changed; I [need|would like] a later [date|slot]; make it [two|four] in place of one
appointment, booking, reservation | I would like to [make|book|arrange] an appointment; do you have a [table|room|slot] for [two|four|tonight]; please [book|reserve] a [room|table|seat] for {person}; when can I [come by|see the doctor|meet {person}]; we [need|want] a table for [Saturday|Friday evening]
"""

DEPARTMENT = """
department, team, queue, category, topic, area, issue, issue_type | Which team should answer?; Route the ticket.; Choose the department.; What is the ticket about?; Classify the ticket.; Who is responsible?
billing, payment, payments, accounting, finance, invoice | the [invoice|bill|receipt] [is wrong|has an error|never came|shows two amounts]; [my|the] [card|account] was [charged|debited] [twice|again|by mistake]; why [was I|am I being] [charged|billed] [so much|for this]; please [send|correct] the [invoice|bill|receipt]; I [paid|transferred the money] [last week|twice|already]; my [payment|transfer] [failed|was declined|bounced]; [the|your] [price|fee|amount] on my [statement|bill] is [too high|wrong]; can I pay in [instalments|rates|cash]; the discount was not [applied|deducted]; you [took|booked] [40 euros|the fee] from my account; please change my credit card
technical, tech support, it, technology, bug, software | the [app|program|website|page] [crashes|freezes|does not load|is down|shows an error]; I cannot [log in|sign in|connect|install it|open the file]; my [password|login|account] does not work; the [screen|display] is [black|frozen|blank]; the [update|installation|download] [failed|stopped|hangs]; the [wifi|network|server|connection] is [down|slow|unstable]; the [printer|router|laptop|device] does not [start|respond|turn on|connect]; there is an error [code|message] when I [save|click|start]; the [button|link|menu] does nothing; the [battery|charger] [overheats|does not charge]; the system keeps [restarting|crashing|asking for a password]; I get a [blank|white] page
shipping, delivery, logistics, transport, dispatch | my [parcel|package|order] has not [come|arrived|reached me]; where is my [parcel|package|order|delivery]; the [courier|driver|postman] [did not ring|left it outside|went to the wrong house]; [tracking|the tracking number] shows [nothing|no change]; when will [it|the {thing}] be [delivered|shipped|sent]; the [parcel|box|package] was [lost|damaged on the way|delivered to my neighbour]; do you [ship|deliver|send] to [Canada|islands|my town]; how long does [shipping|delivery] take; it was sent to my old address; the delivery is [late|delayed|a week overdue]; please deliver it [on Friday|to the back door]
sales, buying, offer, product | I would like [an offer|a quote|a price] for [fifty|ten|two] {thing}; do you have the {thing} in [stock|another colour]; which {thing} [is best|do you recommend] for [a school|beginners|an office]; is there a [discount|better price] for [schools|large orders]; we are [interested in|thinking of buying] the {thing}; can I [try|see|test] the {thing} first; please send [a catalogue|your price list]
personnel, hr, careers, jobs, human resources | I would like to [apply|work] [for|at] {org}; do you [offer|have] [internships|jobs|vacancies]; attached is my [cv|resume|application]; how many [days of holiday|vacation days] do I have left; I am [ill|sick] and stay at home; my [contract|pay slip|salary] [is missing|has a mistake]; is the position [still open|taken]; {person} [starts|leaves] on [Monday|the first]
other, general, miscellaneous, none of these | I [just|only] wanted to [say hello|wish you a good year]; your [garden|building|sign] looks [nice|lovely]; greetings from [the seaside|our holiday]; do you know a good [restaurant|dentist] nearby; I [found|lost] [an umbrella|a glove|a key] [in your shop|at the entrance]; may I [film|take pictures] in your shop; who [painted|made] the picture in the hall; happy birthday to {person}
"""

NEWS = """
topic, subject, section, category, theme, news, genre | What is the text about?; Choose the section.; To which topic does this belong?; Classify the text.; Classify the article.; What is the subject?
sports, sport, athletics | the [goalkeeper|keeper] saved a penalty in the last minute; {person} won the [sprint|race|marathon|final] by a [tenth of a second|whisker]; the coach [named|dropped] two players; the final [will be|was] played on [clay|grass]; the team [trains|plays|lost] [on a new pitch|away|at home]; the cyclist wore yellow all week; the [striker|forward|midfielder] scored [twice|three goals|late]; the [match|game|derby] ended in a draw; the [swimmer|runner|skier|boxer] [broke the record|won gold|took bronze]; [the club|the champions] [signed|sold] a [defender|striker]; the [referee|umpire] [showed a red card|stopped the match]; [tennis|football|hockey|rugby|basketball] fans [cheered|filled the stadium]; they [lead|top] the league by three points; the [olympic|national] team won the [cup|title|medal]
business, economy, finance, markets | {org} raised its forecast for the [year|quarter]; [shares|stocks] [fell|rose|jumped|dropped] after the report; the [central bank|bank] [lowered|raised] its interest rate; the merger creates a group with new owners; [exports|imports|sales|profits|revenues] [grew|fell|rose] again; investors sold their [stakes|shares|bonds]; the [retailer|airline|carmaker|chain] [cuts jobs|closes plants|opens stores]; [inflation|unemployment|the deficit] [fell|rose] to [three|five] percent; {org} [buys|takes over] a [rival|supplier|startup]; the [profit|turnover|loss] [doubled|shrank|halved]; [oil|gold|wheat] prices [climbed|fell]; the [firm|company|manufacturer] [went bankrupt|reported a loss|pays a dividend]
science, research | a telescope recorded a faint galaxy; [researchers|scientists|biologists] [sequenced the genome|studied the brain] of a [moss|mouse|worm]; the experiment was repeated with lighter atoms; a [probe|rover] landed on [the asteroid|mars|the moon]; the vaccine worked in mice; geologists dated the rock; [physicists|chemists|astronomers] [discovered|measured|observed] a new [particle|molecule|planet|star]; the study [was published|shows] how [cells|bacteria|genes|proteins] [divide|spread|change]; a fossil of an unknown [dinosaur|fish|bird] was found; the [laboratory|team at the university] built a [quantum computer|better microscope]; the theory predicts [black holes|gravitational waves]; the [enzyme|catalyst|alloy] [breaks down|splits|binds] [plastic|water|carbon]
politics, government | parliament [passed|rejected] the [bill|law|treaty] by two votes; the minister [resigned|stepped down|was dismissed]; the mayor opens the session; voters go to the polls in [spring|autumn]; the coalition agreed on a budget; the opposition called for [new elections|an inquiry]; the [president|prime minister|chancellor|senator] [signed the law|gave a speech|visited the border]; the [senate|congress|cabinet|party] [voted|met|debated] [on Monday|all night]; the candidate [won the election|leads in the polls]; the government [plans|announced] [a reform|new taxes|sanctions]; [diplomats|ambassadors] [signed|negotiated] a [treaty|ceasefire]
food, cooking, recipes, cuisine | the soup needs an hour on the stove; fold the egg whites into the dough; the chef swears by fresh thyme; let the [bread|dough] rest overnight; a pinch of [salt|pepper|sugar] brings out the taste; the sauce thickens slowly; [fry|chop|peel|boil] the [onions|potatoes|carrots|mushrooms]; [bake|roast|grill] it [in the oven|for an hour|until golden]; serve with [rice|bread|a salad]; add [garlic|butter|cream|flour] and stir; the [restaurant|bistro] serves [fish|pasta|soup]; a recipe for [apple pie|lentil stew|pancakes]
weather, forecast, climate | heavy rain is expected along the coast; the night stays [clear|cold|mild]; fog will lift by noon; a [storm|thunderstorm|hurricane] is moving in from the west; temperatures [climb above thirty|fall below zero] degrees; snow fell in the hills; [sunny|cloudy|windy|rainy] with [a light breeze|showers] in the [afternoon|north]; [frost|hail|sleet|drizzle] in the morning; the [heat wave|drought|cold spell] goes on; gusts of up to 90 km/h
travel, tourism, holidays, vacation | the ferry leaves from the old harbour; the hotel lies by the beach; visitors need two days for the island; the trail leads past three lakes; the night train has sleeping cars; the visa is issued on arrival; [tourists|travellers|hikers] [love|crowd] the [old town|canyon|castle]; the [cruise|tour|flight] [stops|goes] via [the islands|three cities]; pack [light|a raincoat] for the [trek|safari]; the [hostel|campsite|resort] has a [pool|view of the sea]; our guide to [beaches|temples|museums]
health, medicine, wellness | the [doctor|nurse|surgeon] [treated|examined] the patient; [headaches|allergies|back pain] are common; take the [pills|tablets|drops] [twice a day|after meals]; the [flu|virus|infection] spreads in winter; [sleep|exercise|a walk] lowers [blood pressure|stress]; the [hospital|clinic] opened a new [ward|surgery]; wash your hands to avoid [germs|infections]; [vitamins|vaccines|therapy] help against [colds|measles|anxiety]; the patient has a [fever|cough|broken arm]
culture, arts, entertainment, music | the [orchestra|band|choir] [played|gave a concert] [in the park|to a full hall]; the [film|movie|play] [opens|premiered] on [Friday|Thursday]; the [museum|gallery] shows [paintings|sculptures|photographs] by {person}; the [singer|actor|actress|director] won an award; her new [novel|album|poem|song] is out; the [opera|ballet|musical] was sold out; the [painter|sculptor|poet] was born here; the [festival|exhibition] [opens|closes] on Sunday; the [guitarist|drummer|pianist] [joined|left] the band
technology, computers, tech, it | the new [phone|laptop|tablet|chip] is [faster|thinner]; [programmers|developers|engineers] [released|wrote] an [update|app|open-source library]; the [robot|drone] [sorts parcels|flies alone]; the [software|browser|operating system] has a [security hole|new version]; [artificial intelligence|machine learning|a neural network] [writes|recognises] [texts|faces]; hackers [stole|leaked] [passwords|data]; the [battery|screen|camera] of the [phone|watch] was improved; the internet was [down|slow] for hours
education, school, learning, teaching | the [teacher|pupils|students] [passed|wrote] the exam; the [school|university|college] [opens|offers] [new courses|evening classes]; [homework|the timetable|grades] [changed|improved]; children learn [to read|maths|spelling] [earlier|faster]; the [lecture|seminar|lesson] [was moved|begins at ten]; [parents|teachers] [met|discussed] the [curriculum|class trip]; she [teaches|studies] [history|chemistry|Latin]
crime, police, law, justice, court | the police [arrested|are looking for] [a thief|two men|a suspect]; the [court|judge|jury] [sentenced|acquitted] {person}; [burglars|thieves|robbers] [broke into|emptied] a [villa|shop]; the [lawyer|prosecutor] [appealed|demands five years]; the trial [began|ended]; a [bank|jewellery shop] was robbed; the [fraud|murder|theft] was [solved|reported]
"""

PRIORITY = """
priority, urgency, importance, level, severity | How urgent is it?; Choose the priority.; How important is this?; What is the priority?; When must somebody act?
high, urgent, critical, immediate | water is pouring through the ceiling; we need [help|an answer|somebody] right now; the whole [system|site|plant] is down; it cannot wait until tomorrow; the {thing} is on fire; all [customers|users|orders] are affected, act immediately; this is [urgent|an emergency|critical]; [as soon as possible|at once|immediately], please; there is [smoke|gas|a fire|blood]; nobody can [work|log in|get out]; the deadline is in an hour; we are losing [money|data|customers] every minute; [call|come] [at once|immediately|now]
medium, normal, moderate, standard | please look at it [this week|in the next days|by Friday]; it works, but [slowly|not always|with some trouble]; some [users|customers] have [trouble|problems] with it; we can work around it for [now|a few days]; an answer [by Thursday|within a few days] would be good; it happens [now and then|from time to time]; one of the two printers is [down|slow]
low, minor, trivial, not urgent | whenever you [find|have] the time; there is no [hurry|rush]; next month is soon enough; it is only a [small wish|detail|cosmetic matter]; no need to answer before the holidays; this can wait; just an idea for later; it does not bother me much; a typo on the [last page|help page]; it would be nice to have [one day|some time]
"""

EMOTION = """
emotion, feeling, mood, state_of_mind | What does the writer feel?; Choose the emotion.; Which feeling is expressed?; Classify the emotion.
joy, happiness, delight | I am [so|really|over the moon and] happy; we [laughed|danced|sang] all [night|day]; what a [wonderful|beautiful] [day|surprise]; I could [hug|kiss] everybody; hooray, we [won|made it]; I cannot stop [smiling|laughing]
anger, rage, annoyance | I am [furious|angry|mad|fuming]; how dare [they|you|he]; this makes me [so angry|sick|furious]; I could [scream|throw it at the wall]; [enough|stop it], I have had it; he [insulted|lied to] me again; it is an outrage
sadness, grief, sorrow | I [cried|wept] all [night|day]; I miss [her|him|my dog] so much; my heart is broken; we lost [our grandmother|him] last week; everything feels [empty|grey|pointless]; I feel [lonely|so sad|down]; tears ran down my face
fear, anxiety, worry | I am [afraid|scared|terrified]; what if it [happens again|goes wrong]; I [tremble|cannot sleep] when I think of [it|tomorrow]; my heart was pounding; I am [worried|anxious|nervous] about [the exam|my son|the operation]; somebody [followed me|is at the window]
surprise, astonishment | I did not [expect|see] that [at all|coming]; [wow|oh], [really|seriously]; I could not believe my eyes; out of [nowhere|the blue] he [called|appeared]; what a [shock|twist]; who would have thought it
"""

SENTENCE = """
sentence_type, form, type, kind, speech_act | What kind of sentence is it?; Choose the form.; Classify the sentence.
question, interrogative, asking | where is the {thing}; who [called|came] [yesterday|today]; what time is it; have you [seen|met] {person}; why is the {thing} [so big|here]; are you coming [tonight|too]; how old is {person}
command, instruction, request, order | [close|open] the [door|window]; put the {thing} [on the shelf|back]; [call|ask|follow] {person}; [sit down|stand up|hurry up]; do not touch the {thing}; [read|sign|send] this [letter|form]; wait [here|outside]
statement, declaration, fact | the {thing} is in the [kitchen|hall|garage]; {person} [called|came] [yesterday|on Monday]; it is [raining|late|half past nine]; we [live|work] in a small town; I [met|saw] {person} [at the station|last week]; the train leaves at noon
greeting, salutation, hello | good [morning|evening|afternoon] [everybody|all|{person}]; hello [again|there|{person}]; [welcome|nice to see you], {person}; hi [all|folks], how are you; nice to meet you
"""

PRODUCT = """
category, product_category, shelf, department, section | To which category does the product belong?; Choose the category.; Sort the product.; Classify the item.
electronics, tech, devices | a [laptop|phone|camera|television|radio|tablet|headset|speaker] with [a charger|two cables|a remote control]; [wireless|noise-cancelling] headphones; a [monitor|keyboard|router|printer] for the office; a [usb cable|power bank|memory card]; a smart watch
clothing, clothes, fashion, apparel | a [shirt|jacket|dress|sweater|coat|skirt] [in size M|made of wool|with buttons]; [jeans|trousers|socks|gloves] for [men|women|children]; a pair of [shoes|boots|sandals|sneakers]; a [scarf|hat|belt|tie]
furniture, home, interior | a [table|sofa|chair|wardrobe|shelf|bed|desk] [of oak|with drawers|for the living room]; an armchair with a footstool; a [bookcase|cupboard|bedside table|mattress]
food, groceries, grocery | [bread|butter|cheese|milk|eggs] from the [farm|region]; a jar of [honey|jam|olives]; a bag of [rice|flour|apples|coffee]; [frozen|fresh] [fish|pizza|spinach]; dark chocolate
toys, games, children | a [doll|puzzle|teddy bear|kite|toy train]; building [blocks|bricks] for children; a board game for [four|six] players; a set of [marbles|playing cards]
books, literature, reading | a [novel|thriller|biography|cookbook|dictionary] by {person}; a [paperback|hardcover] of 300 pages; a collection of [poems|short stories]; an illustrated guide to birds
garden, gardening, outdoor | a [lawn mower|rake|spade|watering can|wheelbarrow]; [seeds|bulbs|pots] for the balcony; a [hedge trimmer|garden hose|greenhouse]; soil and fertiliser for roses
sports, fitness, sporting goods | a [football|tennis racket|yoga mat|bicycle helmet]; a pair of [skis|dumbbells|running shoes]; a [tent|sleeping bag|rucksack] for hikers
beauty, cosmetics, care | a [shampoo|face cream|lipstick|perfume|hand soap]; [nail polish|sun cream|a hairbrush]; a shower gel with lavender
tools, hardware, diy | a [hammer|drill|saw|screwdriver|wrench] [with a case|for metal|for wood]; a box of [nails|screws]; a [tape measure|spirit level|toolbox]
"""

DOCUMENT = """
document_type, document, type, kind, form | What kind of document is it?; Choose the document type.; Classify the document.; What sort of text is this?
invoice, bill | please pay the amount of [90|250|48] euros by [Friday|the end of the month]; [invoice|bill] no. 4471 for one {thing}; [total|amount due] including VAT; payable within [14|30] days to {org}
recipe, cooking instructions | [mix|whisk] the [flour|eggs] and [sugar|milk]; bake at 180 degrees; serves [four|six]; [chop|fry] the onions and add salt
job advertisement, vacancy, job offer | {org} is looking for [a driver|an engineer|a nurse]; [send|mail] your application to {org}; you [have|bring] three years of experience; the position is full-time
letter, mail, email | dear {person}, thank you for your [letter|message]; [kind|best] regards, {person}; yours sincerely, {person}; I hope you are well
contract, agreement | the [tenant|buyer] pays the [rent|price] to the [landlord|seller]; either party may terminate with [a month's|three months'] notice; signed by both parties; this agreement is governed by law
news, article, report | [police|officials] said on [Monday|Tuesday] that the [bridge|road] is closed; a [spokesman|spokeswoman] for {org} declined to comment; according to witnesses, {person} left early
review, opinion, critique | I give it [four|two|five] stars; the [plot|service|battery] is [weak|great] but the [ending|price|screen] is [good|poor]; would [buy|visit|read] again
medical note, doctor's note, clinical note | the patient [complains of|reports] [pain|dizziness|a cough]; [prescribed|given] [antibiotics|paracetamol]; blood pressure 130 over 80; follow-up in two weeks
"""

URGENT = """
urgent, is_urgent, needs_attention, emergency, pressing | Does this have to be dealt with at once?; Is it urgent?; Must somebody act now?; Is this an emergency?
true | water is pouring through the ceiling; we need help right now; the whole system is down; it cannot wait until tomorrow; the {thing} is on fire; all customers are affected, act immediately; [call|come] [at once|immediately]; this is [urgent|an emergency]; there is [smoke|gas] in the [hall|cellar]
false | whenever you find the time; there is no hurry; next month is soon enough; it is only a small wish; no need to answer before the holidays; this can wait; just an idea for later; it would be nice to have one day
"""

SPAM = """
spam, is_spam, junk, unwanted, is_junk | Is this message spam?; Is this unwanted advertising?; Should it go to the junk folder?; Is it spam?
true | you have won [a million|a prize|the lottery], click here; [cheap|discount] [pills|watches] [without prescription|for you only]; double your money in a [week|day]; claim your free {thing} now; hot singles are waiting; verify your bank account under this link; [earn|make] thousands from home; act now, this offer ends [tonight|soon]; lose [ten|five] kilos in a week; your account is [locked|suspended], enter your password here
false | the meeting moves to room four; {person} will bring the {thing}; can you pick up the children; here are the minutes of our call; dinner is at eight; the {thing} is ready for collection; happy birthday, {person}; I will be ten minutes late; attached is the draft of the report; please send me the address of {person}
"""

ASKS = """
is_question, asks, question, wants_answer | Is it a question?; Does the writer ask something?; Is an answer wanted?
true | where is the {thing}; who called yesterday; what time is it; have you seen {person}; are you coming tonight; how old is {person}; do you sell the {thing}; when does the shop open
false | the {thing} is in the kitchen; {person} called on Monday; it is raining; we live in a small town; close the door; I met {person} at the station; the train leaves at noon; thank you for the {thing}
"""

RECOMMENDS = """
recommends, would_buy_again, satisfied, is_positive, happy | Is the customer satisfied?; Does the writer recommend it?; Is the review positive?; Would this person buy it again?
true | I would buy it again; five stars from me; what a lovely {thing}; everything works like a charm; I recommend {org} to everybody; we had a wonderful time; the food was delicious; it was worth every cent; great service
false | never again; I want my money back; the {thing} broke at once; a waste of money; avoid {org}; the service was rude; the food was cold; it does not even turn on; poor quality
"""

_BRACKETS = re.compile(r"\[([^\]]+)\]")
_ASKING = ("how", "do", "does", "when", "is", "are", "which", "can", "where", "who", "what", "have", "why", "may")
_CALLS = ("do not", "what a", "what wonderful", "what great")


class Label(NamedTuple):
    """What a message may be, the words for it, and clauses that imply it."""

    words: tuple[str, ...]
    clauses: Parted


class Task(NamedTuple):
    """A question about a message."""

    names: tuple[str, ...]
    questions: tuple[str, ...]
    labels: tuple[Label, ...]
    is_flag: bool


def _task(text: str) -> Task:
    (names, questions), *labels = ([side.strip() for side in line.split(" | ")] for line in text.strip().split("\n"))
    made = tuple(Label(tuple(words.split(", ")), Parted(tuple(clauses.split("; ")))) for words, clauses in labels)
    return Task(tuple(names.split(", ")), tuple(questions.split("; ")), made, made[0].words == ("true",))


TASKS: Mapping[Task, float] = {
    _task(SENTIMENT): 6, _task(INTENT): 7, _task(DEPARTMENT): 6, _task(NEWS): 6, _task(PRIORITY): 3, _task(EMOTION): 2,
    _task(SENTENCE): 2, _task(PRODUCT): 3, _task(DOCUMENT): 2, _task(URGENT): 1, _task(SPAM): 1, _task(ASKS): 1,
    _task(RECOMMENDS): 1,
}  # fmt: skip
"""The questions that there are about messages, each with its weight."""


class Message(NamedTuple):
    """A message and what is asked about it."""

    text: str
    options: list[str]
    """None, where the answer is yes or no."""
    answer: str | bool
    name: str
    """For the field of the answer."""
    question: str


def message(scene: Scene) -> Message:
    """Return a message with a question about it."""
    rng = scene.rng
    task = scene.weighted(TASKS)
    label = scene.pick(task.labels)
    clauses = label.clauses.of(scene.split)
    chosen = rng.sample(clauses, min(len(clauses), rng.choices((1, 2, 3), (6, 3, 1))[0]))
    body = " ".join(_sentence(scene, one) for one in chosen)
    if scene.chance(0.25):
        is_i = body.startswith(("I ", "I'"))
        body = f"{scene.pick(part(_OPENERS, scene.split))}, {body if is_i else body[:1].lower() + body[1:]}"
    name, question = scene.pick(part(task.names, scene.split)), scene.pick(part(task.questions, scene.split))
    if task.is_flag:
        return Message(body, [], label.words[0] == "true", name, question)
    words = {one: one.words[0] if scene.chance(0.55) else scene.pick(one.words) for one in task.labels}
    count = rng.randint(2, min(len(task.labels), 7))
    others = rng.sample([one for one in task.labels if one is not label], count - 1)
    options = list(dict.fromkeys([words[label], *(words[one] for one in others)]))
    rng.shuffle(options)
    return Message(body, options, words[label], name, question)


def _sentence(scene: Scene, clause: str) -> str:
    """Return a clause as a sentence, with a word for each choice and a value in each place."""
    said = _BRACKETS.sub(lambda found: scene.pick(found[1].split("|")), clause)
    slots = {"thing": product(scene).text, "org": organisation(scene).text, "person": person(scene).text}
    said = said.format(**slots)
    asks = said.split()[0] in _ASKING and not said.startswith(_CALLS)
    mark = "?" if asks else scene.pick((".", ".", "!"))
    return f"{said[:1].upper()}{said[1:]}{mark}"
